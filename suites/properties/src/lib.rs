//! The properties: one file for each, named after the statement of SEMANTICS.md it checks. Each is written once for
//! every implementation and every world.
//!
//! A property gives *cases*: models of a few threads, which the world executes many times. A model that finds a
//! violation panics with it.

// The modules below use its macros.
#[macro_use]
mod holds;

mod a1_exclusive;
mod a2_closed_port;
mod a3_meeting;
mod a4_no_self_pairing;
mod a5_choice;
mod a5_many;
mod a6_default;
mod a7_clauses;
mod a8_cleanup;
mod a8_ends;
mod a9_timeout;
mod acts;
mod b1_buffers;
mod b1_copies;
mod b2_transforms;
mod b3_panics;
mod behind;
mod bell;
mod busy;
mod by_alts;
mod c10_drops;
mod c11_forms;
mod c13_identity;
mod c14_disconnect;
mod c14_halves;
mod c14_refusals;
mod c14_weak;
mod c15_batch;
mod c15_close;
mod c15_half;
mod c15_reserve;
mod c1_conservation;
mod c2_order;
mod c3_capacity;
mod c4_waiters;
mod c5_try;
mod c6_awaited;
mod c6_close;
mod c7_bounded;
mod c8_deadlines;
mod c9_cancel;
mod cancellation;
mod checks;
mod combinators;
mod comings;
mod completions;
mod conditions;
pub mod cost;
mod crowd;
pub mod design;
mod executors;
pub(crate) mod form;
mod gate;
pub mod lies;
mod limiters;
mod mixed;
mod moving;
mod patience;
mod patient;
mod pipelines;
pub mod polls;
mod programs;
mod scripted;
mod sequences;
mod timers;
mod verdict;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use flowmeter_harness::caps::Kind;
use flowmeter_harness::check::watch;
use flowmeter_harness::spec::Violation;
use flowmeter_harness::sync::{Exploration, Explored, Failure, World};

pub use checks::{Cell, Checks};
pub use conditions::{Condition, announce, now};
pub use pipelines::Clock;
pub use timers::{Called, Note};
pub use verdict::judge;
pub use verdict::{FailingCase, Judgement, judge_closely};

/// A statement that holds of every implementation that claims it.
#[derive(Debug)]
pub struct Property {
    /// Id of SEMANTICS.md and a name, such as `c2-order`.
    pub name: &'static str,
    /// What holds, in a sentence.
    pub statement: &'static str,
    /// Which scenarios rely on it. Without a quick proof of it they are not timed.
    pub relied_on_by: Reliance,
    /// Its models.
    pub(crate) cases: Cases,
}

/// The models of a property for a design of its kind, by what the design has and claims: none where it does not owe
/// the property. They are requested inside an execution of the world that will run them.
#[derive(Debug)]
pub(crate) enum Cases {
    /// Of channels.
    Channels(fn(&design::channels::Design) -> Vec<Case>),
    /// Of executors, and of what goes with them.
    Executors(fn(&design::executors::Design) -> Vec<Case>),
    /// Of pipelines, of each sort.
    Pipelines(fn(&design::pipelines::Design) -> Vec<Case>),
    /// Of timers.
    Timers(fn(&design::timers::Design) -> Vec<Case>),
    /// Of limiters.
    Limiters(fn(&design::limiters::Design) -> Vec<Case>),
    /// Of combinators.
    Combinators(fn(&design::combinators::Design) -> Vec<Case>),
}

impl Property {
    /// The kind of implementation it is about: its id begins with that kind's letter.
    ///
    /// # Panics
    /// When the letter is none of SEMANTICS.md's.
    pub fn kind(&self) -> Kind {
        match self.name.as_bytes().first() {
            Some(b'c' | b'b' | b'a') => Kind::Channel,
            Some(b't') => Kind::Timer,
            Some(b'p') => Kind::Pipeline,
            Some(b'l') => Kind::Limiter,
            Some(b'g') => Kind::Executor,
            Some(b'm') => Kind::Combinator,
            _ => panic!("{}: no statement of SEMANTICS.md begins so", self.name),
        }
    }
}

/// Which scenarios rely on a property, of those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliance {
    /// None: it is checked, and its failure stops no timing.
    Nothing,
    /// All of that kind.
    All,
    /// Those with blocking threads on at least one side.
    Blocking,
    /// Those with awaiting tasks on at least one side.
    Async,
    /// Those of alts.
    Alts,
}

/// One model of a property, or a family of models that depends on the plan.
#[derive(Clone)]
pub struct Case {
    /// What distinguishes it, such as a buffer.
    pub name: String,
    subject: Subject,
}

/// A world that explores models.
#[derive(Clone, Copy, Debug)]
pub struct Explorer {
    /// Its name.
    pub world: &'static str,
    explore: fn(&Exploration, Model) -> Explored,
}

impl Explorer {
    /// That world.
    pub const fn of<W: World>() -> Explorer {
        Explorer {
            world: W::NAME,
            explore: |plan, model| W::explore(plan, move || model()),
        }
    }

