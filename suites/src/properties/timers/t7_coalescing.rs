//! T7: timeouts close in time share a channel, as core.async's do, with its hazards.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::channel::{Alts, Blocking, Polled};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timeouts;

use super::super::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t7-coalescing",
    statement: "A timeout shares the channel of one up to 10 ms later: late by that much, and closed for one, closed for all.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Timeouts<C>, C: Alts + Blocking, W: World>() -> Vec<Case> {
    let case = |name: &str, model: fn()| Case::new(name, model);
    vec![
        case("10,009 then 10,000", shorter_shares::<S, C, W>),
        case("10,000 then 10,009", longer_does_not::<S, C>),
        case("10,010 then 10,000", too_far_apart::<S, C, W>),
        case("many at once", many::<S, C, W>),
        case("as late as the one it shares", late::<S, C, W>),
        case("closed for one, closed for all", closed_for_all::<S, C, W>),
        case("two that ask at once", two_at_once::<S, C, W>),
    ]
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What a design makes of the clock: milliseconds, rounded up.
fn now_ms<W: World>() -> u64 {
    W::now_nanos().div_ceil(1_000_000)
}

fn are_one<C: Alts>(one: &C::Rx<u32>, other: &C::Rx<u32>) -> bool {
    C::same_rx(one, other).expect("a family whose timeouts are shared knows its channels")
}

/// Two timeouts, and the milliseconds that passed meanwhile.
fn pair<S: Timeouts<C>, C: Alts, W: World>(
    service: &S,
    [one, other]: [Duration; 2],
) -> (C::Rx<u32>, C::Rx<u32>, u64) {
    let before = now_ms::<W>();
    let one = service.timeout(one);
    let other = service.timeout(other);
    (one, other, now_ms::<W>() - before)
}

fn shorter_shares<S: Timeouts<C>, C: Alts, W: World>() {
    let service = S::start();
    let (one, other, passed) = pair::<S, C, W>(&service, [ms(10_009), ms(10_000)]);
    if passed <= 9 {
        assert!(are_one::<C>(&one, &other), "T7: 9 ms apart, and not shared");
    }
}

fn longer_does_not<S: Timeouts<C>, C: Alts>() {
    let service = S::start();
    let (one, other) = (service.timeout(ms(10_000)), service.timeout(ms(10_009)));
    assert!(
        !are_one::<C>(&one, &other),
        "T7: shares one that is due before it"
    );
}

fn too_far_apart<S: Timeouts<C>, C: Alts, W: World>() {
    let service = S::start();
    let (one, other, passed) = pair::<S, C, W>(&service, [ms(10_010), ms(10_000)]);
    if passed == 0 {
        assert!(!are_one::<C>(&one, &other), "T7: 10 ms apart, and shared");
    }
}

/// One channel for each millisecond that passes while they are asked for.
fn many<S: Timeouts<C>, C: Alts, W: World>() {
    let count = match W::NAME {
        "std" => 10_000,
        "loom" => 4,
        _ => 100,
    };
    let service = S::start();
    let before = now_ms::<W>();
    let mut last = service.timeout::<u32>(ms(10_000));
    let mut channels = 1;
    for _ in 1..count {
        let next = service.timeout(ms(10_000));
        channels += u64::from(!are_one::<C>(&last, &next));
        last = next;
    }
    let passed = now_ms::<W>() - before;
    assert!(
        channels <= passed + 1,
        "T7: {count} equal timeouts in {passed} ms made {channels} channels"
    );
}

fn late<S: Timeouts<C>, C: Alts + Blocking, W: World>() {
    let service = S::start();
    let shared_until = Deadline::after(W::now_nanos(), ms(10));
    let (one, mut other, _) = pair::<S, C, W>(&service, [ms(10), ms(1)]);
    let shared = are_one::<C>(&one, &other);
    assert!(
        C::take(&mut other).is_err(),
        "T1: a timeout is a channel without values"
    );
    let early = shared_until.as_nanos().saturating_sub(W::now_nanos());
    assert!(
        !shared || early == 0,
        "T7: shared, and {early} ns before what it shares"
    );
}

/// The one who closes a shared timeout closes it for the other, and for who asks while it is not due.
fn closed_for_all<S: Timeouts<C>, C: Alts, W: World>() {
    let service = S::start();
    let (mut one, mut other, _) = pair::<S, C, W>(&service, [ms(10_009), ms(10_000)]);
    if are_one::<C>(&one, &other) && C::close_rx(&mut one) {
        assert_eq!(
            C::poll(&mut other),
            Polled::Closed,
            "T7: one channel, and not closed"
        );
        let mut third = service.timeout(ms(10_000));
        if are_one::<C>(&one, &third) {
            assert_eq!(
                C::poll(&mut third),
                Polled::Closed,
                "T7: one channel, and not closed"
            );
        }
    }
}

/// Whether or not they find each other, both are answered, and in time.
fn two_at_once<S: Timeouts<C>, C: Alts + Blocking, W: World>() {
    let service = Arc::new(S::start());
    let deadline = Deadline::after(W::now_nanos(), ms(1));
    let ask = move |service: Arc<S>| {
        let mut rx = service.timeout::<u32>(ms(1));
        assert!(
            C::take(&mut rx).is_err(),
            "T1: a timeout is a channel without values"
        );
        W::now_nanos()
    };
    let other = {
        let service = service.clone();
        W::spawn(move || ask(service))
    };
    for at in [ask(service), W::join(other)] {
        assert!(at >= deadline.as_nanos(), "T1: fired early");
    }
}
