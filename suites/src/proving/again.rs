//! A failing execution again: shrunk and kept, replayed, or run often enough to find its rate. Each runs in a process
//! of its own, so that a hang there does not affect the verdict.

use std::path::Path;
use std::time::{Duration, Instant};

use flowmeter_harness::sync::{Exploration, Failure, Replayed as Repeated};
use flowmeter_records::{Proof, Verdict};
use serde::{Deserialize, Serialize};

use super::counterexample::{Counterexample, this_build};
use crate::process::{self, Company, End, Request, Silence};
use crate::properties::{FailingCase, Model};
use crate::worlds::{Prover, Worlds};

/// How long a schedule is shrunk.
const SHRINKING: Duration = Duration::from_secs(5);
/// For one execution beyond the time limit, on a busy machine.
const GRACE: Duration = Duration::from_secs(60);
/// The number of executions for a rate.
const EXECUTIONS: u64 = 200;
/// How long they may take together.
const COUNTING: Duration = Duration::from_secs(2);

/// How many executions failed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    executions: u64,
    failures: u64,
}

/// Makes a failure reproducible: by a file in that folder, or by a rate.
pub(super) fn look_further(proof: &mut Proof, failing: FailingCase, seed: u64, folder: &Path) {
    let FailingCase {
        case,
        condition,
        failure,
    } = failing;
    let found = Counterexample {
        build: this_build(),
        implementation: proof.implementation.clone(),
        property: proof.property.clone(),
        world: proof.world.clone(),
        case,
        condition,
        seed,
        seconds: proof.seconds,
        failure,
    };
    if found.failure.schedule.is_none() {
        let Tally {
            executions,
            failures,
        } = rate(&found);
        if executions > 0 {
            let detail = proof.detail.get_or_insert_default();
            detail.push_str(&format!(
                "\n    {failures} of {executions} executions failed when it was run again"
            ));
        }
        return;
    }
    let (example, shrunk) = shrunk(found);
    let mut detail = format!("{}: {}", example.case, example.failure);
    detail.push_str(&shrunk);
    match example.write(folder) {
        Ok(path) => {
            let shown = path.display().to_string().replace('\'', r"'\''");
            let replay = format!("cargo flowmeter check --replay '{shown}'");
            match super::picture::draw(&example, &path, &replay) {
                Ok(page) => detail.push_str(&format!("\n    drawn in {}", page.display())),
                Err(why) => detail.push_str(&format!("\n    it could not be drawn: {why}")),
            }
            proof.replay = Some(replay);
            proof.counterexample = Some(path);
        }
        Err(why) => detail.push_str(&format!(
            "\n    its schedule could not be kept: {}: {why}",
            folder.display()
        )),
    }
    proof.detail = Some(detail);
}

/// With fewer switches, where that is possible, and a sentence about it.
fn shrunk(found: Counterexample) -> (Counterexample, String) {
    let switches = |failure: &Failure| failure.schedule.as_ref().and_then(|all| all.switches());
    let Some(before) = switches(&found.failure) else {
        return (found, String::new());
    };
    let limit = SHRINKING + GRACE;
    let answer: Result<Option<Failure>, String> =
        process::ask(&Request::Shrink(found.clone()), limit);
    // Where nothing smaller was found, the original is kept.
    match answer.ok().flatten() {
        Some(failure) => {
            let after = switches(&failure).unwrap_or(before);
            let told = format!("\n    {after} switches between threads, shrunk from {before}");
            (Counterexample { failure, ..found }, told)
        }
        None => (found, format!("\n    {before} switches between threads")),
    }
}

/// How often the case fails. Each process runs until it breaks off, and the next one uses other seeds.
fn rate(found: &Counterexample) -> Tally {
    let began = Instant::now();
    let mut all = Tally::default();
    while all.executions < EXECUTIONS {
        let mut heard: Option<Tally> = None;
        let next = Counterexample {
            seed: found.seed.wrapping_add(all.executions),
            ..found.clone()
        };
        let left = COUNTING.saturating_sub(began.elapsed());
        let end = process::listen(&Request::Rate(next), left, |tally: Option<Tally>| {
            heard = tally.or(heard);
            tally.is_none_or(|latest| all.executions + latest.executions >= EXECUTIONS)
        });
        let latest = heard.unwrap_or_default();
        all.executions += latest.executions;
        all.failures += latest.failures;
        match end {
            End::Enough | End::TimeUp => break,
            // It broke off in the middle of an execution: a panic beside the main thread, an abort.
            End::Gone(_) if heard.is_some() => {
                all.executions += 1;
                all.failures += 1;
            }
            // It never reached one.
            End::Gone(_) => break,
        }
    }
    all
}

/// The result of a replay.
#[derive(Debug)]
pub(crate) enum Replayed {
    /// It failed.
    Failed {
        /// How.
        failure: Failure,
        /// Whether with the same message by the same schedule. The lines of the sources do not matter.
        same: bool,
        /// Whether its schedule fits the model.
        fits: bool,
    },
    /// It did not fail.
    Held {
        /// Whether its schedule fits the model.
        fits: bool,
    },
    /// Its process gave no answer: why.
    Silent(Silence),
}

