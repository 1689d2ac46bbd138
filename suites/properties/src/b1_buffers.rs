//! B1: a dropping buffer keeps the oldest values, a sliding one the newest, and a promise the first; their puts never
//! wait.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, sliding(2)        consumer
//! put 0, put 1, put 2
//!                             take -> 0    a sliding buffer keeps 1 and 2
//!
//! producer, promise           two takers
//! put 6
//!                             take -> 6    take waits for ever
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::{put, take};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "b1-buffers",
    statement: "A dropping buffer keeps the oldest values, a sliding one the newest, a promise the first; puts never wait.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const ROOM: NonZeroUsize = NonZeroUsize::new(2).expect("two");

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = overfilled_cases(channels);
    if channels.awaits() && design.claims(Claim::CancelSafe) {
        cases.extend(cancelled_cases(channels));
    }
    if channels.promises() {
        cases.extend(promise_cases(channels));
    }
    cases
}

fn overfilled_cases(channels: Channels) -> Vec<Case> {
    [
        (Buffer::Dropping(ROOM), [0, 1]),
        (Buffer::Sliding(ROOM), [3, 4]),
    ]
    .into_iter()
    .filter(|(buffer, _)| channels.open::<u32>(*buffer).is_some())
    .flat_map(|(buffer, kept)| {
        [
            Case::new(buffer.to_string(), move || {
                overfilled(channels, buffer, kept)
            }),
            Case::new(format!("what {buffer} drops"), move || {
                drops_the_rest(channels, buffer, kept)
            }),
            Case::new(format!("what {buffer} drops closes it"), move || {
                drops_what_closes(channels, buffer)
            }),
        ]
    })
    .collect()
}

/// Takes that are dropped after they were handed a value, for families that claim `cancel-safe`.
fn cancelled_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for room in [1, 2].map(|room| NonZeroUsize::new(room).expect("one or two")) {
        let buffer = Buffer::Sliding(room);
        let Some((_tx, rx)) = channels.open::<u32>(buffer) else {
            continue;
        };
        cases.push(Case::new(format!("a take dropped, {buffer}"), move || {
            slides_past_what_came_back(channels, room, 1, 0)
        }));
        if rx.another().is_some() {
            let name = format!("two takes dropped behind a stored value, {buffer}");
            cases.push(Case::new(name, move || {
                slides_past_what_came_back(channels, room, 2, 1)
            }));
        }
    }
    cases
}

fn promise_cases(channels: Channels) -> Vec<Case> {
    let mut cases = vec![
        Case::new("promise", move || promise(channels)),
        Case::new("promise with two takers", move || {
            promise_answers_every_take(channels)
        }),
    ];
    if channels.awaits() {
        cases.push(Case::new(
            "takes of a promise that are dropped",
            move || promise_with_dropped_takes(channels),
        ));
    }
    cases
}

/// A value that closes a channel as it is dropped.
struct Closes(Option<Tx<Closes>>);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.take().map(|tx| tx.close());
    }
}

/// What does not fit is dropped with no lock held: its drop may use the channel.
fn drops_what_closes(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<Closes>(buffer).expect("asked before");
    let values = ROOM.get() + 1;
    // The first goes from a sliding buffer, the last from a dropping one.
    for value in 0..values {
        let goes = value == 0 || value + 1 == values;
        let closes = Closes(tx.another().filter(|_| goes));
        let offered = tx.offer(closes);
        holds!(
            matches!(offered, Offered::Done),
            "B1: a put on {buffer} waits"
        );
    }
    for _ in 0..ROOM.get() {
        holds!(
            matches!(rx.poll(), Polled::Done(Closes(_))),
            "B1: {buffer} keeps as much as it has room for"
        );
    }
    holds!(
        matches!(rx.poll(), Polled::Closed),
        "B1: what {buffer} dropped could not close it"
    );
}

fn overfilled(channels: Channels, buffer: Buffer, kept: [u32; 2]) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    for value in 0..5 {
        holds_eq!(
            tx.offer(value),
            Offered::Done,
            "B1: a put on {buffer} waits"
        );
    }
    for value in kept {
        holds_eq!(
            rx.poll(),
            Polled::Done(value),
            "B1: {buffer} kept another value"
        );
    }
    holds_eq!(rx.poll(), Polled::WouldWait, "B1: {buffer} kept too much");
}

/// Each value is dropped once: the overflowing ones at once, the others by their taker.
fn drops_the_rest(channels: Channels, buffer: Buffer, kept: [u32; 2]) {
    let kept = kept.map(|id| id as usize);
    let mint = Mint::new(5);
    let mut ledger = Ledger::new(5);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    for id in 0..5 {
        let offered = tx.offer(mint.token(id));
        holds!(
            matches!(offered, Offered::Done),
            "B1: a put on {buffer} waits"
        );
        ledger.accepted(id);
    }
    for id in 0..5 {
        holds_eq!(
            mint.drops(id),
            u32::from(!kept.contains(&id)),
            "C10: how often {buffer} has dropped token {id}"
        );
    }
    while let Polled::Done(token) = rx.poll() {
        ledger.taken(token.id());
    }
    drop((tx, rx));
    ledger.close_lossy(&mint, &format!("in {buffer}"));
}

