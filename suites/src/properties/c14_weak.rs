//! C14: weak producers keep nothing open, and become producers while there is one.

use flowmeter_harness::channel::{Buffer, Offered, Polled, WeakProducers};
use flowmeter_harness::sync::World;

use super::acts::{having, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c14-weak-producers",
    statement: "A weak producer keeps no channel open, and becomes a producer while there is another.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: WeakProducers, W: World>() -> Vec<Case> {
    having::<C>(&[Buffer::fixed(1), Buffer::Unbounded])
        .flat_map(|buffer| {
            [
                Case::new(format!("keeps nothing open, {buffer}"), move || {
                    keeps_nothing_open::<C>(buffer)
                }),
                Case::new(format!("becomes a producer, {buffer}"), move || {
                    becomes_a_producer::<C>(buffer)
                }),
                Case::new(format!("the last producer goes, {buffer}"), move || {
                    (0..turns::<W>()).for_each(|_| races_the_last::<C, W>(buffer))
                }),
            ]
        })
        .collect()
}

fn keeps_nothing_open<C: WeakProducers>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let weak = C::downgrade(&tx);
    holds_eq!(C::offer(&mut tx, 1), Offered::Done, "C14: an open channel");
    drop(tx);
    holds!(
        C::upgrade(&weak).is_none(),
        "C14: a weak producer became a producer after the last"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::Done(1),
        "C14: a buffered value went with its producer"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::Closed,
        "C14: a weak producer kept its channel open"
    );
}

fn becomes_a_producer<C: WeakProducers>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let weak = C::downgrade(&tx);
    let mut further = C::upgrade(&weak).unwrap_or_else(|| violated!("C14: a producer lives"));
    drop(tx);
    holds_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "C14: one producer is left"
    );
    holds_eq!(
        C::offer(&mut further, 1),
        Offered::Done,
        "C14: one producer is left"
    );
    assert_eq!(C::poll(&mut rx), Polled::Done(1));
    drop(further);
    holds_eq!(C::poll(&mut rx), Polled::Closed, "C14: no producer is left");
}

/// Whoever becomes a producer in time finds the channel open; nobody does later.
fn races_the_last<C: WeakProducers, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let weak = C::downgrade(&tx);
    let dropping = W::spawn(move || {
        W::perturb();
        drop(tx);
    });
    W::perturb();
    let upgraded = C::upgrade(&weak);
    if let Some(mut tx) = upgraded {
        holds_eq!(
            C::offer(&mut tx, 1),
            Offered::Done,
            "C14: a channel ended beside a producer"
        );
        assert_eq!(C::poll(&mut rx), Polled::Done(1));
    }
    W::join(dropping);
    holds_eq!(C::poll(&mut rx), Polled::Closed, "C14: no producer is left");
    holds!(
        C::upgrade(&weak).is_none(),
        "C14: a weak producer became a producer after the last"
    );
}
