//! Which property is owed by whom: collects, from a registry, the cases of every implementation.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use flowmeter_harness::caps::{Capability, Claim};
use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Callback, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms, WeakProducers,
};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{Contestant, Enrol, Registry};
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::by_alts::ByAlts;
use super::cancellation::{self, Duty};
use super::form::{ByFuture, ByThread};
use super::mixed::{Mixed, in_turns};
use super::{
    Case, Owed, PROPERTIES, Property, a1_exclusive, a2_closed_port, a3_meeting, a4_no_self_pairing,
    a5_choice, a6_default, a7_clauses, a8_cleanup, a9_timeout, b1_buffers, b2_transforms,
    b3_panics, c1_conservation, c2_order, c3_capacity, c4_waiters, c5_try, c6_awaited, c6_close,
    c7_bounded, c8_deadlines, c9_cancel, c10_drops, c11_forms, c13_identity, c14_disconnect,
    c14_weak, c15_batch, c15_reserve, combinators, executors, limiters, pipelines, programs,
    timers,
};

/// One implementation and one property, in one world.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Who.
    pub who: Contestant,
    /// What.
    pub property: &'static Property,
    /// Its models; none where the implementation does not claim it.
    pub cases: Vec<Case>,
}

/// What every implementation of a registry owes in a world.
#[derive(Debug)]
pub struct Checks<W> {
    /// Who is asked; everybody where there is no name.
    only: Option<String>,
    contestants: Vec<Contestant>,
    cases: BTreeMap<(&'static str, &'static str), Vec<Case>>,
    world: PhantomData<W>,
}

impl<W: World> Checks<W> {
    /// Asks every contestant what it owes. Asking opens channels, so it is done inside an execution of the
    /// world's own.
    ///
    /// # Panics
    /// With what a contestant panicked with when it was asked.
    pub fn of(registry: impl Registry) -> Self {
        Checks::asked::<W>(registry, None)
    }

    /// As [`Checks::of`], but asks nobody else than that contestant, and in any world whose models these are.
    ///
    /// # Panics
    /// With what it panicked with when it was asked.
    pub fn of_one<In: World<Models = W>>(registry: impl Registry, implementation: &str) -> Self {
        Checks::asked::<In>(registry, Some(implementation.to_owned()))
    }

    fn asked<In: World>(registry: impl Registry, only: Option<String>) -> Self {
        let asked = Arc::new(Mutex::new(Checks::nobody(None)));
        let answers = Arc::clone(&asked);
        let once = Exploration {
            executions: 1,
            ..Exploration::default()
        };
        let explored = In::explore(&once, move || {
            let mut checks = Checks::nobody(only.clone());
            registry.everybody(&mut checks);
            *answers.lock().expect("asked once at a time") = checks;
        });
        if let Some(failure) = explored.failure {
            panic!("{failure}");
        }
        std::mem::replace(
            &mut *asked.lock().expect("nobody asks any more"),
            Checks::nobody(None),
        )
    }

    fn nobody(only: Option<String>) -> Self {
        Checks {
            only,
            contestants: Vec::new(),
            cases: BTreeMap::new(),
            world: PhantomData,
        }
    }

    /// Every implementation with every property of its kind, claimed or not, in the registry's order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.contestants.iter().flat_map(move |who| {
            let of_its_kind = PROPERTIES
                .iter()
                .filter(|property| property.kind() == who.kind);
            of_its_kind.map(move |property| {
                let cases = self.cases.get(&(who.name, property.name));
                Cell {
                    who: who.clone(),
                    property,
                    cases: cases.cloned().unwrap_or_default(),
                }
            })
        })
    }

    fn owe(&mut self, who: &Contestant, property: &Property, cases: Vec<Case>) {
        // Two families or forms of one name may have the same cases: all are checked, and each is found by name.
        let all = self.cases.entry((who.name, property.name)).or_default();
        for mut case in cases {
            let (name, mut nth) = (case.name.clone(), 1);
            while all.iter().any(|other| other.name == case.name) {
                nth += 1;
                case.name = format!("{name} ({nth})");
            }
            all.push(case);
        }
    }

    fn owe_all(&mut self, who: &Contestant, owed: Owed) {
        for (property, cases) in owed {
            self.owe(who, property, cases);
        }
    }
}

