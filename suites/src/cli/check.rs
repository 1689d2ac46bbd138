//! `check`: runs the properties.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use comfy_table::{Cell as TableCell, CellAlignment, ContentArrangement, Table, presets};
use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::AsyncRegistry;

use super::failure::{FAILED, Failure, Outcome};
use super::output::{Format, Output, width};
use super::progress::steps;
use super::selection::{Implementations, Properties};
use crate::contest::Contest;
use crate::properties::PROPERTIES;
use crate::proving::{Effort, prove};
use crate::roster::{Owed, Roster};

/// Prove what implementations claim
///
/// Each cell (implementation and property) runs in a process of its own, so that a hang or an abort is one
/// failed cell. The models of the loom and shuttle worlds run under `cargo test`.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    properties: Properties,
    /// In which worlds
    #[arg(long, value_enum, value_delimiter = ',', default_value = "std")]
    under: Vec<WorldName>,
    /// Seed of what is random
    #[arg(long, default_value_t = Effort::CHECK.seed)]
    seed: u64,
    /// Seconds for each cell
    #[arg(long, value_name = "SECONDS", default_value_t = Effort::CHECK.time.as_secs_f64())]
    budget: f64,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// More than a cell can use.
const A_DAY: Duration = Duration::from_secs(86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WorldName {
    /// Real threads
    Std,
}

impl Check {
    pub(super) fn run<R: AsyncRegistry>(self, registry: R) -> Outcome {
        debug_assert!(self.under.contains(&WorldName::Std));
        let time = Duration::try_from_secs_f64(self.budget)
            .ok()
            .filter(|time| !time.is_zero() && *time <= A_DAY);
        let Some(time) = time else {
            return Err(Failure::input(format!(
                "--budget {}: give a time above 0 seconds and of at most a day",
                self.budget
            )));
        };
        let effort = Effort {
            time,
            seed: self.seed,
            ..Effort::CHECK
        };
        let contest = Contest::of(registry);
        self.implementations
            .find_in(contest.implementations().iter().map(|who| who.name))?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let roster = Roster::ask(&contest, |name| self.implementations.matches(name), &[]);
        let cells: Vec<Owed> = roster
            .owed()
            .filter(|cell| self.properties.matches(cell.property.name))
            .collect();

        let mut output = Output::default();
        let bar = steps(cells.len() as u64, "proving");
        let mut proofs = Vec::new();
        for cell in cells {
            bar.set_message(format!("{} {}", cell.implementation, cell.property.name));
            let proof = prove(&cell, effort);
            if self.format == Format::Json {
                output.json(&proof);
            }
            proofs.push(proof);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.format == Format::Table {
            output.line(&table(&proofs));
            output.line(&summary(&proofs));
        }
        let failed = proofs.iter().any(|proof| {
            matches!(
                proof.verdict,
                Verdict::Fail | Verdict::Error | Verdict::Inconclusive
            )
        });
        Ok(if failed {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }
}

const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Unclaimed => "-",
        Verdict::NotInstrumentable => "n/a",
        Verdict::Inconclusive => "open",
        Verdict::Error => "ERROR",
    }
}

/// Properties down, implementations across, as many tables as that takes.
fn table(proofs: &[Proof]) -> String {
    const PER_TABLE: usize = 7;
    let mut implementations: Vec<&str> = Vec::new();
    let mut properties: Vec<&str> = Vec::new();
    for proof in proofs {
        if !implementations.contains(&proof.implementation.as_str()) {
            implementations.push(&proof.implementation);
        }
        if !properties.contains(&proof.property.as_str()) {
            properties.push(&proof.property);
        }
    }
    let mut text = String::new();
    for implementations in implementations.chunks(PER_TABLE) {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width() as u16);
        table.set_header(std::iter::once("property").chain(implementations.iter().copied()));
        for property in &properties {
            let marks = implementations.iter().map(|implementation| {
                let proof = proofs
                    .iter()
                    .find(|p| p.implementation == *implementation && p.property == *property);
                let mark = proof.map_or("", |proof| mark(proof.verdict));
                TableCell::new(mark).set_alignment(CellAlignment::Center)
            });
            table.add_row(std::iter::once(TableCell::new(property)).chain(marks));
        }
        text.push_str(&format!("{table}\n\n"));
    }
    text
}

fn summary(proofs: &[Proof]) -> String {
    let mut text = String::new();
    for proof in proofs
        .iter()
        .filter(|p| !matches!(p.verdict, Verdict::Pass | Verdict::Unclaimed))
    {
        text.push_str(&format!(
            "{} {} {}: {}\n    {}\n",
            mark(proof.verdict),
            proof.implementation,
            proof.property,
            proof.detail.as_deref().unwrap_or("no word of why"),
            proof.replay.as_deref().unwrap_or(""),
        ));
    }
    let count = |verdict| {
        proofs
            .iter()
            .filter(|proof| proof.verdict == verdict)
            .count()
    };
    let executions: u64 = proofs.iter().map(|proof| proof.executions).sum();
    let seconds: f64 = proofs.iter().map(|proof| proof.seconds).sum();
    let failed = proofs.len() - count(Verdict::Pass) - count(Verdict::Unclaimed);
    text.push_str(&format!(
        "{} passed, {failed} failed, {} not claimed; {executions} executions in {seconds:.0} s",
        count(Verdict::Pass),
        count(Verdict::Unclaimed),
    ));
    text
}
