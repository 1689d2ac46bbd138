//! `check`: runs the properties.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use flowmeter_harness::caps::Origin;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Scheduling, World};

use super::failure::{FAILED, Failure, Outcome, warn};
use super::foreign::Foreign;
use super::into::Into;
use super::junit::Junit;
use super::nightly::repeat;
use super::output::{Format, Output};
use super::progress::steps;
use super::replay::replay;
use super::selection::{Implementations, Properties, Shard};
use super::verdicts::{Judged, fails, summary, tables};
use crate::descriptions::{Descriptions, Owed};
use crate::properties::PROPERTIES;
use crate::proving::counterexample::FOLDER;
use crate::proving::{Effort, prove_and_keep};
use crate::twins;
use crate::worlds::{Prover, Worlds};

/// Prove what implementations claim
///
/// Each cell (implementation, property and world) runs in a process of its own, so that a hang or an abort concerns one
/// cell. A cell without an answer is repeated alone, twice. Then it has failed: hung. A crash is a failure, too. What
/// is undecided never passes. Properties that are not promised are looked at briefly, and fail nothing. std: real
/// threads. shuttle: random schedules. loom: every schedule and memory order of small models; a space that the budget
/// does not exhaust is no pass. sim: one schedule in virtual time. Published crates take part
/// in shuttle and sim as twins, which scripts/twins builds. Implementations in other languages claim no property: each
/// proves itself before every measurement.
///
/// A failure under shuttle, loom or sim is kept in a file that --replay runs again. Under std the rate of failing
/// executions is reported.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    properties: Properties,
    #[command(flatten)]
    foreign: Foreign,
    /// Worlds to check in: std, shuttle, loom, sim [default: std]
    #[arg(long, value_name = "WORLDS", value_delimiter = ',')]
    under: Option<Vec<String>>,
    /// Seed of random choices [default: 1718382455]
    #[arg(long)]
    seed: Option<u64>,
    /// Maximum seconds for each cell (implementation x property x world) [default: 2 under std, 300 elsewhere, 1 for
    /// what is not promised]
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// Maximum executions of each case (a model of a property) [default: 2000; under loom no maximum]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    executions: Option<u64>,
    /// Under loom: how often a thread may be preempted [default: 2]
    #[arg(long, value_name = "N")]
    preemptions: Option<usize>,
    /// Under shuttle: how schedules are chosen [default: turns]
    #[arg(long, value_name = "SCHEDULER", value_parser = scheduling())]
    scheduler: Option<Scheduling>,
    /// Repeat the cells for so many hours, each time with the next seed. One that has failed, or whose space was
    /// exhausted, is not repeated. In JSON a cell may have several lines: the last one counts
    #[arg(long, value_name = "HOURS")]
    hours: Option<f64>,
    /// Check only the k-th of n equal parts of the cells, to distribute them over machines
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Folder for counterexamples [default: target/flowmeter/counterexamples]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Add the verdicts to this run: its report shows them, and cells that failed, broke off or hung lose their
    /// number
    #[arg(long, value_name = "RUN")]
    into: Option<PathBuf>,
    /// Write the verdicts into this file as well, as the JUnit XML that build servers show
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Run the failing execution of this file again, and nothing else; exit code 1 if it fails, 0 if it does not
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// More than a cell can use.
const A_DAY: Duration = Duration::from_secs(86_400);
const A_WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Check {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        if let Some(path) = &self.replay {
            self.nothing_beside_replay()?;
            return replay(worlds, path, self.format);
        }
        let standard = [Std::NAME.to_owned()];
        let provers = provers(worlds, self.under.as_deref().unwrap_or(&standard))?;
        let time = time(self.budget)?;
        let until = hours(self.hours)?.map(|hours| Instant::now() + hours);
        let shard = self.shard.as_deref();
        let shard = shard.map_or(Ok(Shard::WHOLE), Shard::parse)?;
        let folder = self.out.as_deref().unwrap_or(Path::new(FOLDER));
        let run = self.into.as_deref().map(Into::read).transpose()?;
        let catalogue = worlds.catalogue();
        let mut foreign = self.foreign.find()?;
        let foreign_names = foreign.implementations().map(|it| it.name);
        let known = catalogue.implementations().iter().map(|it| it.name);
        self.implementations.find_in(known.chain(foreign_names))?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let matches = |name: &str| self.implementations.matches(name);
        let mut descriptions = Descriptions::ask(catalogue, matches, &[]);
        foreign.retain(matches);
        descriptions.join(&foreign, &[])?;
        let mut cells: Vec<Owed> = Vec::new();
        let missing = provers
            .iter()
            .any(|prover| twins::are_missing(prover.world()));
        if missing && descriptions.iter().any(|it| it.origin == Origin::Peer) {
            warn("published crates are left out: their twins are not built (scripts/twins)");
        }
        for prover in provers {
            match prover.world() {
                Std::NAME => cells.extend(descriptions.owed()),
                _ => cells.extend(descriptions.owed_in(prover)),
            }
        }
        cells.retain(|cell| self.properties.matches(cell.property.name));
        let cells = shard.of(cells);
        let junit = self.junit.as_deref().map(Junit::begin).transpose()?;

        let mut output = Output::default();
        let bar = steps(cells.len() as u64, "proving");
        let mut judged: Vec<Judged> = Vec::new();
        let prove = |cell: &Owed, round: u64| {
            let default = Effort::of(cell);
            let effort = Effort {
                time: time.unwrap_or(default.time),
                seed: self.seed.unwrap_or(default.seed).wrapping_add(round),
                executions: self.executions.unwrap_or(default.executions),
                preemptions: self.preemptions.unwrap_or(default.preemptions),
                scheduling: self.scheduler.unwrap_or(default.scheduling),
                ..default
            };
            prove_and_keep(cell, effort, folder)
        };
        for cell in cells {
            let (implementation, what, world) =
                (cell.implementation, cell.property.name, cell.world);
            bar.set_message(format!("{implementation} {what} under {world}"));
            let proof = prove(&cell, 0);
            if self.format == Format::Json {
                output.json(&proof);
            }
            judged.push((cell, proof));
            bar.inc(1);
        }
        if let Some(until) = until {
            repeat(&mut judged, until, prove, |proof, round, is_new| {
                bar.set_message(format!(
                    "{} {}: {} seeds",
                    proof.implementation,
                    proof.property,
                    round + 1
                ));
                if self.format == Format::Json && is_new {
                    output.json(proof);
                }
            });
            if self.format == Format::Json {
                judged.iter().for_each(|(_, proof)| output.json(proof));
            }
        }
        bar.finish_and_clear();
        if self.format == Format::Table {
            output.line(&tables(&judged));
            output.line(&summary(&judged));
        }
        if let Some(run) = run {
            let (proofs, cells) = run.add(judged.iter().map(|(_, proof)| proof))?;
            if self.format == Format::Table {
                output.line(&format!(
                    "{proofs} verdicts added to the run, {cells} of its numbers taken away"
                ));
            }
        }
        if let Some(junit) = junit {
            junit.finish(judged.iter().map(|(_, proof)| proof))?;
        }
        let failed = judged.iter().any(|(_, proof)| fails(proof.verdict));
        Ok(if failed {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }

    /// A file contains all options.
    fn nothing_beside_replay(&self) -> Result<(), Failure> {
        let given = [
            ("-i", self.implementations.is_given()),
            ("-p", self.properties.is_given()),
            ("--foreign", self.foreign.is_given()),
            ("--under", self.under.is_some()),
            ("--seed", self.seed.is_some()),
            ("--budget", self.budget.is_some()),
            ("--executions", self.executions.is_some()),
            ("--preemptions", self.preemptions.is_some()),
            ("--hours", self.hours.is_some()),
            ("--scheduler", self.scheduler.is_some()),
            ("--shard", self.shard.is_some()),
            ("-o", self.out.is_some()),
            ("--into", self.into.is_some()),
            ("--junit", self.junit.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::input(format!(
                "--replay runs what its file says; leave out {option}"
            ))),
            None => Ok(()),
        }
    }
}

/// Parses the name of a scheduler.
pub(super) fn scheduling() -> impl TypedValueParser<Value = Scheduling> {
    PossibleValuesParser::new(Scheduling::ALL.map(Scheduling::name)).map(|name| {
        let mut all = Scheduling::ALL.into_iter();
        let named = all.find(|scheduling| scheduling.name() == name);
        named.expect("only these names are possible")
    })
}

/// The named worlds, once each.
pub(super) fn provers<'a>(
    worlds: &'a Worlds,
    under: &[String],
) -> Result<Vec<&'a dyn Prover>, Failure> {
    let mut provers: Vec<&dyn Prover> = Vec::new();
    for name in under {
        let Some(prover) = worlds.find(name) else {
            let known: Vec<&str> = worlds.names().collect();
            return Err(Failure::input(format!(
                "--under: there is no world '{name}' here; give some of {}",
                known.join(",")
            )));
        };
        if provers.iter().all(|other| other.world() != prover.world()) {
            provers.push(prover);
        }
    }
    Ok(provers)
}

/// The time of `--hours`.
fn hours(hours: Option<f64>) -> Result<Option<Duration>, Failure> {
    let Some(hours) = hours else {
        return Ok(None);
    };
    let time = Duration::try_from_secs_f64(hours * 3_600.0).ok();
    match time.filter(|time| !time.is_zero() && *time <= A_WEEK) {
        Some(time) => Ok(Some(time)),
        None => Err(Failure::input(format!(
            "--hours {hours}: give a time above 0 hours and of at most a week (168)"
        ))),
    }
}

/// The seconds of `--budget`.
pub(super) fn time(budget: Option<f64>) -> Result<Option<Duration>, Failure> {
    let Some(budget) = budget else {
        return Ok(None);
    };
    let time = Duration::try_from_secs_f64(budget).ok();
    match time.filter(|time| !time.is_zero() && *time <= A_DAY) {
        Some(time) => Ok(Some(time)),
        None => Err(Failure::input(format!(
            "--budget {budget}: give a time above 0 seconds and of at most a day"
        ))),
    }
}
