//! The judge: searches for an order of the operations that explains every answer of a history.
//!
//! The search is that of Wing and Gong (1993) with Lowe's memory (2017): a state that was reached before by the same
//! operations is not visited again. It keeps its own stack, so a long history needs none of the caller's.
//!
//! The specification of channels has a search of its own ([`dual`](flowmeter_harness::check::dual)), since an operation
//! on a channel has several steps there. Here each operation has one.

use std::collections::HashSet;
use std::fmt::Write;

use crate::Sequential;
use crate::history::{History, Operation};

/// The result of judging a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Legal,
    /// No order explains it, for this reason.
    Illegal(String),
    /// The states did not suffice.
    Undecided,
}

/// A part of a history.
#[derive(Clone, Copy)]
struct View {
    /// The operations that were called, as bits.
    called: u64,
    /// Those that are answered.
    answered: u64,
    /// Whether the others wait for ever.
    rests: bool,
    /// An operation that may have any answer.
    free: Option<usize>,
}

/// The result of a search.
struct Walked<P: Sequential> {
    explained: bool,
    /// The longest order that was found.
    order: Vec<usize>,
    /// The answers that the free operation may have.
    answers: Vec<P::Ret>,
}

struct Node<P: Sequential> {
    done: u64,
    state: P,
    /// The answer of the free operation, by its index among the answers.
    answer: Option<usize>,
    /// The node before, and the operation that led here.
    from: Option<(usize, usize)>,
}

/// Judges a history, visiting at most `states` states in each of its searches.
pub(crate) fn judge<P: Sequential>(spec: &P, history: &History<P>, states: u64) -> Verdict {
    let judge = Judge {
        spec,
        history,
        states,
    };
    match judge.walk(judge.whole()) {
        None => Verdict::Undecided,
        Some(walked) if walked.explained => Verdict::Legal,
        Some(_) => judge.explain().map_or(Verdict::Undecided, Verdict::Illegal),
    }
}

struct Judge<'a, P: Sequential> {
    spec: &'a P,
    history: &'a History<P>,
    states: u64,
}

