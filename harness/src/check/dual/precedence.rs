//! What must come before what, beyond what the history says: deduced once, so that the search does not find it out
//! by failing.
//!
//! On a channel that keeps all values in line, puts take effect in the order of their takes, and an answer
//! "nothing there" stands between two values or before or after both. So for values u and v that were both taken,
//! and an answer e that found nothing:
//!
//! - the put of v before the take of v;
//! - the put of u before that of v exactly if the take of u is before that of v;
//! - the put of u before e exactly if the take of u is before e.
//!
//! A value that nobody took counts as taken after everything. Whatever precedes itself cannot be explained at all.
//! Deduced are only statements about values whose one put and one take are certain, on channels without cancelled
//! takes, which may put a value back in line.

use crate::history::{Answer, Clause, History, Storage};
use crate::spec::Rules;

/// The way of one value.
#[derive(Clone, Copy, Debug)]
struct Passage {
    put: usize,
    take: Option<usize>,
}

/// The sets of the operations that precede each, with all that follows; none if some would precede itself.
pub(super) fn deduced(history: &History, rules: Rules) -> Option<Vec<u64>> {
    let mut before = history.predecessors();
    let lines: Vec<Line> = (0..history.channels.len())
        .filter_map(|channel| Line::of(history, channel, rules))
        .collect();
    for passage in lines.iter().flat_map(|line| &line.passages) {
        if let Some(take) = passage.take {
            before[take] |= 1 << passage.put;
        }
    }
    loop {
        close(&mut before);
        if (before.iter().enumerate()).any(|(op, before)| before & 1 << op != 0) {
            return None;
        }
        let mut changed = false;
        for line in &lines {
            changed |= line.deduce(&mut before)?;
        }
        if !changed {
            return Some(before);
        }
    }
}

/// Adds what precedes a predecessor.
fn close(before: &mut [u64]) {
    for middle in 0..before.len() {
        let earlier = before[middle];
        if earlier == 0 {
            continue;
        }
        for set in before.iter_mut() {
            if *set & 1 << middle != 0 {
                *set |= earlier;
            }
        }
    }
}

/// What is certain about one channel.
struct Line {
    passages: Vec<Passage>,
    /// Takes that were answered that nothing is there.
    empty: Vec<usize>,
}

impl Line {
    fn of(history: &History, channel: usize, rules: Rules) -> Option<Line> {
        if !matches!(
            history.channels[channel],
            Storage::Fixed(_) | Storage::Unbounded
        ) {
            return None;
        }
        let (mut puts, mut takes, mut empty) = (Vec::new(), Vec::new(), Vec::new());
        let mut unknown_take = false;
        for (op, operation) in history.operations.iter().enumerate() {
            let clauses = operation.call.clauses();
            for (at, clause) in clauses.iter().enumerate() {
                if clause.channel() != channel {
                    continue;
                }
                match (*clause, operation.answer) {
                    (Clause::Put { value, .. }, Answer::Accepted { clause }) if clause == at => {
                        puts.push((value, op, true));
                    }
                    (Clause::Put { value, .. }, Answer::Cancelled) => puts.push((value, op, false)),
                    (Clause::Put { value, .. }, Answer::Pending) if !history.quiescent => {
                        puts.push((value, op, false));
                    }
                    (Clause::Take { .. }, Answer::Took { clause, value }) if clause == at => {
                        takes.push((value, op));
                    }
                    (Clause::Take { .. }, Answer::Cancelled) => return None,
                    (Clause::Take { .. }, Answer::Pending) => unknown_take |= !history.quiescent,
                    (Clause::Take { .. }, Answer::WouldWait | Answer::TimedOut)
                        if clauses.len() == 1 =>
                    {
                        empty.push(op);
                    }
                    (Clause::Take { .. }, Answer::Ended { clause })
                        if clause == at && rules.keeps_buffered =>
                    {
                        empty.push(op);
                    }
                    _ => {}
                }
            }
        }
        puts.sort_unstable();
        takes.sort_unstable();
        let mut passages = Vec::with_capacity(puts.len());
        for same in puts.chunk_by(|one, other| one.0 == other.0) {
            let [(value, put, accepted)] = *same else {
                continue;
            };
            let first = takes.partition_point(|(taken, _)| *taken < value);
            match &takes[first..] {
                [(one, _), (other, _), ..] if *one == value && *other == value => {}
                [(taken, take), ..] if *taken == value => passages.push(Passage {
                    put,
                    take: Some(*take),
                }),
                _ if accepted && !unknown_take => passages.push(Passage { put, take: None }),
                _ => {}
            }
        }
        Some(Line { passages, empty })
    }

    /// Whether there was more to deduce; none if a value that nobody took would have to be taken.
    fn deduce(&self, before: &mut [u64]) -> Option<bool> {
        let mut changed = false;
        let mut precede = |before: &mut [u64], one: usize, other: usize| {
            changed |= before[other] & 1 << one == 0;
            before[other] |= 1 << one;
        };
        for (at, u) in self.passages.iter().enumerate() {
            for v in &self.passages[at + 1..] {
                for (u, v) in [(u, v), (v, u)] {
                    let puts = before[v.put] & 1 << u.put != 0;
                    match (u.take, v.take) {
                        (Some(first), Some(second)) => {
                            if puts {
                                precede(before, first, second);
                            } else if before[second] & 1 << first != 0 {
                                precede(before, u.put, v.put);
                            }
                        }
                        (Some(_), None) => precede(before, u.put, v.put),
                        (None, _) => {}
                    }
                }
            }
            for &empty in &self.empty {
                let put_before = before[empty] & 1 << u.put != 0;
                match u.take {
                    Some(take) if put_before => precede(before, take, empty),
                    Some(take) if before[take] & 1 << empty != 0 => {
                        precede(before, empty, u.put);
                    }
                    Some(_) => {}
                    None if put_before => return None,
                    None => precede(before, empty, u.put),
                }
            }
        }
        Some(changed)
    }
}
