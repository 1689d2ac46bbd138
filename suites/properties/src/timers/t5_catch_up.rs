//! T5: after a stall every due timer fires, in the order of deadlines where that is claimed.
//!
//! The smallest history that violates it:
//!
//! ```text
//! clock      thread                         timer thread
//! 50 µs                                     runs a slow callback
//!            arms 1 for 30 ns before 50 µs
//!            arms 2 for 10 ns before 50 µs
//! 60 µs                                     the slow callback ends
//!                                           calls 2, then 1: not in the order of deadlines
//!                                           or calls 2 only: 1 was lost
//! ```

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::spec::timer::{Event, Service as Book, Terms};
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance, obeys};
use super::form::{Gate, LATE, Note, SOON, after, case, delays};
use super::log::Log;
use crate::design::timers::{Design, Service, Timers, Way};

pub(crate) const PROPERTY: Property = Property {
    name: "t5-catch-up",
    statement: "After a stall every timer that was due fires, where claimed in the order of deadlines.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let Some(timers) = design.by(Way::Call) else {
        return Vec::new();
    };
    let ordered = design.claims(Claim::DeadlineOrder);
    let mut cases = vec![
        Case::new("behind a slow callback", move || {
            behind_a_stall(timers, ordered)
        }),
        case(
            timers,
            "beside one that is armed again and again",
            beside_an_eager_one,
        ),
    ];
    // In loom and shuttle time passes at any moment; in std seconds take long.
    if world::name() == "sim" {
        cases.push(Case::new("behind a stall of seconds", move || {
            behind_seconds(timers, ordered)
        }));
        // More than a turn of wheels with 64 slots of so many nanoseconds, and of one with 512 ticks.
        for (tick, ticks) in [(1 << 6, 70), (1 << 12, 70), (LATE, 520)] {
            let name = format!("behind a stall of {ticks} ticks of {tick} ns");
            cases.push(Case::new(name, move || behind_ticks(timers, tick, ticks)));
        }
    }
    cases
}

/// Blocks the service in a callback until the gate is opened. Returns a moment that the clock has reached.
fn stall(service: &Service, gate: &Gate) -> u64 {
    let stalled = Gate::new();
    let due = after(SOON);
    {
        let (stalled, gate) = (stalled.clone(), gate.clone());
        service.schedule(due, move |_| {
            stalled.open();
            gate.pass();
        });
    }
    stalled.pass();
    due.as_nanos()
}

fn behind_a_stall(timers: Timers, ordered: bool) {
    let mut log = Log::start(timers).with_deadline_order(ordered);
    let gate = Gate::new();
    let stall = stall(log.service(), &gate);
    log.write(Event::Stalled);
    // All of these are already due.
    let late = [30, 10, 20].map(|before| Deadline::from_nanos(stall - before));
    let queue = Queue::armed(&mut log, late.into_iter());
    log.write(Event::Released {
        at: world::now_nanos(),
    });
    gate.open();
    queue.waited_for(&mut log);
    log.judge();
}

/// Timers, and the order in which they are called.
struct Queue {
    notes: Vec<Note>,
    order: Arc<Mutex<Vec<usize>>>,
}

impl Queue {
    fn armed(log: &mut Log, deadlines: impl Iterator<Item = Deadline>) -> Self {
        let order = Arc::new(Mutex::new(Vec::new()));
        let notes = deadlines.map(|due| {
            let note = Note::new();
            let (callback, order) = (note.callback(), order.clone());
            let timer = log.arms(due);
            log.service().schedule(due, move |fired| {
                order.lock().expect(WHOLE).push(timer);
                callback(fired);
            });
            note
        });
        Queue {
            notes: notes.collect(),
            order,
        }
    }

    /// Waits for all, and records them in the order of their calls.
    fn waited_for(&self, log: &mut Log) {
        let calls: Vec<_> = self.notes.iter().map(Note::wait).collect();
        for timer in &*self.order.lock().expect(WHOLE) {
            log.called(*timer, calls[*timer]);
        }
    }
}

