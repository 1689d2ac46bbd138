//! Programs: what each thread does, in order. A program does not depend on how or where it runs.

use std::collections::HashSet;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use crate::Sequential;

/// The size of programs.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: RangeInclusive<usize>,
    pub(crate) each: RangeInclusive<usize>,
    pub(crate) before: usize,
    pub(crate) after: usize,
}

/// The operations of each thread. They are numbered thread by thread, from 0.
///
/// The first thread runs before all others begin, and the last one after all others have ended. Both may be empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program<O> {
    threads: Vec<Vec<O>>,
}

/// Threads that run side by side.
pub(crate) type Phase = Range<usize>;

impl<O: Clone> Program<O> {
    pub(crate) fn new(before: Vec<O>, threads: Vec<Vec<O>>, after: Vec<O>) -> Program<O> {
        let mut all = vec![before];
        all.extend(threads);
        all.push(after);
        Program { threads: all }
    }

    /// How many operations it has.
    pub(crate) fn size(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// The three phases, by the indices of their threads.
    pub(crate) fn phases(&self) -> [Phase; 3] {
        let last = self.threads.len() - 1;
        [0..1, 1..last, last..last + 1]
    }

    /// Whether a thread of the phase has an operation.
    pub(crate) fn has_operations(&self, phase: &Phase) -> bool {
        !self.threads[phase.clone()].iter().all(Vec::is_empty)
    }

    /// The index of the phase in which a thread runs.
    pub(crate) fn phase(&self, thread: usize) -> usize {
        let mut phases = self.phases().into_iter();
        phases
            .position(|phase| phase.contains(&thread))
            .expect("a phase has the thread")
    }

    /// The operations of a thread, with their numbers.
    pub(crate) fn thread(&self, thread: usize) -> impl Iterator<Item = (usize, O)> + use<O> {
        let first: usize = self.threads[..thread].iter().map(Vec::len).sum();
        (first..).zip(self.threads[thread].clone())
    }

    /// The thread of the operation with that number.
    pub(crate) fn owner(&self, number: usize) -> Option<usize> {
        let mut ends = self.threads.iter().scan(0, |end, operations| {
            *end += operations.len();
            Some(*end)
        });
        ends.position(|end| number < end)
    }

    /// The name of a thread.
    pub(crate) fn name(&self, thread: usize) -> String {
        match self.phase(thread) {
            0 => "before".to_owned(),
            1 => format!("thread {thread}"),
            _ => "after".to_owned(),
        }
    }

    /// The program without the operation of that number. A thread that has no operation left is gone, unless it is the
    /// last of those that run side by side.
    pub(crate) fn without(&self, number: usize) -> Program<O> {
        let mut threads = self.threads.clone();
        if let Some(thread) = self.owner(number) {
            let first: usize = threads[..thread].iter().map(Vec::len).sum();
            threads[thread].remove(number - first);
            if threads[thread].is_empty() && self.phase(thread) == 1 && threads.len() > 3 {
                threads.remove(thread);
            }
        }
        Program { threads }
    }

    /// The same threads without operations.
    pub(crate) fn emptied(&self) -> Program<O> {
        Program {
            threads: vec![Vec::new(); self.threads.len()],
        }
    }

    /// Whether some order of the operations leaves a thread waiting for ever. Where that takes too long to find out, the
    /// answer is true.
    pub(crate) fn may_rest<P: Sequential<Op = O>>(&self, spec: &P) -> bool {
        let mut states = HashSet::from([spec.clone()]);
        let mut budget = 100_000_u32;
        for phase in self.phases() {
            let threads = &self.threads[phase];
            let mut ends = HashSet::new();
            let mut seen = HashSet::new();
            let mut open: Vec<(Vec<usize>, P)> = Vec::new();
            open.extend(states.drain().map(|state| (vec![0; threads.len()], state)));
            while let Some((done, state)) = open.pop() {
                let left = threads.iter().zip(&done).enumerate();
                let next: Vec<(usize, &O)> = left
                    .filter_map(|(thread, (all, done))| Some((thread, all.get(*done)?)))
                    .collect();
                if next.is_empty() {
                    ends.insert(state);
                    continue;
                }
                if budget == 0 || next.iter().all(|(_, op)| state.waits(op)) {
                    return true;
                }
                budget -= 1;
                for (thread, op) in next {
                    if state.waits(op) {
                        continue;
                    }
                    let (mut done, mut state) = (done.clone(), state.clone());
                    done[thread] += 1;
                    state.apply(op);
                    if seen.insert((done.clone(), state.clone())) {
                        open.push((done, state));
                    }
                }
            }
            states = ends;
        }
        false
    }
}

impl<O: Clone + fmt::Debug> fmt::Display for Program<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thread in 0..self.threads.len() {
            let operations = self
                .thread(thread)
                .map(|(number, op)| format!("{number} {op:?}"));
            let operations: Vec<String> = operations.collect();
            if !operations.is_empty() {
                writeln!(f, "{}: {}", self.name(thread), operations.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of permits; `true` takes one, and `false` adds one.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Permits(u8);

    impl Sequential for Permits {
        type Op = bool;
        type Ret = ();

        fn waits(&self, takes: &bool) -> bool {
            *takes && self.0 == 0
        }

        fn apply(&mut self, takes: &bool) {
            self.0 = if *takes { self.0 - 1 } else { self.0 + 1 };
        }
    }

    #[test]
    fn a_program_may_rest_if_some_order_leaves_a_thread_waiting() {
        let may_rest = |before: &[bool], threads: &[&[bool]], after: &[bool]| {
            let threads = threads.iter().map(|thread| thread.to_vec()).collect();
            Program::new(before.to_vec(), threads, after.to_vec()).may_rest(&Permits(0))
        };
        assert!(!may_rest(&[], &[&[true], &[false]], &[]));
        assert!(may_rest(&[], &[&[true], &[true, false]], &[]));
        assert!(may_rest(&[], &[&[true, true], &[false]], &[false]));
        assert!(!may_rest(
            &[false],
            &[&[true], &[true, false], &[false]],
            &[]
        ));
        assert!(may_rest(&[], &[&[], &[false]], &[true, true]));
    }

    #[test]
    fn operations_are_numbered_thread_by_thread() {
        let program = Program::new(vec!['a'], vec![vec!['b', 'c'], vec!['d']], vec!['e']);
        assert_eq!(program.size(), 5);
        assert_eq!(program.phases(), [0..1, 1..3, 3..4]);
        assert_eq!(program.thread(1).collect::<Vec<_>>(), [(1, 'b'), (2, 'c')]);
        let owners: Vec<Option<usize>> = (0..6).map(|number| program.owner(number)).collect();
        assert_eq!(owners, [Some(0), Some(1), Some(1), Some(2), Some(3), None]);
        let fewer = |numbers: &[usize]| {
            let program = numbers
                .iter()
                .fold(program.clone(), |fewer, number| fewer.without(*number));
            format!("{program}")
        };
        assert_eq!(
            fewer(&[0]),
            "thread 1: 0 'b', 1 'c'\nthread 2: 2 'd'\nafter: 3 'e'\n"
        );
        assert_eq!(
            fewer(&[1, 1, 9]),
            "before: 0 'a'\nthread 1: 1 'd'\nafter: 2 'e'\n"
        );
        assert_eq!(fewer(&[0, 0, 0, 0]), "after: 0 'e'\n");
    }
}