fn claims(who: &Contestant, claim: Claim) -> bool {
    who.capabilities.claims.contains(&claim)
}

impl<W: World> Enrol for Checks<W> {
    fn asks(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }

    fn contestant(&mut self, who: &Contestant) {
        self.contestants.push(who.clone());
    }

    fn blocking<C: Blocking>(&mut self, who: &Contestant) {
        let form = "blocking";
        self.owe(
            who,
            &c1_conservation::PROPERTY,
            c1_conservation::cases::<C, ByThread, W>(form),
        );
        self.owe(
            who,
            &c2_order::PROPERTY,
            c2_order::cases::<C, ByThread, W>(form),
        );
        self.owe(who, &c3_capacity::PROPERTY, c3_capacity::cases::<C>());
        let waiting = c3_capacity::quiescent_cases::<C, W>();
        self.owe(who, &c3_capacity::PROPERTY, waiting);
        let keeps = claims(who, Claim::KeepsBuffered);
        self.owe(who, &c5_try::PROPERTY, c5_try::cases::<C>(keeps));
        self.owe(who, &c5_try::PROPERTY, c5_try::blocking_cases::<C, W>());
        self.owe(who, &c6_close::PROPERTY, c6_close::cases::<C, W>(keeps));
        // Panics are the checkers' own language in the other worlds.
        if claims(who, Claim::PanicSafe) && W::name() == "std" {
            self.owe(
                who,
                &c10_drops::PANICKING,
                c10_drops::panicking_cases::<C>(),
            );
        }
        if claims(who, Claim::Disconnect) {
            self.owe(
                who,
                &c14_disconnect::PROPERTY,
                c14_disconnect::cases::<C, ByThread, W>(),
            );
        }
        self.owe(who, &c10_drops::PROPERTY, c10_drops::cases::<C>());
        self.owe(who, &b1_buffers::PROPERTY, b1_buffers::cases::<C>());
        if who.capabilities.derived.contains(&Capability::Identity) {
            self.owe(who, &c13_identity::PROPERTY, c13_identity::cases::<C>());
        }
        self.owe(who, &programs::CHANNELS, programs::cases::<C, W>(who));
        if W::name() == "std" {
            self.owe(who, &programs::OUTCOMES, programs::outcome_cases::<C>(who));
        }
    }

    fn asynchronous<C: Async>(&mut self, who: &Contestant) {
        let form = "async";
        type Awaited<W> = ByFuture<W>;
        self.owe(
            who,
            &c1_conservation::AWAITED,
            c1_conservation::cases::<C, Awaited<W>, W>(form),
        );
        self.owe(
            who,
            &c2_order::AWAITED,
            c2_order::cases::<C, Awaited<W>, W>(form),
        );
        if !who.capabilities.derived.contains(&Capability::Blocking) {
            let keeps = claims(who, Claim::KeepsBuffered);
            self.owe(who, &c3_capacity::PROPERTY, c3_capacity::cases::<C>());
            self.owe(who, &c5_try::PROPERTY, c5_try::cases::<C>(keeps));
            self.owe(who, &c10_drops::PROPERTY, c10_drops::cases::<C>());
            self.owe(who, &b1_buffers::PROPERTY, b1_buffers::cases::<C>());
            if who.capabilities.derived.contains(&Capability::Identity) {
                self.owe(who, &c13_identity::PROPERTY, c13_identity::cases::<C>());
            }
            if claims(who, Claim::Disconnect) {
                let cases = c14_disconnect::cases::<C, Awaited<W>, W>();
                self.owe(who, &c14_disconnect::PROPERTY, cases);
            }
        }
        self.owe(
            who,
            &c3_capacity::PROPERTY,
            c3_capacity::waiting_cases::<C>(),
        );
        self.owe(who, &c6_close::PROPERTY, c6_close::taking_cases::<C>());
        if claims(who, Claim::WaiterFifo) {
            self.owe(who, &c4_waiters::PROPERTY, c4_waiters::cases::<C>());
        }
        self.owe(who, &programs::AWAITED, programs::async_cases::<C, W>(who));
        if claims(who, Claim::CancelSafe) {
            let cases = programs::cancelled_cases::<C, W>(who);
            self.owe(who, &programs::CANCELLED, cases);
            self.owe(who, &c9_cancel::PROPERTY, c9_cancel::cases::<C, W>());
            self.owe(
                who,
                &b1_buffers::PROPERTY,
                b1_buffers::cancelled_cases::<C>(),
            );
        }
        if claims(who, Claim::PendingPutsSurvive) {
            self.owe(who, &c6_close::PROPERTY, c6_close::pending_cases::<C>());
        }
        self.owe(who, &c10_drops::PROPERTY, c10_drops::async_cases::<C>());
        let dropped = cancellation::cases::<C, W>(Duty::DropOnce);
        self.owe(who, &c10_drops::DROPPED, dropped);
        if claims(who, Claim::BoundedWaiters) && W::name() == "std" {
            self.owe(who, &c7_bounded::PROPERTY, c7_bounded::async_cases::<C>());
        }
    }

