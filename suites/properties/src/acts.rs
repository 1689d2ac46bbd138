//! Operations as the threads of a model do them. Each begins after a random pause ([`World::perturb`]), so that real
//! threads interleave in many ways. Answers that every model expects are judged here.

use crate::design::{Channels, Clause, Rx, Tx};
use std::time::Duration;

use flowmeter_harness::channel::{
    AltsError, Buffer, Chosen, Message, Offered, Order, Patience, Polled,
};
use flowmeter_harness::sync::{Note, world};

/// Runs `act` and records it for the picture of the execution.
fn said<R>(what: &str, act: impl FnOnce() -> R) -> R {
    world::note(|| Note::Called(what.to_owned()));
    let answer = act();
    world::note(|| Note::Answered("done".to_owned()));
    answer
}

/// Puts to an open channel.
pub(super) fn put<T: Message>(tx: &mut Tx<T>, value: T) {
    world::perturb();
    let accepted = said("put", || tx.put(value).is_ok());
    holds!(accepted, "C1: a put on an open channel was refused");
}

/// Takes from an open channel.
pub(super) fn take<T: Message>(rx: &mut Rx<T>) -> T {
    world::perturb();
    let taken = said("take", || rx.take());
    taken.unwrap_or_else(|_| violated!("C2: a take found an open channel closed"))
}

/// Offers.
pub(super) fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
    world::perturb();
    said("offer", || tx.offer(value))
}

/// Closes.
pub(super) fn close<T: Message>(tx: &Tx<T>) -> bool {
    world::perturb();
    said("close", || tx.close())
}

/// An alts that is run once.
pub(super) fn alts<T: Message>(
    channels: Channels,
    clauses: &[Clause<'_, T>],
    order: Order,
    slots: &mut [Option<T>],
    patience: Patience,
) -> Result<Chosen<T>, AltsError> {
    world::perturb();
    said("alts", || {
        channels
            .clauses(clauses)
            .prepare(order)
            .run(slots, patience)
    })
}

/// How often the threads of one execution meet. With real threads, starting them costs more than many meetings; a
/// checker explores each meeting.
pub(super) fn turns() -> usize {
    if world::name() == "std" { 64 } else { 1 }
}

/// Nothing is in the channel, and no put waits on it.
#[track_caller]
pub(super) fn is_empty<T: Message>(rx: &mut Rx<T>, otherwise: &str) {
    holds!(matches!(rx.poll(), Polled::WouldWait), "{otherwise}");
}

/// How many values the buffer stores before a put waits: none where there is no buffer, or no bound.
pub(super) fn room(buffer: Buffer) -> usize {
    match buffer {
        Buffer::Fixed(room) => room.get(),
        _ => 0,
    }
}

/// Fills the buffer with 0, 1, … and says how many values that took.
pub(super) fn fill(tx: &mut Tx<u32>, buffer: Buffer) -> u32 {
    let room = room(buffer) as u32;
    for value in 0..room {
        assert_eq!(tx.offer(value), Offered::Done);
    }
    room
}

/// How long before a deadline that races an operation. Under std, where the clock runs, it is any time that an
/// operation may take; elsewhere the checker decides when the deadline passes.
pub(super) fn edge_after() -> Duration {
    match world::name() {
        "std" => Duration::from_nanos(world::choose(8_192) as u64),
        _ => Duration::from_micros(50),
    }
}
