//! Examples of every rejection, and arbitrary input. The full comparison is in [`comparison`].

mod comparison;
mod generate;
mod search;
mod small;

use proptest::prelude::*;

use super::Outcome::{Close, Put, PutClosed, PutFull, Take, TakeClosed, TakeEmpty, TakeUnknown};
use super::{History, NEVER, Operation, Outcome, Rejection};
use crate::channel::Buffer;
use crate::check::dual::decide;
use crate::history::{self, Answer, Call};
use crate::spec::Rules;

/// A history of intervals, each by a thread of its own.
fn history<const N: usize>(operations: [(Outcome, u64, u64); N]) -> [Operation; N] {
    let mut threads = 0..;
    operations.map(|(outcome, invoke, returned)| Operation {
        thread: threads.next().expect("there are threads enough"),
        invoke,
        returned,
        outcome,
    })
}

fn judge<const N: usize>(
    buffer: Buffer,
    operations: [(Outcome, u64, u64); N],
) -> Result<(), Rejection> {
    let operations = history(operations);
    let history = History::new(&operations).expect("the example is well formed");
    history.judge(buffer)
}

/// The id and the witness of a rejection.
fn rejected<const N: usize>(
    buffer: Buffer,
    operations: [(Outcome, u64, u64); N],
) -> (&'static str, Vec<usize>) {
    let rejection = judge(buffer, operations).expect_err("this cannot be explained");
    (rejection.violation.id, rejection.witness)
}

#[test]
fn overtaking_is_c2_and_names_both_values() {
    let operations = [
        (Put(7), 0, 1),
        (Put(9), 2, 3),
        (Take(9), 4, 5),
        (Take(7), 6, 7),
    ];
    let rejection = judge(Buffer::Unbounded, operations).expect_err("9 overtook 7");
    assert_eq!(rejection.witness, [0, 3, 1, 2]);
    assert_eq!(
        rejection.to_string(),
        "C2: put(7) by thread 0 [0, 1] was over before put(9) by thread 1 [2, 3], but there was take of 9 by \
         thread 2 [4, 5], and only then take of 7 by thread 3 [6, 7]"
    );
    let [first, second, early, _] = operations;
    assert_eq!(
        rejected(Buffer::Unbounded, [first, second, early]),
        ("C2", vec![0, 1, 2])
    );
}

#[test]
fn a_take_before_its_put_is_c2() {
    for buffer in [Buffer::Unbounded, Buffer::Rendezvous] {
        let early = [(Take(1), 0, 1), (Put(1), 2, 3)];
        assert_eq!(rejected(buffer, early), ("C2", vec![1, 0]));
    }
    let nowhere = [(Take(1), 0, 1)];
    assert_eq!(rejected(Buffer::Unbounded, nowhere), ("C2", vec![0]));
    let twice = [(Put(1), 0, 1), (Take(1), 2, 3), (Take(1), 2, 3)];
    assert_eq!(rejected(Buffer::Unbounded, twice), ("C2", vec![1, 2]));
}

#[test]
fn a_poll_that_would_wait_needs_an_empty_moment() {
    // Value 1 is there at first, 2 arrives before 1 leaves, and so on: the queue is never empty.
    let relay = [
        (Put(1), 0, 1),
        (Put(2), 2, 4),
        (Take(1), 5, 8),
        (Take(2), 9, 9),
        (TakeEmpty, 2, 8),
    ];
    assert_eq!(
        rejected(Buffer::Unbounded, relay),
        ("C5", vec![4, 0, 2, 1, 3])
    );
    let [put, other_put, take, other_take, _] = relay;
    let later = [put, other_put, take, other_take, (TakeEmpty, 2, 9)];
    assert_eq!(judge(Buffer::Unbounded, later), Ok(()));
}

#[test]
fn closed_with_a_value_left_is_c2() {
    let left = [(Put(1), 0, 1), (Close, 2, 3), (TakeClosed, 4, 5)];
    assert_eq!(rejected(Buffer::Unbounded, left), ("C2", vec![2, 0]));
}

