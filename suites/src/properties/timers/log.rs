//! What one thread of a model sees of timers, written down for the specification.

use std::marker::PhantomData;

use flowmeter_harness::spec::timer::{Event, Service, Terms};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Reset, Timers};

use super::super::obeys;
use super::form::{ByCall, Called, Form, Note};

/// The book of one thread. Every timer has a number in it.
pub(super) struct Log<W> {
    terms: Terms,
    events: Vec<Event>,
    timers: usize,
    world: PhantomData<W>,
}

/// A timer that calls back.
pub(super) struct Call<T: Timers, W: World> {
    pub(super) timer: usize,
    pub(super) handle: T::Handle,
    pub(super) note: Note<W>,
}

impl<W: World> Log<W> {
    /// Of timers in that form. What comes late shows where time stands still while anybody can run.
    pub(super) fn of<F: Form<W>>() -> Self {
        Log {
            terms: Terms {
                deadline_order: false,
                late: (W::name() == "sim").then_some(F::LATE),
            },
            events: Vec::new(),
            timers: 0,
            world: PhantomData,
        }
    }

    /// Of timers that call back.
    pub(super) fn new<T: Timers>() -> Self {
        Log::of::<ByCall<T>>()
    }

    /// Where lateness shows, none is forgiven.
    pub(super) fn with_no_lateness(mut self) -> Self {
        self.terms.late = self.terms.late.and(Some(0));
        self
    }

    /// With the claim of an order.
    pub(super) fn with_deadline_order(mut self, claimed: bool) -> Self {
        self.terms.deadline_order = claimed;
        self
    }

    pub(super) fn write(&mut self, event: Event) {
        self.events.push(event);
    }

    /// A timer is about to be armed; its number.
    pub(super) fn arms(&mut self, due: Deadline) -> usize {
        let timer = self.timers;
        self.timers += 1;
        self.write(Event::Scheduled {
            timer,
            due: due.as_nanos(),
            at: W::now_nanos(),
        });
        timer
    }

    /// Arms one in that form.
    pub(super) fn arm<F: Form<W>>(&mut self, service: &F, due: Deadline) -> (usize, F::Armed) {
        (self.arms(due), service.arm(due))
    }

    /// A timer was over at that moment, for who waited for it.
    pub(super) fn over(&mut self, timer: usize, at: u64) {
        self.write(Event::Fired {
            timer,
            told: None,
            claimed: None,
            at,
        });
    }

    /// Arms one, and waits for it.
    pub(super) fn waits<F: Form<W>>(&mut self, service: &F, due: Deadline) {
        let (timer, armed) = self.arm(service, due);
        self.over(timer, F::wait(armed));
    }

    /// Arms one that calls back.
    pub(super) fn schedule<T: Timers>(&mut self, service: &T, due: Deadline) -> Call<T, W> {
        let (timer, note) = (self.arms(due), Note::new());
        let handle = service.schedule(due, note.callback());
        Call {
            timer,
            handle,
            note,
        }
    }

    /// A callback was seen to have been called.
    pub(super) fn called(&mut self, timer: usize, called: Called) {
        self.write(Event::Fired {
            timer,
            told: Some(called.fired.due.as_nanos()),
            claimed: called.fired.claimed_nanos,
            at: called.at,
        });
    }

    /// Waits for a callback.
    pub(super) fn is_called<T: Timers>(&mut self, call: &Call<T, W>) {
        let called = call.note.wait();
        self.called(call.timer, called);
    }

    /// Looks whether a callback was called, after its service has ended.
    pub(super) fn looks_at<T: Timers>(&mut self, call: &Call<T, W>) {
        if let Some(called) = call.note.called() {
            self.called(call.timer, called);
        }
    }

    /// Cancels one.
    pub(super) fn cancels<T: Cancel>(&mut self, service: &T, call: &Call<T, W>) -> bool {
        let answer = service.cancel(&call.handle);
        self.write(Event::Cancelled {
            timer: call.timer,
            answer,
            at: W::now_nanos(),
        });
        answer
    }

    /// Moves one.
    pub(super) fn moves<T: Reset>(&mut self, service: &T, call: &Call<T, W>, to: Deadline) -> bool {
        let answer = service.reset(&call.handle, to);
        self.write(Event::Moved {
            timer: call.timer,
            due: to.as_nanos(),
            answer,
            at: W::now_nanos(),
        });
        answer
    }

    /// Drops the service: with it ends whatever it might still be doing.
    pub(super) fn ends<T>(&mut self, service: T) {
        drop(service);
        self.write(Event::ShutDown { at: W::now_nanos() });
    }

    /// Has the specification judge it.
    pub(super) fn judge(self) {
        obeys(Service::judge(self.terms, &self.events));
    }
}
