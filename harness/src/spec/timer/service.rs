//! One service with its timers.
//!
//! A timer is armed until it fires, is cancelled, or its service ends. Each of these happens at most once, and is the
//! last event of the timer. Firing is an internal step of the service, and not observed. It happened before the
//! callback was called. It also happened before an answer `false` to a cancel or a move, which means that the timer had
//! fired.

use std::collections::BTreeMap;

use super::super::Violation;

/// The claims, and the conditions of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Timers that became due during a stall fire in the order of their deadlines, and equal deadlines in the order in
    /// which they were armed (T5).
    pub deadline_order: bool,
    /// How late a timer may fire where time advances only while no thread can run: the design's rounding. `None`
    /// elsewhere: any lateness is allowed.
    pub late: Option<u64>,
}

/// An observation of a timer, which is identified by a number of the caller's.
///
/// Observations are recorded in the order in which they are made: an arming before it is requested, an answer when it
/// is there, a firing when it is seen. `at` of an arming is no later than its effect. `at` of any other event is the
/// moment at which it was over, and no earlier than its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A timer is about to be armed.
    Scheduled {
        /// Its number, which was not used before.
        timer: usize,
        /// Its deadline.
        due: u64,
        /// When it was asked for.
        at: u64,
    },
    /// A cancel was answered.
    Cancelled {
        /// The timer. One that was never scheduled here belongs to another service.
        timer: usize,
        /// The answer: `true` if it will not fire.
        answer: bool,
        /// When it was over.
        at: u64,
    },
    /// A move to another deadline was answered.
    Moved {
        /// The timer.
        timer: usize,
        /// The new deadline.
        due: u64,
        /// The answer: `true` if it fires at the new deadline instead.
        answer: bool,
        /// When it was over.
        at: u64,
    },
    /// A timer was observed to have fired.
    Fired {
        /// The timer.
        timer: usize,
        /// The deadline that its callback received.
        told: Option<u64>,
        /// When the design reports that it noticed.
        claimed: Option<u64>,
        /// When it was called, or when the wait for it was over.
        at: u64,
    },
    /// A callback blocks the service from here on. Claims about a stall refer to callbacks on one thread.
    Stalled,
    /// The callback no longer blocks the service.
    Released {
        /// When it was released.
        at: u64,
    },
    /// The service was dropped, and the drop has returned.
    ShutDown {
        /// When it was over.
        at: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Armed,
    /// An answer said that it had fired; the call has not been observed yet.
    Leaving,
    Fired,
    Cancelled,
    /// Its service ended.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    due: u64,
    state: State,
    /// The earliest moment at which the service could have fired it.
    since: u64,
    /// It was due when a stall ended, so it fires before all timers that are armed later.
    caught_up: bool,
    /// Its place among all that were armed; `None` once it was moved, which gives it no place among equal deadlines.
    place: Option<usize>,
}

impl Timer {
    /// Whether it fires before another one that is due with it.
    fn is_before(&self, other: &Timer) -> bool {
        let armed_before = self
            .place
            .zip(other.place)
            .is_some_and(|(one, two)| one < two);
        self.due < other.due || (self.due == other.due && armed_before)
    }
}

/// A service of timers; [`Service::step`] takes the steps.
#[derive(Clone, Debug)]
pub struct Service {
    terms: Terms,
    timers: BTreeMap<usize, Timer>,
    stalled: bool,
    ended: Option<u64>,
}

impl Service {
    /// A service without armed timers.
    pub fn new(terms: Terms) -> Service {
        Service {
            terms,
            timers: BTreeMap::new(),
            stalled: false,
            ended: None,
        }
    }

