//! Compares the search with a plain enumeration of all states that any steps lead to. The enumeration uses neither the
//! search's reductions nor its fingerprints. Histories and alphabets are small.

use std::collections::{BTreeSet, HashSet};

use super::{ACCEPTED, ENDED, REFUSED, took};
use crate::channel::{Order, Patience};
use crate::check::dual::search::{Found, Search, is_answer, rests};
use crate::history::{Answer, Call, Clause, History, Operation, Storage};
use crate::spec::{Channel, Progress, Rules, Spec, State, Step};
use crate::sync::{Deadline, split_mix};

type Seen = HashSet<(Vec<Channel>, Vec<Progress>)>;

/// Whether some order of steps explains the history.
pub(super) fn enumerate(history: &History, rules: Rules) -> bool {
    let spec = Spec::of(history, rules);
    let predecessors = history.predecessors();
    go_on(
        history,
        &spec,
        &predecessors,
        &spec.start(),
        &mut Seen::new(),
    )
}

fn go_on(
    history: &History,
    spec: &Spec,
    predecessors: &[u64],
    state: &State,
    seen: &mut Seen,
) -> bool {
    if !seen.insert((state.channels.clone(), state.operations.clone())) {
        return false;
    }
    let count = history.operations.len();
    let done = (0..count)
        .filter(|op| state.operations[*op].outcome.is_some())
        .fold(0u64, |set, op| set | 1 << op);
    let answered = |op: usize| history.operations[op].answer != Answer::Pending;
    if (0..count).all(|op| !answered(op) || done & 1 << op != 0)
        && (!history.quiescent || rests(spec, history, state))
    {
        return true;
    }
    let begun: Vec<usize> = (0..count)
        .filter(|op| done & 1 << op == 0 && predecessors[*op] & !done == 0)
        .collect();
    let mut steps = Vec::new();
    for &op in &begun {
        steps.extend([Step::GiveUp(op), Step::Cancel(op), Step::Close(op)]);
        for clause in 0..spec.calls()[op].clauses().len() {
            let port = (op, clause);
            steps.extend([Step::Request(port), Step::Store(port), Step::Receive(port)]);
            steps.extend([Step::Reserve(port), Step::Refuse(port), Step::End(port)]);
            if spec.may_need_to_look(op) {
                steps.push(Step::Look(port));
            }
            for &other in &begun {
                for take in 0..spec.calls()[other].clauses().len() {
                    let take = (other, take);
                    steps.push(Step::Meet { put: port, take });
                }
            }
        }
    }
    steps.into_iter().any(|step| {
        if !spec.may(state, step) {
            return false;
        }
        let mut next = state.clone();
        spec.apply(&mut next, step)
            && (0..count).all(|op| {
                next.operations[op]
                    .outcome
                    .is_none_or(|outcome| is_answer(history, op, outcome))
            })
            && go_on(history, spec, predecessors, &next, seen)
    })
}

/// All ways in which `count` operations, called in their order, can precede each other, each once: the stamps of calls
/// and returns.
fn orders(count: usize) -> Vec<Vec<(u64, u64)>> {
    fn extend(open: Vec<(u64, u64)>, now: u64, count: usize, all: &mut Vec<Vec<(u64, u64)>>) {
        if open.len() == count && open.iter().all(|(_, returned)| *returned < u64::MAX) {
            all.push(open);
            return;
        }
        if open.len() < count {
            let mut next = open.clone();
            next.push((now, u64::MAX));
            extend(next, now + 1, count, all);
        }
        for at in 0..open.len() {
            if open[at].1 == u64::MAX {
                let mut next = open.clone();
                next[at].1 = now;
                extend(next, now + 1, count, all);
            }
        }
    }
    let mut all = Vec::new();
    extend(Vec::new(), 1, count, &mut all);
    let mut seen = BTreeSet::new();
    all.retain(|order| {
        let precedes = order
            .iter()
            .map(|(_, a)| order.iter().map(|(b, _)| a < b).collect());
        seen.insert(precedes.collect::<Vec<Vec<bool>>>())
    });
    all
}

