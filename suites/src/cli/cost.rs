//! `cost`: what a message costs each channel in shared accesses and allocations, counted under fixed schedules.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::cost::{Counts, Pace};
use flowmeter_records::ModelledCost;

use super::failure::{FAILED, Failure, Outcome, warn};
use super::into::Into;
use super::output::{Format, Output};
use super::progress::steps;
use super::selection::{Implementations, Scenarios};
use crate::cost::{USUAL, WORLD, ask, shape};
use crate::properties::cost::Shape;
use crate::twins;
use crate::worlds::Worlds;

/// Count what a message costs each channel in shared memory: read-modify-writes, locks, wake-ups, moves of a location
/// from task to task, loads, stores; and allocations
///
/// The counts are exact, and the same on every machine and in every build. A channel runs under two fixed schedules. In
/// `bursts` a task runs until it waits. In `steps` the next task runs after each access. Published crates take part
/// where their twins were built (`scripts/twins`). Exit code 1 if an execution fails or does not end. docs/cost.md says
/// what is counted, and what is not.
#[derive(Debug, Args)]
pub(super) struct Cost {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    scenarios: Scenarios,
    /// Also write the tables of the chosen rows into this file, between the lines `<!-- cost -->` and `<!-- /cost -->`
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Also add the counts of what a run timed to that run, so that its report shows them beside the measured costs
    #[arg(long, value_name = "RUN")]
    into: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Cost {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let shapes = self.shapes()?;
        let page = self.page.as_deref().map(Page::read).transpose()?;
        let run = self.into.as_deref().map(Into::read).transpose()?;
        let prover = worlds.find(WORLD).ok_or_else(|| {
            Failure::input(format!(
                "this program explores nothing in the world {WORLD}"
            ))
        })?;
        let ours = prover.implementations();
        let mut chosen = worlds.catalogue().implementations().to_vec();
        chosen.retain(|it| it.kind == Kind::Channel && !it.reference);
        let chosen = self.implementations.of(&chosen)?;
        let takes_part = |implementation: &Registered| {
            ours.iter().any(|other| other.name == implementation.name)
                || twins::program_of(WORLD, implementation.name).is_some()
        };
        let (chosen, without): (Vec<_>, Vec<_>) = chosen.into_iter().partition(takes_part);
        if twins::are_missing(WORLD) && without.iter().any(|it| it.origin == Origin::Peer) {
            let sentence = "the twins of published crates were not built: run scripts/twins first";
            match &page {
                Some(_) => return Err(Failure::input(sentence)),
                None => warn(sentence),
            }
        }
        let mut output = Output::default();
        let mut rows = Vec::new();
        let bar = steps(chosen.len() as u64, "counting");
        for implementation in &chosen {
            bar.set_message(implementation.name);
            let asked = ask(implementation.name, &shapes);
            // The others have their rows.
            let asked = asked.unwrap_or_else(|why| failed(implementation.name, &shapes, &why));
            rows.extend(asked);
            bar.inc(1);
        }
        bar.finish_and_clear();
        match self.format {
            Format::Json => rows.iter().for_each(|row| output.json(row)),
            Format::Table => output.line(&tables(&shapes, &rows)),
        }
        let failed: Vec<&ModelledCost> = rows.iter().filter(|row| row.error.is_some()).collect();
        match page {
            Some(page) if failed.is_empty() => page.write(&tables(&shapes, &rows))?,
            Some(page) => warn(&format!(
                "{} is left as it was, since rows would be missing",
                page.path.display()
            )),
            None => {}
        }
        if let Some(run) = run {
            let added = run.add_costs(&rows)?;
            if self.format == Format::Table {
                output.line(&format!("{added} rows added to the run"));
            }
        }
        for row in &failed {
            let (implementation, pace) = (&row.implementation, row.pace.name());
            let why = row.error.as_deref().unwrap_or_default();
            let why = why.lines().next().unwrap_or_default();
            warn(&format!(
                "{implementation} in {}, {pace}: {why}",
                row.scenario
            ));
        }
        Ok(match failed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(FAILED),
        })
    }

    /// The scenarios to count, with their shapes.
    fn shapes(&self) -> Result<Vec<(String, Shape)>, Failure> {
        let mut all = self.scenarios.all()?;
        if !self.scenarios.is_given() {
            let place = |name: &str| USUAL.iter().position(|usual| *usual == name);
            all.retain(|scenario| place(&scenario.name).is_some());
            all.sort_by_key(|scenario| place(&scenario.name));
        }
        let with_shapes = all.into_iter().filter_map(|scenario| {
            let shape = shape(&scenario)?;
            Some((scenario.name, shape))
        });
        let shapes: Vec<_> = with_shapes.collect();
        if shapes.is_empty() {
            return Err(Failure::input(
                "none of these scenarios can be counted; choose streams with `-s`, such as -s 'spsc-64$'",
            ));
        }
        Ok(shapes)
    }
}

