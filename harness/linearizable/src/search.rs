//! Looks for a program that fails, and makes it and its schedule smaller.

use std::collections::HashMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::trace::{Event, traced};
use flowmeter_harness::sync::{Exploration, Explored, Failure, Schedule, World};
use proptest::strategy::BoxedStrategy;

use crate::draw::{Draw, programs};
use crate::execution::{Job, specification_panicked};
use crate::finding::{Finding, shows_steps};
use crate::process;
use crate::program::Program;
use crate::replay::Replay;
use crate::shrink::{Least, shrunk};
use crate::worlds::Ground;
use crate::{Check, Sequential};

/// The variable that holds a finding to replay: the test's name, a blank, and the word that its failure printed.
pub(crate) const REPLAY: &str = "FLOWMETER_REPLAY";

/// How long to look for a smaller program, in each of two ways, and then for a smaller schedule.
const SHRINKING: Duration = Duration::from_secs(10);
/// A program that failed once may fail rarely, so a smaller one is tried this many times as often.
const AGAIN: u64 = 4;
/// How many programs show whether steps of the structure are seen.
const LOOKS: u64 = 20;
/// How long a test may take beyond its own time.
const GRACE: Duration = Duration::from_secs(60);

/// Real threads should not disturb each other. Explored worlds decide their own schedules, and run beside them.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs the check as a test.
///
/// # Panics
/// With the finding, or with why the check means nothing.
pub(crate) fn checked<W: Ground, P: Sequential>(check: Check<P>) {
    let test = format!("{}::{}", check.place, W::NAME);
    if let Some(fault) = check.fault() {
        panic!("{test}: {fault}");
    }
    if let Some(file) = process::asked() {
        process::leave(&Search::<W, P>::new(check, test).answer(), &file);
        return;
    }
    let real = W::NAME == Std::NAME;
    let _alone = real.then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    match process::ask(&test, check.time + GRACE) {
        Ok(told) => println!("{told}"),
        Err(finding) if finding.starts_with(&test) => panic!("{finding}"),
        Err(finding) => panic!("{test}: {finding}"),
    }
}

struct Search<W: Ground, P: Sequential> {
    check: Check<P>,
    test: String,
    programs: BoxedStrategy<Program<P::Op>>,
    began: Instant,
    world: std::marker::PhantomData<W>,
}

impl<W: Ground, P: Sequential> Search<W, P> {
    fn new(check: Check<P>, test: String) -> Self {
        Search {
            programs: programs(&(check.operations)(), &W::shape(&check.shape)),
            check,
            test,
            began: Instant::now(),
            world: std::marker::PhantomData,
        }
    }

    /// What was explored.
    ///
    /// # Errors
    /// The finding, or why the check means nothing.
    fn answer(&self) -> Result<String, String> {
        let replay = env::var(REPLAY).unwrap_or_default();
        match replay.split_once(' ') {
            Some((test, word)) if test == self.test => self.replayed(word),
            _ => self.explored(),
        }
    }

    fn job(&self, program: &Program<P::Op>) -> Arc<Job<P>> {
        Arc::new(Job {
            spec: self.check.spec.clone(),
            subject: self.check.subject.clone(),
            program: program.clone(),
            states: self.check.states,
            legal: Mutex::new(HashMap::new()),
        })
    }