/// A history of the operations with these numbers in the alphabet, in that order.
fn compose(
    channels: &[Storage],
    alphabet: &[(Call, Answer)],
    order: &[(u64, u64)],
    mut number: usize,
) -> History {
    let mut history = History::new(channels);
    for (thread, (invoked, returned)) in order.iter().enumerate() {
        let (call, answer) = alphabet[number % alphabet.len()].clone();
        number /= alphabet.len();
        // A second put of the same value puts a value of its own.
        let again = history.operations.iter().filter(|o| o.call == call).count() as u32;
        let call = match call {
            Call::Alts {
                clauses,
                order,
                patience,
            } => {
                let fresh = |clause: Clause| match clause {
                    Clause::Put { channel, value } => Clause::put(channel, value + 10 * again),
                    take => take,
                };
                Call::alts(
                    clauses.into_iter().map(fresh).collect::<Vec<_>>(),
                    order,
                    patience,
                )
            }
            close => close,
        };
        let pending = answer == Answer::Pending;
        history.operations.push(Operation {
            thread,
            call,
            answer,
            invoked: *invoked,
            returned: if pending { u64::MAX } else { *returned },
        });
    }
    history
}

/// Compares every `stride`-th of all histories of that length. Returns how many were legal, and of how many.
fn compare(
    channels: &[Storage],
    alphabet: &[(Call, Answer)],
    length: usize,
    stride: usize,
    rules: Rules,
) -> (usize, usize) {
    let words = alphabet.len().pow(length as u32);
    let orders = orders(length);
    let (mut legal, mut count) = (0, 0);
    // Strides vary around the mean, so that they do not repeat modulo the alphabet.
    let mut at = 0;
    while at < words * orders.len() {
        let mut history = compose(channels, alphabet, &orders[at / words], at % words);
        for quiescent in [false, true] {
            history.quiescent = quiescent;
            let expected = enumerate(&history, rules);
            let found = Search::new(&history, rules, u64::MAX).run();
            assert_eq!(
                found == Found::Explained,
                expected,
                "{channels:?} {rules:?} at rest {quiescent}\n{}",
                crate::history::columns(&history)
            );
            legal += usize::from(expected);
            count += 1;
        }
        at += 1 + split_mix(at as u64) as usize % (2 * stride - 1);
    }
    (legal, count)
}

const STORAGES: [Storage; 5] = [
    Storage::Rendezvous,
    Storage::Fixed(1),
    Storage::Dropping(1),
    Storage::Sliding(1),
    Storage::Promise,
];

/// Every call and answer on one channel.
fn one_channel() -> Vec<(Call, Answer)> {
    let close = |answer| (Call::Close(0), answer);
    let mut alphabet = vec![close(Answer::Closed), close(Answer::Pending)];
    for answer in [ACCEPTED, REFUSED, Answer::Pending, Answer::Cancelled] {
        alphabet.push((Call::put(0, 1), answer));
    }
    for answer in [took(1), took(11), ENDED, Answer::Pending, Answer::Cancelled] {
        alphabet.push((Call::take(0), answer));
    }
    for answer in [ACCEPTED, REFUSED, Answer::WouldWait] {
        alphabet.push((Call::offer(0, 2), answer));
    }
    for answer in [took(1), took(2), ENDED, Answer::WouldWait] {
        alphabet.push((Call::poll(0), answer));
    }
    alphabet
}

