//! B1: dropping, sliding and promise.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Blocking, Buffer, Channels, Offered, Polled, Promises};
use flowmeter_harness::sync::World;

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
    .map(|(buffer, kept)| Case::new(buffer.to_string(), move || overfilled::<C>(buffer, kept)))
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
    let takers = [rx, further].map(|mut rx| W::spawn(move || C::take(&mut rx)));
    assert!(
        C::put(&mut tx, 6).is_ok(),
        "B1: a put on a promise answers true"
    );
    for taker in takers {
        assert_eq!(
            W::join(taker),
            Ok(6),
            "B1: a taker of a promise went away empty"
        );
    }
}
