//! The acquisitions that one thread of a model sees, recorded for the specification.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::limiter::{Attempt, LimitError};
use flowmeter_harness::spec::limiter::{Event, Terms, Waiters};
use flowmeter_harness::sync::{Deadline, world};

use crate::design::limiters::Limiter;
use crate::form::Way;
use crate::obeys;

/// The record of one thread. Each acquisition has a number in it, `asker`.
pub(super) struct Line {
    terms: Terms,
    events: Vec<Event>,
    /// Acquisitions without an answer so far.
    waiting: Vec<usize>,
}

impl Line {
    /// Nothing was seen yet.
    pub(super) fn new(terms: Terms) -> Self {
        Line {
            terms,
            events: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Acquisition `asker` is about to begin, unless it already waits.
    pub(super) fn asks(&mut self, asker: usize, weight: u32, deadline: Option<u64>) {
        if !self.waiting.contains(&asker) {
            self.waiting.push(asker);
            self.asked_at(asker, weight, deadline, world::now_nanos());
        }
    }

    /// Acquisition `asker` began at that moment, on another thread.
    pub(super) fn asked_at(&mut self, asker: usize, weight: u32, deadline: Option<u64>, at: u64) {
        self.events.push(Event::Asked {
            asker,
            weight: weight.into(),
            deadline,
            at,
        });
    }

    /// Acquisition `asker` was granted at that moment, here or on another thread.
    pub(super) fn granted_at(&mut self, asker: usize, at: u64) {
        self.waiting.retain(|waiting| *waiting != asker);
        self.events.push(Event::Granted {
            asker,
            from: self.from(at),
            at,
        });
    }

    /// The earliest moment of a grant that was seen at `at`.
    fn from(&self, at: u64) -> u64 {
        if self.terms.at_once { at } else { 0 }
    }

    /// Waits for a permit.
    pub(super) fn acquires(&mut self, asker: usize, limiter: &Limiter, way: Way) {
        self.asks(asker, 1, None);
        way.acquire(limiter);
        self.granted_at(asker, world::now_nanos());
    }

    /// Waits for a permit until a deadline, by `acquire`.
    pub(super) fn acquires_until(
        &mut self,
        asker: usize,
        deadline: Deadline,
        acquire: impl FnOnce(Deadline) -> bool,
    ) {
        let ends = (deadline != Deadline::NEVER).then_some(deadline.as_nanos());
        self.asks(asker, 1, ends);
        let is_granted = acquire(deadline);
        let at = world::now_nanos();
        if is_granted {
            self.granted_at(asker, at);
        } else {
            self.leaves(asker, Event::TimedOut { asker, at });
        }
    }

    /// Waits for `weight` permits, by `acquire`.
    pub(super) fn weighs(
        &mut self,
        asker: usize,
        weight: u32,
        acquire: impl FnOnce() -> Result<(), LimitError>,
    ) {
        self.asks(asker, weight, None);
        match acquire() {
            Ok(()) => self.granted_at(asker, world::now_nanos()),
            Err(_) => self.leaves(asker, Event::Refused { asker }),
        }
    }

    /// Tries; returns whether there was a permit.
    pub(super) fn tries(&mut self, limiter: &Limiter) -> bool {
        let called = world::now_nanos();
        let granted = limiter.try_acquire() == Attempt::Granted;
        let at = world::now_nanos();
        self.events.push(Event::Tried {
            granted,
            from: self.from(at).max(called),
            at,
        });
        granted
    }

    /// Polls an acquisition by hand; returns whether it is ready.
    pub(super) fn polls<F: Future + ?Sized>(
        &mut self,
        asker: usize,
        weight: u32,
        future: Pin<&mut F>,
    ) -> bool {
        self.polls_by(asker, weight, future, Waker::noop())
    }

    /// As [`Line::polls`], under that waker.
    pub(super) fn polls_by<F: Future + ?Sized>(
        &mut self,
        asker: usize,
        weight: u32,
        future: Pin<&mut F>,
        waker: &Waker,
    ) -> bool {
        self.asks(asker, weight, None);
        let mut context = Context::from_waker(waker);
        let is_ready = matches!(future.poll(&mut context), Poll::Ready(_));
        if is_ready {
            self.granted_at(asker, world::now_nanos());
        }
        is_ready
    }

    /// Awaits an acquisition.
    pub(super) fn awaits<F: Future>(&mut self, asker: usize, weight: u32, future: F) -> F::Output {
        self.asks(asker, weight, None);
        let answer = world::block_on(future);
        self.granted_at(asker, world::now_nanos());
        answer
    }

    /// Drops the future of a waiting acquisition.
    pub(super) fn drops<F>(&mut self, asker: usize, future: F) {
        drop(future);
        let at = world::now_nanos();
        self.leaves(asker, Event::Dropped { asker, at });
    }

    /// Records an event of another thread.
    pub(super) fn write(&mut self, event: Event) {
        self.events.push(event);
    }

    fn leaves(&mut self, asker: usize, how: Event) {
        self.waiting.retain(|waiting| *waiting != asker);
        self.events.push(how);
    }

    /// Judges the events by the specification.
    pub(super) fn judge(self) {
        obeys(Waiters::judge(self.terms, &self.events));
    }
}
