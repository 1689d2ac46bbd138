//! C1, C3: what was put is taken, once, by one of those who wait; a put is answered `true` only then.

use flowmeter_harness::channel::Channels;
use flowmeter_harness::sync::World;

use super::crowd::{Books, Crowd};
use super::form::Form;
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c1-conservation",
    statement: "Every value whose put was answered true is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Blocking,
};

/// The same of the form that awaits: a crate's forms are different code, and fail apart.
pub(super) const AWAITED: Property = Property {
    name: "c1-conservation-async",
    statement: "Every value that was awaited into a channel is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Async,
};

pub(super) fn cases<C: Channels, F: Form<C>, W: World>(form: &str) -> Vec<Case> {
    Crowd::cases::<C, F, W>(form, |_| true, judge)
}

fn judge(books: Books) {
    books
        .ledger
        .close(&books.mint, "among producers and consumers");
}