impl<P: Sequential> Judge<'_, P> {
    fn operation(&self, op: usize) -> &Operation<P> {
        &self.history.operations[op]
    }

    fn view(&self, rests: bool, until: u64) -> View {
        let bits = |which: &dyn Fn(&Operation<P>) -> bool| {
            let all = self.history.operations.iter().enumerate();
            all.filter(|(_, operation)| which(operation))
                .fold(0, |set, (op, _)| set | 1 << op)
        };
        View {
            called: bits(&|operation| operation.invoked <= until),
            answered: bits(&|operation| operation.ret.is_some() && operation.returned <= until),
            rests,
            free: None,
        }
    }

    fn whole(&self) -> View {
        self.view(self.history.rests, u64::MAX)
    }

    /// Searches; `None` when there are too many states.
    fn walk(&self, view: View) -> Option<Walked<P>> {
        let mut nodes = vec![Node {
            done: 0,
            state: self.spec.clone(),
            answer: None,
            from: None,
        }];
        let mut open = vec![0];
        let mut seen = HashSet::from([(0, self.spec.clone(), None)]);
        let (mut longest, mut answers, mut explained) = (0, Vec::new(), None);
        let mut ends = HashSet::new();
        while let Some(at) = open.pop() {
            if nodes.len() as u64 > self.states {
                return None;
            }
            if nodes[at].done.count_ones() > nodes[longest].done.count_ones() {
                longest = at;
            }
            if self.is_end(&nodes[at], view) {
                explained = Some(at);
                ends.extend(nodes[at].answer);
                if view.free.is_none() {
                    break;
                }
                continue;
            }
            // Likely orders come last, since the last one is visited first.
            let mut next: Vec<usize> = (0..self.history.operations.len()).collect();
            next.sort_by_key(|op| std::cmp::Reverse(self.operation(*op).returned));
            for op in next {
                let done = nodes[at].done;
                let is_ready = self.history.predecessors[op] & !done == 0;
                if view.called & !done & 1 << op == 0 || !is_ready {
                    continue;
                }
                for (state, answer) in self.ways(&nodes[at], op, view, &mut answers) {
                    let done = done | 1 << op;
                    if seen.insert((done, state.clone(), answer)) {
                        open.push(nodes.len());
                        nodes.push(Node {
                            done,
                            state,
                            answer,
                            from: Some((at, op)),
                        });
                    }
                }
            }
        }
        let end = explained.unwrap_or(longest);
        let mut order = Vec::new();
        let mut at = end;
        while let Some((from, op)) = nodes[at].from {
            order.push(op);
            at = from;
        }
        order.reverse();
        Some(Walked {
            explained: explained.is_some(),
            order,
            answers: (answers.into_iter().enumerate())
                .filter_map(|(at, answer)| ends.contains(&at).then_some(answer))
                .collect(),
        })
    }

    /// Whether the node explains all that is to be explained.
    fn is_end(&self, node: &Node<P>, view: View) -> bool {
        let waits = |op: usize| node.state.waits(&self.operation(op).op);
        let pending = (0..self.history.operations.len())
            .filter(|op| view.called & !view.answered & 1 << op != 0 && view.free != Some(*op));
        view.answered & !node.done == 0
            && (view.free.is_none() || node.answer.is_some())
            && (!view.rests || pending.into_iter().all(waits))
    }

    /// The states to which the operation may lead from there.
    fn ways(
        &self,
        node: &Node<P>,
        op: usize,
        view: View,
        answers: &mut Vec<P::Ret>,
    ) -> Vec<(P, Option<usize>)> {
        let operation = self.operation(op);
        let (is_free, is_answered) = (view.free == Some(op), view.answered & 1 << op != 0);
        let mut ways = Vec::new();
        // At rest what is pending has no effect.
        if !is_free && !is_answered && view.rests {
            return ways;
        }
        if !node.state.waits(&operation.op) {
            let mut state = node.state.clone();
            let ret = state.apply(&operation.op);
            if is_free {
                let known = answers.iter().position(|answer| *answer == ret);
                let at = known.unwrap_or(answers.len());
                if known.is_none() {
                    answers.push(ret);
                }
                ways.push((state, Some(at)));
            } else if !is_answered || operation.ret.as_ref() == Some(&ret) {
                ways.push((state, node.answer));
            }
        }
        if let Some(ret) = operation.ret.as_ref().filter(|_| is_answered && !is_free)
            && node.state.declines(&operation.op, ret)
        {
            ways.push((node.state.clone(), node.answer));
        }
        ways
    }

    /// Why the history is illegal: the first answer, in the order of returns, with which it is. `None` when there are
    /// too many states.
    fn explain(&self) -> Option<String> {
        let mut returns: Vec<(u64, usize)> = Vec::new();
        for (op, operation) in self.history.operations.iter().enumerate() {
            returns.extend(operation.ret.is_some().then_some((operation.returned, op)));
        }
        returns.sort_unstable();
        let mut before = self.walk(self.view(false, 0))?;
        for (until, culprit) in returns {
            let view = self.view(false, until);
            let walked = self.walk(view)?;
            if !walked.explained {
                let answers = self.walk(View {
                    answered: view.answered & !(1 << culprit),
                    free: Some(culprit),
                    ..view
                })?;
                return Some(self.told(culprit, &before, &answers.answers));
            }
            before = walked;
        }
        Some(self.hung(&before))
    }

    /// The text for an answer that no order explains.
    fn told(&self, culprit: usize, before: &Walked<P>, answers: &[P::Ret]) -> String {
        let mut text = format!(
            "not linearizable: no order of the operations explains the answer of\n  {}\n",
            self.operation(culprit).told()
        );
        let answers: Vec<String> = answers.iter().map(|answer| format!("{answer:?}")).collect();
        match answers.as_slice() {
            [] => text += "The specification has it wait.\n",
            all => {
                let _ = writeln!(text, "The specification allows: {}", all.join(", "));
            }
        }
        text += "An order that explains the answers before it:\n";
        self.tell(before, &mut text);
        text
    }

    /// The text for a wait without end.
    fn hung(&self, before: &Walked<P>) -> String {
        let mut text =
            "hang: these wait for ever, and no order of the other operations explains that\n"
                .to_owned();
        for operation in self.history.operations.iter().filter(|o| o.ret.is_none()) {
            let _ = writeln!(text, "  {}", operation.told());
        }
        text += "An order that explains the answers, after which it need not wait:\n";
        // At rest what is pending has no effect, so this order is one of answers alone.
        let answers = self.walk(View {
            called: self.whole().answered,
            ..self.view(false, u64::MAX)
        });
        self.tell(answers.as_ref().unwrap_or(before), &mut text);
        text
    }

    /// The operations of an order, one a line, with the states between them.
    fn tell(&self, walked: &Walked<P>, text: &mut String) {
        let mut state = self.spec.clone();
        let _ = writeln!(text, "  {:<40} {state:?}", "at first");
        for op in &walked.order {
            let operation = self.operation(*op);
            let is_declined = operation.ret.as_ref().is_some_and(|ret| {
                let mut tried = state.clone();
                state.waits(&operation.op) || tried.apply(&operation.op) != *ret
            });
            if !is_declined {
                state.apply(&operation.op);
            }
            let _ = writeln!(text, "  {:<40} {state:?}", operation.told());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::program::Program;

    /// A number; `true` takes one where there is one, and `false` adds one.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Permits(u8);

    impl Sequential for Permits {
        type Op = bool;
        type Ret = u8;

        fn waits(&self, takes: &bool) -> bool {
            *takes && self.0 == 0
        }

        fn apply(&mut self, takes: &bool) -> u8 {
            self.0 = if *takes { self.0 - 1 } else { self.0 + 1 };
            self.0
        }

        fn declines(&self, _takes: &bool, ret: &u8) -> bool {
            *ret == 9
        }
    }

    /// Threads of operations with their answers, and when the threads make their steps.
    fn history(
        threads: Vec<Vec<(bool, Option<u8>)>>,
        turns: &[usize],
        rests: bool,
    ) -> History<Permits> {
        let calls = |ops: &Vec<(bool, Option<u8>)>| ops.iter().map(|(takes, _)| *takes).collect();
        let program = Program::new(vec![], threads.iter().map(calls).collect(), vec![]);
        let mut operations = Vec::new();
        let mut number = 0;
        let mut left: Vec<Vec<Operation<Permits>>> = Vec::new();
        for (thread, ops) in threads.into_iter().enumerate() {
            let mut own = Vec::new();
            for (op, ret) in ops {
                own.push(Operation {
                    number,
                    thread: thread + 1,
                    op,
                    ret,
                    invoked: 0,
                    returned: u64::MAX,
                });
                number += 1;
            }
            own.reverse();
            left.push(own);
        }
        let mut open: Vec<Option<Operation<Permits>>> = left.iter().map(|_| None).collect();
        let all = turns.iter().copied().chain(0..100);
        for (stamp, turn) in (1..).zip(all) {
            let thread = turn % left.len();
            match open[thread].take() {
                Some(operation) if operation.ret.is_none() => open[thread] = Some(operation),
                Some(operation) => operations.push(Operation {
                    returned: stamp,
                    ..operation
                }),
                None => {
                    let next = left[thread].pop();
                    open[thread] = next.map(|next| Operation {
                        invoked: stamp,
                        ..next
                    });
                }
            }
        }
        operations.extend(open.into_iter().flatten());
        History::new(&program, operations, rests)
    }

    /// Tries every order of the operations, and remembers nothing.
    fn plainly(history: &History<Permits>, done: u64, state: &Permits) -> bool {
        let all = || history.operations.iter().enumerate();
        let explained = all().all(|(op, o)| match o.ret {
            Some(_) => done & 1 << op != 0,
            None => !history.rests || state.waits(&o.op),
        });
        explained
            || all().any(|(op, o)| {
                let is_open = done & 1 << op == 0 && history.predecessors[op] & !done == 0;
                if !is_open || o.ret.is_none() && history.rests {
                    return false;
                }
                let next = done | 1 << op;
                let declined = o.ret.is_some_and(|ret| state.declines(&o.op, &ret));
                let mut after = state.clone();
                declined && plainly(history, next, state)
                    || !state.waits(&o.op)
                        && {
                            let ret = after.apply(&o.op);
                            o.ret.is_none_or(|told| told == ret)
                        }
                        && plainly(history, next, &after)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]
        #[test]
        fn its_verdict_is_that_of_trying_every_order(
            threads in vec(vec((any::<bool>(), prop_oneof![
                8 => (0..3_u8).prop_map(Some), 1 => Just(Some(9)), 1 => Just(None)
            ]), 1..=3), 1..=3),
            turns in vec(0..3_usize, 0..20),
            rests in any::<bool>(),
        ) {
            let history = history(threads, &turns, rests);
            let verdict = judge(&Permits(1), &history, 100_000);
            match plainly(&history, 0, &Permits(1)) {
                true => prop_assert_eq!(verdict, Verdict::Legal),
                false => prop_assert!(matches!(verdict, Verdict::Illegal(_)), "{verdict:?}"),
            }
        }
    }

    #[test]
    fn an_answer_without_an_order_is_told_with_those_that_have_one() {
        let threads = vec![
            vec![(false, Some(1)), (true, Some(2))],
            vec![(false, Some(2))],
        ];
        // The second thread adds while the first one takes.
        let history = history(threads, &[0, 0, 0, 1, 1, 0], false);
        let Verdict::Illegal(why) = judge(&Permits(0), &history, 1_000) else {
            panic!("it is illegal")
        };
        let lines: Vec<&str> = why.lines().collect();
        assert_eq!(lines[1], "  1 true -> 2", "{why}");
        // Before the addition that was answered with 2 it would have taken that one's permit.
        assert_eq!(lines[2], "The specification allows: 1", "{why}");
    }

    #[test]
    fn a_wait_that_the_specification_ends_is_a_hang() {
        let threads = vec![vec![(true, None)], vec![(false, Some(1))]];
        let history = history(threads, &[0, 1, 1], true);
        let verdict = judge(&Permits(0), &history, 1_000);
        let Verdict::Illegal(why) = &verdict else {
            panic!("{verdict:?}")
        };
        assert!(
            why.starts_with("hang: ") && why.contains("0 true -> pending"),
            "{why}"
        );
        assert_eq!(judge(&Permits(0), &history, 1), Verdict::Undecided);
    }
}
