//! T4: no delay is too short or too long.

use std::time::Duration;

use flowmeter_harness::channel::{Blocking, Polled};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timeouts;

use super::super::{Case, Property, Reliance};
use super::form::{Form, SOON, Standing, after};
use super::log::Log;

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t4-extremes",
    statement: "Deadlines in the past fire, those at the end of time do not, and none panics.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<F: Form<W>, W: World>() -> Vec<Case> {
    let name = format!("{}, now and in the past", F::NAME);
    vec![Case::new(name, past::<F, W>)]
}

pub(super) fn standing_cases<F: Standing<W>, W: World>() -> Vec<Case> {
    let name = format!("{}, at the end of time", F::NAME);
    vec![Case::new(name, far_off::<F, W>)]
}

pub(super) fn timeout_cases<S: Timeouts<C>, C: Blocking>() -> Vec<Case> {
    vec![Case::new("delays that overflow", overflow::<S, C>)]
}

fn past<F: Form<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    log.waits(&service, Deadline::from_nanos(0));
    log.waits(&service, after::<W>(SOON));
    let now = W::now_nanos();
    for deadline in [0, 1, now.saturating_sub(1), now] {
        log.waits(&service, Deadline::from_nanos(deadline));
    }
    log.judge();
}

fn far_off<F: Standing<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    let (soon, armed) = log.arm(&service, after::<W>(SOON));
    let mut ends = [u64::MAX, u64::MAX - 1, u64::MAX / 2 + 1]
        .map(|deadline| log.arm(&service, Deadline::from_nanos(deadline)));
    log.over(soon, F::wait(armed));
    for (timer, armed) in &mut ends {
        if F::has_fired(armed) {
            log.over(*timer, W::now_nanos());
        }
    }
    log.judge();
}

/// Once another has come that was armed later, one that had come as well would show.
fn overflow<S: Timeouts<C>, C: Blocking>() {
    let service = S::start();
    let nanos = Duration::from_nanos(u64::MAX);
    let ends = [Duration::MAX, Duration::from_secs(u64::MAX), nanos]
        .map(|delay| (delay, service.timeout::<u32>(delay)));
    let mut soon = service.timeout::<u32>(SOON);
    holds!(
        C::take(&mut soon).is_err(),
        "T1: a timeout is a channel without values"
    );
    for (delay, mut rx) in ends {
        holds_eq!(
            C::poll(&mut rx),
            Polled::WouldWait,
            "T4: {delay:?} has passed"
        );
    }
}
