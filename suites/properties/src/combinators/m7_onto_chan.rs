//! M7: a collection is put value by value. Each value is requested only when the one before was accepted.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! values 0, 1, 2, ... without end; to is closed
//! 0 is refused, and 1 is requested
//!
//! values 0, 1; to has room for one
//! take -> 0, take -> closed: the 1 is missing
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::Polled;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_in_time, fault, has_panics,
    lying, open, refusing, room, take, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m7-onto-chan",
    statement: "A collection is put in order, no further than it is taken; its channel closes unless asked not to.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("all values", move || all_values(f)),
        Case::new("a channel that stays open", move || stays_open(f)),
        Case::new("a channel that is closed", move || refused(f)),
        Case::new("values without end", move || endless(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a collection that panics", move || panicking(f)));
    }
    cases
}

/// `0, 1, …`, and the number of values requested. It uses std only: counting adds no step to a model.
pub(super) fn counted() -> (impl Iterator<Item = u32> + Send + 'static, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let values = (0..).inspect(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    (values, asked)
}

/// The channel has room for fewer values than there are.
fn all_values(f: Combinators) {
    let (seen, end) = with_executor(f, |go| {
        let (to, values) = open::<u32>(f, room(1));
        let end = f.onto_chan(go, to, [0, 1, 2], AtEnd::Close);
        (all(values), all(end))
    });
    holds_eq!(
        (seen, end),
        (vec![0, 1, 2], Vec::new()),
        "M7: not all values in their order, and an end with nothing"
    );
}

fn stays_open(f: Combinators) {
    let (seen, rest) = with_executor(f, |go| {
        let (to, mut values) = open::<u32>(f, room(1));
        let _stays = to.another();
        let end = f.onto_chan(go, to, [0], AtEnd::LeaveOpen);
        all(end);
        lying(&mut values)
    });
    holds_eq!(
        (seen, rest),
        (vec![0], Polled::WouldWait),
        "M7: what a channel has that was to stay open"
    );
}

fn refused(f: Combinators) {
    let (values, asked) = counted();
    with_executor(f, |go| {
        let end = f.onto_chan(go, refusing(f), values, AtEnd::Close);
        all(end);
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(
        asked,
        1,
        "M7: so many values were asked for, of which the first was refused"
    );
}

/// Two are taken, one is in the channel, and one waits.
fn endless(f: Combinators) {
    let (values, asked) = counted();
    let seen = with_executor(f, |go| {
        let (to, mut taken) = open::<u32>(f, room(1));
        let end = f.onto_chan(go, to, values, AtEnd::Close);
        let seen = [(); 2].map(|()| take(&mut taken));
        drop(taken);
        all(end);
        seen
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(seen, [Ok(0), Ok(1)], "M7: not all values in their order");
    holds!(
        asked <= 4,
        "M7: {asked} values were asked for, of which 2 were taken"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let (to, values) = open::<u32>(f, room(2));
        let faulty = (0..2).map(|value| if value == 1 { fault() } else { value });
        f.onto_chan(go, to, faulty, AtEnd::Close);
        all_in_time(values)
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![0]), 1),
        "M7: what comes of a panic, which ends it and is counted"
    );
}