    fn mixed<C: Blocking + Async>(&mut self, who: &Contestant) {
        let panic_safe = claims(who, Claim::PanicSafe);
        self.owe(
            who,
            &c11_forms::PROPERTY,
            c11_forms::mixed_cases::<C, W>(panic_safe),
        );
        self.owe(who, &programs::AWAITED, programs::mixed_cases::<C, W>(who));
    }

    fn callback<C: Callback + Blocking>(&mut self, who: &Contestant) {
        self.owe(who, &c11_forms::PROPERTY, c11_forms::cases::<C, W>());
        self.owe(who, &c6_close::PROPERTY, c6_close::callback_cases::<C>());
        if claims(who, Claim::BoundedWaiters) && W::name() == "std" {
            self.owe(
                who,
                &c7_bounded::PROPERTY,
                c7_bounded::callback_cases::<C>(),
            );
        }
    }

    fn put_deadline<C: PutDeadline>(&mut self, who: &Contestant) {
        self.owe(
            who,
            &c8_deadlines::PROPERTY,
            c8_deadlines::put_cases::<C, W>(),
        );
        let cases = programs::put_deadline_cases::<C, W>(who);
        self.owe(who, &programs::CHANNELS, cases);
    }

    fn take_deadline<C: TakeDeadline>(&mut self, who: &Contestant) {
        self.owe(
            who,
            &c8_deadlines::PROPERTY,
            c8_deadlines::take_cases::<C, W>(),
        );
        let cases = programs::take_deadline_cases::<C, W>(who);
        self.owe(who, &programs::CHANNELS, cases);
    }

    fn promises<C: Promises + Blocking>(&mut self, who: &Contestant) {
        self.owe(
            who,
            &b1_buffers::PROPERTY,
            b1_buffers::promise_cases::<C, W>(),
        );
    }

    fn alts<C: Alts>(&mut self, who: &Contestant) {
        self.owe(who, &a1_exclusive::PROPERTY, a1_exclusive::cases::<C, W>());
        self.owe(who, &programs::ALTS, programs::alts_cases::<C, W>(who));
        if W::name() == "std" {
            let cases = programs::alts_outcome_cases::<C>(who);
            self.owe(who, &programs::ALTS_OUTCOMES, cases);
        }
        self.owe(
            who,
            &a2_closed_port::PROPERTY,
            a2_closed_port::cases::<C, W>(),
        );
        if claims(who, Claim::Disconnect) {
            let cases = a2_closed_port::disconnected_cases::<C>();
            self.owe(who, &a2_closed_port::PROPERTY, cases);
        }
        self.owe(who, &a3_meeting::PROPERTY, a3_meeting::cases::<C, W>());
        self.owe(
            who,
            &a4_no_self_pairing::PROPERTY,
            a4_no_self_pairing::cases::<C, W>(),
        );
        if W::name() == "std" {
            let uniform = claims(who, Claim::UniformChoice);
            self.owe(who, &a5_choice::PROPERTY, a5_choice::cases::<C>(uniform));
        }
        let cases = a5_choice::raced_cases::<C, W>();
        self.owe(who, &a5_choice::PROPERTY, cases);
        if claims(who, Claim::StrictPriority) {
            let cases = a5_choice::strict_cases::<C, W>();
            self.owe(who, &a5_choice::PROPERTY, cases);
        }
        self.owe(who, &a6_default::PROPERTY, a6_default::cases::<C, W>());
        if claims(who, Claim::StrictDefault) {
            let cases = a6_default::strict_cases::<C, W>();
            self.owe(who, &a6_default::PROPERTY, cases);
        }
        self.owe(who, &a7_clauses::PROPERTY, a7_clauses::cases::<C, W>());
        if claims(who, Claim::BoundedWaiters) && W::name() == "std" {
            self.owe(who, &a7_clauses::PROPERTY, a7_clauses::crowded_cases::<C>());
        }
        self.owe(who, &a8_cleanup::PROPERTY, a8_cleanup::cases::<C, W>());
        self.owe(who, &a9_timeout::PROPERTY, a9_timeout::cases::<C, W>());
    }

