//! C14: weak producers do not keep a channel open. One becomes a producer as long as another producer exists.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer                   weak producer
//! drops the last handle
//!                            upgrade -> a producer of a closed channel
//!
//!                            upgrade -> a producer
//! drops its own handle
//!                            offer 1 -> closed: a producer exists
//!
//! producer                   weak producer 1            weak producer 2
//! drops the last handle
//!                            counts itself in
//!                                                       upgrade -> a producer: it took the count of the other for one
//!                            upgrade -> none
//! ```

use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::sync::world;

use super::acts::turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c14-weak-producers",
    statement: "A weak producer keeps no channel open, and becomes a producer while there is another.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.weakens() {
        return Vec::new();
    }
    let mut cases: Vec<Case> = channels
        .having(&[Buffer::fixed(1), Buffer::Unbounded])
        .flat_map(|buffer| {
            [
                Case::new(format!("keeps nothing open, {buffer}"), move || {
                    keeps_nothing_open(channels, buffer)
                }),
                Case::new(format!("becomes a producer, {buffer}"), move || {
                    becomes_a_producer(channels, buffer)
                }),
                Case::new(format!("the last producer goes, {buffer}"), move || {
                    (0..turns()).for_each(|_| races_the_last(channels, buffer))
                }),
            ]
        })
        .collect();
    // Loom has no room for three threads that upgrade.
    if world::name() != "loom" {
        let buffers = [Buffer::fixed(2 * UPGRADES), Buffer::Unbounded];
        cases.extend(channels.having(&buffers).map(|buffer| {
            Case::new(format!("several upgrades, {buffer}"), move || {
                (0..turns()).for_each(|_| several_upgrades(channels, buffer))
            })
        }));
    }
    cases
}

/// How often each of two threads upgrades.
const UPGRADES: usize = 2;

fn keeps_nothing_open(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let weak = tx.downgrade();
    holds_eq!(tx.offer(1), Offered::Done, "C14: an open channel");
    drop(tx);
    holds!(
        weak.upgrade().is_none(),
        "C14: a weak producer became a producer after the last"
    );
    holds_eq!(
        rx.poll(),
        Polled::Done(1),
        "C14: a buffered value went with its producer"
    );
    holds_eq!(
        rx.poll(),
        Polled::Closed,
        "C14: a weak producer kept its channel open"
    );
}

fn becomes_a_producer(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let weak = tx.downgrade();
    let mut further = weak
        .upgrade()
        .unwrap_or_else(|| violated!("C14: a producer lives"));
    drop(tx);
    holds_eq!(rx.poll(), Polled::WouldWait, "C14: one producer is left");
    holds_eq!(further.offer(1), Offered::Done, "C14: one producer is left");
    assert_eq!(rx.poll(), Polled::Done(1));
    drop(further);
    holds_eq!(rx.poll(), Polled::Closed, "C14: no producer is left");
}

/// An upgrade that succeeds finds the channel open. After the last producer is gone, no upgrade succeeds.
fn races_the_last(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let weak = tx.downgrade();
    let dropping = world::spawn(move || {
        world::perturb();
        drop(tx);
    });
    world::perturb();
    let upgraded = weak.upgrade();
    if let Some(mut tx) = upgraded {
        holds_eq!(
            tx.offer(1),
            Offered::Done,
            "C14: a channel ended beside a producer"
        );
        assert_eq!(rx.poll(), Polled::Done(1));
    }
    world::join(dropping);
    holds_eq!(rx.poll(), Polled::Closed, "C14: no producer is left");
    holds!(
        weak.upgrade().is_none(),
        "C14: a weak producer became a producer after the last"
    );
}

/// As [`races_the_last`], with upgrades on two threads. Each finds the channel open or none, and what each has put is
/// there.
fn several_upgrades(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let upgrading = [tx.downgrade(), tx.downgrade()].map(|weak| {
        world::spawn(move || {
            let mut count = 0;
            for _ in 0..UPGRADES {
                world::perturb();
                let Some(mut tx) = weak.upgrade() else {
                    break;
                };
                holds_eq!(
                    tx.offer(1),
                    Offered::Done,
                    "C14: a channel ended beside a producer"
                );
                count += 1;
            }
            (weak, count)
        })
    });
    world::perturb();
    drop(tx);
    let upgraded = upgrading.map(world::join);
    for _ in 0..upgraded.iter().map(|(_, count)| count).sum() {
        holds_eq!(rx.poll(), Polled::Done(1), "C14: a value of a producer");
    }
    holds_eq!(rx.poll(), Polled::Closed, "C14: no producer is left");
    for (weak, _) in &upgraded {
        holds!(
            weak.upgrade().is_none(),
            "C14: a weak producer became a producer after the last"
        );
    }
}
