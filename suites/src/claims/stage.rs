//! Where claims are re-enacted: the families of one implementation in virtual time, and real processes for what ends
//! with them. Each implementation has a process of its own, since foreign code runs, which tells beforehand what it is
//! about to do: of one that hangs or breaks the rest is a row that says so.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flowmeter_harness::caps::{self, Origin};
use flowmeter_harness::channel::{Alts, Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks};
use flowmeter_harness::limiter::AsyncLimit;
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::record::{Holds, SeedClaim};
use flowmeter_harness::registry::{AsyncRegistry, Contestant, Enrol, Registry};
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_harness::timer::{Coalesce, Timeouts, Timers};
use serde::{Deserialize, Serialize};

use super::{
    Act, Claim, ENDS, Enactment, Leaving, STAYS, Seed, Statement, Visitor, each, judge, statements,
};
use crate::contest::introduced;
use crate::process::{self, End};
use crate::worlds::Worlds;

/// For all claims of one implementation: they take a second or two on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// For a process to start, to arm a timer, and to end.
const TO_LEAVE: Duration = Duration::from_secs(10);
/// Schedules that are looked through for one that shows what some show.
const SCHEDULES: u64 = 200;

/// A registry in a world with virtual time.
pub(crate) trait Stage: Send + Sync {
    /// What an implementation can re-enact, by its claim's place.
    fn enactments(&self, implementation: &str) -> Vec<(usize, Enactment)>;
    /// What was seen, or why nothing was.
    fn seen(&self, act: Act) -> Result<String, String>;
}

/// A registry in that world.
pub(crate) struct In<W, R>(R, PhantomData<W>);

impl<W, R> In<W, R> {
    pub(crate) const fn new(registry: R) -> Self {
        In(registry, PhantomData)
    }
}

impl<W: World, R: Registry> Stage for In<W, R> {
    fn enactments(&self, implementation: &str) -> Vec<(usize, Enactment)> {
        let (registry, of) = (self.0, implementation.to_owned());
        // Asking opens channels.
        let asked = in_world::<W, _>(1, move || {
            let mut asked = Asked::<W::Models, R> {
                of: of.clone(),
                registry,
                before: 0,
                enactments: Vec::new(),
                world: PhantomData,
            };
            each(&mut asked);
            Some(asked.enactments)
        });
        asked.unwrap_or_else(|why| panic!("{why}"))
    }

    fn seen(&self, act: Act) -> Result<String, String> {
        match act {
            Act::InTurns(model) => in_world::<W, _>(1, move || Some(model())),
            Act::UnderSomeSchedule(model) => in_world::<W::Models, _>(SCHEDULES, model),
        }
    }
}

/// Runs a model so often; answers what it answered first.
fn in_world<W: World, A: Send + 'static>(
    executions: u64,
    model: impl Fn() -> Option<A> + Send + Sync + 'static,
) -> Result<A, String> {
    let plan = Exploration {
        executions,
        time: LIMIT,
        ..Exploration::default()
    };
    let answer = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&answer);
    // A failing execution may leave the thread that explored counted as panicking.
    let exploring = thread::spawn(move || {
        W::explore(&plan, move || {
            if let Some(seen) = model() {
                keeping
                    .lock()
                    .expect("nobody panics with it")
                    .get_or_insert(seen);
            }
        })
    });
    let explored = exploring.join().expect("an exploration does not panic");
    if let Some(failure) = explored.failure {
        return Err(failure.to_string());
    }
    let seen = answer.lock().expect("nobody panics with it").take();
    seen.ok_or_else(|| format!("not seen in {} executions", explored.executions))
}

/// Has every text ask one implementation.
struct Asked<W, R> {
    of: String,
    registry: R,
    /// Claims of the texts before this one.
    before: usize,
    enactments: Vec<(usize, Enactment)>,
    world: PhantomData<W>,
}

impl<W: World, R: Registry> Visitor for Asked<W, R> {
    fn text<S: Seed>(&mut self) {
        let mut hall = Hall::<S, W, R> {
            of: &self.of,
            registry: self.registry,
            enactments: Vec::new(),
            marker: PhantomData,
        };
        self.registry.everybody(&mut hall);
        for enactment in hall.enactments {
            let place = self.before + place_in::<S>(enactment.claim);
            self.enactments.push((place, enactment));
        }
        self.before += S::CLAIMS.len();
    }
}

/// A claim's place in its text.
fn place_in<S: Seed>(claim: &Claim) -> usize {
    let mut claims = S::CLAIMS.iter();
    let place = claims.position(|listed| listed.says == claim.says);
    place.expect("a text lists what it has re-enacted")
}

