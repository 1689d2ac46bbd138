//! `mutants --each-check`: tests whether each check of the properties is needed.
//!
//! First faults are injected, which takes minutes. The checks that no fault needs are then tried on the mutants that
//! they were the first to find.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use comfy_table::{ContentArrangement, Table, presets};
use flowmeter_harness::registry::Mutant;
use serde::Serialize;

use super::failure::{FAILED, Failure, Outcome};
use super::mutants::each;
use super::output::{Format, Output, width};
use super::progress::steps;
use crate::mutants::{Plan, attack};
use crate::properties::lies::places::{self, Place};
use crate::properties::{PROPERTIES, Property};
use crate::sweep::{Question, sweep, worlds_for};
use crate::worlds::Worlds;

/// A check, and what survives without it.
#[derive(Serialize)]
struct Row<'a> {
    check: &'a str,
    title: &'a str,
    needed: bool,
    /// Whether it found anything at all.
    speaks: bool,
    survivor: Option<&'a str>,
}

/// The results for the checks so far.
#[derive(Default)]
struct Known {
    /// The survivor for each check.
    survivors: BTreeMap<String, String>,
    /// The checks that found something.
    spoke: BTreeSet<String>,
}

pub(super) fn each_check(
    worlds: &Worlds,
    wanted: impl Fn(&str) -> bool,
    attacks: &[(&'static Mutant, &'static Property)],
    time: Option<Duration>,
    unneeded: Option<&Path>,
    format: Format,
) -> Outcome {
    let places = places::all()
        .map_err(|why| Failure::input(format!("the sources of the properties: {why}")))?;
    let excused = excused(unneeded)?;
    let mut known = Known::default();
    lies(worlds, &wanted, &mut known)?;
    let is_check = |name: &str| places.iter().any(|place| place.name == name);
    mutants(worlds, attacks, is_check, time, &mut known);

    // With some properties selected: the checks in their own files, and those in shared files that found something.
    let all = PROPERTIES.iter().all(|property| wanted(property.name));
    let concerns = |check: &str| {
        let file = check.rsplit('/').next().unwrap_or(check);
        let stem = file.split('.').next().unwrap_or(file).replace('_', "-");
        all || wanted(&stem) || known.spoke.contains(check)
    };
    let rows: Vec<Row<'_>> = (places.iter())
        .filter(|place| concerns(&place.name))
        .map(|Place { name, title }| Row {
            check: name,
            title,
            needed: known.survivors.contains_key(name),
            speaks: known.spoke.contains(name),
            survivor: known.survivors.get(name).map(String::as_str),
        })
        .collect();
    let mut output = Output::default();
    match format {
        Format::Json => rows.iter().for_each(|row| output.json(row)),
        Format::Table => output.line(&table(&rows)),
    }
    let complaints = complaints(&rows, &known, &excused, all);
    if format == Format::Table {
        let needed = rows.iter().filter(|row| row.needed).count();
        output.line(&format!(
            "{} checks: {needed} needed, {} known to be needed by nothing",
            rows.len(),
            rows.iter()
                .filter(|row| excused.contains(row.title))
                .count()
        ));
    }
    for why in &complaints {
        match format {
            Format::Json => eprintln!("{why}"),
            Format::Table => output.line(why),
        }
    }
    Ok(if complaints.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

/// The titles in that file, if one is given.
fn excused(file: Option<&Path>) -> Result<BTreeSet<String>, Failure> {
    let Some(file) = file else {
        return Ok(BTreeSet::new());
    };
    let text = fs::read_to_string(file)
        .map_err(|why| Failure::input(format!("{}: {why}", file.display())))?;
    let lines = text.lines().map(str::trim);
    let titles = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(titles.map(str::to_owned).collect())
}

/// Injects faults into every cell that allows it.
fn lies(worlds: &Worlds, wanted: &impl Fn(&str) -> bool, known: &mut Known) -> Result<(), Failure> {
    let mut questions = Vec::new();
    for prover in worlds.of_lies() {
        for implementation in prover.implementations() {
            let cells = prover.cells(implementation.name, None).into_iter();
            let is_told = worlds_for(implementation.kind).contains(&prover.world());
            let cells = cells.filter(|cell| is_told && !cell.cases.is_empty());
            let cells = cells.filter(|cell| wanted(cell.property.name));
            questions.extend(cells.map(|cell| Question {
                implementation: implementation.name.to_owned(),
                property: cell.property.name.to_owned(),
                world: prover.world().to_owned(),
                skip: 0,
            }));
        }
    }
    let bar = steps(questions.len() as u64, "lying");
    let mut failures = Vec::new();
    each(
        &questions,
        |question| (question.clone(), sweep(question)),
        |(question, found)| {
            bar.set_message(format!(
                "{} to {}",
                question.implementation, question.property
            ));
            bar.inc(1);
            match found {
                Err(why) => failures.push(why),
                Ok(found) => {
                    for found in found {
                        let survivor = format!(
                            "{} under {}: {}, {} of '{}'",
                            question.implementation,
                            question.world,
                            found.case,
                            nth(found.lie.nth),
                            found.lie.name
                        );
                        known.spoke.extend(found.by);
                        for check in found.needed {
                            known
                                .survivors
                                .entry(check)
                                .or_insert_with(|| survivor.clone());
                        }
                    }
                }
            }
        },
    );
    bar.finish_and_clear();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::input(failures.join("\n"))),
    }
}

