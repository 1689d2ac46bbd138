//! T5: after a stall all that was due fires; in the order of deadlines where that is claimed.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowmeter_harness::spec::timer::{Event, Service, Terms};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timers;

use super::super::{Case, Property, Reliance, obeys};
use super::form::{Gate, Note, SOON, after, delays};
use super::log::Log;

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t5-catch-up",
    statement: "After a stall everything that was due fires, where claimed in the order of deadlines.",
    relied_on_by: Reliance::Nobody,
};

/// `ordered`: whether the order of deadlines is claimed.
pub(super) fn cases<T: Timers, W: World>(ordered: bool) -> Vec<Case> {
    let mut cases = vec![
        Case::new("behind a slow callback", move || {
            behind_a_stall::<T, W>(ordered)
        }),
        Case::new("beside one that is armed again and again", || {
            beside_an_eager_one::<T, W>()
        }),
    ];
    // Elsewhere seconds are long, or pass at any time.
    if W::name() == "sim" {
        cases.push(Case::new("behind a stall of seconds", move || {
            behind_seconds::<T, W>(ordered)
        }));
    }
    cases
}

/// Holds up the service in a callback until the gate is opened; answers a moment that the clock has come to.
fn stall<T: Timers, W: World>(service: &T, gate: &Gate<W>) -> u64 {
    let stalled = Gate::<W>::new();
    let due = after::<W>(SOON);
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

fn behind_a_stall<T: Timers, W: World>(ordered: bool) {
    let service = T::start();
    let gate = Gate::<W>::new();
    let stall = stall(&service, &gate);
    let mut log = Log::<W>::new::<T>().with_deadline_order(ordered);
    log.write(Event::Stalled);
    // All of these are due already.
    let late = [30, 10, 20].map(|before| Deadline::from_nanos(stall - before));
    let queue = Queue::armed(&service, &mut log, late.into_iter());
    log.write(Event::Released { at: W::now_nanos() });
    gate.open();
    queue.waited_for(&mut log);
    log.judge();
}

/// Timers, and the order in which they are called.
struct Queue<W: World> {
    notes: Vec<Note<W>>,
    order: Arc<Mutex<Vec<usize>>>,
}

impl<W: World> Queue<W> {
    fn armed<T: Timers>(
        service: &T,
        log: &mut Log<W>,
        deadlines: impl Iterator<Item = Deadline>,
    ) -> Self {
        let order = Arc::new(Mutex::new(Vec::new()));
        let notes = deadlines.map(|due| {
            let note = Note::<W>::new();
            let (callback, order) = (note.callback(), order.clone());
            let timer = log.arms(due);
            service.schedule(due, move |fired| {
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

    /// Waits for all, and writes them down in their order.
    fn waited_for(&self, log: &mut Log<W>) {
        let calls: Vec<_> = self.notes.iter().map(Note::wait).collect();
        for timer in &*self.order.lock().expect(WHOLE) {
            log.called(*timer, calls[*timer]);
        }
    }
}

/// Timers at all distances, for most of which the service comes too late.
fn behind_seconds<T: Timers, W: World>(ordered: bool) {
    const STALL: Duration = Duration::from_secs(2);
    const TIMERS: usize = 100;
    let service = T::start();
    let gate = Gate::<W>::new();
    stall(&service, &gate);
    let mut log = Log::<W>::new::<T>().with_deadline_order(ordered);
    log.write(Event::Stalled);
    let deadlines = delays(2).take(TIMERS).map(after::<W>);
    let queue = Queue::armed(&service, &mut log, deadlines);
    // Time passes when somebody waits for it.
    let other = T::start();
    let passed = Note::<W>::new();
    other.schedule(after::<W>(STALL), passed.callback());
    passed.wait();
    log.write(Event::Released { at: W::now_nanos() });
    gate.open();
    queue.waited_for(&mut log);
    log.judge();
}

/// What is learnt on the timer's thread too. Nothing of a world happens while it is locked.
type Events = Arc<Mutex<Vec<Event>>>;

fn write(events: &Events, event: Event) {
    events.lock().expect(WHOLE).push(event);
}

const WHOLE: &str = "nobody panics with the lock";

/// A callback that arms itself anew, in the past: the other, which was due with it, fires before it comes again.
fn beside_an_eager_one<T: Timers, W: World>() {
    let service = Arc::new(T::start());
    let gate = Gate::<W>::new();
    let stall = stall(&*service, &gate);
    let events = Events::default();
    write(&events, Event::Stalled);
    let eager = Eager {
        service: service.clone(),
        events: events.clone(),
        world: PhantomData::<W>,
    };
    eager.arm(EAGER, stall - 20);
    let (other, due) = (Note::<W>::new(), stall - 10);
    {
        let (events, callback) = (events.clone(), other.callback());
        let at = W::now_nanos();
        let timer = OTHER;
        write(&events, Event::Scheduled { timer, due, at });
        service.schedule(Deadline::from_nanos(due), move |called| {
            write(&events, fired(timer, W::now_nanos()));
            callback(called);
        });
    }
    let at = W::now_nanos();
    write(&events, Event::Released { at });
    gate.open();
    other.wait();
    let seen = events.lock().expect(WHOLE).clone();
    obeys(Service::judge(Terms::default(), &seen));
}

const OTHER: usize = 0;
/// The first of those that arm the next.
const EAGER: usize = 1;

fn fired(timer: usize, at: u64) -> Event {
    Event::Fired {
        timer,
        told: None,
        claimed: None,
        at,
    }
}

struct Eager<T, W> {
    service: Arc<T>,
    events: Events,
    world: PhantomData<W>,
}

impl<T: Timers, W: World> Eager<T, W> {
    fn arm(self, timer: usize, due: u64) {
        let (service, at) = (self.service.clone(), W::now_nanos());
        write(&self.events, Event::Scheduled { timer, due, at });
        service.schedule(Deadline::from_nanos(due), move |_| {
            write(&self.events, fired(timer, W::now_nanos()));
            if timer < EAGER + 3 {
                self.arm(timer + 1, 0);
            }
        });
    }
}