/// Timers at all distances; the stall makes most of them late.
fn behind_seconds(timers: Timers, ordered: bool) {
    const STALL: Duration = Duration::from_secs(2);
    const TIMERS: usize = 100;
    let mut log = Log::start(timers).with_deadline_order(ordered);
    let gate = Gate::new();
    stall(log.service(), &gate);
    log.write(Event::Stalled);
    let deadlines = delays(2).take(TIMERS).map(after);
    let queue = Queue::armed(&mut log, deadlines);
    // Time passes when a thread waits for it.
    let other = timers.start();
    let passed = Note::new();
    other.schedule(after(STALL), passed.callback());
    passed.wait();
    log.write(Event::Released {
        at: world::now_nanos(),
    });
    gate.open();
    queue.waited_for(&mut log);
    log.judge();
}

/// A timer is due in every tick of the stall, and the first that is called arms another, which is due at once. All those
/// of the stall fire before it. A design that counts in ticks may leave those of its last tick to the next one.
fn behind_ticks(timers: Timers, tick: u64, ticks: u64) {
    let [service, other] = [timers; 2].map(Timers::start);
    let gate = Gate::new();
    stall(&service, &gate);
    let begin = world::now_nanos();
    let due = |number| Deadline::from_nanos(begin + number * tick);
    let called: Arc<Mutex<Vec<u64>>> = Arc::default();
    let last = Note::new();
    let then = Arc::new(Mutex::new(Some(last.callback())));
    for number in 1..=ticks {
        let (later, then) = (service.clone(), Arc::clone(&then));
        let called = Arc::clone(&called);
        service.schedule(due(number), move |_| {
            called.lock().expect(WHOLE).push(number);
            let callback = then.lock().expect(WHOLE).take();
            if let Some(callback) = callback {
                later.schedule(Deadline::from_nanos(0), move |fired| {
                    called.lock().expect(WHOLE).push(0);
                    callback(fired);
                });
            }
        });
    }
    let passed = Note::new();
    other.schedule(due(ticks), passed.callback());
    passed.wait();
    let released = world::now_nanos();
    gate.open();
    last.wait();
    let called = called.lock().expect(WHOLE).clone();
    let in_it = called.iter().take_while(|number| **number > 0);
    let in_it: BTreeSet<u64> = in_it.copied().collect();
    let left = (1..=ticks)
        .find(|number| !in_it.contains(number) && due(*number).as_nanos() + LATE <= released);
    holds_eq!(
        left,
        None,
        "T5: a timer of that tick was due in the stall, and fired behind one that was armed in the catch-up"
    );
}

/// Events that are also recorded on the timer's thread. No operation of a world happens while it is locked.
type Events = Arc<Mutex<Vec<Event>>>;

fn write(events: &Events, event: Event) {
    events.lock().expect(WHOLE).push(event);
}

const WHOLE: &str = "no thread panics while it holds the lock";

/// A callback re-arms itself in the past. The other timer, which was due with it, fires before its next call.
fn beside_an_eager_one(timers: Timers) {
    let service = timers.start();
    let gate = Gate::new();
    let stall = stall(&service, &gate);
    let events = Events::default();
    write(&events, Event::Stalled);
    let eager = Eager {
        service: service.clone(),
        events: events.clone(),
    };
    eager.arm(EAGER, stall - 20);
    let (other, due) = (Note::new(), stall - 10);
    {
        let (events, callback) = (events.clone(), other.callback());
        let at = world::now_nanos();
        let timer = OTHER;
        write(&events, Event::Scheduled { timer, due, at });
        service.schedule(Deadline::from_nanos(due), move |called| {
            write(&events, fired(timer, world::now_nanos()));
            callback(called);
        });
    }
    let at = world::now_nanos();
    write(&events, Event::Released { at });
    gate.open();
    other.wait();
    let seen = events.lock().expect(WHOLE).clone();
    obeys(Book::judge(Terms::default(), &seen));
}

const OTHER: usize = 0;
/// The first of the timers that re-arm.
const EAGER: usize = 1;

fn fired(timer: usize, at: u64) -> Event {
    Event::Fired {
        timer,
        told: None,
        claimed: None,
        at,
    }
}

struct Eager {
    service: Service,
    events: Events,
}

impl Eager {
    fn arm(self, timer: usize, due: u64) {
        let (service, at) = (self.service.clone(), world::now_nanos());
        write(&self.events, Event::Scheduled { timer, due, at });
        service.schedule(Deadline::from_nanos(due), move |_| {
            write(&self.events, fired(timer, world::now_nanos()));
            if timer < EAGER + 3 {
                self.arm(timer + 1, 0);
            }
        });
    }
}