/// Rows of an implementation with a process that gave no answer.
fn failed(name: &str, shapes: &[(String, Shape)], why: &str) -> Vec<ModelledCost> {
    let row = |scenario: &str, pace| ModelledCost {
        scenario: scenario.to_owned(),
        implementation: name.to_owned(),
        pace,
        messages: 0,
        counts: None,
        error: Some(why.to_owned()),
    };
    let scenarios = shapes.iter();
    scenarios
        .flat_map(|(scenario, _)| Pace::ALL.map(|pace| row(scenario, pace)))
        .collect()
}

/// A table for each scenario. Each row depends on nothing but its implementation.
fn tables(shapes: &[(String, Shape)], rows: &[ModelledCost]) -> String {
    let tables = shapes.iter().filter_map(|(scenario, _)| {
        let of_it: Vec<&ModelledCost> = rows
            .iter()
            .filter(|row| row.scenario == *scenario)
            .collect();
        (!of_it.is_empty()).then(|| table(scenario, &of_it))
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

/// Columns of a name.
const NAME: usize = 22;
/// Columns of a number.
const NUMBER: usize = 6;

fn table(scenario: &str, rows: &[&ModelledCost]) -> String {
    let names = Counts::default().each();
    let names = names.map(|(name, _)| format!("{name:>NUMBER$}")).concat();
    let width = names.len();
    let [first, second] = Pace::ALL.map(Pace::name);
    // The longest names of scenarios reach into the columns of the first schedule.
    let head = format!("{scenario:<30}{first:>at$}", at = NAME + 2 + width - 30);
    let mut text = format!("{head}  {second:>width$}\n{:<NAME$}  {names}  {names}", "");
    for two in rows.chunk_by(|one, other| one.implementation == other.implementation) {
        text.push_str(&format!("\n{:<NAME$}", two[0].implementation));
        for row in two {
            text.push_str(&format!("  {}", cells(row)));
        }
    }
    text
}

fn cells(row: &ModelledCost) -> String {
    let Some(each) = row.per_message() else {
        return format!("{:>NUMBER$}", "-").repeat(Counts::default().each().len());
    };
    let cell = |(_, count): (&str, Option<f64>)| match count {
        None => format!("{:>NUMBER$}", "-"),
        Some(0.0) => format!("{:>NUMBER$}", 0),
        Some(count @ ..99.5) => format!("{count:>NUMBER$.2}"),
        Some(count) => format!("{count:>NUMBER$.0}"),
    };
    each.map(cell).concat()
}

/// A page with a place for the tables.
struct Page {
    path: PathBuf,
    before: String,
    after: String,
}

const BEGIN: &str = "<!-- cost -->\n";
const END: &str = "<!-- /cost -->";

impl Page {
    fn read(path: &Path) -> Result<Page, Failure> {
        let bad = |why: &str| Failure::input(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path)
            .map_err(|why| bad(&format!("{why}; name a page that exists")))?;
        let halves = text.split_once(BEGIN).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(END)?;
            Some((before.to_owned(), after.to_owned()))
        });
        let (before, after) = halves.ok_or_else(|| {
            bad("it has no place for the tables; add the lines `<!-- cost -->` and `<!-- /cost -->`")
        })?;
        let path = path.to_owned();
        Ok(Page {
            path,
            before,
            after,
        })
    }

    fn write(self, tables: &str) -> Result<(), Failure> {
        let Page {
            path,
            before,
            after,
        } = self;
        let text = format!("{before}{BEGIN}\n```text\n{tables}\n```\n\n{END}{after}");
        std::fs::write(&path, text).map_err(|why| Failure::write(&path, &why))
    }
}
