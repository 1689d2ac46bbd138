//! A bounded channel from one thread to another: a ring. No put or take makes a read-modify-write while both sides run.
//!
//! That there is one producer and one consumer is a matter of types: neither half can be cloned, and puts and takes need
//! `&mut`. So each count is written by one thread, and storing it is enough (`ring`). A thread that finds the ring full or
//! empty looks again for a while, and then sleeps (`sleeper`). With room for 32 or more, how long it waits first follows what
//! earlier waits brought (`pace`).
//!
//! Beside `lock_free` it shows what further producers and consumers, alts and tasks cost a channel.
//!
//! # What it does not have
//!
//! - Further halves: they would write the same words.
//! - A rendezvous, or another buffer than `fixed`.
//! - Alts: a clause would have to reserve a slot and give it back.
//! - A close while both halves live. Only dropping a half ends the channel. A put that has seen an open channel may still
//!   be storing its value, and a take that saw a close by the consumer would miss it.
//! - Futures. What tasks do while they wait costs more than the read-modify-writes that are saved here.
//! - An order among several channels. Where each of two threads puts into one channel and then tries to take from the one
//!   that the other thread puts into, both may find nothing.

mod ring;
mod sleeper;

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError, PutUntilError,
    TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use self::ring::{Emptying, Filling, Room, Stored, ring};
use self::sleeper::Sleeper;
use super::pace::Pace;
use crate::sync::{clock, is_taken_apart, wait_costs};

/// The family of [`Tx`] and [`Rx`].
///
/// All slots are allocated when a channel is opened. A room that memory does not suffice for panics or aborts there, as a
/// `Vec` of that capacity.
#[derive(Clone, Copy, Debug)]
pub struct SpscRing;

/// The half that puts. Dropping it closes the channel. Values in the ring can still be taken.
pub struct Tx<T> {
    side: Filling<T, Sleepers>,
    pace: Pace,
}

/// The half that takes. Dropping it closes the channel and drops the values in the ring. A value that is put meanwhile is
/// dropped with the producer.
pub struct Rx<T> {
    side: Emptying<T, Sleepers>,
    pace: Pace,
}

/// Where the halves sleep.
struct Sleepers {
    /// Waits for room.
    putter: Sleeper,
    /// Waits for a value.
    taker: Sleeper,
}

/// Puts the value, and wakes the taker.
#[inline]
fn put_in<T>(room: Room<'_, T, Sleepers>, value: T) {
    room.fill(value, |sleepers| sleepers.taker.wake());
}

/// Takes the value, and wakes the putter.
#[inline]
fn take_out<T>(stored: Stored<'_, T, Sleepers>) -> T {
    stored.take(|sleepers| sleepers.putter.wake())
}

/// A half that may have to wait.
trait Half {
    fn sleeper(&self) -> &Sleeper;

    /// Whether its operation would still wait.
    fn waits(&mut self) -> bool;

    /// How many values it can put or take without waiting, as it last saw, and the room.
    fn at_hand(&self) -> (usize, usize);

    /// How it waits.
    fn pace(&mut self) -> &mut Pace;
}

/// Waits. Returns `false` if the deadline passed first.
#[cold]
#[inline(never)]
fn wait(half: &mut impl Half, deadline: Deadline) -> bool {
    let mut spin = half.pace().spin();
    loop {
        // With a deadline the thread does not yield: it would get its core back too late.
        let looks_again = if deadline == Deadline::NEVER {
            spin.again_before_sleep_at_word()
        } else {
            spin.again()
        };
        if !looks_again {
            let announced = half.sleeper().announce();
            if half.waits() {
                announced.park_until(deadline);
            }
            half.sleeper().withdraw();
        }
        let has_passed = clock::has_passed(deadline);
        if !half.waits() {
            if deadline == Deadline::NEVER {
                let (came, room) = half.at_hand();
                match spin.is_in_first_turn() {
                    true => half.pace().adapt(came, room),
                    false => half.pace().shorten(),
                }
            }
            return true;
        }
        if has_passed {
            return false;
        }
    }
}

