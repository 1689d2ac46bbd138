//! The events of timers that one thread of a model sees, recorded for the specification.

use flowmeter_harness::spec::timer::{Event, Service as Book, Terms};
use flowmeter_harness::sync::{Deadline, world};

use super::super::obeys;
use super::form::{Armed, Called, Note, late};
use crate::design::timers::{Handle, Service, Timers};

/// A service and the events that one thread sees of it. Every timer has a number.
pub(super) struct Log {
    /// `None` once it has ended or was handed over.
    service: Option<Service>,
    terms: Terms,
    events: Vec<Event>,
    timers: usize,
}

const THERE: &str = "the service has not ended";

/// A timer that calls back.
pub(super) struct Call {
    pub(super) timer: usize,
    pub(super) handle: Handle,
    pub(super) note: Note,
}

impl Log {
    /// For a service of its own. Lateness is judged only where time stands still while any thread can run.
    pub(super) fn start(timers: Timers) -> Self {
        Log {
            service: Some(timers.start()),
            terms: Terms {
                deadline_order: false,
                late: (world::name() == "sim").then_some(late(timers.way())),
            },
            events: Vec::new(),
            timers: 0,
        }
    }

    pub(super) fn service(&self) -> &Service {
        self.service.as_ref().expect(THERE)
    }

    /// Forbids any lateness where lateness is judged.
    pub(super) fn with_no_lateness(mut self) -> Self {
        self.terms.late = self.terms.late.and(Some(0));
        self
    }

    /// Judges the order of deadlines where that is claimed.
    pub(super) fn with_deadline_order(mut self, claimed: bool) -> Self {
        self.terms.deadline_order = claimed;
        self
    }

    pub(super) fn write(&mut self, event: Event) {
        self.events.push(event);
    }

    /// A timer is about to be armed; returns its number.
    pub(super) fn arms(&mut self, due: Deadline) -> usize {
        let timer = self.timers;
        self.timers += 1;
        self.write(Event::Scheduled {
            timer,
            due: due.as_nanos(),
            at: world::now_nanos(),
        });
        timer
    }

    /// Arms one.
    pub(super) fn arm(&mut self, due: Deadline) -> (usize, Armed) {
        (self.arms(due), Armed::at(due, self.service()))
    }

    /// A waiter saw that timer fire at that moment.
    pub(super) fn over(&mut self, timer: usize, at: u64) {
        self.write(Event::Fired {
            timer,
            told: None,
            claimed: None,
            at,
        });
    }

    /// Arms one, and waits for it.
    pub(super) fn waits(&mut self, due: Deadline) {
        let (timer, armed) = self.arm(due);
        self.over(timer, armed.wait());
    }

    /// Arms one that calls back.
    pub(super) fn schedule(&mut self, due: Deadline) -> Call {
        let (timer, note) = (self.arms(due), Note::new());
        let handle = self.service().schedule(due, note.callback());
        Call {
            timer,
            handle,
            note,
        }
    }

    /// Arms one that calls back, and waits for it.
    pub(super) fn calls(&mut self, due: Deadline) {
        let call = self.schedule(due);
        self.is_called(&call);
    }

    /// A callback was called.
    pub(super) fn called(&mut self, timer: usize, called: Called) {
        self.write(Event::Fired {
            timer,
            told: Some(called.fired.due.as_nanos()),
            claimed: called.fired.claimed_nanos,
            at: called.at,
        });
    }

    /// Waits for a callback.
    pub(super) fn is_called(&mut self, call: &Call) {
        let called = call.note.wait();
        self.called(call.timer, called);
    }

    /// Records whether a callback was called, after its service has ended.
    pub(super) fn looks_at(&mut self, call: &Call) {
        if let Some(called) = call.note.called() {
            self.called(call.timer, called);
        }
    }

    /// Cancels one.
    pub(super) fn cancels(&mut self, call: &Call) -> bool {
        let answer = self.service().cancel(&call.handle);
        self.write(Event::Cancelled {
            timer: call.timer,
            answer,
            at: world::now_nanos(),
        });
        answer
    }

    /// Moves one.
    pub(super) fn moves(&mut self, call: &Call, to: Deadline) -> bool {
        let answer = self.service().reset(&call.handle, to);
        self.write(Event::Moved {
            timer: call.timer,
            due: to.as_nanos(),
            answer,
            at: world::now_nanos(),
        });
        answer
    }

    /// Gives the service away for good.
    pub(super) fn hands_over(&mut self) -> Service {
        self.service.take().expect(THERE)
    }

    /// Drops the service, and with it all its activity.
    pub(super) fn ends(&mut self) {
        drop(self.hands_over());
        self.write(Event::ShutDown {
            at: world::now_nanos(),
        });
    }

    /// Judges the events by the specification.
    pub(super) fn judge(&self) {
        obeys(Book::judge(self.terms, &self.events));
    }
}