#[test]
fn the_close_has_one_moment() {
    let nobody = [(TakeClosed, 0, 1)];
    assert_eq!(rejected(Buffer::Unbounded, nobody), ("C6", vec![0]));
    let before = [(PutClosed, 0, 1), (Close, 2, 3)];
    assert_eq!(rejected(Buffer::fixed(1), before), ("C6", vec![1, 0]));
    let accepted_after = [(Close, 0, 1), (Put(1), 2, 3), (Take(1), 4, 5)];
    assert_eq!(
        rejected(Buffer::Unbounded, accepted_after),
        ("C6", vec![1, 2, 0])
    );
    let open_after = [(Close, 0, 5), (TakeClosed, 0, 1), (TakeEmpty, 2, 3)];
    assert_eq!(rejected(Buffer::Unbounded, open_after), ("C6", vec![2, 1]));
    let rendezvous = [
        (Close, 1, 2),
        (TakeClosed, 3, 4),
        (Put(1), 0, 6),
        (Take(1), 5, 6),
    ];
    assert_eq!(rejected(Buffer::Rendezvous, rendezvous).0, "C6");
}

#[test]
fn one_value_too_many_is_c3() {
    let two = [(Put(1), 0, 1), (Put(2), 2, 3), (Take(1), 4, 5)];
    assert_eq!(rejected(Buffer::fixed(1), two), ("C3", vec![0, 2, 1]));
    assert_eq!(judge(Buffer::fixed(2), two), Ok(()));
    // No rule says when 2 was in the buffer, but it must have been between 3 and 4.
    let between = [
        (Put(1), 0, 1),
        (Take(1), 6, 7),
        (Put(2), 0, 4),
        (Take(2), 3, 9),
    ];
    assert_eq!(
        rejected(Buffer::fixed(1), between),
        ("C3", vec![2, 3, 0, 1])
    );
    assert_eq!(judge(Buffer::fixed(2), between), Ok(()));
}

#[test]
fn an_offer_refused_as_full_needs_a_full_moment() {
    let full = [(Put(1), 0, 5), (Take(1), 6, 9), (PutFull, 2, 3)];
    assert_eq!(judge(Buffer::fixed(1), full), Ok(()));
    assert_eq!(rejected(Buffer::fixed(2), full), ("C5", vec![2]));
    assert_eq!(rejected(Buffer::Unbounded, full), ("C5", vec![2]));
}

#[test]
fn an_offer_may_be_refused_for_a_put_that_was_dropped() {
    let answered = [
        (Put(1), 0, 1),
        (Take(1), 4, 5),
        (PutFull, 6, 7),
        (TakeEmpty, 8, 9),
        (Put(3), 10, 11),
        (Take(3), 12, 13),
    ];
    assert_eq!(rejected(Buffer::fixed(1), answered), ("C5", vec![2]));
    let [put, take, full, empty, next, last] = answered;
    let dropped = (Put(2), 2, NEVER);
    let held = [put, dropped, take, full, empty, next, last];
    assert_eq!(judge(Buffer::fixed(1), held), Ok(()));
}

#[test]
fn a_rendezvous_that_did_not_overlap_is_c1() {
    let apart = [(Put(1), 0, 1), (Take(1), 2, 3)];
    assert_eq!(rejected(Buffer::Rendezvous, apart), ("C1", vec![0, 1]));
    assert_eq!(
        rejected(Buffer::Rendezvous, [(Put(1), 0, 1)]),
        ("C1", vec![0])
    );
    let lost = [(Put(1), 0, 3), (TakeUnknown, 2, NEVER)];
    assert_eq!(judge(Buffer::Rendezvous, lost), Ok(()));
}

#[test]
fn what_is_no_history_is_refused() {
    let refused = [
        &history([(Put(1), 3, 2)])[..],
        &history([(Put(1), NEVER, NEVER)]),
        &history([(Take(1), 0, NEVER), (Put(1), 0, 1)]),
        &history([(Put(1), 0, 1), (Put(1), 2, 3)]),
    ];
    for operations in refused {
        assert!(History::new(operations).is_err(), "{operations:?}");
    }
}

fn arbitrary_operation() -> impl Strategy<Value = Operation> {
    let outcome = prop_oneof![
        (0..8_u64).prop_map(Put),
        (0..8_u64).prop_map(Take),
        any::<u64>().prop_map(Put),
        Just(PutFull),
        Just(PutClosed),
        Just(TakeEmpty),
        Just(TakeClosed),
        Just(TakeUnknown),
        Just(Close),
    ];
    let stamp = || prop_oneof![4 => 0..20_u64, 1 => Just(NEVER), 1 => Just(NEVER - 1)];
    (any::<u32>(), stamp(), stamp(), outcome, any::<bool>()).prop_map(
        |(thread, one, other, outcome, sorted)| Operation {
            thread,
            invoke: if sorted { one.min(other) } else { one },
            returned: if sorted { one.max(other) } else { other },
            outcome,
        },
    )
}

