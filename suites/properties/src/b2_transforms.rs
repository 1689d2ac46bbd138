//! B2: a transform runs once for each put, emits any number of values, may end the channel, and is completed once. B4
//! is checked beside it: a transform without a buffer is refused.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, each put emits two values, fixed(1)    consumer
//! put 1 -> true: 10, 11 are stored
//! put 2 -> true                                    violates B2: the buffer was at its capacity
//!
//! close, close                                     take -> 9000, 9000    completed twice
//! ```

use std::num::NonZeroUsize;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeError, TransformError};
use flowmeter_harness::spec::transform::transformed;
use flowmeter_harness::sync::world;

use super::acts::{put, take};
use super::scripted::{LAST, Log, Script, Scripted, unasked};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "b2-transforms",
    statement: "A transform runs once for each put and may emit any number of values; puts wait for room; it completes once, last.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const BUFFERS: [Buffer; 3] = [Buffer::fixed(1), Buffer::fixed(3), Buffer::Unbounded];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.transforms() {
        return Vec::new();
    }
    let mut cases = vec![
        Case::new("a transform without a buffer", move || unbuffered(channels)),
        Case::new("fixed(1) overfilled", move || overfilled(channels, 1)),
        Case::new("fixed(2) overfilled", move || overfilled(channels, 2)),
        Case::new("a put waits until below capacity", move || {
            waits_for_room(channels)
        }),
        Case::new("a put that waits at the close", move || {
            closed_before_a_put(channels)
        }),
        Case::new("puts that wait at the end", move || {
            ends_before_puts(channels)
        }),
    ];
    for buffer in channels.having(&BUFFERS) {
        let named = |what: &str| format!("{what}, {buffer}");
        cases.push(Case::new(named("a put filtered out"), move || {
            filtered(channels, buffer)
        }));
        cases.push(Case::new(named("ends early"), move || {
            ends_early(channels, buffer)
        }));
        cases.push(Case::new(named("completed at the close"), move || {
            completed_once(channels, buffer)
        }));
        cases.push(Case::new(
            named("a take that waits at the close"),
            move || completion_is_taken(channels, buffer),
        ));
        cases.push(Case::new(named("as specified"), move || {
            as_specified(channels, buffer)
        }));
        if channels
            .open::<u32>(buffer)
            .is_some_and(|(_tx, rx)| rx.another().is_some())
        {
            cases.push(Case::new(named("one put, two takes"), move || {
                serves_two(channels, buffer)
            }));
        }
        if design.claims(Claim::Disconnect) {
            cases.push(Case::new(named("no consumer"), move || {
                no_consumer(channels, buffer)
            }));
        }
    }
    const ONE: NonZeroUsize = NonZeroUsize::MIN;
    let lossy = [(Buffer::Dropping(ONE), 10), (Buffer::Sliding(ONE), 12)];
    for (buffer, kept) in lossy {
        if channels.open::<u32>(buffer).is_some() {
            cases.push(Case::new(format!("expanding into {buffer}"), move || {
                expands_into(channels, buffer, kept)
            }));
        }
    }
    cases
}

fn open(channels: Channels, buffer: Buffer, script: Script) -> (Tx<u32>, Rx<u32>, Log) {
    let log = Log::default();
    let opened = channels.open_transformed(buffer, Scripted::new(script, &log), unasked);
    let (tx, rx) = opened.unwrap_or_else(|why| violated!("B2: no channel with {buffer}: {why}"));
    (tx, rx, log)
}

/// All values that are left in a closed channel.
fn drain(rx: &mut Rx<u32>) -> Vec<u32> {
    let mut values = Vec::new();
    loop {
        match rx.poll() {
            Polled::Done(value) => values.push(value),
            Polled::Closed => return values,
            Polled::WouldWait => violated!("C2: a take of a closed channel would wait"),
        }
    }
}

fn unbuffered(channels: Channels) {
    let log = Log::default();
    let transform = Scripted::new(Script::PLAIN, &log);
    let refused = channels
        .open_transformed(Buffer::Rendezvous, transform, unasked)
        .err();
    holds_eq!(
        refused,
        Some(TransformError::Unbuffered),
        "B4: a transform without a buffer"
    );
}

/// A put that emits nothing is answered true, and a waiting take keeps waiting.
fn filtered(channels: Channels, buffer: Buffer) {
    let script = Script {
        keeps: |number| number % 2 == 0,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, buffer, script);
    let taker = world::spawn(move || (take(&mut rx), rx));
    put(&mut tx, 1);
    put(&mut tx, 2);
    let (taken, mut rx) = world::join(taker);
    holds_eq!(taken, 20, "B2: what was filtered out came to a take");
    holds_eq!(rx.poll(), Polled::WouldWait, "B2: too much came");
    holds_eq!(
        log.steps(),
        [1, 2],
        "B2: a transform runs once for each put"
    );
}