fn nth(nth: u32) -> String {
    match nth {
        0 => "every occasion".to_owned(),
        nth => format!("occasion {nth}"),
    }
}

/// Attacks as usual. If no fault needs the check that found a mutant, attacks again without that check.
fn mutants(
    worlds: &Worlds,
    attacks: &[(&'static Mutant, &'static Property)],
    is_check: impl Fn(&str) -> bool + Sync,
    time: Option<Duration>,
    known: &mut Known,
) {
    let attacks: Vec<_> = attacks
        .iter()
        .filter(|(mutant, _)| !mutant.equivalent)
        .collect();
    let bar = steps(attacks.len() as u64, "attacking");
    let found = std::sync::Mutex::new(known);
    each(
        &attacks,
        |(mutant, property)| {
            let plan = Plan {
                time,
                ..Plan::default()
            };
            // The output of a mutant's process may be garbled: some free memory twice, and continue.
            let check = attack(worlds, mutant, property, &plan).check;
            let Some(check) = check.filter(|check| is_check(check)) else {
                return;
            };
            {
                let mut known = found
                    .lock()
                    .expect("no thread panics while it holds the lock");
                known.spoke.insert(check.clone());
                if known.survivors.contains_key(&check) {
                    return;
                }
            }
            let without = Plan {
                without: Some(&check),
                ..plan
            };
            if !attack(worlds, mutant, property, &without).killed() {
                let survivor = format!("{} by {}", mutant.name, property.name);
                let mut known = found
                    .lock()
                    .expect("no thread panics while it holds the lock");
                known.survivors.entry(check).or_insert(survivor);
            }
        },
        |()| bar.inc(1),
    );
    bar.finish_and_clear();
}

fn table(rows: &[Row<'_>]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width() as u16)
        .set_header(["check", "what survives without it"]);
    for row in rows {
        let survivor = match (row.survivor, row.speaks) {
            (Some(survivor), _) => survivor,
            (None, true) => "NOTHING: others find what it finds",
            (None, false) => "NOTHING: it finds nothing",
        };
        table.add_row([row.title, survivor]);
    }
    table.to_string()
}

/// The complaints: unneeded checks that are not listed, listed ones that are needed or gone, and checks that failed
/// at an unknown place.
fn complaints(
    rows: &[Row<'_>],
    known: &Known,
    excused: &BTreeSet<String>,
    all: bool,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for row in rows.iter().filter(|row| !row.needed) {
        if !excused.contains(row.title) {
            complaints.push(format!("nothing needs {} ({})", row.title, row.check));
        }
    }
    for title in excused {
        match rows.iter().find(|row| row.title == title) {
            None if all => complaints.push(format!("{title} is gone: take it from the list")),
            None => {}
            Some(row) if row.needed => {
                complaints.push(format!("{title} is needed: take it from the list"));
            }
            Some(_) => {}
        }
    }
    let nowhere = |check: &&String| rows.iter().all(|row| row.check != **check);
    for check in known.spoke.iter().filter(nowhere) {
        complaints.push(format!("{check} spoke, and is no check of the sources"));
    }
    complaints
}