    /// As [`World::explore`].
    pub fn explore(&self, plan: &Exploration, model: Model) -> Explored {
        (self.explore)(plan, model)
    }
}

/// Runs it once; panics with what was violated.
pub type Model = Arc<dyn Fn() + Send + Sync>;
type Explore = Arc<dyn Fn(&Explorer, &Exploration) -> Explored + Send + Sync>;
type Member = Arc<dyn Fn(&str) -> Option<Model> + Send + Sync>;

#[derive(Clone)]
enum Subject {
    Model(Model),
    Family {
        /// Explores it in its world.
        explore: Explore,
        /// The model that a failure names; `None` where it cannot be run again.
        member: Member,
    },
}

impl Case {
    fn new(name: impl Into<String>, model: impl Fn() + Send + Sync + 'static) -> Case {
        Case {
            name: name.into(),
            subject: Subject::Model(Arc::new(model)),
        }
    }

    fn generated(
        name: impl Into<String>,
        explore: impl Fn(&Explorer, &Exploration) -> Explored + Send + Sync + 'static,
        member: impl Fn(&str) -> Option<Model> + Send + Sync + 'static,
    ) -> Case {
        Case {
            name: name.into(),
            subject: Subject::Family {
                explore: Arc::new(explore),
                member: Arc::new(member),
            },
        }
    }

    /// The same, with `first` called before the model in each execution.
    ///
    /// # Panics
    /// When it is a family of models, which have no common beginning.
    fn after(self, first: fn()) -> Case {
        let subject = match self.subject {
            Subject::Model(model) => Subject::Model(Arc::new(move || {
                first();
                model();
            })),
            Subject::Family { .. } => {
                panic!("{}: nothing comes before a family of models", self.name)
            }
        };
        Case { subject, ..self }
    }

    /// Whether it is a family of models.
    pub fn is_generated(&self) -> bool {
        matches!(self.subject, Subject::Family { .. })
    }

    /// Explores it in the given world. Where a switched-off check would have ended an execution, that execution is
    /// abandoned and others are explored instead.
    pub fn explore(&self, explorer: &Explorer, plan: &Exploration) -> Explored {
        let mut explored = self.explore_once(explorer, plan);
        let mut plan = plan.clone();
        for _ in 0..ABANDONED_AT_MOST {
            if !is_abandoned(&explored) {
                return explored;
            }
            plan.seed = plan.seed.wrapping_add(1);
            plan.executions = plan.executions.saturating_sub(explored.executions);
            // A failing execution may leave its thread counted as panicking, so each exploration gets a thread of its
            // own.
            let again =
                thread::scope(|scope| scope.spawn(|| self.explore_once(explorer, &plan)).join());
            let again = again.unwrap_or_else(|panic| resume_unwind(panic));
            explored = Explored {
                executions: explored.executions + again.executions,
                complete: false,
                undecided: explored.undecided + again.undecided,
                failure: again.failure,
            };
        }
        if is_abandoned(&explored) {
            explored.failure = None;
        }
        explored
    }

    fn explore_once(&self, explorer: &Explorer, plan: &Exploration) -> Explored {
        match &self.subject {
            Subject::Model(model) => explorer.explore(plan, begun(model)),
            Subject::Family { explore, .. } => explore(explorer, plan),
        }
    }

    /// The model behind that failure.
    pub fn model(&self, failure: &Failure) -> Option<Model> {
        match &self.subject {
            Subject::Model(model) => Some(begun(model)),
            Subject::Family { member, .. } => member(&failure.member.as_ref()?.key),
        }
    }
}

/// The model; each execution first resets the injected faults.
fn begun(model: &Model) -> Model {
    let model = Arc::clone(model);
    Arc::new(move || {
        begin();
        model();
    })
}

/// An execution of a model begins.
fn begin() {
    lies::begin();
}

/// How often an exploration restarts after an abandoned execution, at most.
const ABANDONED_AT_MOST: u32 = 16;

fn is_abandoned(explored: &Explored) -> bool {
    let failure = explored.failure.as_ref();
    failure.is_some_and(|failure| failure.message.starts_with(watch::ABANDONED))
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case {}", self.name)
    }
}

/// Checks what a specification found in a model.
///
/// # Panics
/// With the violation.
#[track_caller]
fn obeys(judged: Result<(), Violation>) {
    if let Err(violation) = judged {
        watch::found(format_args!("{violation}"));
    }
}

