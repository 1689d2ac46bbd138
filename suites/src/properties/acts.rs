//! Operations as the threads of a model do them: each begins at a moment of its own
//! ([`World::perturb`]), so that real threads meet in every way, and an answer that is the same in every
//! model is judged here.

use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, AltsError, Blocking, Buffer, Channels, Chosen, Clause, Message, Offered, Order, Patience,
    Polled,
};
use flowmeter_harness::sync::{Note, World};

/// Does it, and has a picture of the execution show when.
fn said<W: World, R>(what: &str, act: impl FnOnce() -> R) -> R {
    W::note(|| Note::Called(what.to_owned()));
    let answer = act();
    W::note(|| Note::Answered("done".to_owned()));
    answer
}

/// Puts to an open channel.
pub(super) fn put<C: Blocking, W: World, T: Message>(tx: &mut C::Tx<T>, value: T) {
    W::perturb();
    let accepted = said::<W, _>("put", || C::put(tx, value).is_ok());
    holds!(accepted, "C1: a put on an open channel was refused");
}

/// Takes from an open channel.
pub(super) fn take<C: Blocking, W: World, T: Message>(rx: &mut C::Rx<T>) -> T {
    W::perturb();
    let taken = said::<W, _>("take", || C::take(rx));
    taken.unwrap_or_else(|_| violated!("C2: a take found an open channel closed"))
}

/// Offers.
pub(super) fn offer<C: Channels, W: World, T: Message>(tx: &mut C::Tx<T>, value: T) -> Offered<T> {
    W::perturb();
    said::<W, _>("offer", || C::offer(tx, value))
}

/// Closes.
pub(super) fn close<C: Channels, W: World, T: Message>(tx: &C::Tx<T>) -> bool {
    W::perturb();
    said::<W, _>("close", || C::close(tx))
}

/// An alts that is run once.
pub(super) fn alts<C: Alts, W: World, T: Message>(
    clauses: &[Clause<'_, C, T>],
    order: Order,
    slots: &mut [Option<T>],
    patience: Patience,
) -> Result<Chosen<T>, AltsError> {
    W::perturb();
    said::<W, _>("alts", || {
        C::run(&mut C::prepare(clauses, order), slots, patience)
    })
}

/// How often the threads of one execution meet: starting them costs real threads more than many meetings,
/// and a checker explores each meeting.
pub(super) fn turns<W: World>() -> usize {
    if W::name() == "std" { 64 } else { 1 }
}

/// Nothing is in the channel, and no put waits on it.
#[track_caller]
pub(super) fn is_empty<C: Channels, T: Message>(rx: &mut C::Rx<T>, otherwise: &str) {
    holds!(matches!(C::poll(rx), Polled::WouldWait), "{otherwise}");
}

/// Whether the family has such a channel and its producer can close it.
pub(super) fn is_closable<C: Channels>(buffer: Buffer) -> bool {
    C::open::<u32>(buffer).is_some_and(|(tx, _rx)| C::close(&tx))
}

/// Of these buffers, those that the family has.
pub(super) fn having<C: Channels>(buffers: &[Buffer]) -> impl Iterator<Item = Buffer> + '_ {
    let has = |buffer: &Buffer| C::open::<u32>(*buffer).is_some();
    buffers.iter().copied().filter(has)
}

/// How many values it stores before a put waits: none where there is no buffer, or no bound.
pub(super) fn room(buffer: Buffer) -> usize {
    match buffer {
        Buffer::Fixed(room) => room.get(),
        _ => 0,
    }
}

/// Fills the buffer with 0, 1, … and says how many values that took.
pub(super) fn fill<C: Channels>(tx: &mut C::Tx<u32>, buffer: Buffer) -> u32 {
    let room = room(buffer) as u32;
    for value in 0..room {
        assert_eq!(C::offer(tx, value), Offered::Done);
    }
    room
}

/// How long before a deadline that is to be met by a race: under std any time that an operation may take,
/// for there the clock runs; elsewhere the checker decides when it passes.
pub(super) fn edge_after<W: World>() -> Duration {
    match W::name() {
        "std" => Duration::from_nanos(W::choose(8_192) as u64),
        _ => Duration::from_micros(50),
    }
}
