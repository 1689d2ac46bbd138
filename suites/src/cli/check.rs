//! `check`: runs the properties.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use flowmeter_harness::registry::AsyncRegistry;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

use super::failure::{FAILED, Failure, Outcome};
use super::output::{Format, Output};
use super::progress::steps;
use super::selection::{Implementations, Properties};
use super::verdicts::{Judged, fails, summary, tables};
use crate::contest::Contest;
use crate::properties::PROPERTIES;
use crate::proving::{Effort, prove};
use crate::roster::{Owed, Roster};
use crate::worlds::{Court, Worlds};

/// Prove what implementations claim
///
/// Each cell (implementation, property and world) runs in a process of its own, so that a hang or an abort is
/// one failed cell. std: real threads. shuttle: random schedules. loom: every schedule and memory order of
/// small models; a space that the budget does not exhaust is no pass. sim: one schedule in virtual time.
/// Published crates exist under std only.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    properties: Properties,
    /// In which worlds: std, shuttle, loom, sim
    #[arg(
        long,
        value_name = "WORLDS",
        value_delimiter = ',',
        default_value = Std::NAME
    )]
    under: Vec<String>,
    /// Seed of what is random
    #[arg(long, default_value_t = Effort::CHECK.seed)]
    seed: u64,
    /// Seconds for each cell at most [default: 2 under std, 300 elsewhere]
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// More than a cell can use.
const A_DAY: Duration = Duration::from_secs(86_400);

impl Check {
    pub(super) fn run<R: AsyncRegistry>(self, worlds: &Worlds<R>) -> Outcome {
        let courts = courts(worlds, &self.under)?;
        let time = time(self.budget)?;
        let contest = Contest::of(worlds.registry());
        self.implementations
            .find_in(contest.implementations().iter().map(|who| who.name))?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let roster = Roster::ask(&contest, |name| self.implementations.matches(name), &[]);
        let mut cells: Vec<Owed> = Vec::new();
        for court in courts {
            match court.world() {
                Std::NAME => cells.extend(roster.owed()),
                _ => cells.extend(roster.owed_in(court)),
            }
        }
        cells.retain(|cell| self.properties.matches(cell.property.name));

        let mut output = Output::default();
        let bar = steps(cells.len() as u64, "proving");
        let mut judged: Vec<Judged> = Vec::new();
        for cell in cells {
            let (who, what, world) = (cell.implementation, cell.property.name, cell.world);
            bar.set_message(format!("{who} {what} under {world}"));
            let default = Effort::under(world);
            let effort = Effort {
                time: time.unwrap_or(default.time),
                seed: self.seed,
                ..default
            };
            let proof = prove(&cell, effort);
            if self.format == Format::Json {
                output.json(&proof);
            }
            judged.push((cell, proof));
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.format == Format::Table {
            output.line(&tables(&judged));
            output.line(&summary(&judged));
        }
        let failed = judged.iter().any(|(_, proof)| fails(proof.verdict));
        Ok(if failed {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// The worlds that were named, once each.
pub(super) fn courts<'a, R: AsyncRegistry>(
    worlds: &'a Worlds<R>,
    under: &[String],
) -> Result<Vec<&'a dyn Court>, Failure> {
    let mut courts: Vec<&dyn Court> = Vec::new();
    for name in under {
        let Some(court) = worlds.find(name) else {
            let known: Vec<&str> = worlds.names().collect();
            return Err(Failure::input(format!(
                "--under: there is no world '{name}' here; give some of {}",
                known.join(",")
            )));
        };
        if courts.iter().all(|other| other.world() != court.world()) {
            courts.push(court);
        }
    }
    Ok(courts)
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
