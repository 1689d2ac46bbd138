//! The acquisitions that one thread of a model sees, recorded for the specification.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::limiter::{Attempt, LimitError};
use flowmeter_harness::spec::limiter::{Event, Terms, Waiters};
use flowmeter_harness::sync::{Deadline, world};

use crate::design::limiters::Limiter;
use crate::form::Way;
use crate::obeys;

/// The record of one thread. Each acquisition has a number in it, `who`.
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

    /// Acquisition `who` is about to begin, unless it already waits.
    pub(super) fn asks(&mut self, who: usize, weight: u32, deadline: Option<u64>) {
        if !self.waiting.contains(&who) {
            self.waiting.push(who);
            self.asked_at(who, weight, deadline, world::now_nanos());
        }
    }

    /// Acquisition `who` began at that moment, on another thread.
    pub(super) fn asked_at(&mut self, who: usize, weight: u32, deadline: Option<u64>, at: u64) {
        self.events.push(Event::Asked {
            who,
            weight: weight.into(),
            deadline,
            at,
        });
    }

    /// Acquisition `who` was granted at that moment, here or on another thread.
    pub(super) fn granted_at(&mut self, who: usize, at: u64) {
        self.waiting.retain(|waiting| *waiting != who);
        self.events.push(Event::Granted {
            who,
            from: self.from(at),
            at,
        });
    }

    /// The earliest moment of a grant that was seen at `at`.
    fn from(&self, at: u64) -> u64 {
        if self.terms.at_once { at } else { 0 }
    }

    /// Waits for a permit.
    pub(super) fn acquires(&mut self, who: usize, limiter: &Limiter, way: Way) {
        self.asks(who, 1, None);
        way.acquire(limiter);
        self.granted_at(who, world::now_nanos());
    }

    /// Waits for a permit until a deadline, by `acquire`.
    pub(super) fn acquires_until(
        &mut self,
        who: usize,
        deadline: Deadline,
        acquire: impl FnOnce(Deadline) -> bool,
    ) {
        let ends = (deadline != Deadline::NEVER).then_some(deadline.as_nanos());
        self.asks(who, 1, ends);
        let is_granted = acquire(deadline);
        let at = world::now_nanos();
        if is_granted {
            self.granted_at(who, at);
        } else {
            self.leaves(who, Event::TimedOut { who, at });
        }
    }

    /// Waits for `weight` permits, by `acquire`.
    pub(super) fn weighs(
        &mut self,
        who: usize,
        weight: u32,
        acquire: impl FnOnce() -> Result<(), LimitError>,
    ) {
        self.asks(who, weight, None);
        match acquire() {
            Ok(()) => self.granted_at(who, world::now_nanos()),
            Err(_) => self.leaves(who, Event::Refused { who }),
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
        who: usize,
        weight: u32,
        future: Pin<&mut F>,
    ) -> bool {
        self.polls_by(who, weight, future, Waker::noop())
    }

    /// As [`Line::polls`], under that waker.
    pub(super) fn polls_by<F: Future + ?Sized>(
        &mut self,
        who: usize,
        weight: u32,
        future: Pin<&mut F>,
        waker: &Waker,
    ) -> bool {
        self.asks(who, weight, None);
        let mut context = Context::from_waker(waker);
        let is_ready = matches!(future.poll(&mut context), Poll::Ready(_));
        if is_ready {
            self.granted_at(who, world::now_nanos());
        }
        is_ready
    }

    /// Awaits an acquisition.
    pub(super) fn awaits<F: Future>(&mut self, who: usize, weight: u32, future: F) -> F::Output {
        self.asks(who, weight, None);
        let answer = world::block_on(future);
        self.granted_at(who, world::now_nanos());
        answer
    }

    /// Drops the future of a waiting acquisition.
    pub(super) fn drops<F>(&mut self, who: usize, future: F) {
        drop(future);
        let at = world::now_nanos();
        self.leaves(who, Event::Dropped { who, at });
    }

    /// Records an event of another thread.
    pub(super) fn write(&mut self, event: Event) {
        self.events.push(event);
    }

    fn leaves(&mut self, who: usize, how: Event) {
        self.waiting.retain(|waiting| *waiting != who);
        self.events.push(how);
    }

    /// Judges the events by the specification.
    pub(super) fn judge(self) {
        obeys(Waiters::judge(self.terms, &self.events));
    }
}