    /// Judges a whole sequence of events, after which no further event follows.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(terms: Terms, events: &[Event]) -> Result<(), Violation> {
        let mut service = Service::new(terms);
        events.iter().try_for_each(|event| service.step(*event))?;
        service.rest()
    }

    /// Processes the next event.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn step(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Scheduled { timer, due, at } => {
                let armed = Timer {
                    due,
                    state: match self.ended {
                        Some(_) => State::Dropped,
                        None => State::Armed,
                    },
                    since: at,
                    caught_up: false,
                    place: Some(self.timers.len()),
                };
                if self.timers.insert(timer, armed).is_some() {
                    return Violation::found("T2", format!("timer {timer} was armed twice"));
                }
                Ok(())
            }
            Event::Cancelled { timer, answer, at } => self.answered(timer, "T2", None, answer, at),
            Event::Moved {
                timer,
                due,
                answer,
                at,
            } => self.answered(timer, "T3", Some(due), answer, at),
            Event::Fired {
                timer,
                told,
                claimed,
                at,
            } => self.fired(timer, told, claimed, at),
            Event::Stalled => {
                self.stalled = true;
                Ok(())
            }
            Event::Released { at } => {
                self.release(at);
                Ok(())
            }
            Event::ShutDown { at } => {
                self.ended = self.ended.or(Some(at));
                for timer in self.timers.values_mut() {
                    if timer.state == State::Armed {
                        timer.state = State::Dropped;
                    }
                }
                Ok(())
            }
        }
    }

    /// Ends the sequence: no further event follows.
    ///
    /// # Errors
    /// T2 where a timer was neither cancelled nor called.
    pub fn rest(&self) -> Result<(), Violation> {
        let left = |timer: &Timer| timer.state == State::Leaving;
        match self.timers.iter().find(|(_, timer)| left(timer)) {
            Some((number, _)) => {
                let text = format!("timer {number} was said to have fired, and was never called");
                Violation::found("T2", text)
            }
            None => Ok(()),
        }
    }

    /// The answer to a cancel, or to a move to another deadline.
    fn answered(
        &mut self,
        number: usize,
        id: &'static str,
        moved_to: Option<u64>,
        answer: bool,
        at: u64,
    ) -> Result<(), Violation> {
        let what = if moved_to.is_some() {
            "moved"
        } else {
            "cancelled"
        };
        let Some(timer) = self.timers.get_mut(&number) else {
            return match answer {
                true => Violation::found(id, format!("{what} a timer of another service")),
                false => Ok(()),
            };
        };
        match (timer.state, answer) {
            (State::Armed, true) => match moved_to {
                Some(due) => {
                    timer.due = due;
                    timer.since = at;
                    timer.caught_up = false;
                    timer.place = None;
                }
                None => timer.state = State::Cancelled,
            },
            // It had fired, then, which is impossible before it was due.
            (State::Armed, false) if timer.due <= at && timer.due != u64::MAX => {
                timer.state = State::Leaving;
            }
            (State::Armed, false) => {
                let text = format!("timer {number} cannot have fired, and was not {what}");
                return Violation::found(id, text);
            }
            (state, true) => {
                let text = format!("{what} timer {number}, which was over: {state:?}");
                return Violation::found(id, text);
            }
            (_, false) => {}
        }
        Ok(())
    }

    fn fired(
        &mut self,
        number: usize,
        told: Option<u64>,
        claimed: Option<u64>,
        at: u64,
    ) -> Result<(), Violation> {
        let Some(timer) = self.timers.get(&number).copied() else {
            return Violation::found("T2", format!("timer {number} fired, and was never armed"));
        };
        let ended = self.ended.unwrap_or(u64::MAX);
        match timer.state {
            // The drop waits for a call that had begun.
            State::Armed | State::Leaving | State::Dropped if at <= ended => {}
            State::Armed | State::Leaving | State::Dropped => {
                let text = format!("timer {number} fired after its service had ended");
                return Violation::found("T8", text);
            }
            State::Cancelled => {
                let text = format!("timer {number} fired after a cancel that answered true");
                return Violation::found("T2", text);
            }
            State::Fired => return Violation::found("T2", format!("timer {number} fired twice")),
        }
        self.in_time(number, &timer, told, claimed, at)?;
        self.in_order(number, &timer)?;
        self.timers.insert(
            number,
            Timer {
                state: State::Fired,
                ..timer
            },
        );
        Ok(())
    }

    /// Checks T1, and T3 where it can be observed.
    fn in_time(
        &self,
        number: usize,
        timer: &Timer,
        told: Option<u64>,
        claimed: Option<u64>,
        at: u64,
    ) -> Result<(), Violation> {
        let due = timer.due;
        if due == u64::MAX {
            return Violation::found("T4", format!("timer {number} fired, and is never due"));
        }
        let earliest = claimed.unwrap_or(at).min(at);
        if earliest < due {
            let text = format!("timer {number} fired {} ns early", due - earliest);
            return Violation::found("T1", text);
        }
        if claimed.is_some_and(|claimed| claimed > at) {
            return Violation::found(
                "T1",
                format!("timer {number} was claimed after it was called"),
            );
        }
        if let Some(told) = told.filter(|told| *told != due) {
            let text = format!("timer {number} was told the deadline {told}, and it was {due}");
            return Violation::found("T1", text);
        }
        let Some(late) = self.terms.late else {
            return Ok(());
        };
        let ready = due.max(timer.since);
        if !self.stalled && at > ready.saturating_add(late) {
            let text = format!("timer {number} was slept through for {} ns", at - ready);
            return Violation::found("T3", text);
        }
        Ok(())
    }

    /// Checks T5: timers due at the end of a stall fire before those armed since then, and, if claimed, in the order of
    /// their deadlines and of their armings.
    fn in_order(&self, number: usize, timer: &Timer) -> Result<(), Violation> {
        let waits = |other: &Timer| other.state == State::Armed && other.caught_up;
        let mut waiting = self.timers.iter().filter(|(_, other)| waits(other));
        let overtaken = waiting.find(|(other, state)| {
            let earlier = self.terms.deadline_order && state.is_before(timer);
            **other != number && (!timer.caught_up || earlier)
        });
        match overtaken {
            Some((other, _)) => {
                let text = format!("timer {number} fired before {other}, which was due before it");
                Violation::found("T5", text)
            }
            None => Ok(()),
        }
    }

    fn release(&mut self, at: u64) {
        if !self.stalled {
            return;
        }
        self.stalled = false;
        for timer in self.timers.values_mut() {
            timer.since = timer.since.max(at);
            timer.caught_up = timer.state == State::Armed && timer.due <= at;
        }
    }
}
