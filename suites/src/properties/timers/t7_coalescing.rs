//! T7: timeouts close in time share a channel, as core.async's do, with its hazards.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{Alts, Async, Blocking, Buffer, Polled};
use flowmeter_harness::spec::timer::{Asked, Shared};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timeouts;

use super::super::{Case, Property, Reliance, obeys};
use super::form::ByChannel;
use super::log::Log;

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t7-coalescing",
    statement: "A timeout shares the channel of one up to 10 ms later: late by that much, and closed for one, closed for all.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Timeouts<C>, C: Alts + Async + Blocking, W: World>() -> Vec<Case> {
    let case = |name: &str, model: fn()| Case::new(name, model);
    let mut cases = vec![
        case("10,009 then 10,000", || {
            obeys(share::<S, C, W>(&[10_009, 10_000]));
        }),
        case("10,000 then 10,009", || {
            obeys(share::<S, C, W>(&[10_000, 10_009]));
        }),
        case("10,010 then 10,000", || {
            obeys(share::<S, C, W>(&[10_010, 10_000]));
        }),
        case("the first of two that are close", || {
            obeys(share::<S, C, W>(&[10_000, 10_005, 9_998, 10_003]));
        }),
        case("many at once", || obeys(many::<S, C, W>())),
        case("as late as the one it shares", late::<S, C, W>),
        case("closed for one, closed for all", closed_for_all::<S, C, W>),
        case("two that ask at once", two_at_once::<S, C, W>),
    ];
    if W::name() == "std" {
        cases.push(case("as many waiters as a channel has", waiters::<S, C>));
    }
    cases
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn are_one<C: Alts>(one: &C::Rx<u32>, other: &C::Rx<u32>) -> bool {
    C::same_rx(one, other).expect("a family whose timeouts are shared knows its channels")
}

/// Asks for timeouts, and writes down which of them are one channel.
struct Asking<'s, S, C: Alts> {
    service: &'s S,
    /// One half of each channel.
    channels: Vec<C::Rx<u32>>,
    requests: Vec<Asked>,
}