/// Has one text ask one implementation.
struct Hall<'a, S, W, R> {
    of: &'a str,
    registry: R,
    enactments: Vec<Enactment>,
    marker: PhantomData<fn(S, W)>,
}

impl<S: Seed, W: World, R: Registry> Enrol for Hall<'_, S, W, R> {
    fn asks(&self, name: &str) -> bool {
        name == self.of
    }

    fn alts<C: Alts>(&mut self, who: &Contestant) {
        self.enactments.extend(S::alts::<C, W>(who));
    }

    fn coalesce<T: Coalesce>(&mut self, who: &Contestant) {
        self.enactments.extend(S::coalesce::<T, W>(who));
    }

    fn timeouts<T: Timeouts<C>, C: Alts + Async + Blocking>(&mut self, who: &Contestant) {
        self.enactments.extend(S::timeouts::<T, C, W>(who));
        let mut executors = OnExecutors::<S, T, C, W> {
            of: who,
            enactments: None,
            marker: PhantomData,
        };
        self.registry.executors(&mut executors);
        self.enactments
            .extend(executors.enactments.into_iter().flatten());
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        self.enactments.extend(S::executor::<E, C, W>(who));
    }

    fn bindings<B: Bindings, E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        self.enactments.extend(S::bindings::<B, E, C, W>(who));
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        self.enactments.extend(S::state_machines::<G, C, E, W>(who));
    }

    fn pipeline<P: Pipelines<C, E> + Default, C: Async, E: Executors>(&mut self, who: &Contestant) {
        self.enactments.extend(S::pipeline::<P, C, E, W>(who));
    }

    fn async_limit<L: AsyncLimit>(&mut self, who: &Contestant) {
        self.enactments.extend(S::async_limit::<L, W>(who));
    }

    fn parallel_map<M: ParallelMaps<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        self.enactments.extend(S::parallel_map::<M, C, E, W>(who));
        let mut semaphores = BySemaphores::<S, M, C, E, W> {
            enactments: None,
            marker: PhantomData,
        };
        self.registry.limiters(&mut semaphores);
        self.enactments
            .extend(semaphores.enactments.into_iter().flatten());
    }
}

/// Has one text ask for timeouts in go blocks of the first executor of ours.
struct OnExecutors<'a, S, T, C, W> {
    of: &'a Contestant,
    enactments: Option<Vec<Enactment>>,
    marker: PhantomData<fn(S, T, C, W)>,
}

impl<S, T, C, W> Enrol for OnExecutors<'_, S, T, C, W>
where
    S: Seed,
    T: Timeouts<C>,
    C: Alts + Async + Blocking,
    W: World,
{
    fn executor<E: Executors, D: Async + Blocking>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own && self.enactments.is_none() {
            self.enactments = Some(S::go_blocks::<E, T, C, W>(self.of));
        }
    }
}

/// Has one text ask for a parallel map behind the first semaphore of ours that serves in the order of asking.
struct BySemaphores<S, M, C, E, W> {
    enactments: Option<Vec<Enactment>>,
    marker: PhantomData<(S, M, C, E, W)>,
}

impl<S, M, C, E, W> Enrol for BySemaphores<S, M, C, E, W>
where
    S: Seed,
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    fn async_limit<L: AsyncLimit>(&mut self, who: &Contestant) {
        let promises = [caps::Claim::WindowBound, caps::Claim::WaiterFifo];
        let is_one = promises.iter().all(|p| who.capabilities.claims.contains(p));
        if who.origin == Origin::Own && is_one && self.enactments.is_none() {
            self.enactments = Some(S::limited_map::<M, L, C, E, W>());
        }
    }
}

/// Has every text ask what the process of one implementation does before it ends.
struct Leavers<'a, R> {
    of: &'a str,
    registry: R,
    before: usize,
    leaving: Vec<(usize, Leaving)>,
}

impl<R: Registry> Visitor for Leavers<'_, R> {
    fn text<S: Seed>(&mut self) {
        let mut hall = LeavingHall::<S> {
            of: self.of,
            leaving: Vec::new(),
            marker: PhantomData,
        };
        self.registry.timers(&mut hall);
        for leaving in hall.leaving {
            let place = self.before + place_in::<S>(leaving.claim);
            self.leaving.push((place, leaving));
        }
        self.before += S::CLAIMS.len();
    }
}

struct LeavingHall<'a, S> {
    of: &'a str,
    leaving: Vec<Leaving>,
    marker: PhantomData<fn(S)>,
}

impl<S: Seed> Enrol for LeavingHall<'_, S> {
    fn asks(&self, name: &str) -> bool {
        name == self.of
    }

    fn timer<T: Timers>(&mut self, _who: &Contestant) {
        self.leaving.extend(S::leaving::<T>());
    }
}