impl<T> Half for Tx<T> {
    fn sleeper(&self) -> &Sleeper {
        &self.side.shared().putter
    }

    fn waits(&mut self) -> bool {
        matches!(self.side.room(), Polled::WouldWait)
    }

    fn at_hand(&self) -> (usize, usize) {
        self.side.at_hand()
    }

    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }
}

impl<T> Half for Rx<T> {
    fn sleeper(&self) -> &Sleeper {
        &self.side.shared().taker
    }

    fn waits(&mut self) -> bool {
        matches!(self.side.stored(), Polled::WouldWait)
    }

    fn at_hand(&self) -> (usize, usize) {
        self.side.at_hand()
    }

    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }
}

impl Channels for SpscRing {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        let Buffer::Fixed(room) = buffer else {
            return None;
        };
        // The first call of a process starts a thread that measures, and then asks Linux for `membarrier`. Until the system
        // agrees, on one core and on other systems, each put and take passes a fence.
        let _ = wait_costs();
        let sleepers = Sleepers {
            putter: Sleeper::new(),
            taker: Sleeper::new(),
        };
        let (filling, emptying) = ring(room.get(), sleepers);
        let pace = Pace::default();
        let tx = Tx {
            side: filling,
            pace,
        };
        let rx = Rx {
            side: emptying,
            pace,
        };
        Some((tx, rx))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        match tx.side.room() {
            Polled::Done(room) => {
                put_in(room, value);
                Offered::Done
            }
            Polled::Closed => Offered::Closed(value),
            Polled::WouldWait => Offered::WouldWait(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        match rx.side.stored() {
            Polled::Done(stored) => Polled::Done(take_out(stored)),
            Polled::Closed => Polled::Closed,
            Polled::WouldWait => Polled::WouldWait,
        }
    }
}

impl Blocking for SpscRing {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
        loop {
            match tx.side.room() {
                Polled::Done(room) => {
                    put_in(room, value);
                    return Ok(());
                }
                Polled::Closed => return Err(PutError::Closed(Some(value))),
                Polled::WouldWait => wait(tx, Deadline::NEVER),
            };
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
        loop {
            match rx.side.stored() {
                Polled::Done(stored) => return Ok(take_out(stored)),
                Polled::Closed => return Err(TakeError::Closed),
                Polled::WouldWait => wait(rx, Deadline::NEVER),
            };
        }
    }
}

impl PutDeadline for SpscRing {
    fn put_until<T: Message>(
        tx: &mut Tx<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        loop {
            match tx.side.room() {
                Polled::Done(room) => {
                    put_in(room, value);
                    return Ok(());
                }
                Polled::Closed => return Err(PutUntilError::Put(PutError::Closed(Some(value)))),
                Polled::WouldWait => {
                    if !wait(tx, deadline) {
                        return Err(PutUntilError::TimedOut(value));
                    }
                }
            }
        }
    }
}

impl TakeDeadline for SpscRing {
    fn take_until<T: Message>(rx: &mut Rx<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        loop {
            match rx.side.stored() {
                Polled::Done(stored) => return Ok(take_out(stored)),
                Polled::Closed => return Err(TakeUntilError::Take(TakeError::Closed)),
                Polled::WouldWait => {
                    if !wait(rx, deadline) {
                        return Err(TakeUntilError::TimedOut);
                    }
                }
            }
        }
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        self.side.close();
        self.side.shared().taker.wake();
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        self.side.close();
        self.side.shared().putter.wake();
        self.side.clear();
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_consumer_that_leaves_drops_what_was_put() {
        let value = Arc::new(());
        let (mut tx, rx) = SpscRing::open(Buffer::fixed(2)).expect("a fixed buffer");
        SpscRing::put(&mut tx, Arc::clone(&value)).expect("a consumer");
        drop(rx);
        assert_eq!(Arc::strong_count(&value), 1, "beside a producer that lives");
    }
}
