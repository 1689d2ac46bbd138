//! C3: a full buffer makes a put wait, an empty one a take; it is full exactly at its capacity.

use flowmeter_harness::channel::{Buffer, Channels, Offered, Polled};

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
    // Twice round, so that an index that wraps is seen wrapping.
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