    fn explore(
        &self,
        program: &Program<P::Op>,
        executions: u64,
        time: Duration,
        seed: u64,
    ) -> Explored {
        let plan = Exploration {
            executions,
            time,
            seed,
            ..Exploration::default()
        };
        let job = self.job(program);
        // A thread that has explored a failure may count as panicking from then on.
        thread::scope(|scope| {
            let explored = scope.spawn(|| W::explore(&plan, move || W::run(&job)));
            explored
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Whether the world can run it: real threads cannot be left waiting.
    ///
    /// # Errors
    /// When the specification panics.
    fn fits(&self, program: &Program<P::Op>) -> Result<bool, String> {
        if W::RESTS {
            return Ok(true);
        }
        let may_rest = AssertUnwindSafe(|| program.may_rest(&self.check.spec));
        let may_rest = catch_unwind(may_rest).map_err(|panic| specification_panicked(&*panic))?;
        Ok(!may_rest)
    }

    fn explored(&self) -> Result<String, String> {
        let (most, each) = W::shares(self.check.programs, self.check.executions);
        let (mut run, mut left_out, mut executions, mut shown) = (0_u64, 0_u64, 0, false);
        let mut cut_short = 0_u64;
        for index in 0..most {
            let left = self.check.time.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                break;
            }
            let number = self.check.seed.wrapping_add(index);
            let draw = Draw::new(&self.programs, number).map_err(|why| self.named(&why))?;
            let program = draw.program();
            if !self.fits(&program).map_err(|why| self.named(&why))? {
                left_out += 1;
                continue;
            }
            let looks = !shown && (W::EXHAUSTS || W::SHOWS_STEPS && run < LOOKS);
            let explore = || self.explore(&program, each, left, number);
            let (explored, events) = match looks && W::SHOWS_STEPS {
                true => traced(explore),
                false => (explore(), Vec::new()),
            };
            shown |= shows_steps(&events);
            if looks && W::EXHAUSTS {
                // The starts and ends of threads have interleavings of their own.
                let bare = self.explore(&program.emptied(), each, left, number);
                shown |= explored.executions > bare.executions;
            }
            run += 1;
            executions += explored.executions;
            cut_short += u64::from(W::EXHAUSTS && !explored.complete);
            if let Some(failure) = explored.failure {
                return Err(self.found(draw, failure, each));
            }
            if W::SHOWS_STEPS && !shown && run == LOOKS {
                break;
            }
        }
        if run == 0 {
            let why = format!(
                "undecided: no program was run. In each of the {left_out} that were drawn some order leaves a thread \
                 waiting, which {} cannot end",
                W::NAME
            );
            return Err(self.named(&why));
        }
        if (W::SHOWS_STEPS || W::EXHAUSTS) && !shown {
            return Err(self.named(&self.unseen()));
        }
        let cut_short = match cut_short {
            0 => String::new(),
            some => format!(", {some} of them not explored to the end"),
        };
        Ok(format!(
            "{}: {run} programs{cut_short}, {executions} executions, no finding",
            self.test
        ))
    }

    fn unseen(&self) -> String {
        format!(
            "undecided: {} sees no step of the structure, so it explores nothing. The structure has to be compiled \
             with primitives of that world: docs/own.md has the lines of Cargo.toml",
            W::NAME
        )
    }

    fn named(&self, why: &str) -> String {
        format!("{}: {why}", self.test)
    }

    /// Shrinks what was found, and tells it.
    fn found(&self, draw: Draw<P::Op>, failure: Failure, each: u64) -> String {
        let (number, size) = (draw.number(), draw.program().size());
        let least = shrunk(draw, failure, SHRINKING, |program| {
            if self.fits(program) != Ok(true) {
                return None;
            }
            let executions = each.saturating_mul(AGAIN);
            self.explore(program, executions, SHRINKING, number).failure
        });
        let Least {
            program,
            path,
            left_out,
            mut failure,
        } = least;
        let job = self.job(&program);
        let model = Arc::clone(&job);
        if let Some(fewer) = W::shrink(&failure, move || W::run(&model), SHRINKING) {
            failure = fewer;
        }
        let (events, again) = self.drawn(&job, failure.schedule.as_ref());
        let replay = Replay {
            program: number,
            path,
            left_out,
            steps: match &failure.schedule {
                Some(Schedule::Steps(steps)) => Some(steps.clone()),
                _ => None,
            },
        };
        let finding = Finding {
            test: &self.test,
            package: &self.check.package,
            program: &program,
            drawn: size,
            failure: again.as_ref().unwrap_or(&failure),
            events: &events,
            replay: &replay,
        };
        finding.to_string()
    }

    /// Runs the failing execution again and records its steps.
    fn drawn(
        &self,
        job: &Arc<Job<P>>,
        schedule: Option<&Schedule>,
    ) -> (Vec<Event>, Option<Failure>) {
        let Some(schedule) = schedule.filter(|_| W::NAME != "std") else {
            return (Vec::new(), None);
        };
        let model = Arc::clone(job);
        let (replayed, events) = traced(|| W::replay(schedule, move || W::run(&model)));
        match replayed.ok().and_then(|replayed| replayed.failure) {
            Some(failure) => (events, Some(failure)),
            None => (Vec::new(), None),
        }
    }

    /// Runs a finding again.
    fn replayed(&self, word: &str) -> Result<String, String> {
        let replay = Replay::read(word)
            .ok_or_else(|| self.named(&format!("{REPLAY}: {word:?} is no word of a failure")))?;
        let mut draw = Draw::new(&self.programs, replay.program).map_err(|why| self.named(&why))?;
        for simplify in &replay.path {
            draw.step(*simplify);
        }
        let mut program = draw.program();
        for number in &replay.left_out {
            program = program.without(*number);
        }
        let job = self.job(&program);
        let schedule = match &replay.steps {
            Some(steps) => Some(Schedule::Steps(steps.clone())),
            None if W::NAME == "sim" => Some(Schedule::Turns),
            None => None,
        };
        let (failure, events, fits) = match &schedule {
            Some(schedule) => {
                let model = Arc::clone(&job);
                let (replayed, events) = traced(|| W::replay(schedule, move || W::run(&model)));
                let replayed = replayed.map_err(|why| self.named(&why))?;
                (replayed.failure, events, replayed.fits)
            }
            None => {
                let (_, each) = W::shares(self.check.programs, self.check.executions);
                let executions = each.saturating_mul(AGAIN);
                let time = self.check.time;
                let explored = self.explore(&program, executions, time, replay.program);
                (explored.failure, Vec::new(), true)
            }
        };
        let Some(failure) = failure else {
            let why = match fits {
                true => "replayed, and nothing was found".to_owned(),
                false => format!(
                    "undecided: the program makes other steps than when this was found. Run the test without {REPLAY}"
                ),
            };
            return if fits {
                Ok(self.named(&why))
            } else {
                Err(self.named(&why))
            };
        };
        let finding = Finding {
            test: &self.test,
            package: &self.check.package,
            program: &program,
            drawn: program.size(),
            failure: &failure,
            events: &events,
            replay: &replay,
        };
        Err(finding.to_string())
    }
}
