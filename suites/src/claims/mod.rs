//! Re-enacted claims of the seed texts: each statement of a text beside the behaviour of the implementations it is
//! about.
//!
//! A text is a file here: a list of [`Claim`]s in the words and order of the text, and a function for each of them,
//! generic over the family like a property. [`Seed`] says which kind of implementation a claim is about, and [`each`]
//! lists the texts. Time is virtual wherever a text is about time, so a figure is exact and the same every time. What
//! only a real process can show has a process of its own ([`Leaving`]).
//!
//! No result is hard-coded: the observation is compared with the words of the text. Where one of ours differs on
//! purpose, its [`Enactment`] names the statement of SEMANTICS.md that says so. A difference without one is an error
//! of the command.
//!
//! The originals of the texts are rows of the same form, of [`Origin::Foreign`], from processes of their own
//! (`originals`). Where one of them differs from its text, [`judge`] reports that it is another version.

mod acts;
mod managing_throughput;
mod originals;
mod pipeline_off_by_two;
mod stage;
mod state_machines;
mod ten_tasks;
mod timeout_channels;
mod timeouts_code_read;

use std::collections::BTreeMap;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::channel::{Alts, Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks};
use flowmeter_harness::limiter::AsyncLimit;
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;
use flowmeter_harness::timer::{Coalesce, Timeouts, Timers};
use flowmeter_records::Holds;

use managing_throughput::ManagingThroughput;
use pipeline_off_by_two::PipelineOffByTwo;
use state_machines::StateMachines;
use timeout_channels::TimeoutChannels;
use timeouts_code_read::TimeoutsCodeRead;

pub(crate) use originals::reenact_in;
pub use stage::holding;
pub(crate) use stage::{In, Leave, Question, Stage, leaving, reenact, serve, serve_leaving};

/// Visits every text, in the order of the tables.
fn each(visitor: &mut impl TextVisitor) {
    visitor.text::<TimeoutsCodeRead>();
    visitor.text::<TimeoutChannels>();
    visitor.text::<ManagingThroughput>();
    visitor.text::<StateMachines>();
    visitor.text::<PipelineOffByTwo>();
}

/// The title of each text, by its file.
pub(crate) fn titles() -> BTreeMap<&'static str, &'static str> {
    let mut titles = BTreeMap::new();
    each(&mut titles);
    titles
}

impl TextVisitor for BTreeMap<&'static str, &'static str> {
    fn text<S: Seed>(&mut self) {
        self.insert(S::FILE, S::TITLE);
    }
}

/// A visitor of texts.
trait TextVisitor {
    fn text<S: Seed>(&mut self);
}

/// A statement of a text.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The claim in short.
    says: &'static str,
    /// The text's own words or figure.
    expected: &'static str,
    /// The observations that confirm it; several different ones where the text contradicts itself.
    seen: &'static [&'static str],
    /// How it is re-enacted, or what it means, where that is not obvious.
    note: Option<&'static str>,
}

impl Claim {
    const fn new(
        says: &'static str,
        expected: &'static str,
        seen: &'static [&'static str],
    ) -> Claim {
        Claim {
            says,
            expected,
            seen,
            note: None,
        }
    }

    const fn note(self, note: &'static str) -> Claim {
        Claim {
            note: Some(note),
            ..self
        }
    }

    /// In virtual time, where threads take turns: the observation of a model.
    const fn seen_in(&'static self, model: fn() -> String) -> Enactment {
        self.enacted(Act::InTurns(model))
    }

    /// Under some schedule: the observation of a model that met the required situation.
    const fn seen_somewhere_in(&'static self, model: fn() -> Option<String>) -> Enactment {
        self.enacted(Act::UnderSomeSchedule(model))
    }

    const fn enacted(&'static self, act: Act) -> Enactment {
        Enactment {
            claim: self,
            act,
            differs: None,
        }
    }
}

/// A claim, and the way in which an implementation re-enacts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enactment {
    claim: &'static Claim,
    act: Act,
    /// The statement of SEMANTICS.md for which it does not hold here.
    differs: Option<&'static str>,
}

impl Enactment {
    /// It differs on purpose, for that reason.
    const fn differing(self, why: &'static str) -> Enactment {
        Enactment {
            differs: Some(why),
            ..self
        }
    }
}

/// Models that return their observation, in the terms of [`Claim::seen`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    InTurns(fn() -> String),
    UnderSomeSchedule(fn() -> Option<String>),
}

/// A claim about the end of a real process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    claim: &'static Claim,
    /// What the process does before it returns from `main`.
    before: fn(),
}

/// The observations of a process that ends although something still runs in it, and of one that does not end.
const ENDS: &str = "the process ends";
const STAYS: &str = "the process stays";