impl<'s, S: Timeouts<C>, C: Alts> Asking<'s, S, C> {
    fn of(service: &'s S) -> Self {
        Asking {
            service,
            channels: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// One half, and its channel's number.
    fn asks<W: World>(&mut self, delay: Duration) -> (C::Rx<u32>, usize) {
        let called = W::now_nanos();
        let rx = self.service.timeout(delay);
        let returned = W::now_nanos();
        let known = self
            .channels
            .iter()
            .rposition(|known| are_one::<C>(known, &rx));
        let channel = known.unwrap_or_else(|| {
            let another = C::another_rx(&rx).expect("a channel that is shared has several takers");
            self.channels.push(another);
            self.channels.len() - 1
        });
        self.requests.push(Asked {
            delay: delay.as_nanos() as u64,
            called,
            returned,
            channel,
        });
        (rx, channel)
    }

    fn judged(&self) -> Result<Shared, flowmeter_harness::spec::Violation> {
        let mut shared = Shared::new();
        for asked in &self.requests {
            shared.ask(*asked)?;
        }
        Ok(shared)
    }
}

type Judged = Result<(), flowmeter_harness::spec::Violation>;

/// So many milliseconds one after the other.
fn share<S: Timeouts<C>, C: Alts, W: World>(delays: &[u64]) -> Judged {
    let service = S::start();
    let mut asking = Asking::<S, C>::of(&service);
    for delay in delays {
        asking.asks::<W>(ms(*delay));
    }
    asking.judged().map(drop)
}

/// One channel for each millisecond that passes while they are asked for.
fn many<S: Timeouts<C>, C: Alts, W: World>() -> Judged {
    let count = match W::name() {
        "std" => 10_000,
        "loom" => 4,
        _ => 100,
    };
    share::<S, C, W>(&vec![10_000; count])
}

fn late<S: Timeouts<C>, C: Alts + Blocking, W: World>() {
    let service = S::start();
    let mut log = Log::<W>::of::<ByChannel<S, C>>();
    let mut asking = Asking::<S, C>::of(&service);
    asking.asks::<W>(ms(10));
    let timer = log.arms(Deadline::after(W::now_nanos(), ms(1)));
    let (mut rx, channel) = asking.asks::<W>(ms(1));
    holds!(
        C::take(&mut rx).is_err(),
        "T1: a timeout is a channel without values"
    );
    let at = W::now_nanos();
    log.over(timer, at);
    obeys(
        asking
            .judged()
            .and_then(|shared| shared.closed(channel, at)),
    );
    log.judge();
}

/// The one who closes a shared timeout closes it for the other, and for who asks while it is not due.
fn closed_for_all<S: Timeouts<C>, C: Alts, W: World>() {
    let service = S::start();
    let mut asking = Asking::<S, C>::of(&service);
    let (mut one, first) = asking.asks::<W>(ms(10_009));
    let is_closed = C::close_rx(&mut one);
    let later = [(); 2].map(|()| asking.asks::<W>(ms(10_000)));
    obeys(asking.judged().map(drop));
    for (mut other, channel) in later {
        if is_closed && channel == first {
            holds_eq!(
                C::poll(&mut other),
                Polled::Closed,
                "T7: one channel, and not closed"
            );
        }
    }
}

/// Whether or not they find each other, both are answered, and in time.
fn two_at_once<S: Timeouts<C>, C: Alts + Blocking, W: World>() {
    let service = Arc::new(S::start());
    let mut log = Log::<W>::of::<ByChannel<S, C>>();
    let deadline = Deadline::after(W::now_nanos(), ms(1));
    let timers = [(); 2].map(|()| log.arms(deadline));
    let ask = move |service: Arc<S>| {
        let mut rx = service.timeout::<u32>(ms(1));
        holds!(
            C::take(&mut rx).is_err(),
            "T1: a timeout is a channel without values"
        );
        W::now_nanos()
    };
    let other = {
        let service = service.clone();
        W::spawn(move || ask(service))
    };
    for (timer, at) in timers.into_iter().zip([ask(service), W::join(other)]) {
        log.over(timer, at);
    }
    log.judge();
}

/// More than a channel of a bounded family admits.
const CROWD: usize = 1_025;

/// How many of a crowd a channel admits as waiting takers; `close` ends it, and answers all of them.
fn admitted<C: Async>(rx: &C::Rx<u32>, close: impl FnOnce()) -> usize {
    let mut context = Context::from_waker(Waker::noop());
    let mut halves: Vec<C::Rx<u32>> = (0..CROWD)
        .map(|_| C::another_rx(rx).expect("a channel that is shared has several takers"))
        .collect();
    let mut waiting = Vec::new();
    for half in &mut halves {
        let mut take = Box::pin(C::take_async(half));
        if take.as_mut().poll(&mut context).is_pending() {
            waiting.push(take);
        }
    }
    close();
    for take in &mut waiting {
        let answer = pin!(take).poll(&mut context);
        holds!(
            matches!(answer, Poll::Ready(Err(_))),
            "T7: a closed timeout leaves somebody waiting"
        );
    }
    waiting.len()
}

/// Those who share a timeout share the room for waiters: where a channel has a bound, the one above it is refused.
fn waiters<S: Timeouts<C>, C: Alts + Async>() {
    let (tx, rx) = C::open::<u32>(Buffer::fixed(1)).expect("a family with alts has a buffer");
    let of_a_channel = admitted::<C>(&rx, || {
        C::close(&tx);
    });
    let service = S::start();
    let timeouts = [10_009, 10_000].map(|delay| service.timeout::<u32>(ms(delay)));
    let of_a_timeout = admitted::<C>(&timeouts[0], || drop(service));
    holds_eq!(
        of_a_timeout,
        of_a_channel,
        "T7: a shared timeout admits as many waiters as a channel"
    );
}
