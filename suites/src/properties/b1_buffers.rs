//! B1: dropping, sliding and promise.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels, Offered, Polled, Promises};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "b1-buffers",
    statement: "Dropping keeps the oldest, sliding the newest, a promise the first; their puts never wait.",
    relied_on_by: Reliance::Nobody,
};

const ROOM: NonZeroUsize = NonZeroUsize::new(2).expect("two");

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    [
        (Buffer::Dropping(ROOM), [0, 1]),
        (Buffer::Sliding(ROOM), [3, 4]),
    ]
    .into_iter()
    .filter(|(buffer, _)| C::open::<u32>(*buffer).is_some())
    .flat_map(|(buffer, kept)| {
        [
            Case::new(buffer.to_string(), move || overfilled::<C>(buffer, kept)),
            Case::new(format!("what {buffer} drops"), move || {
                drops_the_rest::<C>(buffer, kept)
            }),
        ]
    })
    .collect()
}

/// Cases of a take that is dropped with a value in its hands: for those who promise that it loses none.
pub(super) fn cancelled_cases<C: Async>() -> Vec<Case> {
    [1, 2]
        .into_iter()
        .map(|room| NonZeroUsize::new(room).expect("one or two"))
        .filter(|room| C::open::<u32>(Buffer::Sliding(*room)).is_some())
        .map(|room| {
            let name = format!("a take dropped, {}", Buffer::Sliding(room));
            Case::new(name, move || slides_past_what_came_back::<C>(room))
        })
        .collect()
}

pub(super) fn promise_cases<C: Promises + Blocking, W: World>() -> Vec<Case> {
    vec![
        Case::new("promise", promise::<C>),
        Case::new("promise with two takers", promise_answers_everybody::<C, W>),
    ]
}

fn overfilled<C: Channels>(buffer: Buffer, kept: [u32; 2]) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    for value in 0..5 {
        assert_eq!(
            C::offer(&mut tx, value),
            Offered::Done,
            "B1: a put on {buffer} waits"
        );
    }
    for value in kept {
        assert_eq!(
            C::poll(&mut rx),
            Polled::Done(value),
            "B1: {buffer} kept another value"
        );
    }
    assert_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "B1: {buffer} kept too much"
    );
}

/// Each value is dropped once: those that found no room at once, the others by their taker.
fn drops_the_rest<C: Channels>(buffer: Buffer, kept: [u32; 2]) {
    let kept = kept.map(|id| id as usize);
    let mint = Mint::new(5);
    let mut ledger = Ledger::new(5);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    for id in 0..5 {
        let offered = C::offer(&mut tx, mint.token(id));
        assert!(
            matches!(offered, Offered::Done),
            "B1: a put on {buffer} waits"
        );
        ledger.accepted(id);
    }
    for id in 0..5 {
        assert_eq!(
            mint.drops(id),
            u32::from(!kept.contains(&id)),
            "C10: how often {buffer} has dropped token {id}"
        );
    }
    while let Polled::Done(token) = C::poll(&mut rx) {
        ledger.taken(token.id());
    }
    drop((tx, rx));
    ledger.close_lossy(&mint, &format!("in {buffer}"));
}

/// A value that comes back from a dropped take is the oldest, and makes way for the newer ones.
fn slides_past_what_came_back<C: Async>(room: NonZeroUsize) {
    let buffer = Buffer::Sliding(room);
    let mint = Mint::new(4);
    let mut ledger = Ledger::new(4);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let mut offer = |id| {
        ledger.accepted(id);
        let offered = C::offer(&mut tx, mint.token(id));
        assert!(
            matches!(offered, Offered::Done),
            "B1: a put on {buffer} waits"
        );
    };
    {
        let mut take = pin!(C::take_async(&mut rx));
        let mut context = Context::from_waker(Waker::noop());
        assert!(
            take.as_mut().poll(&mut context).is_pending(),
            "C3: a take of nothing"
        );
        offer(1);
    }
    offer(2);
    offer(3);
    let mut kept = Vec::new();
    while let Polled::Done(token) = C::poll(&mut rx) {
        ledger.taken(token.id());
        kept.push(token.id());
    }
    let newest: Vec<usize> = (4 - room.get()..4).collect();
    assert_eq!(kept, newest, "B1: {buffer} keeps the newest values");
    drop((tx, rx));
    ledger.close_lossy(&mint, &format!("in {buffer}"));
}

fn promise<C: Promises>() {
    let (mut tx, mut rx) = C::open_promise::<u32>();
    assert_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "B1: a promise nobody has kept"
    );
    for value in 1..4 {
        assert_eq!(
            C::offer(&mut tx, value),
            Offered::Done,
            "B1: a put on a promise answers true"
        );
    }
    C::close(&tx);
    for _ in 0..3 {
        assert_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "B1: the first value answers every take"
        );
    }
    assert_eq!(
        C::offer(&mut tx, 9),
        Offered::Closed(9),
        "C6: a put after the close"
    );
}

fn promise_answers_everybody<C: Promises + Blocking, W: World>() {
    let (mut tx, rx) = C::open_promise::<u32>();
    let further = C::another_rx(&rx).expect("a promise is for many");
    let takers = [rx, further].map(|mut rx| W::spawn(move || take::<C, W, _>(&mut rx)));
    put::<C, W, _>(&mut tx, 6);
    for taker in takers {
        assert_eq!(
            W::join(taker),
            6,
            "B1: a taker of a promise went away empty"
        );
    }
}