/// Alts over two channels, with and without priority, and their counterparts.
fn two_channels() -> Vec<(Call, Answer)> {
    let now = Patience::Now;
    let soon = Patience::Until(Deadline::from_nanos(1));
    let crossed = [Clause::put(0, 3), Clause::take(1)];
    let takes = [Clause::take(0), Clause::take(1)];
    let alts = |clauses, order, patience| Call::alts(clauses, order, patience);
    let second = |value| Answer::Took { clause: 1, value };
    vec![
        (Call::Close(0), Answer::Closed),
        (Call::put(0, 1), ACCEPTED),
        (Call::put(1, 2), ACCEPTED),
        (Call::put(1, 2), Answer::Pending),
        (Call::take(0), took(3)),
        (Call::offer(1, 4), ACCEPTED),
        (Call::poll(0), Answer::WouldWait),
        (alts(crossed, Order::Random, Patience::Forever), ACCEPTED),
        (alts(crossed, Order::Random, Patience::Forever), second(2)),
        (alts(crossed, Order::Priority, Patience::Forever), second(2)),
        (alts(crossed, Order::Priority, soon), second(4)),
        (alts(crossed, Order::Random, Patience::Forever), REFUSED),
        (alts(takes, Order::Priority, Patience::Forever), second(2)),
        (alts(takes, Order::Random, Patience::Forever), took(1)),
        (
            alts(takes, Order::Random, Patience::Forever),
            Answer::Pending,
        ),
        (
            alts(takes, Order::Random, Patience::Forever),
            Answer::Cancelled,
        ),
        (alts(takes, Order::Random, soon), Answer::TimedOut),
        (alts(takes, Order::Random, now), Answer::WouldWait),
        (alts(crossed, Order::Random, now), Answer::WouldWait),
    ]
}

/// The same, over one channel that stands in both clauses.
fn itself() -> Vec<(Call, Answer)> {
    let both = [Clause::put(0, 3), Clause::take(0)];
    let alts = |order, patience| Call::alts(both, order, patience);
    let second = |value| Answer::Took { clause: 1, value };
    vec![
        (Call::Close(0), Answer::Closed),
        (Call::put(0, 1), ACCEPTED),
        (Call::put(0, 1), Answer::Pending),
        (Call::take(0), took(3)),
        (Call::take(0), Answer::Pending),
        (alts(Order::Random, Patience::Forever), ACCEPTED),
        (alts(Order::Random, Patience::Forever), REFUSED),
        (alts(Order::Priority, Patience::Forever), second(1)),
        (alts(Order::Random, Patience::Forever), second(3)),
        (alts(Order::Random, Patience::Forever), second(13)),
        (
            alts(Order::Priority, Patience::Forever),
            Answer::Ended { clause: 1 },
        ),
        (alts(Order::Random, Patience::Forever), Answer::Pending),
        (alts(Order::Random, Patience::Now), Answer::WouldWait),
    ]
}

/// Compares one in `stride` histories on one channel and one in `alts_stride` histories with alts, of that length.
fn all(length: usize, stride: usize, alts_stride: usize) {
    let (mut legal, mut count) = (0, 0);
    let mut add = |channels: &[Storage], alphabet: &[(Call, Answer)], stride, rules| {
        let (more_legal, more) = compare(channels, alphabet, length, stride, rules);
        legal += more_legal;
        count += more;
    };
    for rules in [Rules::STRICT, Rules::WEAK] {
        for storage in STORAGES {
            add(&[storage], &one_channel(), stride, rules);
        }
        for storage in [Storage::Rendezvous, Storage::Fixed(1)] {
            add(&[storage; 2], &two_channels(), alts_stride, rules);
            add(&[storage], &itself(), alts_stride, rules);
        }
    }
    println!("length {length}: {legal} legal of {count}");
    assert!(legal > 0 && legal < count, "{legal} legal of {count}");
}

#[test]
fn orders_are_those_of_intervals() {
    // By labelled order of calls; without labels they are 1, 2, 5, 15 (Fishburn's numbers).
    let counts: Vec<usize> = (1..=4).map(|count| orders(count).len()).collect();
    assert_eq!(counts, [1, 2, 6, 24]);
}

#[test]
fn the_search_equals_enumeration_on_all_histories_of_one_or_two_operations() {
    all(1, 1, 1);
    all(2, 1, 1);
}

#[test]
fn the_search_equals_enumeration_on_some_histories_of_three_or_four_operations() {
    all(3, 160, 800);
    all(4, 20_000, 200_000);
}

#[test]
fn the_search_equals_enumeration_on_some_histories_of_five_or_six_operations() {
    all(5, 6_000_000, 600_000_000);
    all(6, 4_000_000_000, 1_000_000_000_000);
}

#[test]
#[ignore = "minutes"]
fn the_search_equals_enumeration_on_all_histories_of_three_operations() {
    all(3, 1, 1);
}