fn leaving(registry: impl Registry, of: &str) -> Vec<(usize, Leaving)> {
    let mut leavers = Leavers {
        of,
        registry,
        before: 0,
        leaving: Vec::new(),
    };
    each(&mut leavers);
    leavers.leaving
}

/// What the texts claim of an implementation, and whether it holds, without a process of its own: for tests that enter
/// one in the place of another.
pub fn holding<W: World>(registry: impl Registry, implementation: &str) -> Vec<(String, Holds)> {
    let stage = In::<W, _>::new(registry);
    let all = statements();
    let enactments = stage.enactments(implementation).into_iter();
    let judged = enactments.map(|(place, enactment)| {
        let seen = stage.seen(enactment.act).unwrap_or_else(|why| why);
        let holds = judge(all[place].claim.seen, &seen, Origin::Own);
        (all[place].name(), holds)
    });
    judged.collect()
}

/// What the process of an implementation is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) implementation: String,
    /// Places of the claims that are wanted.
    pub(crate) claims: BTreeSet<usize>,
}

/// What it answers, one after the other.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Places of the claims that it is about to re-enact.
    Will(Vec<usize>),
    /// What came of the next of them.
    Did(usize, SeedClaim),
    /// That was all.
    Done,
}

/// What a process is asked that is to end with something left running.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Leave {
    implementation: String,
    /// Which claim, by its place.
    claim: usize,
}

/// Has a process of its own re-enact what a contestant of the std world can: rows with the places of their claims.
///
/// # Errors
/// When it cannot be asked what that is: why.
pub(crate) fn reenact(
    who: &Contestant,
    wanted: &BTreeSet<usize>,
) -> Result<Vec<(usize, SeedClaim)>, String> {
    let question = Question {
        implementation: who.name.to_owned(),
        claims: wanted.clone(),
    };
    let (mut will, mut did) = (None, Vec::new());
    let mut is_done = false;
    let end = process::listen(process::CLAIMS, &question, LIMIT, |answer: Answer| {
        match answer {
            Answer::Will(places) => will = Some(places),
            Answer::Did(place, row) => did.push((place, row)),
            Answer::Done => is_done = true,
        }
        is_done
    });
    let why = match end {
        End::Enough => return Ok(did),
        End::TimeUp => format!(
            "no answer within {:.0} s: somebody waits for ever",
            LIMIT.as_secs_f64()
        ),
        End::Gone(why) => why,
    };
    let all = statements();
    let Some(will) = will else { return Err(why) };
    // In the order in which they were announced.
    for place in will.into_iter().skip(did.len()) {
        did.push((place, row(&all[place], who, why.clone(), Holds::No, None)));
    }
    Ok(did)
}

fn row(
    statement: &Statement,
    who: &Contestant,
    seen: String,
    holds: Holds,
    note: Option<String>,
) -> SeedClaim {
    SeedClaim {
        seed: statement.seed.to_owned(),
        claim: statement.claim.says.to_owned(),
        implementation: who.name.to_owned(),
        origin: who.origin,
        expected: statement.claim.expected.to_owned(),
        seen,
        holds,
        note,
    }
}

/// What of a claim came out, as a row.
fn judged(
    statement: &Statement,
    who: &Contestant,
    differs: Option<&str>,
    seen: Result<String, String>,
) -> SeedClaim {
    let claim = statement.claim;
    let (seen, holds) = match seen {
        Ok(seen) => {
            let holds = judge(claim.seen, &seen, who.origin);
            (seen, holds)
        }
        Err(why) => return row(statement, who, why, Holds::No, None),
    };
    let (holds, note) = match (holds, differs, claim.note) {
        (Holds::No, Some(why), Some(how)) => (Holds::Differs, Some(format!("{why} ({how})"))),
        (Holds::No, Some(why), None) => (Holds::Differs, Some(why.to_owned())),
        // Of what does not hold, and nobody says why, there is nothing else to say either.
        (Holds::No, None, _) => (Holds::No, None),
        (_, _, how) => (holds, how.map(str::to_owned)),
    };
    row(statement, who, seen, holds, note)
}

