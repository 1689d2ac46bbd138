//! What timers owe, in each of the ways in which they can be waited for.

mod form;
mod log;
pub(super) mod t1_never_early;
pub(super) mod t2_once;
pub(super) mod t3_earlier;
pub(super) mod t4_extremes;
pub(super) mod t5_catch_up;
pub(super) mod t6_callbacks;
pub(super) mod t7_coalescing;
pub(super) mod t7_windows;
pub(super) mod t8_shutdown;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::sync::World;
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};

use super::{Case, Owed, Property};
#[cfg(feature = "command")]
pub(crate) use form::Note;
use form::{ByCall, ByChannel, BySleep, ByThread, Form, Standing};

/// What is owed in every form.
fn waited_for<F: Form<W>, W: World>() -> Owed {
    vec![
        (&t1_never_early::PROPERTY, t1_never_early::cases::<F, W>()),
        (&t2_once::PROPERTY, t2_once::cases::<F, W>()),
        (&t3_earlier::PROPERTY, t3_earlier::cases::<F, W>()),
        (&t4_extremes::PROPERTY, t4_extremes::cases::<F, W>()),
    ]
}

/// What is owed in every form that waits from its arming on.
fn standing<F: Standing<W>, W: World>() -> Owed {
    let mut owed = waited_for::<F, W>();
    owed.extend([
        (&t3_earlier::PROPERTY, t3_earlier::standing_cases::<F, W>()),
        (
            &t4_extremes::PROPERTY,
            t4_extremes::standing_cases::<F, W>(),
        ),
    ] as [(&Property, Vec<Case>); 2]);
    owed
}

pub(super) fn timer<T: Timers, W: World>(who: &Contestant) -> Owed {
    let claims = |claim| who.capabilities.claims.contains(&claim);
    let ordered = claims(Claim::DeadlineOrder);
    let isolated = claims(Claim::IsolatedCallbacks);
    let mut owed = standing::<ByCall<T>, W>();
    owed.extend([
        (
            &t3_earlier::PROPERTY,
            t3_earlier::tickless_cases::<ByCall<T>, W>(claims(Claim::Tickless)),
        ),
        (
            &t1_never_early::PROPERTY,
            t1_never_early::calling_cases::<T, W>(),
        ),
        (&t5_catch_up::PROPERTY, t5_catch_up::cases::<T, W>(ordered)),
        (
            &t6_callbacks::PROPERTY,
            t6_callbacks::cases::<T, W>(isolated),
        ),
        (&t8_shutdown::PROPERTY, t8_shutdown::calling_cases::<T, W>()),
    ] as [(&Property, Vec<Case>); 5]);
    owed
}

pub(super) fn cancel<T: Cancel, W: World>() -> Owed {
    vec![
        (&t2_once::PROPERTY, t2_once::cancel_cases::<T, W>()),
        (&t3_earlier::PROPERTY, t3_earlier::cancel_cases::<T, W>()),
        (
            &t8_shutdown::PROPERTY,
            t8_shutdown::cancelling_cases::<T, W>(),
        ),
    ]
}

pub(super) fn reset<T: Reset, W: World>() -> Owed {
    vec![(&t3_earlier::PROPERTY, t3_earlier::reset_cases::<T, W>())]
}

pub(super) fn coalesce<T: Coalesce, W: World>() -> Owed {
    vec![(&t7_windows::PROPERTY, t7_windows::cases::<T, W>())]
}

pub(super) fn sleep<S: Sleep, W: World>(who: &Contestant) -> Owed {
    let mut owed = standing::<BySleep<S>, W>();
    let panic_safe = who.capabilities.claims.contains(&Claim::PanicSafe);
    let woken = t6_callbacks::sleep_cases::<S, W>(panic_safe);
    owed.push((&t6_callbacks::PROPERTY, woken));
    let tickless = who.capabilities.claims.contains(&Claim::Tickless);
    let exact = t3_earlier::tickless_cases::<BySleep<S>, W>(tickless);
    owed.push((&t3_earlier::PROPERTY, exact));
    if who.capabilities.claims.contains(&Claim::AnswersSleepers) {
        owed.push((&t8_shutdown::PROPERTY, t8_shutdown::sleep_cases::<S, W>()));
    }
    owed
}

pub(super) fn blocking_sleep<S: BlockingSleep, W: World>(who: &Contestant) -> Owed {
    let tickless = who.capabilities.claims.contains(&Claim::Tickless);
    let mut owed = waited_for::<ByThread<S>, W>();
    let exact = t3_earlier::tickless_cases::<ByThread<S>, W>(tickless);
    owed.push((&t3_earlier::PROPERTY, exact));
    owed
}

pub(super) fn timeouts<S, C, W>(who: &Contestant) -> Owed
where
    S: Timeouts<C>,
    C: Alts + Async + Blocking,
    W: World,
{
    let mut owed = standing::<ByChannel<S, C>, W>();
    let panic_safe = who.capabilities.claims.contains(&Claim::PanicSafe);
    let woken = t6_callbacks::timeout_cases::<S, C, W>(panic_safe);
    owed.push((&t6_callbacks::PROPERTY, woken));
    owed.extend([
        (
            &t1_never_early::IN_ALTS,
            t1_never_early::alts_cases::<S, C, W>(),
        ),
        (&t4_extremes::PROPERTY, t4_extremes::timeout_cases::<S, C>()),
        (
            &t8_shutdown::PROPERTY,
            t8_shutdown::timeout_cases::<S, C, W>(),
        ),
    ] as [(&Property, Vec<Case>); 3]);
    if who.capabilities.claims.contains(&Claim::Coalescing) {
        owed.push((&t7_coalescing::PROPERTY, t7_coalescing::cases::<S, C, W>()));
    }
    owed
}

// At the end: whoever reads sources for code stops where tests begin.
#[cfg(test)]
#[path = "../../cli/new/timer/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
