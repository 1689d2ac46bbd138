//! T3: a deadline earlier than the one that is slept for is not slept through.

use std::time::Duration;

use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Reset, Timers};

use super::super::{Case, Property, Reliance};
use super::form::{Form, SOON, Standing, after, delays};
use super::log::{Call, Log};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t3-earlier",
    statement: "An earlier deadline, scheduled or moved there, wakes a timer that sleeps for a later one or for none.",
    relied_on_by: Reliance::Everybody,
};

/// Longer than any budget: a timer that oversleeps hangs in the std world.
const FAR: Duration = Duration::from_secs(3_600);

pub(super) fn cases<F: Form<W>, W: World>() -> Vec<Case> {
    vec![Case::new(format!("{}, after nothing", F::NAME), || {
        let service = F::start();
        let mut log = Log::<W>::of::<F>();
        for _ in 0..2 {
            log.waits(&service, after::<W>(SOON));
        }
        log.judge();
    })]
}

pub(super) fn standing_cases<F: Standing<W>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, before one that never comes"), || {
            let service = F::start();
            let mut log = Log::<W>::of::<F>();
            let _never = log.arm(&service, Deadline::NEVER);
            log.waits(&service, after::<W>(SOON));
            log.judge();
        }),
        Case::new(format!("{form}, before a far one"), before_far::<F, W>),
    ]
}

/// Of timers that count in no ticks, where `claimed`. Elsewhere nobody can say how late one was.
pub(super) fn tickless_cases<F: Form<W>, W: World>(claimed: bool) -> Vec<Case> {
    if !claimed || W::name() != "sim" {
        return Vec::new();
    }
    let name = format!("{}, at deadlines that are no tick of anybody's", F::NAME);
    vec![Case::new(name, || {
        let service = F::start();
        let mut log = Log::<W>::of::<F>().with_no_lateness();
        for delay in delays(3).take(100) {
            log.waits(&service, after::<W>(delay));
        }
        log.judge();
    })]
}

pub(super) fn cancel_cases<T: Cancel, W: World>() -> Vec<Case> {
    vec![Case::new("after the only one was cancelled", || {
        let service = T::start();
        let mut log = Log::<W>::new::<T>();
        let far = log.schedule(&service, after::<W>(FAR));
        // Where time is free it may have come.
        if !log.cancels(&service, &far) {
            log.is_called(&far);
        }
        is_called(&mut log, &service, after::<W>(SOON));
        log.judge();
    })]
}

pub(super) fn reset_cases<T: Reset, W: World>() -> Vec<Case> {
    vec![
        Case::new("moved from never to soon", || {
            moved::<T, W>(Deadline::NEVER, SOON)
        }),
        Case::new("moved from never to the past", || {
            moved::<T, W>(Deadline::NEVER, Duration::ZERO);
        }),
        Case::new("moved to later", moved_later::<T, W>),
        Case::new("moved to never", moved_to_never::<T, W>),
        Case::new("moved to and fro", to_and_fro::<T, W>),
        Case::new("a stranger's handle", strangers::<T, W>),
    ]
}

fn is_called<T: Timers, W: World>(log: &mut Log<W>, service: &T, deadline: Deadline) {
    let call = log.schedule(service, deadline);
    log.is_called(&call);
}

/// Where time passes only when all wait it can be seen that the far deadline was not waited for.
fn before_far<F: Standing<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    let _far = log.arm(&service, after::<W>(FAR));
    log.waits(&service, after::<W>(SOON));
    log.judge();
}

fn moved<T: Reset, W: World>(from: Deadline, delay: Duration) {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let call = log.schedule(&service, from);
    let deadline = after::<W>(delay);
    log.moves(&service, &call, deadline);
    log.is_called(&call);
    log.moves(&service, &call, deadline);
    log.judge();
}

fn moved_later<T: Reset, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let [soon, later] = [1, 3].map(|times| after::<W>(SOON * times));
    let call = log.schedule(&service, soon);
    log.moves(&service, &call, later);
    log.is_called(&call);
    log.judge();
}

fn moved_to_never<T: Reset, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let soon = after::<W>(SOON);
    let call = log.schedule(&service, soon);
    if log.moves(&service, &call, Deadline::NEVER) {
        let past = Deadline::from_nanos(soon.as_nanos() + 1);
        is_called(&mut log, &service, past);
        log.ends(service);
        log.looks_at(&call);
    } else {
        log.is_called(&call);
    }
    log.judge();
}

/// What an earlier move left behind neither fires nor hides anything.
fn to_and_fro<T: Reset, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let soon = after::<W>(SOON);
    let call = log.schedule(&service, soon);
    for deadline in [Deadline::NEVER, soon] {
        log.moves(&service, &call, deadline);
    }
    log.is_called(&call);
    is_called(&mut log, &service, after::<W>(SOON));
    log.judge();
}

/// A handle names a timer of its own service only.
fn strangers<T: Reset, W: World>() {
    let [one, other] = [(); 2].map(|()| T::start());
    let [mut of_one, mut of_other] = [(); 2].map(|()| Log::<W>::new::<T>());
    let own = of_other.schedule(&other, Deadline::NEVER);
    for timer in [1, 2] {
        let stranger = of_one.schedule(&one, Deadline::NEVER);
        let stranger = Call { timer, ..stranger };
        of_other.moves(&other, &stranger, Deadline::from_nanos(0));
    }
    is_called(&mut Log::<W>::new::<T>(), &other, after::<W>(SOON));
    of_other.ends(other);
    of_other.looks_at(&own);
    of_other.judge();
}
