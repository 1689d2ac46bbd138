//! B3: when a transform panics, the channel asks its handler, and the channel stays usable.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, fixed(1), the transform panics at 100    consumer
//! put 1 -> true
//! put 100 waits
//!                                                    take -> panics: it ran the put's transform
//!                                                    the 1 is lost
//!
//! put 100 -> true, the handler answers 101           take -> 1000
//! put 1 -> true                                      take -> 10: the handler's 101 is missing
//! ```

use std::ops::ControlFlow;
use std::panic::resume_unwind;

use flowmeter_harness::channel::{Buffer, Emit, Offered, Panic, Polled, Transform};
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::{put, take};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "b3-panics",
    statement: "The handler's result replaces a value whose transform panics; nothing else is lost, and the channel goes on.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const BUFFERS: [Buffer; 2] = [Buffer::fixed(3), Buffer::Unbounded];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    // In the other worlds the checkers use panics themselves.
    if !channels.transforms() || world::name() != "std" {
        return Vec::new();
    }
    let mut cases = vec![Case::new("on the thread of a take", move || {
        on_a_taker(channels)
    })];
    for buffer in channels.having(&BUFFERS) {
        let named = |what: &str| format!("{what}, {buffer}");
        cases.push(Case::new(named("a value in its place"), move || {
            handled(channels, buffer, Answer::Value)
        }));
        cases.push(Case::new(named("nothing in its place"), move || {
            handled(channels, buffer, Answer::Nothing)
        }));
        cases.push(Case::new(named("a handler that panics"), move || {
            handled(channels, buffer, Answer::Panics)
        }));
        cases.push(Case::new(named("at the end"), move || {
            at_the_end(channels, buffer)
        }));
        cases.push(Case::new(named("to a take that waits"), move || {
            to_a_taker(channels, buffer)
        }));
        cases.push(Case::new(named("values dropped once"), move || {
            dropped_once(channels, buffer)
        }));
    }
    cases
}

/// Numbers from this one on make the transform panic.
const FATAL: u32 = 100;

/// The handler's answer for a number that made the transform panic.
fn stand_in(number: u32) -> u32 {
    number + 1
}

/// Emits ten times each number. A fatal number is emitted before the panic.
struct Fragile {
    at_end: bool,
}

impl Transform<u32> for Fragile {
    fn step(&mut self, number: u32, emit: Emit<'_, u32>) -> ControlFlow<()> {
        emit(10 * number)?;
        if number >= FATAL {
            // Not `panic!`, which would print a message.
            resume_unwind(Box::new(number));
        }
        ControlFlow::Continue(())
    }

    fn complete(&mut self, _emit: Emit<'_, u32>) {
        if self.at_end {
            resume_unwind(Box::new(FATAL));
        }
    }
}

#[derive(Clone, Copy)]
enum Answer {
    Value,
    Nothing,
    Panics,
}

fn open(channels: Channels, buffer: Buffer, at_end: bool, answer: Answer) -> (Tx<u32>, Rx<u32>) {
    let handler = move |panic: Panic| {
        // For any other panic the handler answers a value that no check expects.
        let number = panic.downcast::<u32>().map_or(0, |number| *number);
        match answer {
            Answer::Value => Some(stand_in(number)),
            Answer::Nothing => None,
            Answer::Panics => resume_unwind(Box::new(number)),
        }
    };
    let opened = channels.open_transformed(buffer, Fragile { at_end }, handler);
    opened.unwrap_or_else(|why| violated!("B2: no channel with {buffer}: {why}"))
}

fn drain(rx: &mut Rx<u32>) -> Vec<u32> {
    let mut values = Vec::new();
    while let Polled::Done(value) = rx.poll() {
        values.push(value);
    }
    values
}

fn handled(channels: Channels, buffer: Buffer, answer: Answer) {
    let (mut tx, mut rx) = open(channels, buffer, false, answer);
    holds_eq!(tx.put(FATAL), Ok(()), "B3: a put whose transform panicked");
    let mut expected = vec![10 * FATAL];
    if let Answer::Value = answer {
        expected.push(stand_in(FATAL));
    }
    holds_eq!(
        drain(&mut rx),
        expected,
        "B3: what was emitted before the panic, and what stands in"
    );
    holds_eq!(tx.put(1), Ok(()), "B3: the channel goes on");
    holds_eq!(drain(&mut rx), [10], "B3: the transform goes on");
    tx.close();
    holds_eq!(rx.poll(), Polled::Closed, "B3: the channel goes on");
}

fn at_the_end(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = open(channels, buffer, true, Answer::Value);
    assert_eq!(tx.put(1), Ok(()));
    tx.close();
    holds_eq!(
        drain(&mut rx),
        [10, stand_in(FATAL)],
        "B3: what stands in for a completion"
    );
    holds_eq!(rx.poll(), Polled::Closed, "B2: completed again");
}

fn to_a_taker(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = open(channels, buffer, false, Answer::Value);
    let taker = world::spawn(move || {
        world::perturb();
        [(); 2].map(|()| rx.take())
    });
    put(&mut tx, FATAL);
    tx.close();
    holds_eq!(
        world::join(taker),
        [Ok(10 * FATAL), Ok(stand_in(FATAL))],
        "B3: what stands in goes to takes that wait"
    );
}

/// The take that makes room runs the transform of a waiting put. The panic of that transform must not reach the take.
fn on_a_taker(channels: Channels) {
    let (mut tx, mut rx) = open(channels, Buffer::fixed(1), false, Answer::Value);
    put(&mut tx, 1);
    let putter = world::spawn(move || {
        put(&mut tx, FATAL);
        tx
    });
    let mut taken = vec![take(&mut rx)];
    let _tx = world::join(putter);
    taken.extend(drain(&mut rx));
    holds_eq!(
        taken,
        [10, 10 * FATAL, stand_in(FATAL)],
        "B3: a take lost its value to a panic"
    );
}

/// Passes tokens on, and panics with token 1 in its hands.
struct Careless;

impl Transform<Token> for Careless {
    fn step(&mut self, token: Token, emit: Emit<'_, Token>) -> ControlFlow<()> {
        if token.id() == 1 {
            resume_unwind(Box::new(()));
        }
        emit(token)
    }
}

fn dropped_once(channels: Channels, buffer: Buffer) {
    let mint = Mint::new(4);
    let spare = mint.clone();
    let handler = move |_: Panic| Some(spare.token(3));
    let opened = channels.open_transformed(buffer, Careless, handler);
    let (mut tx, mut rx) =
        opened.unwrap_or_else(|why| violated!("B2: no channel with {buffer}: {why}"));
    for id in [0, 1, 2] {
        let offered = tx.offer(mint.token(id));
        holds!(matches!(offered, Offered::Done), "B3: the channel goes on");
    }
    holds_eq!(mint.drops(1), 1, "C10: drops of the value that panicked");
    let mut taken = Vec::new();
    while let Polled::Done(token) = rx.poll() {
        taken.push(token.id());
    }
    holds_eq!(taken, [0, 3, 2], "B3: what stands in has the value's place");
    drop((tx, rx));
    for id in 0..4 {
        holds_eq!(mint.drops(id), 1, "C10: drops of token {id}");
    }
}
