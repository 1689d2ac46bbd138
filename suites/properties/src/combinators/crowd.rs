//! M4 to M6 on several threads: what comes and goes does so while values flow, on an executor of two threads.
//!
//! The smallest histories that violate them:
//!
//! ```text
//! source               tap 1                tap 2
//! 0, 1, 2                                   joins, gets 1, leaves
//!                      gets 0, 2            the 1 was put to the other tap only
//!
//! mix                  thread
//! its output is closed
//!                      adds an input, puts a value: true
//! ends                 the next put waits for ever: the input was kept
//!
//! thread 1             thread 2             publisher
//! subscribes to 1      subscribes to 1
//!                                           puts 11: one subscriber alone gets it
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowmeter_harness::channel::{Buffer, Message, Polled, PutError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::sync::world;

use super::{
    Case, Cases, Combinators, Design, Part, Property, Reliance, Rx, Spawner, Tx, all, open, put,
    room, take,
};
use crate::moving::Moving;

pub(in super::super) const MULT: Property = Property {
    name: "m4-crowd",
    statement: "Taps that come and go on other threads get each item from their first on once, and cost the others none.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(of_mult),
};

pub(in super::super) const MIX: Property = Property {
    name: "m5-crowd",
    statement: "Each value of inputs that come and go on other threads is delivered once or given back, also where the mix ends.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(of_mix),
};

pub(in super::super) const PUBLISH: Property = Property {
    name: "m6-crowd",
    statement: "Subscribers that come and go on other threads get each item of their topic from their first on once.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(of_publish),
};

/// Two threads and what they do are more than loom can explore.
fn is_explored() -> bool {
    world::name() != "loom"
}

fn of_mult(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = Vec::new();
    if is_explored() {
        cases.extend([
            Case::new("taps come and go", move || taps_come_and_go(f)),
            Case::new("taps come as the source ends", move || taps_at_the_end(f)),
            Case::new("two tap at once", move || tap_at_once(f)),
        ]);
    }
    cases
}

fn of_mix(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = Vec::new();
    if is_explored() {
        cases.extend([
            Case::new("inputs come and go", move || inputs_come_and_go(f)),
            Case::new("the output is closed", move || ends(f, false)),
            Case::new(
                "the output is closed, and all inputs are removed",
                move || {
                    ends(f, true);
                },
            ),
        ]);
    }
    cases
}

fn of_publish(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = Vec::new();
    if is_explored() {
        cases.extend([
            Case::new("two subscribe to a new topic at once", move || {
                subscribe_at_once(f);
            }),
            Case::new("subscribers come and go", move || {
                subscribers_come_and_go(f)
            }),
            Case::new("subscribers come as the source ends", move || {
                subscribers_at_the_end(f);
            }),
        ]);
    }
    cases
}

/// Runs `act` on an executor of two threads, which is dropped before the results are judged.
fn on_two_threads<R>(f: Combinators, act: impl FnOnce(&Spawner) -> R) -> R {
    const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two is more than none");
    let executor = f.executors.with_threads(TWO);
    let spawner = executor.spawner();
    match world::choose(2) {
        0 => act(&spawner),
        _ => act(&Spawner::of(Moving(spawner))),
    }
}

/// How many items flow.
fn items() -> u32 {
    if world::name() == "std" { 60 } else { 4 }
}

/// Whether these are each item from the first of them on, once: `step` lies between two of them.
fn is_a_run(items: &[u32], step: u32) -> bool {
    items.windows(2).all(|pair| pair[0] + step == pair[1])
}

/// One tap stays, one leaves with its producer, and one by its consumer.
fn taps_come_and_go(f: Combinators) {
    let count = items();
    let leaves = world::choose(3);
    // A std primitive in every world: it orders nothing between the threads of a model.
    let over = Arc::new(AtomicBool::new(false));
    let (stayed, seen) = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let (to, stays) = open::<u32>(f, room(1));
        f.tap(&mult, to, AtEnd::Close);
        let ends = Arc::clone(&over);
        let putting = world::spawn(move || {
            for item in 0..count {
                world::perturb();
                assert!(put(&mut tx, item), "it is open");
            }
            ends.store(true, Ordering::Relaxed);
            tx.close();
        });
        let taking = world::spawn(move || all(stays));
        let mut seen = Vec::new();
        for nth in 0..2 {
            let (to, mut tapped) = open::<u32>(
                f,
                if leaves == 1 {
                    room(2)
                } else {
                    Buffer::Rendezvous
                },
            );
            let tap = f.tap(&mult, to, AtEnd::Close);
            let mut its = Vec::new();
            for _ in nth..2 {
                let taken = take(&mut tapped);
                holds!(
                    taken.is_ok() || over.load(Ordering::Relaxed),
                    "M4: a tap was let go, and the source goes on"
                );
                its.extend(taken);
            }
            match leaves {
                2 => drop(tapped),
                _ => {
                    f.untap(&mult, &tap);
                    // An item that was being put may still be there.
                    while let Polled::Done(item) = tapped.poll() {
                        its.push(item);
                    }
                }
            }
            seen.push(its);
        }
        world::join(putting);
        (world::join(taking), seen)
    });
    holds!(
        stayed == (0..count).collect::<Vec<_>>(),
        "M4: a tap that stayed got {stayed:?}, beside taps that came and went"
    );
    for its in seen {
        holds!(
            is_a_run(&its, 1),
            "M4: a tap that came and went got {its:?}: not each item once"
        );
    }
}

