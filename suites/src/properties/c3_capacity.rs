//! C3: a full buffer makes a put wait, an empty one a take; it is full exactly at its capacity.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Offered, Polled};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c3-capacity",
    statement: "A buffer admits exactly as many values as its capacity, and then a put would wait.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    [1usize, 2, 3, 64]
        .into_iter()
        .filter(|capacity| C::open::<u64>(Buffer::fixed(*capacity)).is_some())
        .map(|capacity| {
            Case::new(format!("fixed({capacity})"), move || {
                fill_and_drain::<C>(capacity)
            })
        })
        .collect()
}

fn fill_and_drain<C: Channels>(capacity: usize) {
    let (mut tx, mut rx) = C::open::<usize>(Buffer::fixed(capacity)).expect("asked before");
    // Three times round, so that an index that wraps is seen wrapping.
    for round in 0..3 {
        assert_eq!(
            C::poll(&mut rx),
            Polled::WouldWait,
            "C3: an empty channel had a value"
        );
        for value in 0..capacity {
            let offered = C::offer(&mut tx, round * capacity + value);
            assert_eq!(
                offered,
                Offered::Done,
                "C3: value {value} of {capacity} found no room"
            );
        }
        let offered = C::offer(&mut tx, usize::MAX);
        assert_eq!(
            offered,
            Offered::WouldWait(usize::MAX),
            "C3: room for more than {capacity}"
        );
        for value in 0..capacity {
            assert_eq!(
                C::poll(&mut rx),
                Polled::Done(round * capacity + value),
                "C2: out of order"
            );
        }
    }
}

/// Cases with a put that waits, polled by hand.
pub(super) fn waiting_cases<C: Async>() -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]
        .into_iter()
        .filter(|buffer| C::open::<u32>(*buffer).is_some())
        .map(|buffer| {
            Case::new(format!("a put waits, {buffer}"), move || {
                waits_for_room::<C>(buffer)
            })
        })
        .collect()
}

/// A put waits while there is no room and no longer: one take answers it.
fn waits_for_room<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut filled = 0;
    if let Buffer::Fixed(room) = buffer {
        for _ in 0..room.get() {
            assert_eq!(C::offer(&mut tx, filled), Offered::Done);
            filled += 1;
        }
    }
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut put = pin!(C::put_async(&mut tx, filled));
        for _ in 0..2 {
            assert!(
                put.as_mut().poll(&mut context).is_pending(),
                "C3: a put without room"
            );
        }
        assert_eq!(C::poll(&mut rx), Polled::Done(0), "C2: out of order");
        assert_eq!(
            put.as_mut().poll(&mut context),
            Poll::Ready(Ok(())),
            "C3: a take made room, and the put waits on"
        );
    }
    for value in 1..=filled {
        assert_eq!(C::poll(&mut rx), Polled::Done(value), "C2: out of order");
    }
    assert_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "C2: a put that had waited was taken twice"
    );
}