/// All that a put emits is stored, also above the capacity. The next put waits until the buffer is below its
/// capacity.
fn overfilled(channels: Channels, capacity: usize) {
    let script = Script {
        times: 3,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, Buffer::fixed(capacity), script);
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    for taken in 0..3 {
        if 3 - taken < capacity {
            break;
        }
        holds_eq!(
            tx.offer(2),
            Offered::WouldWait(2),
            "B2: a put with {} of {capacity} places taken",
            3 - taken
        );
        assert_eq!(rx.poll(), Polled::Done(10 + taken as u32));
    }
    holds_eq!(tx.offer(2), Offered::Done, "B2: a put below the capacity");
    holds_eq!(
        log.steps(),
        [1, 2],
        "B2: a transform runs once for each put"
    );
}

fn waits_for_room(channels: Channels) {
    let script = Script {
        times: 3,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, Buffer::fixed(2), script);
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    let putter = world::spawn(move || {
        put(&mut tx, 2);
        tx
    });
    world::perturb();
    assert_eq!(rx.poll(), Polled::Done(10));
    holds_eq!(
        log.steps(),
        [1],
        "B2: a put was let in with two of two places taken"
    );
    for expected in [11, 12, 20, 21, 22] {
        holds_eq!(rx.take(), Ok(expected), "B2: in the order of the puts");
    }
    let _tx = world::join(putter);
    holds_eq!(
        log.steps(),
        [1, 2],
        "B2: a transform runs once for each put"
    );
}

fn serves_two(channels: Channels, buffer: Buffer) {
    let script = Script {
        times: 2,
        ..Script::PLAIN
    };
    let (mut tx, rx, _log) = open(channels, buffer, script);
    let further = rx.another().expect("asked before");
    let takers = [rx, further].map(|mut rx| world::spawn(move || (take(&mut rx), rx)));
    put(&mut tx, 1);
    let mut taken = takers.map(world::join);
    taken.sort_unstable_by_key(|(value, _rx)| *value);
    let taken = taken.map(|(value, _rx)| value);
    holds_eq!(taken, [10, 11], "B2: one put serves two takes");
}

/// The transform takes the number that ends the channel and no later one: later puts are refused.
fn ends_early(channels: Channels, buffer: Buffer) {
    let script = Script {
        ends_after: 2,
        at_end: 1,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, buffer, script);
    let mut values = Vec::new();
    for number in [1, 2] {
        holds_eq!(tx.offer(number), Offered::Done, "B2: an open channel");
        if number == 1 && buffer == Buffer::fixed(1) {
            values.extend(rx.take());
        }
    }
    holds_eq!(
        tx.put(3),
        Err(PutError::Closed(Some(3))),
        "B2: a put after the transform's end"
    );
    values.extend(drain(&mut rx));
    holds_eq!(
        values,
        [10, 20, LAST],
        "B2: what comes of a transform that ends"
    );
    holds_eq!(
        log.steps(),
        [1, 2],
        "B2: a transform runs once for each put"
    );
    holds_eq!(log.completions(), 1, "B2: a transform is completed once");
}

/// A put that waits when the transform ends is answered true or refused; the transform never sees it.
fn ends_before_puts(channels: Channels) {
    let script = Script {
        ends_after: 2,
        at_end: 1,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, Buffer::fixed(1), script);
    let further = tx.another().expect("a channel for many producers");
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    let putters = [(tx, 2), (further, 3)].map(|(mut tx, number)| {
        world::spawn(move || {
            world::perturb();
            (tx.put(number), tx)
        })
    });
    world::perturb();
    let mut values = Vec::new();
    while let Ok(value) = rx.take() {
        values.push(value);
    }
    let answers = putters.map(world::join).map(|(answer, _tx)| answer);
    let steps = log.steps();
    holds_eq!(
        steps.len(),
        2,
        "B2: a transform that ends after two took {steps:?}"
    );
    holds_eq!(
        values,
        [10, 10 * steps[1], LAST],
        "B2: what comes of a transform that ends"
    );
    for (number, answer) in [2, 3].into_iter().zip(answers) {
        let refused = answer == Err(PutError::Closed(Some(number)));
        holds!(
            answer == Ok(()) || refused && steps[1] != number,
            "B2: the put of {number} was answered {answer:?}"
        );
    }
    holds_eq!(log.completions(), 1, "B2: a transform is completed once");
}