/// Every property, in the order of the tables.
pub const PROPERTIES: &[&Property] = &[
    &c1_conservation::PROPERTY,
    &c1_conservation::AWAITED,
    &c2_order::PROPERTY,
    &c2_order::AWAITED,
    &programs::CHANNELS,
    &programs::OUTCOMES,
    &programs::AWAITED,
    &c3_capacity::PROPERTY,
    &c4_waiters::PROPERTY,
    &c5_try::PROPERTY,
    &c6_close::PROPERTY,
    &c6_awaited::PROPERTY,
    &c7_bounded::PROPERTY,
    &c8_deadlines::PROPERTY,
    &c9_cancel::PROPERTY,
    &c9_cancel::BY_ALTS,
    &programs::CANCELLED,
    &c10_drops::PROPERTY,
    &c10_drops::DROPPED,
    &c10_drops::PANICKING,
    &c11_forms::PROPERTY,
    &sequences::PROPERTY,
    &c13_identity::PROPERTY,
    &c14_disconnect::PROPERTY,
    &c14_halves::PROPERTY,
    &c14_refusals::PROPERTY,
    &c14_weak::PROPERTY,
    &c15_batch::PROPERTY,
    &c15_half::PROPERTY,
    &c15_reserve::PROPERTY,
    &c15_close::PROPERTY,
    &b1_buffers::PROPERTY,
    &b1_copies::PROPERTY,
    &b2_transforms::PROPERTY,
    &b3_panics::PROPERTY,
    &a1_exclusive::PROPERTY,
    &a1_exclusive::MIXED,
    &a1_exclusive::AWAITED,
    &programs::ALTS,
    &programs::ALTS_OUTCOMES,
    &a2_closed_port::PROPERTY,
    &a2_closed_port::MIXED,
    &a2_closed_port::AWAITED,
    &a3_meeting::PROPERTY,
    &a3_meeting::MIXED,
    &a3_meeting::AWAITED,
    &a4_no_self_pairing::PROPERTY,
    &a4_no_self_pairing::MIXED,
    &a5_choice::PROPERTY,
    &a5_choice::MIXED,
    &a6_default::PROPERTY,
    &a6_default::MIXED,
    &a7_clauses::PROPERTY,
    &a7_clauses::MIXED,
    &a8_cleanup::PROPERTY,
    &a8_cleanup::MIXED,
    &a8_ends::PROPERTY,
    &a9_timeout::PROPERTY,
    &a9_timeout::MIXED,
    &a9_timeout::AWAITED,
    &timers::t1_never_early::PROPERTY,
    &timers::t1_never_early::IN_ALTS,
    &timers::t2_once::PROPERTY,
    &timers::t2_sequences::PROPERTY,
    &timers::t3_earlier::PROPERTY,
    &timers::t4_extremes::PROPERTY,
    &timers::t5_catch_up::PROPERTY,
    &timers::t5_sequences::PROPERTY,
    &timers::t6_callbacks::PROPERTY,
    &timers::t7_coalescing::PROPERTY,
    &timers::t7_windows::PROPERTY,
    &timers::t8_shutdown::PROPERTY,
    &limiters::l1_window::PROPERTY,
    &limiters::l1_waiter_fifo::PROPERTY,
    &limiters::l2_rate::PROPERTY,
    &limiters::l2_one_wake::PROPERTY,
    &limiters::l2_weights::PROPERTY,
    &limiters::l2_clocks::PROPERTY,
    &limiters::l3_waiters::PROPERTY,
    &limiters::l3_tries::PROPERTY,
    &limiters::l3_leavers::PROPERTY,
    &limiters::l3_sequences::PROPERTY,
    &limiters::l4_quotas::PROPERTY,
    &pipelines::p1_bound::PROPERTY,
    &pipelines::p2_order::PROPERTY,
    &pipelines::p2_several::PROPERTY,
    &pipelines::p3_close::PROPERTY,
    &pipelines::p3_idle::PROPERTY,
    &pipelines::p4_faults::PROPERTY,
    &pipelines::p5_window::PROPERTY,
    &pipelines::p6_workers::PROPERTY,
    &pipelines::p7_map::PROPERTY,
    &pipelines::p8_figures::PROPERTY,
    &executors::g1_go::PROPERTY,
    &executors::g1_shutdown::PROPERTY,
    &executors::wakers::TASKS,
    &executors::g1_thread_ends::PROPERTY,
    &executors::g2_parking::PROPERTY,
    &executors::g2_blocked::PROPERTY,
    &executors::g2_turns::PROPERTY,
    &executors::g3_state_machines::PROPERTY,
    &executors::wakers::BLOCKS,
    &executors::g5_bindings::PROPERTY,
    &combinators::m1_pipe::PROPERTY,
    &combinators::m2_split::PROPERTY,
    &combinators::m3_merge::PROPERTY,
    &combinators::m4_mult::PROPERTY,
    &combinators::crowd::MULT,
    &combinators::m5_mix::PROPERTY,
    &combinators::crowd::MIX,
    &combinators::m6_publish::PROPERTY,
    &combinators::crowd::PUBLISH,
    &combinators::m7_onto_chan::PROPERTY,
    &combinators::m8_to_chan::PROPERTY,
    &combinators::m9_into::PROPERTY,
    &combinators::m10_reduce::PROPERTY,
    &combinators::m11_transduce::PROPERTY,
    &combinators::m12_map::PROPERTY,
    &combinators::m13_take::PROPERTY,
    &combinators::m14_unique::PROPERTY,
    &combinators::m15_partition::PROPERTY,
];

// At the end: the scan of the sources for checks stops at the first `cfg(test)`.
#[cfg(test)]
#[path = "../../src/cli/new/channel/property.txt"]
#[allow(dead_code, reason = "it has to compile, and no implementation owes it")]
mod begun;