/// A value that comes back from a dropped take is the oldest, so newer ones displace it. `takes` takes are dropped
/// after each was handed a value and `stored` further values were put. The next puts slide.
fn slides_past_what_came_back(channels: Channels, room: NonZeroUsize, takes: usize, stored: usize) {
    let buffer = Buffer::Sliding(room);
    let values = takes + 2;
    let mint = Mint::new(values);
    let mut ledger = Ledger::new(values);
    let (mut tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let another = |_| rx.another().expect("asked before");
    let mut takers: Vec<_> = (1..takes).map(another).collect();
    takers.push(rx);
    let mut offer = |id| {
        ledger.accepted(id);
        let offered = tx.offer(mint.token(id));
        holds!(
            matches!(offered, Offered::Done),
            "B1: a put on {buffer} waits"
        );
    };
    {
        let mut context = Context::from_waker(Waker::noop());
        let mut pending: Vec<_> = takers
            .iter_mut()
            .map(|rx| Box::pin(rx.take_async()))
            .collect();
        for take in &mut pending {
            holds!(
                take.as_mut().poll(&mut context).is_pending(),
                "C3: a take of nothing"
            );
        }
        (0..takes + stored).for_each(&mut offer);
    }
    (takes + stored..values).for_each(&mut offer);
    let mut kept = Vec::new();
    while let Polled::Done(token) = takers[0].poll() {
        ledger.taken(token.id());
        kept.push(token.id());
    }
    let newest: Vec<usize> = (values - room.get()..values).collect();
    holds_eq!(kept, newest, "B1: {buffer} keeps the newest values");
    drop((tx, takers));
    ledger.close_lossy(&mint, &format!("in {buffer}"));
}

fn promise(channels: Channels) {
    let (mut tx, mut rx) = channels.open_promise::<u32>();
    holds_eq!(
        rx.poll(),
        Polled::WouldWait,
        "B1: a promise without a value"
    );
    for value in 1..4 {
        holds_eq!(
            tx.offer(value),
            Offered::Done,
            "B1: a put on a promise answers true"
        );
    }
    tx.close();
    for _ in 0..3 {
        holds_eq!(
            rx.poll(),
            Polled::Done(1),
            "B1: the first value answers every take"
        );
    }
    holds_eq!(tx.offer(9), Offered::Closed(9), "C6: a put after the close");
}

fn promise_answers_every_take(channels: Channels) {
    let (mut tx, rx) = channels.open_promise::<u32>();
    let further = rx.another().expect("a promise is for many");
    let takers = [rx, further].map(|mut rx| world::spawn(move || take(&mut rx)));
    put(&mut tx, 6);
    for taker in takers {
        holds_eq!(
            world::join(taker),
            6,
            "B1: a taker of a promise went away empty"
        );
    }
}

/// A take that is dropped takes nothing from the others, before the value comes or after, and its copy goes with it.
fn promise_with_dropped_takes(channels: Channels) {
    let value = Arc::new(());
    let (mut tx, mut rx) = channels.open_promise::<Arc<()>>();
    let mut further = [(); 2].map(|()| rx.another().expect("a promise is for many"));
    {
        let [early, late] = further.each_mut();
        let (early, late) = (early.take_async(), late.take_async());
        let (mut early, mut late) = (Box::pin(early), Box::pin(late));
        let mut stays = Box::pin(rx.take_async());
        let context = &mut Context::from_waker(Waker::noop());
        let waits = [
            early.as_mut().poll(context).is_pending(),
            late.as_mut().poll(context).is_pending(),
            stays.as_mut().poll(context).is_pending(),
        ];
        holds_eq!(
            waits,
            [true; 3],
            "B1: takes of a promise without a value wait"
        );
        drop(early);
        let offered = tx.offer(Arc::clone(&value));
        holds_eq!(
            offered,
            Offered::Done,
            "B1: a put on a promise answers true"
        );
        drop(late);
        holds_eq!(
            stays.as_mut().poll(context).map(|taken| taken.is_ok()),
            Poll::Ready(true),
            "B1: a taker of a promise went away empty"
        );
    }
    tx.close();
    for rx in &mut further {
        holds_eq!(
            rx.poll(),
            Polled::Done(Arc::clone(&value)),
            "B1: the first value answers every take"
        );
    }
    drop((tx, rx, further));
    holds_eq!(
        Arc::strong_count(&value),
        1,
        "C10: copies of a promise's value are left"
    );
}