fn completed_once(channels: Channels, buffer: Buffer) {
    let script = Script {
        at_end: 2,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, buffer, script);
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    holds_eq!(log.completions(), 0, "B2: a channel that is open");
    tx.close();
    tx.close();
    holds_eq!(
        drain(&mut rx),
        [10, LAST, LAST + 1],
        "B2: what is emitted at the end can be taken"
    );
    for _ in 0..2 {
        holds_eq!(rx.poll(), Polled::Closed, "B2: completed again");
    }
    holds_eq!(log.completions(), 1, "B2: a transform is completed once");
}

/// A put that waits when the channel closes is emitted before the completion.
fn closed_before_a_put(channels: Channels) {
    let script = Script {
        at_end: 1,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, Buffer::fixed(1), script);
    let closing = tx.another().expect("a channel for many producers");
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    let putter = world::spawn(move || {
        world::perturb();
        (tx.put(2), tx)
    });
    world::perturb();
    closing.close();
    let values = drain(&mut rx);
    let (answer, _tx) = world::join(putter);
    let expected = if answer == Ok(()) {
        vec![10, 20, LAST]
    } else {
        vec![10, LAST]
    };
    holds_eq!(
        values,
        expected,
        "B2: what came last, where the put was answered {answer:?}"
    );
    holds_eq!(log.completions(), 1, "B2: a transform is completed once");
}

fn completion_is_taken(channels: Channels, buffer: Buffer) {
    let script = Script {
        at_end: 2,
        ..Script::PLAIN
    };
    let (tx, mut rx, _log) = open(channels, buffer, script);
    let taker = world::spawn(move || {
        world::perturb();
        [(); 3].map(|()| rx.take())
    });
    world::perturb();
    tx.close();
    holds_eq!(
        world::join(taker),
        [Ok(LAST), Ok(LAST + 1), Err(TakeError::Closed)],
        "B2: what is emitted at the end goes to takes before the channel's end does"
    );
}

fn no_consumer(channels: Channels, buffer: Buffer) {
    let script = Script {
        at_end: 1,
        ..Script::PLAIN
    };
    let (mut tx, rx, log) = open(channels, buffer, script);
    holds_eq!(tx.offer(1), Offered::Done, "B2: there is room");
    drop(rx);
    holds_eq!(
        tx.offer(2),
        Offered::Closed(2),
        "C14: an offer without consumers"
    );
    drop(tx);
    holds_eq!(
        log.steps(),
        [1],
        "B2: no consumer is left to take what would come"
    );
    holds_eq!(
        log.completions(),
        0,
        "B2: no consumer is left to take what would come"
    );
}

fn expands_into(channels: Channels, buffer: Buffer, kept: u32) {
    let script = Script {
        times: 3,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, _log) = open(channels, buffer, script);
    holds_eq!(tx.offer(1), Offered::Done, "B1: a put on {buffer} waits");
    holds_eq!(
        rx.poll(),
        Polled::Done(kept),
        "B1: what {buffer} kept of three"
    );
    holds_eq!(rx.poll(), Polled::WouldWait, "B1: {buffer} kept too much");
}

/// Two producers and one consumer. The values are those of the transform run over the puts in the order of its log.
fn as_specified(channels: Channels, buffer: Buffer) {
    let each: u32 = if world::name() == "std" { 16 } else { 2 };
    let script = Script {
        keeps: |number| number % 3 != 0,
        times: 2,
        at_end: 1,
        ..Script::PLAIN
    };
    let (mut tx, mut rx, log) = open(channels, buffer, script);
    let mut further = tx.another().expect("a channel for many producers");
    let taker = world::spawn(move || {
        world::perturb();
        let mut values = Vec::new();
        while let Ok(value) = rx.take() {
            values.push(value);
        }
        values
    });
    let putter = world::spawn(move || {
        (0..each).for_each(|number| put(&mut further, 2 * number));
        further
    });
    (0..each).for_each(|number| put(&mut tx, 2 * number + 1));
    let _further = world::join(putter);
    tx.close();
    let values = world::join(taker);
    let mut steps = log.steps();
    let specified = transformed(
        Scripted::new(script, &Log::default()),
        steps.iter().copied(),
    );
    holds_eq!(values, specified, "B2: what came of {steps:?}");
    steps.sort_unstable();
    let puts: Vec<u32> = (0..2 * each).collect();
    holds_eq!(steps, puts, "B2: a transform runs once for each put");
    holds_eq!(log.completions(), 1, "B2: a transform is completed once");
}