/// The process of one implementation: tells what it will do, and then what was seen.
pub(crate) fn serve<R: AsyncRegistry>(worlds: &Worlds<R>, question: Question) -> Answer {
    let Question {
        implementation,
        claims,
    } = question;
    let same = "the process that asks is the same program";
    let contestants = introduced(worlds.registry());
    let who = contestants.iter().find(|who| who.name == implementation);
    let who = who.expect(same);
    let stage = worlds.stage().expect(same);
    let wanted = |place: &usize| claims.contains(place);
    let mut enactments = stage.enactments(&implementation);
    enactments.retain(|(place, _)| wanted(place));
    let mut leaving = leaving(worlds.registry(), &implementation);
    leaving.retain(|(place, _)| wanted(place));
    let acted = enactments.iter().map(|(place, _)| *place);
    let left = leaving.iter().map(|(place, _)| *place);
    say(&Answer::Will(acted.chain(left).collect()));
    let all = statements();
    for (place, enactment) in enactments {
        let seen = stage.seen(enactment.act);
        let row = judged(&all[place], who, enactment.differs, seen);
        say(&Answer::Did(place, row));
    }
    for (place, _) in leaving {
        let seen = seen_to_leave(&implementation, place);
        let row = judged(&all[place], who, None, seen);
        say(&Answer::Did(place, row));
    }
    Answer::Done
}

fn say(answer: &Answer) {
    println!(
        "{}",
        serde_json::to_string(answer).expect("answers are plain data")
    );
}

/// Whether the process ends that left something running.
fn seen_to_leave(implementation: &str, claim: usize) -> Result<String, String> {
    let leave = Leave {
        implementation: implementation.to_owned(),
        claim,
    };
    let mut is_ready = false;
    let end = process::listen(process::LEAVE, &leave, TO_LEAVE, |(): ()| {
        is_ready = true;
        false
    });
    match end {
        End::Gone(_) if is_ready => Ok(ENDS.to_owned()),
        End::TimeUp if is_ready => Ok(STAYS.to_owned()),
        End::Gone(why) => Err(why),
        End::TimeUp | End::Enough => Err("the process has not begun in time".to_owned()),
    }
}

/// The process that leaves something running: it returns from `main` after this answer.
pub(crate) fn serve_leaving<R: AsyncRegistry>(worlds: &Worlds<R>, leave: Leave) {
    let all = leaving(worlds.registry(), &leave.implementation);
    for (_, Leaving { before, .. }) in all.iter().filter(|(place, _)| *place == leave.claim) {
        before();
    }
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::caps::{Capabilities, Kind};
    use flowmeter_harness::sync::std::Std;

    use super::*;

    fn who() -> Contestant {
        Contestant {
            name: "somebody",
            kind: Kind::Timer,
            origin: Origin::Own,
            version: String::new(),
            capabilities: Capabilities::default(),
            reference: false,
        }
    }

    const CLAIM: Claim = Claim::new("it is so", "so", &["so"]).note("by looking");
    const STATEMENT: Statement = Statement {
        seed: "a text",
        claim: &CLAIM,
    };

    fn told(differs: Option<&str>, seen: Result<&str, &str>) -> (Holds, Option<String>) {
        let seen = seen.map(str::to_owned).map_err(str::to_owned);
        let row = judged(&STATEMENT, &who(), differs, seen);
        (row.holds, row.note)
    }

    #[test]
    fn a_reason_is_given_where_it_is_needed() {
        let how = Some("by looking".to_owned());
        assert_eq!(told(None, Ok("so")), (Holds::Yes, how.clone()));
        assert_eq!(told(Some("T4: not so"), Ok("so")), (Holds::Yes, how));
        let why = Some("T4: not so (by looking)".to_owned());
        assert_eq!(told(Some("T4: not so"), Ok("other")), (Holds::Differs, why));
    }

    #[test]
    fn whoever_differs_without_a_reason_or_breaks_is_not_explained() {
        assert_eq!(told(None, Ok("other")), (Holds::No, None));
        assert_eq!(told(Some("T4: not so"), Err("a panic")), (Holds::No, None));
    }

    #[test]
    fn what_some_schedule_shows_is_answered_and_what_none_does_is_told() {
        let seen = in_world::<Std, _>(3, || Some("seen"));
        assert_eq!(seen, Ok("seen"));
        let unseen = in_world::<Std, ()>(3, || None);
        assert_eq!(unseen, Err("not seen in 3 executions".to_owned()));
        let broken = in_world::<Std, ()>(3, || panic!("broken")).unwrap_err();
        assert!(broken.contains("broken"), "{broken}");
    }

    #[test]
    fn places_of_a_text_come_after_those_of_the_texts_before() {
        struct Places(usize, Vec<Statement>);
        impl Visitor for Places {
            fn text<S: Seed>(&mut self) {
                for claim in S::CLAIMS {
                    let found = self.1[self.0 + place_in::<S>(claim)];
                    assert_eq!((found.seed, found.claim.says), (S::FILE, claim.says));
                }
                self.0 += S::CLAIMS.len();
            }
        }
        each(&mut Places(0, statements()));
    }
}