fn arbitrary_buffer() -> impl Strategy<Value = Buffer> {
    let room = prop_oneof![1..4_usize, Just(usize::MAX)];
    (room, 0..5).prop_map(|(room, kind)| {
        let room = std::num::NonZeroUsize::new(room).expect("room starts at one");
        match kind {
            0 => Buffer::Rendezvous,
            1 => Buffer::Fixed(room),
            2 => Buffer::Dropping(room),
            3 => Buffer::Sliding(room),
            _ => Buffer::Unbounded,
        }
    })
}

#[test]
fn a_put_that_asked_before_the_close_leaves_a_poll_to_wait() {
    let late = [(Close, 2, 3), (TakeEmpty, 4, 5), (Put(1), 0, NEVER)];
    assert!(judge(Buffer::Unbounded, late).is_ok());
    let no_put = [(Close, 2, 3), (TakeEmpty, 4, 5), (Put(1), 0, 1)];
    assert!(judge(Buffer::Unbounded, no_put).is_err());
}

proptest! {
    #[test]
    fn nothing_panics(
        operations in prop::collection::vec(arbitrary_operation(), 0..24),
        buffer in arbitrary_buffer(),
    ) {
        // Most inputs should be readable histories: unreadable operations are left out, then the whole input is tried.
        let readable: Vec<Operation> = operations
            .iter()
            .copied()
            .filter(|operation| History::new(&[*operation]).is_ok())
            .collect();
        for operations in [readable, operations] {
            if let Ok(history) = History::new(&operations)
                && let Err(rejection) = history.judge(buffer)
            {
                prop_assert!(!rejection.to_string().is_empty());
                prop_assert!(rejection.witness.iter().all(|&index| index < operations.len()));
            }
        }
    }

    /// Tier three rejects what tier two rejects.
    #[test]
    fn the_specification_explains_nothing_that_is_rejected(
        operations in prop::collection::vec(arbitrary_operation(), 0..7),
        buffer in arbitrary_buffer(),
    ) {
        let operations: Vec<Operation> = operations
            .into_iter()
            .filter(|operation| History::new(&[*operation]).is_ok())
            .collect();
        if let Ok(history) = History::new(&operations)
            && let Err(rejection) = history.judge(buffer)
        {
            for put in [Answer::Pending, Answer::Cancelled] {
                let explained = decide(&whole(&operations, buffer, put), Rules::STRICT, 20_000);
                prop_assert_ne!(explained, Ok(true), "{}: {:?}", rejection, operations);
            }
        }
    }
}

/// The same history for tier three, each operation by a thread of its own. `put` is the answer of puts without one.
fn whole(operations: &[Operation], buffer: Buffer, put: Answer) -> history::History {
    let clause = 0;
    let mut whole = history::History::new([buffer.into()]);
    let told = operations.iter().enumerate().map(|(thread, operation)| {
        let other = u32::MAX - thread as u32;
        let (call, answer) = match operation.outcome {
            Put(value) => (Call::put(0, value as u32), Answer::Accepted { clause }),
            PutFull => (Call::offer(0, other), Answer::WouldWait),
            PutClosed => (Call::put(0, other), Answer::Refused { clause }),
            Take(value) => {
                let value = value as u32;
                (Call::take(0), Answer::Took { clause, value })
            }
            TakeEmpty => (Call::poll(0), Answer::WouldWait),
            TakeClosed => (Call::take(0), Answer::Ended { clause }),
            TakeUnknown => (Call::take(0), Answer::Pending),
            Close => (Call::Close(0), Answer::Closed),
        };
        history::Operation {
            thread,
            call,
            answer: match (operation.returned, operation.outcome) {
                (NEVER, Put(_)) => put,
                (NEVER, _) => Answer::Pending,
                _ => answer,
            },
            invoked: operation.invoke,
            returned: operation.returned,
        }
    });
    whole.operations = told.collect();
    whole
}
