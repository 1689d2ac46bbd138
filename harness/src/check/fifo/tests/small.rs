//! All small histories: their operations, and every order of their intervals.

use crate::check::fifo::Outcome::{
    Close, Put, PutClosed, PutFull, Take, TakeClosed, TakeEmpty, TakeUnknown,
};
use crate::check::fifo::{NEVER, Operation, Outcome};

/// What a small history is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    PutAndTake,
    PutUntaken,
    PutUnanswered,
    PutUnansweredButTaken,
    Alone(Outcome),
}

const PARTS: [Part; 10] = [
    Part::PutAndTake,
    Part::PutUntaken,
    Part::PutUnanswered,
    Part::PutUnansweredButTaken,
    Part::Alone(TakeEmpty),
    Part::Alone(TakeClosed),
    Part::Alone(Close),
    Part::Alone(PutFull),
    Part::Alone(PutClosed),
    Part::Alone(TakeUnknown),
];

/// The operations of some parts. They have no stamps yet, except those that never return.
pub(super) fn assemble(parts: &[Part]) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut add = |outcome, returned| {
        let thread = operations.len() as u32;
        operations.push(Operation {
            thread,
            invoke: 0,
            returned,
            outcome,
        });
    };
    for (part, value) in parts.iter().zip(1..) {
        match *part {
            Part::PutAndTake => {
                add(Put(value), 0);
                add(Take(value), 0);
            }
            Part::PutUntaken => add(Put(value), 0),
            Part::PutUnanswered => add(Put(value), NEVER),
            Part::PutUnansweredButTaken => {
                add(Put(value), NEVER);
                add(Take(value), 0);
            }
            Part::Alone(TakeUnknown) => add(TakeUnknown, NEVER),
            Part::Alone(outcome) => add(outcome, 0),
        }
    }
    operations
}

/// Every multiset of parts of up to `most` operations.
pub(super) fn each_assembly(most: usize, visit: &mut dyn FnMut(&[Part])) {
    fn extend(parts: &mut Vec<Part>, from: usize, most: usize, visit: &mut dyn FnMut(&[Part])) {
        for (next, &part) in PARTS.iter().enumerate().skip(from) {
            parts.push(part);
            if assemble(parts).len() <= most {
                visit(parts);
                extend(parts, next, most, visit);
            }
            parts.pop();
        }
    }
    extend(&mut Vec::new(), 0, most, visit);
}

/// Every order of the intervals of these operations. Runs of calls and runs of returns alternate, and only the set of
/// operations in each run matters.
pub(super) fn each_order(operations: &mut [Operation], visit: &mut dyn FnMut(&[Operation])) {
    let all = (1 << operations.len()) - 1;
    each_run(operations, 0, all, 0, visit);
}

/// Continues with a run of calls. `idle` are the operations that were not called yet, `open` those that have not
/// returned.
fn each_run(
    operations: &mut [Operation],
    stamp: u64,
    idle: u32,
    open: u32,
    visit: &mut dyn FnMut(&[Operation]),
) {
    for called in subsets(idle) {
        for index in members(called) {
            operations[index].invoke = stamp;
        }
        let idle = idle & !called;
        let returning = |index: &usize| operations[*index].returned != NEVER;
        let open: u32 = members(open | called)
            .filter(returning)
            .map(|index| 1 << index)
            .sum();
        // Once no operation is left to call, all open ones return together.
        let ends = subsets(open).filter(|&ended| idle != 0 || ended == open);
        for ended in ends {
            for index in members(ended) {
                operations[index].returned = stamp + 1;
            }
            each_run(operations, stamp + 2, idle, open & !ended, visit);
        }
        if idle == 0 && open == 0 {
            visit(operations);
        }
    }
    if idle == 0 {
        visit(operations);
    }
}

/// Every subset but the empty one.
fn subsets(of: u32) -> impl Iterator<Item = u32> {
    let smaller = move |&subset: &u32| Some((subset - 1) & of).filter(|&next| next != 0);
    std::iter::successors(Some(of).filter(|&of| of != 0), smaller)
}

pub(super) fn members(of: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |index| of & (1 << index) != 0)
}

#[test]
fn every_order_of_intervals_is_visited_once() {
    // The labelled interval orders, https://oeis.org/A079144.
    for (size, orders) in [(1, 1), (2, 3), (3, 19), (4, 207), (5, 3451)] {
        let mut seen = std::collections::HashSet::new();
        let mut visits = 0;
        each_order(
            &mut assemble(&vec![Part::PutUntaken; size]),
            &mut |history| {
                visits += 1;
                seen.insert(history.to_vec());
            },
        );
        assert_eq!(
            (visits, seen.len()),
            (orders, orders),
            "of {size} operations"
        );
    }
}
