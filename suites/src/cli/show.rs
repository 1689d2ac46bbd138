//! `show`: all information about one cell.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flowmeter_records::{Proof, RunData, Scenario, Verdict};
use flowmeter_reports::statistics::UNOPTIMISED;
use flowmeter_reports::{Checked, Sighting, sightings};
use serde::Serialize;

use super::failure::{Failure, Outcome};
use super::output::{Format, Output, width, wrapped};
use super::selection::{RUNS, all_runs, runs};
use super::verdicts::sentence;
use crate::properties::{PROPERTIES, Property};
use crate::scenario::built_in;

/// Show a cell: its definition, its results in each run, and the command that reproduces it
///
/// A measured cell is named by its scenario and implementation, as in cargo bench: channels/spsc-64/mutex. A checked
/// one is named by its implementation and property, and optionally a world: mutex/c2-order/loom.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// SCENARIO/IMPLEMENTATION or IMPLEMENTATION/PROPERTY[/WORLD]
    cell: String,
    /// Folders of runs [default: all below runs/]
    runs: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A line of JSON of a checked cell: a verdict, and its run.
#[derive(Serialize)]
struct Judged<'a> {
    run: String,
    started: &'a str,
    commit: &'a str,
    #[serde(flatten)]
    proof: &'a Proof,
}

/// The named cell.
enum Cell<'a> {
    Measured {
        scenario: &'a str,
        implementation: &'a str,
    },
    Checked {
        implementation: &'a str,
        property: &'static Property,
        world: Option<&'a str>,
    },
}

impl Show {
    pub(super) fn run(self) -> Outcome {
        let mut runs = match self.runs.is_empty() {
            true => all_runs()?,
            false => runs(&self.runs)?,
        };
        runs.sort_by(|a, b| a.run.started.cmp(&b.run.started));
        let cell = named(&self.cell)?;
        let mut output = Output::default();
        match cell {
            Cell::Measured {
                scenario,
                implementation,
            } => {
                let seen = sightings(&runs, scenario, implementation)?;
                if seen.is_empty() {
                    return Err(self.unknown());
                }
                match self.format {
                    Format::Json => seen.iter().for_each(|one| output.json(one)),
                    Format::Table => output.line(&measured(&runs, scenario, implementation, &seen)),
                }
            }
            Cell::Checked {
                implementation,
                property,
                world,
            } => {
                let seen = judged(&runs, implementation, property, world);
                if seen.is_empty() {
                    return Err(self.unknown());
                }
                match self.format {
                    Format::Json => seen.iter().for_each(|one| output.json(one)),
                    Format::Table => output.line(&checked(implementation, property, world, &seen)),
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn unknown(&self) -> Failure {
        let place = match self.runs.is_empty() {
            true => format!("no run in {RUNS}/"),
            false => "none of these runs".to_owned(),
        };
        Failure::input(format!(
            "{}: {place} has such a cell; `cargo flowmeter cmp` shows those that were measured, and `check --into RUN` \
             adds checked ones to a run",
            self.cell
        ))
    }
}

/// Splits a name. If its last part, or the one before it, is a property, the cell is a checked one.
fn named(cell: &str) -> Result<Cell<'_>, Failure> {
    let property = |name: &str| PROPERTIES.iter().copied().find(|p| p.name == name);
    let Some((first, last)) = cell.rsplit_once('/') else {
        return Err(Failure::input(format!(
            "{cell}: name a cell as SCENARIO/IMPLEMENTATION or IMPLEMENTATION/PROPERTY, such as channels/spsc-64/mutex \
             or mutex/c2-order"
        )));
    };
    if let Some(property) = property(last) {
        return Ok(Cell::Checked {
            implementation: first,
            property,
            world: None,
        });
    }
    let checked = first.rsplit_once('/');
    if let Some((implementation, property)) =
        checked.and_then(|(first, what)| Some((first, property(what)?)))
    {
        return Ok(Cell::Checked {
            implementation,
            property,
            world: Some(last),
        });
    }
    Ok(Cell::Measured {
        scenario: first,
        implementation: last,
    })
}

fn judged<'a>(
    runs: &'a [RunData],
    implementation: &str,
    property: &Property,
    world: Option<&str>,
) -> Vec<Judged<'a>> {
    let matches = |proof: &&Proof| {
        proof.implementation == implementation
            && proof.property == property.name
            && world.is_none_or(|world| proof.world == world)
    };
    let of_run = |run: &'a RunData| {
        run.proofs.iter().filter(matches).map(|proof| Judged {
            run: run.folder.display().to_string(),
            started: &run.run.started,
            commit: &run.run.commit,
            proof,
        })
    };
    runs.iter().flat_map(of_run).collect()
}

