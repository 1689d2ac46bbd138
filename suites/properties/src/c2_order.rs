//! C2: values leave in the order in which their puts took effect. Seen without a common clock: what one
//! producer put in order, no consumer takes in another.

use super::crowd::{Books, Crowd};
use super::form::Way;
use super::{Case, Cases, Property, Reliance, obeys};
use crate::design::Channels;

pub(super) const PROPERTY: Property = Property {
    name: "c2-order",
    statement: "No consumer takes two values of one producer in another order than they were put.",
    relied_on_by: Reliance::Blocking,
    cases: Cases::Channels(|design| cases(design.channels, Way::Blocking)),
};

/// The same of the form that awaits: a crate's forms are different code, and fail apart.
pub(super) const AWAITED: Property = Property {
    name: "c2-order-async",
    statement: "No consumer awaits two values of one producer in another order than they were put.",
    relied_on_by: Reliance::Async,
    cases: Cases::Channels(|design| cases(design.channels, Way::Async)),
};

fn cases(channels: Channels, way: Way) -> Vec<Case> {
    if !way.is_of(channels) {
        return Vec::new();
    }
    // Where a producer puts one value there is no order to keep, and C1 has explored it.
    Crowd::cases(channels, way, |crowd| crowd.values_each > 1, judge)
}

fn judge(books: Books) {
    obeys(books.ledger.judge_takes());
    for taken in &books.taken {
        let mut last = std::collections::HashMap::new();
        for &id in taken {
            if let Some(before) = last.insert(id / books.values_each, id).filter(|b| *b > id) {
                violated!(
                    "C2: one producer put token {id} before token {before}, and a consumer took it after"
                );
            }
        }
    }
}