/// A text: its claims, and the implementations that re-enact them. Kinds that the text does not mention are left out.
trait Seed {
    /// The text's file.
    const FILE: &'static str;
    /// The title that its author gave it.
    const TITLE: &'static str;
    /// In the order of the text.
    const CLAIMS: &'static [&'static Claim];

    /// About channels with alts.
    fn alts<C: Alts, W: World>(_: &Registered) -> Vec<Enactment> {
        Vec::new()
    }
    /// About timers that share wake-ups.
    fn coalesce<T: Coalesce, W: World>(_: &Registered) -> Vec<Enactment> {
        Vec::new()
    }
    /// About timeouts that are channels.
    fn timeouts<S, C, W>(_: &Registered) -> Vec<Enactment>
    where
        S: Timeouts<C>,
        C: Alts + Async + Blocking,
        W: World,
    {
        Vec::new()
    }
    /// About the same timeouts in go blocks of that executor.
    fn go_blocks<E, S, C, W>(_: &Registered) -> Vec<Enactment>
    where
        E: Executors,
        S: Timeouts<C>,
        C: Alts + Async + Blocking,
        W: World,
    {
        Vec::new()
    }
    /// About executors.
    fn executor<E: Executors, C: Async + Blocking, W: World>(_: &Registered) -> Vec<Enactment> {
        Vec::new()
    }
    /// About bindings that are conveyed to tasks of an executor.
    fn bindings<B, E, C, W>(_: &Registered) -> Vec<Enactment>
    where
        B: Bindings,
        E: Executors,
        C: Async + Blocking,
        W: World,
    {
        Vec::new()
    }
    /// About runners of go blocks as state machines.
    fn state_machines<G, C, E, W>(_: &Registered) -> Vec<Enactment>
    where
        G: GoBlocks<C>,
        C: Callback + AwaitAlts,
        E: Executors,
        W: World,
    {
        Vec::new()
    }
    /// About pipelines.
    fn pipeline<P, C, E, W>(_: &Registered) -> Vec<Enactment>
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
        W: World,
    {
        Vec::new()
    }
    /// About limiters that futures wait for.
    fn async_limit<L: AsyncLimit, W: World>(_: &Registered) -> Vec<Enactment> {
        Vec::new()
    }
    /// About parallel maps.
    fn parallel_map<M, C, E, W>(_: &Registered) -> Vec<Enactment>
    where
        M: ParallelMaps<C, E> + Default,
        C: Async,
        E: Executors,
        W: World,
    {
        Vec::new()
    }
    /// About the same maps, throttled by a semaphore that serves in order of arrival.
    fn limited_map<M, L, C, E, W>() -> Vec<Enactment>
    where
        M: ParallelMaps<C, E> + Default,
        L: AsyncLimit,
        C: Async,
        E: Executors,
        W: World,
    {
        Vec::new()
    }
    /// About processes in which a timer is armed.
    fn leaving<T: Timers>() -> Vec<Leaving> {
        Vec::new()
    }
}

/// A claim, in the order of the texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    /// The text's file.
    seed: &'static str,
    claim: &'static Claim,
}

impl Statement {
    /// The file of the text and its claim, by which it is selected.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.seed, self.claim.says)
    }
}

/// All claims of the texts. The index of a claim identifies it between processes.
pub(crate) fn statements() -> Vec<Statement> {
    struct All(Vec<Statement>);
    impl TextVisitor for All {
        fn text<S: Seed>(&mut self) {
            self.0.extend(S::CLAIMS.iter().map(|claim| Statement {
                seed: S::FILE,
                claim,
            }));
        }
    }
    let mut all = All(Vec::new());
    each(&mut all);
    all.0
}

/// Compares an observation with a text, which is expressed by these words.
fn judge(stated: &[&str], seen: &str, origin: Origin) -> Holds {
    if stated.iter().any(|other| *other != stated[0]) {
        Holds::Inconsistent
    } else if stated.contains(&seen) {
        Holds::Yes
    } else if origin == Origin::Foreign {
        Holds::Version
    } else {
        Holds::No
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_seen_decides() {
        let six = ["6 channels"];
        assert_eq!(judge(&six, "6 channels", Origin::Own), Holds::Yes);
        assert_eq!(judge(&six, "20 channels", Origin::Own), Holds::No);
        assert_eq!(judge(&six, "6 channels", Origin::Foreign), Holds::Yes);
        assert_eq!(judge(&six, "14 channels", Origin::Foreign), Holds::Version);
    }

    #[test]
    fn a_text_against_itself_is_neither_right_nor_wrong() {
        let both = ["waits", "never waits"];
        for seen in ["waits", "never waits", "panics"] {
            assert_eq!(judge(&both, seen, Origin::Own), Holds::Inconsistent);
        }
        assert_eq!(judge(&["waits"; 2], "waits", Origin::Own), Holds::Yes);
    }

    #[test]
    fn each_claim_is_found_by_its_text_and_words() {
        let all = statements();
        let names: BTreeSet<_> = all.iter().map(Statement::name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() > 40);
    }
}