fn measured(runs: &[RunData], name: &str, implementation: &str, seen: &[Sighting]) -> String {
    let mut text = format!("{implementation} in {name}\n");
    let recorded = runs.iter().rev().find_map(|run| run.scenarios.get(name));
    let known = || built_in().into_iter().find(|known| known.name == name);
    let scenario = recorded.cloned().or_else(|| Some(known()?.record()));
    if let Some(scenario) = &scenario {
        text.push_str(&definition(scenario));
    }
    let checked = match &scenario {
        Some(scenario) => Checked::in_form(runs, implementation, &scenario.form),
        None => Checked::of(runs, implementation),
    };
    let checked = checked.sentence();
    text.push_str(&format!("\n{}\n\n", wrapped(&checked, width()).join("\n")));
    for run in runs
        .iter()
        .filter(|run| run.run.unoptimised && run.scenarios.contains_key(name))
    {
        text.push_str(&format!(
            "{} is of an {UNOPTIMISED}\n",
            run.folder.display()
        ));
    }
    text.push_str(&flowmeter_reports::sighting_table(seen, width()));
    let commands = seen.iter().rev().map(|one| &one.command);
    text.push_str(
        "\nto measure it again, as in the latest run, with the implementations beside it:\n",
    );
    text.push_str(&format!(
        "    {}",
        commands.into_iter().next().map_or("", |c| c)
    ));
    text
}

/// The definition of a scenario, from its file.
fn definition(scenario: &Scenario) -> String {
    let params = scenario.params.iter();
    let params: Vec<String> = params
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    format!(
        "{}\n{}\n{}; measured in {}\n",
        scenario.title,
        wrapped(&scenario.why, width()).join("\n"),
        params.join(", "),
        scenario.unit
    )
}

fn checked(
    implementation: &str,
    property: &Property,
    world: Option<&str>,
    seen: &[Judged],
) -> String {
    let mut text = format!(
        "{implementation} and {}\n{}\n\n",
        property.name,
        wrapped(property.statement, width()).join("\n")
    );
    for one in seen {
        let commit: String = one.commit.chars().take(12).collect();
        let said = match one.proof.verdict {
            Verdict::Pass => format!(
                "held under {} in {} executions{}{}",
                one.proof.world,
                one.proof.executions,
                if one.proof.complete {
                    ", which are all"
                } else {
                    ""
                },
                one.proof
                    .detail
                    .iter()
                    .map(|detail| format!("; {detail}"))
                    .collect::<String>(),
            ),
            _ => sentence(one.proof),
        };
        text.push_str(&format!("{} ({commit}): {said}\n", one.started));
        let failed = !matches!(one.proof.verdict, Verdict::Pass);
        if let (true, Some(file)) = (failed, &one.proof.counterexample) {
            text.push_str(&format!("    kept in {}\n", file.display()));
        }
    }
    let mut worlds: Vec<&str> = seen.iter().map(|one| &*one.proof.world).collect();
    worlds.sort_unstable();
    worlds.dedup();
    let under = world.map_or_else(|| worlds.join(","), str::to_owned);
    text.push_str(&format!(
        "\nto check it again:\n    cargo flowmeter check -i '^{}$' -p '^{}$' --under {under}",
        regex::escape(implementation),
        property.name
    ));
    text
}
