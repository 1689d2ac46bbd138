use super::search::explainable;
use super::*;
use crate::channel::Buffer;
use Outcome::*;

const BUFFERS: [Buffer; 6] = [
    Buffer::Unbounded,
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Dropping(std::num::NonZeroUsize::MIN),
    Buffer::Sliding(std::num::NonZeroUsize::MIN),
];

fn accepted(operations: &[Operation], buffer: Buffer) -> bool {
    let history = History::new(operations).expect("the test's history is well formed");
    history.judge(buffer).is_ok()
}

/// What the judge and the search thought of the same histories.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    histories: u64,
    impossible: u64,
    missed: u64,
}

/// One count a buffer; nothing is ever convicted that can be explained, and of the exact buffers nothing missed.
#[derive(Default)]
struct Comparison([Count; BUFFERS.len()]);

impl Comparison {
    fn compare(&mut self, operations: &[Operation]) {
        let exact = !operations.iter().any(|o| o.outcome == TakeUnknown);
        for (buffer, count) in BUFFERS.into_iter().zip(&mut self.0) {
            let (possible, accepted) = (
                explainable(operations, buffer),
                accepted(operations, buffer),
            );
            assert!(
                accepted || !possible,
                "a false alarm on {buffer:?}: {operations:?}"
            );
            let exact = exact && matches!(buffer, Buffer::Unbounded | Buffer::Rendezvous);
            assert!(
                possible || !accepted || !exact,
                "missed on {buffer:?}: {operations:?}"
            );
            count.histories += 1;
            count.impossible += u64::from(!possible);
            count.missed += u64::from(accepted && !possible);
        }
    }

    fn report(&self) {
        for (buffer, count) in BUFFERS.into_iter().zip(self.0) {
            println!("{buffer:?}: {count:?}");
        }
    }
}

/// What a small history is made of; the last number is how many operations that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
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

/// The operations of some parts, without stamps but for those that never return.
fn assemble(parts: &[Part]) -> Vec<Operation> {
    let mut operations = Vec::new();
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
fn each_assembly(most: usize, visit: &mut dyn FnMut(&[Part])) {
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

/// Every order of the intervals of these operations, once: runs of calls and runs of returns take turns, and
/// which operations are in a run is all that matters.
fn each_order(operations: &mut [Operation], visit: &mut dyn FnMut(&[Operation])) {
    fn subsets(of: u32) -> impl Iterator<Item = u32> {
        let mut next = Some(of);
        std::iter::from_fn(move || {
            let subset = next?;
            next = (subset != 0).then(|| (subset - 1) & of);
            Some(subset).filter(|&subset| subset != 0)
        })
    }
    fn run(
        ops: &mut [Operation],
        at: u64,
        idle: u32,
        open: u32,
        visit: &mut dyn FnMut(&[Operation]),
    ) {
        for called in subsets(idle) {
            stamp(ops, called, |o| o.invoke = at);
            let (idle, open) = (idle & !called, open | called);
            let answered = open & returning(ops);
            if idle == 0 {
                // Nothing more is called, so all that is open ends together.
                stamp(ops, answered, |o| o.returned = at + 1);
                visit(ops);
                continue;
            }
            for ended in subsets(answered) {
                stamp(ops, ended, |o| o.returned = at + 1);
                run(ops, at + 2, idle, open & !ended, visit);
            }
        }
    }
    fn stamp(ops: &mut [Operation], which: u32, set: impl Fn(&mut Operation)) {
        let chosen = ops
            .iter_mut()
            .enumerate()
            .filter(|(i, _)| which & (1 << i) != 0);
        chosen.for_each(|(_, operation)| set(operation));
    }
    fn returning(ops: &[Operation]) -> u32 {
        let which = ops.iter().enumerate().filter(|(_, o)| o.returned != NEVER);
        which.map(|(i, _)| 1 << i).sum()
    }
    let all = (1 << operations.len()) - 1;
    run(operations, 0, all, 0, visit);
}

fn compare_exhaustively(most: usize) -> Comparison {
    let mut comparison = Comparison::default();
    each_assembly(most, &mut |parts| {
        each_order(&mut assemble(parts), &mut |operations| {
            comparison.compare(operations)
        });
    });
    comparison
}

#[test]
fn every_order_of_intervals_is_visited_once() {
    // The labelled interval orders, https://oeis.org/A079144.
    for (size, orders) in [(1, 1), (2, 3), (3, 19), (4, 207), (5, 3451)] {
        let mut seen = 0;
        each_order(&mut assemble(&vec![Part::PutUntaken; size]), &mut |_| {
            seen += 1
        });
        assert_eq!(seen, orders, "of {size} operations");
    }
}

#[test]
fn the_search_agrees_on_every_history_of_four_operations() {
    let comparison = compare_exhaustively(4);
    comparison.report();
    assert!(
        comparison
            .0
            .iter()
            .all(|count| count.impossible > 0 && count.impossible < count.histories)
    );
}

#[test]
#[ignore = "minutes"]
fn the_search_agrees_on_every_history_of_five_operations() {
    compare_exhaustively(5).report();
}

#[test]
fn the_search_agrees_on_every_passage_of_three_values() {
    let mut comparison = Comparison::default();
    each_order(&mut assemble(&[Part::PutAndTake; 3]), &mut |operations| {
        comparison.compare(operations)
    });
    comparison.report();
}
