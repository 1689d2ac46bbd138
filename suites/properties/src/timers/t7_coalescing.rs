//! T7: timeouts close in time share a channel, as in core.async, with its hazards.
//!
//! The smallest history that violates it:
//!
//! ```text
//! clock      thread
//!  0 ms      timeout(10,009 ms) -> channel A
//!  0 ms      timeout(10,000 ms) -> channel B: A is due at most 10 ms later and must be shared
//! ```

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Polled};
use flowmeter_harness::spec::Violation;
use flowmeter_harness::spec::timer::{Asked, Shared};
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance, obeys};
use super::form::{case, is_closed};
use super::log::Log;
use crate::design::Rx;
use crate::design::timers::{Design, Service, Timers, Way};

pub(crate) const PROPERTY: Property = Property {
    name: "t7-coalescing",
    statement: "A timeout may share the channel of one up to 10 ms later: it is late by that much, and closing one closes all.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let coalescing = design.by(Way::Channel);
    let Some(timers) = coalescing.filter(|_| design.claims(Claim::Coalescing)) else {
        return Vec::new();
    };
    let mut cases = vec![
        case(timers, "10,009 then 10,000", |timers| {
            share(timers, &[10_009, 10_000]);
        }),
        case(timers, "10,000 then 10,009", |timers| {
            share(timers, &[10_000, 10_009]);
        }),
        case(timers, "10,010 then 10,000", |timers| {
            share(timers, &[10_010, 10_000]);
        }),
        case(timers, "the first of two that are close", |timers| {
            share(timers, &[10_000, 10_005, 9_998, 10_003]);
        }),
        case(timers, "many at once", many),
        case(timers, "as late as the one it shares", late),
        case(timers, "closed for one, closed for all", closed_for_all),
        case(timers, "two that ask at once", two_at_once),
    ];
    if world::name() == "std" {
        cases.push(case(timers, "as many waiters as a channel has", waiters));
    }
    cases
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Requests timeouts, and records which of them are one channel.
struct Asking {
    /// One half of each channel.
    channels: Vec<Rx<u32>>,
    requests: Vec<Asked>,
    service: Service,
}

impl Asking {
    fn of(service: Service) -> Self {
        Asking {
            channels: Vec::new(),
            requests: Vec::new(),
            service,
        }
    }

    /// A half of the timeout, and the number of its channel.
    fn asks(&mut self, delay: Duration) -> (Rx<u32>, usize) {
        let called = world::now_nanos();
        let rx: Rx<u32> = self.service.timeout(delay);
        let returned = world::now_nanos();
        let known = self.channels.iter().rposition(|known| {
            known
                .same(&rx)
                .expect("shared timeouts know their channels")
        });
        let channel = known.unwrap_or_else(|| {
            let another = rx
                .another()
                .expect("a channel that is shared has several takers");
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

    fn judged(&self) -> Result<Shared, Violation> {
        let mut shared = Shared::new();
        for asked in &self.requests {
            shared.ask(*asked)?;
        }
        Ok(shared)
    }
}

/// Requests timeouts of so many milliseconds in turn.
fn share(timers: Timers, delays: &[u64]) {
    let mut asking = Asking::of(timers.start());
    for delay in delays {
        asking.asks(ms(*delay));
    }
    obeys(asking.judged().map(drop));
}

/// One channel for each millisecond that passes during the requests.
fn many(timers: Timers) {
    let count = match world::name() {
        "std" => 10_000,
        "loom" => 4,
        _ => 100,
    };
    share(timers, &vec![10_000; count]);
}

fn late(timers: Timers) {
    let mut log = Log::start(timers);
    let mut asking = Asking::of(log.service().clone());
    asking.asks(ms(10));
    let timer = log.arms(Deadline::after(world::now_nanos(), ms(1)));
    let (mut rx, channel) = asking.asks(ms(1));
    is_closed(rx.take());
    let at = world::now_nanos();
    log.over(timer, at);
    obeys(
        asking
            .judged()
            .and_then(|shared| shared.closed(channel, at)),
    );
    log.judge();
}

/// Closing a shared timeout closes it for its other holders, and for later requests until it is due.
fn closed_for_all(timers: Timers) {
    let mut asking = Asking::of(timers.start());
    let (mut one, first) = asking.asks(ms(10_009));
    let is_closed = one.close();
    let later = [(); 2].map(|()| asking.asks(ms(10_000)));
    obeys(asking.judged().map(drop));
    for (mut other, channel) in later {
        if is_closed && channel == first {
            holds_eq!(
                other.poll(),
                Polled::Closed,
                "T7: one channel, and not closed"
            );
        }
    }
}

/// Whether or not the two share a channel, both are answered in time.
fn two_at_once(timers: Timers) {
    let mut log = Log::start(timers);
    let deadline = Deadline::after(world::now_nanos(), ms(1));
    let armed = [(); 2].map(|()| log.arms(deadline));
    let ask = |service: Service| {
        let mut rx = service.timeout(ms(1));
        is_closed(rx.take());
        world::now_nanos()
    };
    let service = log.hands_over();
    let other = {
        let service = service.clone();
        world::spawn(move || ask(service))
    };
    for (timer, at) in armed.into_iter().zip([ask(service), world::join(other)]) {
        log.over(timer, at);
    }
    log.judge();
}

/// More waiters than a bounded family admits on a channel.
const CROWD: usize = 1_025;

/// How many of so many takers a channel admits as waiting. `close` ends it and answers all of them.
fn admitted(rx: &Rx<u32>, close: impl FnOnce()) -> usize {
    let mut context = Context::from_waker(Waker::noop());
    let mut halves: Vec<Rx<u32>> = (0..CROWD)
        .map(|_| {
            rx.another()
                .expect("a channel that is shared has several takers")
        })
        .collect();
    let mut waiting = Vec::new();
    for half in &mut halves {
        let mut take = Box::pin(half.take_async());
        if take.as_mut().poll(&mut context).is_pending() {
            waiting.push(take);
        }
    }
    close();
    for take in &mut waiting {
        let answer = pin!(take).poll(&mut context);
        holds!(
            matches!(answer, Poll::Ready(Err(_))),
            "T7: a closed timeout leaves a take waiting"
        );
    }
    waiting.len()
}

/// The takers of a shared timeout share its bound on waiters. Where a channel has a bound, the one above it is
/// refused.
fn waiters(timers: Timers) {
    let opened = timers.channels().open(Buffer::fixed(1));
    let (tx, rx) = opened.expect("a family with alts has a buffer");
    let of_a_channel = admitted(&rx, || {
        tx.close();
    });
    let service = timers.start();
    let timeouts = [10_009, 10_000].map(|delay| service.timeout::<u32>(ms(delay)));
    let of_a_timeout = admitted(&timeouts[0], || drop(service));
    holds_eq!(
        of_a_timeout,
        of_a_channel,
        "T7: a shared timeout admits as many waiters as a channel"
    );
}