/// Both get all that is put afterwards, and one that leaves takes no other along.
fn tap_at_once(f: Combinators) {
    let seen = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = Arc::new(f.mult(go, from));
        let theirs = Arc::clone(&mult);
        let tap = move |mult: &Part| {
            let (to, items) = open::<u32>(f, room(2));
            world::perturb();
            (f.tap(mult, to, AtEnd::Close), items)
        };
        let other = world::spawn(move || tap(&theirs).1);
        let (leaves, mine) = tap(&mult);
        let theirs = world::join(other);
        assert!(put(&mut tx, 0), "it is open");
        let mut both = [mine, theirs];
        let first = both.each_mut().map(|items| take(items).ok());
        f.untap(&mult, &leaves);
        assert!(put(&mut tx, 1), "it is open");
        tx.close();
        let [_, theirs] = both;
        (first, all(theirs))
    });
    holds_eq!(
        seen,
        ([Some(0); 2], vec![1]),
        "M4: not all items for both that tapped at once"
    );
}

/// A tap that comes as the source ends is closed with the others, or at once.
fn taps_at_the_end(f: Combinators) {
    let seen = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let putting = world::spawn(move || {
            assert!(put(&mut tx, 0), "it is open");
            world::perturb();
            tx.close();
        });
        let taps = [(); 2].map(|()| {
            world::perturb();
            let (to, tapped) = open::<u32>(f, room(2));
            f.tap(&mult, to, AtEnd::Close);
            tapped
        });
        let leaves = open::<u32>(f, Buffer::Rendezvous);
        let tap = f.tap(&mult, leaves.0, AtEnd::Close);
        f.untap(&mult, &tap);
        // A tap that is not closed is a deadlock here.
        let seen = taps.map(all);
        world::join(putting);
        seen
    });
    holds!(
        seen.iter().all(|its| its.is_empty() || *its == [0]),
        "M4: taps that came as the source ended got {seen:?}"
    );
}

/// A channel of values that are not copied.
fn opened<T: Message>(f: Combinators, buffer: Buffer) -> (Tx<T>, Rx<T>) {
    let opened = f.channels.open(buffer);
    opened.expect("a family with alts has such a buffer")
}

/// Two threads add inputs, each of which brings one value and ends.
fn inputs_come_and_go(f: Combinators) {
    let each = if world::name() == "std" { 20 } else { 2 };
    let mint = Mint::new(2 * each);
    let ledger = on_two_threads(f, |go| {
        let (to, mut out) = opened::<Token>(f, room(1));
        let mix = Arc::new(f.mix(go, to));
        let putting = [0, 1].map(|nth| {
            let (mix, mint) = (Arc::clone(&mix), mint.clone());
            world::spawn(move || {
                let mut ledger = Ledger::new(mint.count());
                for id in nth * each..(nth + 1) * each {
                    let (mut tx, from) = opened(f, Buffer::Rendezvous);
                    f.admix(&mix, from);
                    world::perturb();
                    let put = world::block_on(tx.put_async(mint.token(id)));
                    holds!(put.is_ok(), "M5: an input was let go, and the mix goes on");
                    ledger.accepted(id);
                    tx.close();
                }
                ledger
            })
        });
        // The output ends once the mix and its inputs are gone.
        drop(mix);
        let mut ledger = Ledger::new(mint.count());
        while let Ok(token) = take(&mut out) {
            ledger.taken(token.id());
        }
        for thread in putting {
            ledger.merge(&world::join(thread));
        }
        ledger
    });
    ledger.close(&mint, "where inputs of a mix come and go");
}

/// The output closes while two threads add inputs and put to them, to one that is there and to new ones. No put waits
/// for ever. One value may be lost on its way to the output.
fn ends(f: Combinators, removes: bool) {
    let each = if world::name() == "std" { 20 } else { 2 };
    let taken_before = world::choose(2);
    let mint = Mint::new(2 * each);
    let ledger = on_two_threads(f, |go| {
        let (to, mut out) = opened::<Token>(f, room(1));
        let mix = Arc::new(f.mix(go, to));
        let putting = [0, 1].map(|nth| {
            let (mix, mint) = (Arc::clone(&mix), mint.clone());
            world::spawn(move || {
                let mut ledger = Ledger::new(mint.count());
                // These stay: an input that is kept is not let go with its producer.
                let mut inputs: Vec<Tx<Token>> = Vec::new();
                for id in nth * each..(nth + 1) * each {
                    let (tx, from) = opened(f, Buffer::Rendezvous);
                    f.admix(&mix, from);
                    world::perturb();
                    inputs.push(tx);
                    let at = id % inputs.len();
                    match world::block_on(inputs[at].put_async(mint.token(id))) {
                        Ok(()) => ledger.accepted(id),
                        Err(PutError::Closed(_)) => ledger.refused(id),
                        Err(PutError::TooManyWaiters(_)) => violated!("C7: one too many of one"),
                    }
                }
                (ledger, inputs)
            })
        });
        let mut ledger = Ledger::new(mint.count());
        for _ in 0..taken_before {
            if let Ok(token) = take(&mut out) {
                ledger.taken(token.id());
            }
        }
        world::perturb();
        out.close();
        if removes {
            f.unmix_all(&mix);
        }
        while let Ok(token) = take(&mut out) {
            ledger.taken(token.id());
        }
        drop(out);
        for thread in putting {
            let (theirs, inputs) = world::join(thread);
            ledger.merge(&theirs);
            drop(inputs);
        }
        ledger
    });
    let lost = ledger.accepted_puts() - ledger.takes();
    holds!(
        lost <= 1,
        "M5: {lost} values were taken and not delivered where the output closed"
    );
    ledger.close_lossy(&mint, "where the output of a mix closes");
}

