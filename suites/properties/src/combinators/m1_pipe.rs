//! M1: a pipe moves all values in order, and takes no further value once its output has refused one.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! from: 0, 1, 2, closed
//! to gets 0, 2, 1             not in order
//!
//! to is closed; from holds 0, 1, 2
//! from holds only 2           after the refused 0, the 1 was taken too
//! ```

use flowmeter_harness::channel::Polled;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, another, ended_source, lying, open,
    put, refusing, room, source, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m1-pipe",
    statement: "A pipe moves everything in order, closes its output unless asked not to, and ends where that refuses.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    vec![
        Case::new("everything", move || everything(f)),
        Case::new("a source that goes on", move || goes_on(f)),
        Case::new("an output that stays open", move || stays_open(f)),
        Case::new("an output that is closed", move || refused(f)),
    ]
}

/// The output has room for fewer values than there are.
fn everything(f: Combinators) {
    let (moved, end) = with_executor(f, |go| {
        let (to, results) = open::<u32>(f, room(1));
        let from = ended_source(f, &[0, 1, 2]);
        let end = f.pipe(go, from, to, AtEnd::Close);
        (all(results), all(end))
    });
    holds_eq!(
        (moved, end),
        (vec![0, 1, 2], Vec::new()),
        "M1: not all that came in, in its order, and an end with nothing"
    );
}

/// The source becomes empty repeatedly.
fn goes_on(f: Combinators) {
    let (accepted, moved) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let (to, results) = open::<u32>(f, room(2));
        f.pipe(go, from, to, AtEnd::Close);
        let accepted = put(&mut tx, 0) && put(&mut tx, 1);
        tx.close();
        (accepted, all(results))
    });
    holds_eq!(
        (accepted, moved),
        (true, vec![0, 1]),
        "M1: not all that came in, in its order"
    );
}

fn stays_open(f: Combinators) {
    let (moved, rest) = with_executor(f, |go| {
        let (to, mut results) = open::<u32>(f, room(1));
        let _stays = to.another();
        let from = ended_source(f, &[0]);
        let end = f.pipe(go, from, to, AtEnd::LeaveOpen);
        all(end);
        lying(&mut results)
    });
    holds_eq!(
        (moved, rest),
        (vec![0], Polled::WouldWait),
        "M1: what an output has that was to stay open"
    );
}

/// One value is lost, and the others stay for other consumers.
fn refused(f: Combinators) {
    let (left, rest) = with_executor(f, |go| {
        let (_open, from) = source(f, &[0, 1, 2]);
        let mut left = another(&from);
        let end = f.pipe(go, from, refusing(f), AtEnd::Close);
        all(end);
        lying(&mut left)
    });
    holds_eq!(
        (left, rest),
        (vec![1, 2], Polled::WouldWait),
        "M1: what is left behind an output that was closed"
    );
}
