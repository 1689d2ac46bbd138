//! Compares the judge with a search through every explanation, on all small histories and on random larger ones.

use std::num::NonZeroUsize;

use super::generate::Random;
use super::search::explainable;
use super::small::{Part, assemble, each_assembly, each_order, members};
use crate::channel::Buffer;
use crate::check::fifo::Outcome::{Put, Take, TakeUnknown};
use crate::check::fifo::{History, Operation};

const BUFFERS: [Buffer; 7] = [
    Buffer::Unbounded,
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::fixed(3),
    Buffer::Dropping(NonZeroUsize::MIN),
    Buffer::Sliding(NonZeroUsize::MIN),
];

/// Whether the judge accepts. If it rejects, its witness alone must be illegal too.
fn accepted(operations: &[Operation], buffer: Buffer) -> bool {
    let judge = |operations: &[Operation]| {
        let history = History::new(operations).expect("the test's history is well formed");
        history.judge(buffer)
    };
    let Err(rejection) = judge(operations) else {
        return true;
    };
    // For these ids the witness may depend on operations that are left out of it.
    if !["C3", "C6"].contains(&rejection.violation.id) {
        let witness: Vec<Operation> = rejection.witness.iter().map(|&i| operations[i]).collect();
        assert!(judge(&witness).is_err(), "{rejection} of {operations:?}");
    }
    false
}

/// The verdicts of the judge and of the search on the same histories.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    histories: u64,
    impossible: u64,
    missed: u64,
}

/// One count per buffer. A history that can be explained is never rejected. Where the judge is exact, it misses
/// nothing.
#[derive(Default)]
struct Comparison([Count; BUFFERS.len()]);

impl Comparison {
    fn compare(&mut self, operations: &[Operation]) {
        for (buffer, count) in BUFFERS.into_iter().zip(&mut self.0) {
            let possible = explainable(operations, buffer);
            let accepted = accepted(operations, buffer);
            assert!(
                accepted || !possible,
                "a false alarm on {buffer:?}: {operations:?}"
            );
            let missed = accepted && !possible;
            assert!(
                !missed || !is_exact(buffer, operations),
                "missed on {buffer:?}: {operations:?}"
            );
            count.histories += 1;
            count.impossible += u64::from(!possible);
            count.missed += u64::from(missed);
        }
    }

    fn missed(&self) -> [u64; BUFFERS.len()] {
        for (buffer, count) in BUFFERS.into_iter().zip(self.0) {
            println!("{buffer:?}: {count:?}");
            let both = count.impossible > 0 && count.impossible < count.histories;
            assert!(both, "the histories for {buffer:?} say nothing");
        }
        self.0.map(|count| count.missed)
    }
}

/// Whether the judge is exact here, as the documentation of its module says.
fn is_exact(buffer: Buffer, operations: &[Operation]) -> bool {
    let only_values = |o: &Operation| matches!(o.outcome, Put(_) | Take(_));
    match buffer {
        Buffer::Unbounded | Buffer::Rendezvous => !operations
            .iter()
            .any(|operation| operation.outcome == TakeUnknown),
        Buffer::Fixed(room) => room.get() == 1 && operations.iter().all(only_values),
        Buffer::Dropping(_) | Buffer::Sliding(_) => false,
    }
}

/// All histories of up to `most` operations, with or without a take that was never answered.
fn compare_all(most: usize, unknown: bool) -> Comparison {
    let mut comparison = Comparison::default();
    each_assembly(most, &mut |parts| {
        if parts.contains(&Part::Alone(TakeUnknown)) == unknown {
            each_order(&mut assemble(parts), &mut |history| {
                comparison.compare(history)
            });
        }
    });
    comparison
}

/// Histories of up to eight operations that a queue produced, half of them forged, with simultaneous stamps.
fn compare_random(seed: u64, histories: u64) -> Comparison {
    let mut random = Random::new(seed);
    let mut comparison = Comparison::default();
    for _ in 0..histories {
        let length = 3 + random.below(6) as usize;
        let (room, width) = (1 + random.below(3) as usize, 1 + random.below(8));
        let may_end = random.below(2) == 0;
        let mut history = random.explainable(length, room, width, may_end);
        if random.below(2) == 0 {
            random.forge(&mut history);
        }
        comparison.compare(&history);
    }
    comparison
}

