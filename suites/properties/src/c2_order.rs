//! C2: values leave in the order in which their puts took effect. Without a common clock this is checked for each
//! producer: no consumer takes two of its values in another order.
//!
//! The smallest history that violates it:
//!
//! ```text
//! producer            consumer
//! put 0 -> true
//! put 1 -> true
//!                     take -> 1
//!                     take -> 0
//! ```

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

/// The same of the async form: a crate's forms are separate code and fail separately.
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
    // With one value a producer there is no order to keep; C1 explores that crowd.
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
