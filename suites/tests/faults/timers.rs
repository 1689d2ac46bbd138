//! The faults that the properties of timers must find: timers of ours that fire early or answer a cancel wrongly.
//! Each runs in a process of its own, like all failures in an explored world.

use flowmeter_harness::caps::Origin;
use flowmeter_harness::registry::{Registered, Registry, Visitor, mutant};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Fired, Timers};
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::{Checks, judge};

use super::{judged, plan};

/// A timer with a fault.
struct Faulty<T, const FAULT: u8>(T);

const NONE: u8 = 0;
/// Fires a millisecond early.
const EARLY: u8 = 1;
/// Answers that it has cancelled, and has not.
const LIES: u8 = 2;

impl<T: Timers, const FAULT: u8> Timers for Faulty<T, FAULT> {
    type Handle = T::Handle;

    fn start() -> Self {
        Faulty(T::start())
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> T::Handle {
        let earlier = Deadline::from_nanos(deadline.as_nanos().saturating_sub(1_000_000));
        let inner = if FAULT == EARLY { earlier } else { deadline };
        self.0.schedule(inner, move |fired| {
            then(Fired {
                due: deadline,
                ..fired
            });
        })
    }
}

impl<T: Cancel, const FAULT: u8> Cancel for Faulty<T, FAULT> {
    fn cancel(&self, handle: &T::Handle) -> bool {
        FAULT == LIES || self.0.cancel(handle)
    }
}

/// Our timers of a registry, each with the fault.
#[derive(Clone, Copy)]
struct With<R, const FAULT: u8>(R);

impl<R: Registry, const FAULT: u8> Registry for With<R, FAULT> {
    fn timers<V: Visitor>(self, visitor: &mut V) {
        self.0.timers(&mut Spoiling::<V, FAULT>(visitor));
    }
}

/// Each timer once: those with cancel for a wrong answer, otherwise all that call back.
struct Spoiling<'h, V, const FAULT: u8>(&'h mut V);

impl<V: Visitor, const FAULT: u8> Visitor for Spoiling<'_, V, FAULT> {
    fn timer<T: Timers>(&mut self, implementation: &Registered) {
        if implementation.origin == Origin::Own && FAULT != LIES {
            mutant::<Faulty<T, FAULT>, _>(self.0, implementation.name)
                .timer()
                .enter();
        }
    }
    fn cancel<T: Cancel>(&mut self, implementation: &Registered) {
        if implementation.origin == Origin::Own && FAULT == LIES {
            mutant::<Faulty<T, FAULT>, _>(self.0, implementation.name)
                .timer()
                .cancel()
                .enter();
        }
    }
}

/// A test for each of our timers that owes the property, with that fault: `says` is in the message. Without a fault
/// it passes.
fn owed<W: World, const FAULT: u8>(
    registry: impl Registry,
    property: &str,
    fault: &str,
    says: &'static str,
) -> Vec<Model> {
    let checks = Checks::of::<W>(With::<_, FAULT>(registry));
    let plan = plan::<W>();
    let cells = checks
        .cells()
        .filter(|cell| cell.property.name == property && !cell.cases.is_empty());
    let models: Vec<Model> = cells
        .map(|cell| {
            let plan = plan.clone();
            let name = format!(
                "{}::{}::{property}::{fault}",
                W::NAME,
                cell.implementation.name
            );
            Model::new(name, move || judged(judge::<W>(&cell, &plan), says))
        })
        .collect();
    assert!(
        !models.is_empty(),
        "no implementation owes {property} in {}",
        W::NAME
    );
    models
}

fn in_world<W: World>(registry: impl Registry) -> Vec<Model> {
    let early = "T1: timer ";
    let mut all = owed::<W, NONE>(registry, "t1-never-early", "sound", "");
    all.extend(owed::<W, EARLY>(
        registry,
        "t1-never-early",
        "1 ms early",
        early,
    ));
    all.extend(owed::<W, LIES>(registry, "t2-once", "cancel lies", "T2: "));
    all
}

/// For every world.
pub fn models() -> Vec<Model> {
    let mut all = in_world::<Std>(flowmeter_impls::registry::All);
    all.extend(in_world::<Loom>(flowmeter_impls_loom::registry::All));
    all.extend(in_world::<Shuttle>(flowmeter_impls_shuttle::registry::All));
    all
}
