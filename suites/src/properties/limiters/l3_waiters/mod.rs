//! L3: weights, deadlines and waiters that give up. Whatever becomes of one who waits, the others are served.

mod deadlines;
mod dropped;
mod weights;

use std::sync::Arc;

use flowmeter_harness::limiter::{Attempt, Limiters};
use flowmeter_harness::spec::limiter::Limit;
use flowmeter_harness::sync::World;

use super::{Form, Kept, PERIOD, is_virtual, limiter, nanos, surely};
use crate::properties::{Case, Property, Reliance};

pub(super) use deadlines::{deadline_cases, stranded_cases};
pub(super) use dropped::dropped_cases;
pub(super) use weights::{dropped_weight_cases, weight_cases};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l3-waiters",
    statement: "Deadlines are kept, weights are granted whole or refused at once, and who gives up strands nobody.",
    relied_on_by: Reliance::Nobody,
};

/// All permits were acquired then or later, and one more was granted: it must be back. That happens where a thread is
/// held up, or time passes while it runs.
fn must_be_back<W: World>(limit: Limit, acquired: u64) {
    holds!(
        W::now_nanos() - acquired >= limit.least_for(limit.at_once() + 1),
        "L3: a permit that was away was granted"
    );
}

pub(in super::super) fn cases<L: Limiters, F: Form<L>, W: World>(kept: Kept) -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, not before"), move || {
            not_before::<L, F, W>(kept);
        }),
        Case::new(format!("{form}, everybody is served"), everybody::<L, F, W>),
    ]
}

/// A refused try names the moment at which the next can succeed, or none.
fn not_before<L: Limiters, F: Form<L>, W: World>(kept: Kept) {
    let limiter = limiter::<L>(1, PERIOD);
    let begin = W::now_nanos();
    F::acquire(&limiter);
    match limiter.try_acquire() {
        Attempt::Granted => must_be_back::<W>(kept.limit::<W>(1, PERIOD), begin),
        Attempt::NotBefore(None) => {}
        Attempt::NotBefore(Some(moment)) => {
            F::acquire(&limiter);
            let granted = W::now_nanos();
            let moment = moment.as_nanos();
            // By as much as a clock of its own may differ.
            let tolerance = nanos(PERIOD) - surely::<W>(nanos(PERIOD));
            let latest = if is_virtual::<W>() { moment } else { u64::MAX };
            holds!(
                (moment - tolerance..=latest).contains(&granted),
                "L3: granted at {granted}, and a try named {moment}"
            );
        }
    }
}

fn everybody<L: Limiters, F: Form<L>, W: World>() {
    let threads = match W::name() {
        // Timers of tasks leave loom no room for more.
        "loom" if F::NAME == "async" => 1,
        "loom" => 2,
        _ => 4,
    };
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    F::acquire(&shared);
    let waiting: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            W::spawn(move || F::acquire(&limiter))
        })
        .collect();
    // A lost wake-up is a deadlock here.
    waiting.into_iter().for_each(W::join);
}