    fn mixed_alts<C: MixedAlts>(&mut self, who: &Contestant) {
        type M<C> = Mixed<C, ByThread>;
        let mut owe = |property, cases| self.owe(who, property, in_turns(cases));
        owe(&a1_exclusive::MIXED, a1_exclusive::cases::<M<C>, W>());
        owe(&a2_closed_port::MIXED, a2_closed_port::cases::<M<C>, W>());
        owe(&a3_meeting::MIXED, a3_meeting::cases::<M<C>, W>());
        let cases = a4_no_self_pairing::cases::<M<C>, W>();
        owe(&a4_no_self_pairing::MIXED, cases);
        if W::name() == "std" {
            let uniform = claims(who, Claim::UniformChoice);
            owe(&a5_choice::MIXED, a5_choice::cases::<M<C>>(uniform));
        }
        if claims(who, Claim::StrictPriority) {
            owe(&a5_choice::MIXED, a5_choice::strict_cases::<M<C>, W>());
        }
        owe(&a6_default::MIXED, a6_default::cases::<M<C>, W>());
        if claims(who, Claim::StrictDefault) {
            owe(&a6_default::MIXED, a6_default::strict_cases::<M<C>, W>());
        }
        owe(&a7_clauses::MIXED, a7_clauses::cases::<M<C>, W>());
        if claims(who, Claim::BoundedWaiters) && W::name() == "std" {
            owe(&a7_clauses::MIXED, a7_clauses::crowded_cases::<M<C>>());
        }
        owe(&a8_cleanup::MIXED, a8_cleanup::cases::<M<C>, W>());
        owe(&a9_timeout::MIXED, a9_timeout::cases::<M<C>, W>());
    }

    fn await_alts<C: AwaitAlts>(&mut self, who: &Contestant) {
        type M<C, W> = Mixed<C, ByFuture<W>>;
        let mut owe = |property, cases| self.owe(who, property, in_turns(cases));
        owe(&a1_exclusive::AWAITED, a1_exclusive::cases::<M<C, W>, W>());
        let cases = a2_closed_port::closed_cases::<M<C, W>, W>();
        owe(&a2_closed_port::AWAITED, cases);
        // With a task's steps these are more than loom gets to the end of.
        if W::name() != "loom" {
            let cases = a2_closed_port::closing_cases::<M<C, W>, W>();
            owe(&a2_closed_port::AWAITED, cases);
        }
        owe(&a3_meeting::AWAITED, a3_meeting::cases::<M<C, W>, W>());
        owe(&a9_timeout::AWAITED, a9_timeout::cases::<M<C, W>, W>());
        if claims(who, Claim::CancelSafe) {
            let cases = c9_cancel::cases::<ByAlts<C>, W>();
            self.owe(who, &c9_cancel::BY_ALTS, cases);
        }
    }

    fn await_close<C: AwaitClose>(&mut self, who: &Contestant) {
        let cases = c6_awaited::cases::<C, W>(claims(who, Claim::Disconnect));
        self.owe(who, &c6_awaited::PROPERTY, cases);
    }

    fn weak_producers<C: WeakProducers>(&mut self, who: &Contestant) {
        self.owe(who, &c14_weak::PROPERTY, c14_weak::cases::<C, W>());
    }