/// Replays in a process of its own.
///
/// # Errors
/// When the program has no such case, or the schedule does not belong to that world.
pub(crate) fn replay(example: &Counterexample) -> Result<Replayed, String> {
    // Loom reaches an execution by way of those before it, which takes as long as before.
    let limit = Duration::try_from_secs_f64(2.0 * example.seconds).unwrap_or_default() + GRACE;
    let answer: Result<Result<(Option<Failure>, bool), String>, Silence> =
        process::ask_in(Company::Others, &Request::Replay(example.clone()), limit);
    Ok(match answer {
        Err(why) => Replayed::Silent(why),
        Ok(answer) => match answer? {
            (Some(failure), fits) => {
                let same = failure.is_as(&example.failure);
                Replayed::Failed {
                    failure,
                    same,
                    fits,
                }
            }
            (None, fits) => Replayed::Held { fits },
        },
    })
}

/// As a line of `check`: a failure fails, and an execution without one proves nothing.
pub(crate) fn as_proof(
    example: &Counterexample,
    path: &Path,
    replayed: &Replayed,
    seconds: f64,
) -> Proof {
    let case = &example.case;
    let (verdict, mut detail) = match replayed {
        Replayed::Failed {
            failure,
            same,
            fits,
        } => {
            let how = match (same, fits) {
                (true, _) => "as it failed before",
                (false, true) => {
                    "not as it failed before, along the same schedule: the model has changed, or something decides that \
                     no schedule holds"
                }
                (false, false) => "not as it failed before: the schedule no longer fits the model",
            };
            (Verdict::Fail, format!("{case}: {failure}\n    {how}"))
        }
        Replayed::Held { fits: true } => (
            Verdict::Inconclusive,
            format!(
                "{case}: it did not fail this time, along the same schedule: its cause is mended, or something decides \
                 that no schedule holds"
            ),
        ),
        Replayed::Held { fits: false } => (
            Verdict::Inconclusive,
            format!(
                "{case}: it did not fail this time, and the schedule no longer fits the model, which makes other steps; \
                 look for it again with `{}`",
                example.look_again()
            ),
        ),
        Replayed::Silent(why @ Silence::TimeUp(_)) => (Verdict::Hung, format!("{case}: {why}")),
        Replayed::Silent(why @ Silence::Crashed(_)) => (Verdict::Fail, format!("{case}: {why}")),
        Replayed::Silent(why @ Silence::Gone(_)) => (Verdict::Error, format!("{case}: {why}")),
    };
    if example.build != this_build() {
        detail.push_str("\n    found by another build");
    }
    Proof {
        implementation: example.implementation.clone(),
        property: example.property.clone(),
        world: example.world.clone(),
        verdict,
        complete: false,
        executions: u64::from(!matches!(replayed, Replayed::Silent(_))),
        seconds,
        counterexample: Some(path.to_owned()),
        detail: Some(detail),
        replay: None,
        bound: None,
    }
}

/// The model of a counterexample, and its world.
pub(super) fn model<'w>(
    worlds: &'w Worlds,
    example: &Counterexample,
) -> Result<(&'w dyn Prover, Model), String> {
    let Counterexample {
        implementation,
        property,
        world,
        case,
        ..
    } = example;
    let prover = worlds.prover_of(world, implementation);
    let prover = prover.ok_or_else(|| format!("there is no world '{world}' here"))?;
    let cell = prover.cell(implementation, property).into_iter();
    let mut cases = cell.flat_map(|cell| cell.cases.into_iter().chain(cell.not_promised));
    let found = cases.find(|found| found.name == *case);
    let found = found.ok_or_else(|| {
        format!("there is no case '{case}' of {property} on {implementation} under {world}")
    })?;
    let model = found.model(&example.failure);
    let model = model.ok_or_else(|| format!("case '{case}' has no such model"))?;
    Ok((prover, model))
}

/// The process that replays.
pub(crate) fn serve_replay(
    worlds: &Worlds,
    example: Counterexample,
) -> Result<(Option<Failure>, bool), String> {
    let (prover, model) = model(worlds, &example)?;
    let schedule = example.failure.schedule.as_ref();
    let schedule = schedule.ok_or("it has no schedule")?;
    let Repeated { failure, fits } = prover.replay(model, schedule)?;
    Ok((failure, fits))
}

/// The process that shrinks.
pub(crate) fn serve_shrink(worlds: &Worlds, example: Counterexample) -> Option<Failure> {
    let (prover, model) = model(worlds, &example).ok()?;
    let shrunk = prover.shrink(model, &example.failure, SHRINKING)?;
    Some(Failure {
        member: example.failure.member,
        ..shrunk
    })
}

/// The process that counts. It reports before the first execution and after each. Returns nothing where there is
/// nothing to run.
pub(crate) fn serve_rate(worlds: &Worlds, example: Counterexample) -> Option<Tally> {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |_| {
        // The main thread may wait for this one for ever.
        if std::thread::current().id() != main {
            std::process::exit(1);
        }
    }));
    let (prover, model) = model(worlds, &example).ok()?;
    let mut tally = Tally::default();
    tell(tally);
    while tally.executions < EXECUTIONS {
        let once = Exploration {
            executions: 1,
            time: Duration::MAX,
            seed: example.seed.wrapping_add(tally.executions),
            ..Exploration::default()
        };
        // Where that condition cannot be set up, nothing can be counted.
        let explored = example
            .condition
            .have(|| prover.explore(model.clone(), &once))
            .ok()?;
        tally.executions += explored.executions;
        tally.failures += u64::from(explored.failure.is_some());
        tell(tally);
    }
    Some(tally)
}

fn tell(tally: Tally) {
    let line = serde_json::to_string(&tally).expect("a tally is plain data");
    println!("{line}");
}
