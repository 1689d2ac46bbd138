//! Deduces precedence beyond what the history states, once and before the search, so that the search does not discover
//! it by failing.
//!
//! On a channel that keeps all values in line, puts take effect in the order of their takes. An answer "nothing there"
//! falls before, between or after two values. So for values u and v that were both taken, and for an answer e that
//! found nothing:
//!
//! - the put of v precedes the take of v;
//! - the put of u precedes that of v exactly if the take of u precedes that of v;
//! - the put of u precedes e exactly if the take of u precedes e.
//!
//! A value that was never taken counts as taken after everything else. An operation that must precede itself cannot be
//! explained. Deductions cover only values with exactly one certain put and one certain take, on channels without
//! cancelled takes, which may put a value back in line.

use crate::history::{Answer, Clause, History, Storage};
use crate::spec::Rules;

/// The put and the take of one value.
#[derive(Clone, Copy, Debug)]
struct Passage {
    put: usize,
    take: Option<usize>,
}

/// For each operation the set of operations that precede it, transitively closed; `None` if one would precede itself.
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

/// Adds the predecessors of predecessors.
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

/// The certain facts about one channel.
struct Line {
    passages: Vec<Passage>,
    /// Takes that found nothing.
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

    /// Whether anything new was deduced; `None` if a value that was never taken would have to be taken.
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