    fn batch<C: Batch>(&mut self, who: &Contestant) {
        let keeps = claims(who, Claim::KeepsBuffered);
        let cases = c15_batch::cases::<C, ByThread, W>(keeps);
        self.owe(who, &c15_batch::PROPERTY, cases);
    }

    fn async_batch<C: AsyncBatch>(&mut self, who: &Contestant) {
        let keeps = claims(who, Claim::KeepsBuffered);
        let cases = c15_batch::cases::<C, ByFuture<W>, W>(keeps);
        self.owe(who, &c15_batch::PROPERTY, cases);
    }

    fn reserve<C: BlockingReserve>(&mut self, who: &Contestant) {
        let cases = c15_reserve::cases::<C, ByThread, W>();
        self.owe(who, &c15_reserve::PROPERTY, cases);
    }

    fn async_reserve<C: AsyncReserve>(&mut self, who: &Contestant) {
        let cases = c15_reserve::cases::<C, ByFuture<W>, W>();
        self.owe(who, &c15_reserve::PROPERTY, cases);
        let dropped = c15_reserve::dropped_cases::<C>();
        self.owe(who, &c15_reserve::PROPERTY, dropped);
    }

    fn transforms<C: Transforms + Blocking>(&mut self, who: &Contestant) {
        let disconnects = claims(who, Claim::Disconnect);
        let cases = b2_transforms::cases::<C, W>(disconnects);
        self.owe(who, &b2_transforms::PROPERTY, cases);
        // Panics are the checkers' own language in the other worlds.
        if W::name() == "std" {
            self.owe(who, &b3_panics::PROPERTY, b3_panics::cases::<C, W>());
        }
    }

    fn timer<T: Timers>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::timer::<T, W>(who));
    }

    fn cancel<T: Cancel>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::cancel::<T, W>());
    }

    fn reset<T: Reset>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::reset::<T, W>());
    }

    fn coalesce<T: Coalesce>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::coalesce::<T, W>());
    }

    fn sleep<S: Sleep>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::sleep::<S, W>(who));
    }

    fn blocking_sleep<S: BlockingSleep>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::blocking_sleep::<S, W>(who));
    }

    fn timeouts<S: Timeouts<C>, C: Alts + Async + Blocking>(&mut self, who: &Contestant) {
        self.owe_all(who, timers::timeouts::<S, C, W>(who));
    }

    fn limiter<L: Limiters>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::limiter_owes::<L, W>(who));
    }

    fn blocking_limit<L: BlockingLimit>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::blocking_limit_owes::<L, W>(who));
    }

    fn limit_deadline<L: LimitDeadline>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::limit_deadline_owes::<L, W>(who));
    }

    fn async_limit<L: AsyncLimit>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::async_limit_owes::<L, W>(who));
    }

    fn async_limit_deadline<L: AsyncLimitDeadline>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::async_limit_deadline_owes::<L, W>(who));
    }

    fn weighted_limit<L: WeightedLimit>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::weighted_limit_owes::<L, W>(who));
    }

    fn async_weighted_limit<L: AsyncWeightedLimit>(&mut self, who: &Contestant) {
        self.owe_all(who, limiters::async_weighted_limit_owes::<L, W>(who));
    }

    fn pipeline<P: Pipelines<C, E> + Default, C: Async, E: Executors>(&mut self, who: &Contestant) {
        self.owe_all(who, pipelines::owed::<P, C, E, W>(who));
    }

    fn workers<P: TransformPipelines<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        self.owe_all(who, pipelines::workers_owe::<P, C, E, W>());
    }

    fn parallel_map<M: ParallelMaps<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        self.owe_all(who, pipelines::map_owes::<M, C, E, W>());
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        self.owe_all(who, executors::owed::<E, C, W>());
    }

    fn bindings<B: Bindings, E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        let cases = executors::g5_bindings::cases::<B, E, C, W>();
        self.owe(who, &executors::g5_bindings::PROPERTY, cases);
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        let cases = executors::g3_state_machines::cases::<G, C, E, W>();
        self.owe(who, &executors::g3_state_machines::PROPERTY, cases);
    }

    fn combinators<F: Combinators<C>, C: AwaitAlts, E: Executors>(&mut self, who: &Contestant) {
        self.owe_all(who, combinators::owed::<F, C, E, W>());
    }
}