/// Topics by the last digit, each with a buffer for one.
fn publish(f: Combinators, go: &Spawner, from: Rx<u32>) -> Arc<Part> {
    Arc::new(f.publish(go, from, |item: &u32| item % 10, |_| room(1)))
}

/// Both get all that is put afterwards.
fn subscribe_at_once(f: Combinators) {
    let seen = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let theirs = Arc::clone(&publication);
        let subscribe = move |publication: &Part| {
            let (to, items) = open::<u32>(f, room(3));
            world::perturb();
            f.sub(publication, 1, to, AtEnd::Close);
            items
        };
        let other = world::spawn(move || subscribe(&theirs));
        let mine = subscribe(&publication);
        let theirs = world::join(other);
        for item in [1, 2, 11] {
            assert!(put(&mut tx, item), "it is open");
        }
        tx.close();
        [mine, theirs].map(all)
    });
    holds_eq!(
        seen,
        [[1, 11], [1, 11]],
        "M6: not all items for both that subscribed at once"
    );
}

/// One subscriber stays, and others of its topic and of another come and go.
fn subscribers_come_and_go(f: Combinators) {
    let count = items();
    let by_consumer = world::choose(2) == 1;
    let over = Arc::new(AtomicBool::new(false));
    let (stayed, seen) = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let (to, stays) = open::<u32>(f, room(1));
        f.sub(&publication, 1, to, AtEnd::Close);
        let taking = world::spawn(move || all(stays));
        let (further, ended) = (Arc::clone(&publication), Arc::clone(&over));
        let coming = world::spawn(move || {
            [1, 2, 1].map(|topic| {
                let (to, mut items) = open::<u32>(f, room(1));
                let mine = f.sub(&further, topic, to, AtEnd::Close);
                let taken = take(&mut items);
                holds!(
                    taken.is_ok() || ended.load(Ordering::Relaxed),
                    "M6: a subscriber was let go, and the source goes on"
                );
                let mut its: Vec<u32> = taken.into_iter().collect();
                if by_consumer {
                    drop(items);
                } else {
                    f.unsub(&further, &mine);
                    while let Polled::Done(item) = items.poll() {
                        its.push(item);
                    }
                }
                its
            })
        });
        for item in 0..count {
            for topic in [1, 2] {
                world::perturb();
                assert!(put(&mut tx, 10 * item + topic), "it is open");
            }
        }
        over.store(true, Ordering::Relaxed);
        tx.close();
        (world::join(taking), world::join(coming))
    });
    let expected: Vec<u32> = (0..count).map(|item| 10 * item + 1).collect();
    holds!(
        stayed == expected,
        "M6: a subscriber that stayed got {stayed:?}, beside some that came and went"
    );
    for its in seen {
        holds!(
            is_a_run(&its, 10),
            "M6: a subscriber that came and went got {its:?}: not each item once"
        );
    }
}

/// A subscriber that comes as the source ends is closed with the others, or at once, also one of a new topic.
fn subscribers_at_the_end(f: Combinators) {
    let seen = on_two_threads(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let putting = world::spawn(move || {
            assert!(put(&mut tx, 1), "it is open");
            world::perturb();
            tx.close();
        });
        let further = Arc::clone(&publication);
        let subscribe = move |publication: &Part, topic| {
            let (to, items) = open::<u32>(f, room(2));
            world::perturb();
            f.sub(publication, topic, to, AtEnd::Close);
            items
        };
        let other = world::spawn(move || all(subscribe(&further, 1)));
        let mine = [1, 2].map(|topic| subscribe(&publication, topic));
        // A subscriber that is not closed is a deadlock here.
        let [mine, none] = mine.map(all);
        world::join(putting);
        (mine, none, world::join(other))
    });
    let (mine, none, theirs) = &seen;
    let is_right = |its: &[u32]| its.is_empty() || its == [1];
    holds!(
        is_right(mine) && is_right(theirs) && none.is_empty(),
        "M6: subscribers that came as the source ended got {seen:?}"
    );
}