#[test]
fn all_histories_of_four_operations() {
    // The numbers of missed histories are pinned for each buffer, so that a change is noticed.
    let answered = compare_all(4, false).missed();
    let unknown = compare_all(4, true).missed();
    assert_eq!(answered, [0, 0, 123, 14, 0, 1055, 927]);
    assert_eq!(unknown, [14, 103, 58, 14, 14, 61, 55]);
}

/// Of the histories that differ in the names of their values only, one is compared.
#[test]
fn all_ways_of_three_values() {
    let mut comparison = Comparison::default();
    each_order(&mut assemble(&[Part::PutAndTake; 3]), &mut |history| {
        let puts = history.iter().filter(|it| matches!(it.outcome, Put(_)));
        if !puts.is_sorted_by_key(|put| put.invoke) {
            return;
        }
        comparison.compare(history);
        let possible = explainable(history, Buffer::fixed(2));
        assert_eq!(some_order_fits(history, 2), possible, "{history:?}");
    });
    assert_eq!(comparison.missed(), [0; BUFFERS.len()]);
}

#[test]
fn random_histories_of_eight_operations() {
    let missed = compare_random(1, 10_000).missed();
    assert_eq!(missed, [3, 102, 51, 37, 12, 108, 197]);
}

#[test]
#[ignore = "minutes"]
fn all_histories_of_five_operations() {
    compare_all(5, false).missed();
    compare_all(5, true).missed();
}

#[test]
#[ignore = "minutes"]
fn many_random_histories_of_eight_operations() {
    compare_random(2, 500_000).missed();
}

/// Like [`compare_random`], with up to six values that are all put and taken, and nothing else.
#[test]
#[ignore = "minutes"]
fn many_random_ways_of_six_values() {
    let mut random = Random::new(3);
    let mut comparison = Comparison::default();
    for _ in 0..200_000 {
        let mut history = assemble(&[Part::PutAndTake; 6][..4 + random.below(3) as usize]);
        for operation in &mut history {
            let value = u64::from(operation.thread / 2);
            operation.invoke = 2 * value + random.below(6);
            operation.returned = operation.invoke + random.below(10);
        }
        comparison.compare(&history);
    }
    comparison.missed();
}

/// For values that are all put and taken: whether some order of them is possible, if everything happens as soon as it
/// can. Much faster than the search.
fn some_order_fits(history: &[Operation], room: usize) -> bool {
    fn extend(
        values: &[&[Operation]],
        room: usize,
        moments: &mut Vec<[u64; 2]>,
        left: u32,
    ) -> bool {
        left == 0
            || members(left).any(|next| {
                let [put, take] = [values[next][0], values[next][1]];
                let [put_before, take_before] = moments.last().copied().unwrap_or_default();
                let roomy = moments
                    .len()
                    .checked_sub(room)
                    .map_or(0, |gone| moments[gone][1]);
                let put_at = put.invoke.max(put_before).max(roomy);
                let take_at = take.invoke.max(take_before).max(put_at);
                if put.returned < put_at || take.returned < take_at {
                    return false;
                }
                moments.push([put_at, take_at]);
                let fits = extend(values, room, moments, left & !(1 << next));
                moments.pop();
                fits
            })
    }
    let values: Vec<&[Operation]> = history.chunks(2).collect();
    extend(&values, room, &mut Vec::new(), (1 << values.len()) - 1)
}

#[test]
#[ignore = "minutes"]
fn all_ways_of_four_values() {
    let fixed = [1, 2, 3].map(|room| (Buffer::fixed(room), room));
    let mut missed = [0; 4];
    each_order(&mut assemble(&[Part::PutAndTake; 4]), &mut |history| {
        // Values are interchangeable: one order of them stands for all.
        let stamps = |value: &[Operation]| [0, 1].map(|i| (value[i].invoke, value[i].returned));
        if !history.chunks(2).is_sorted_by_key(stamps) {
            return;
        }
        let buffers = [(Buffer::Unbounded, usize::MAX)].into_iter().chain(fixed);
        for ((buffer, room), missed) in buffers.zip(&mut missed) {
            let (possible, accepted) = (some_order_fits(history, room), accepted(history, buffer));
            assert!(
                accepted || !possible,
                "a false alarm on {buffer:?}: {history:?}"
            );
            *missed += u64::from(accepted && !possible);
        }
    });
    // Unbounded, and room for one, two and three.
    assert_eq!(missed, [0, 0, 3418, 0]);
}
