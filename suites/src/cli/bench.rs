//! The engine's part of `cargo bench`: a quick pass over the curated scenarios, the ranking, the report.

use std::process::ExitCode;
use std::slice;
use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_records::{Proof, Uncontended, read_run};
use regex::Regex;

use super::failure::{Failure, Outcome};
use super::foreign::Foreign;
use super::measure::{environment, new_folder, proofs, time, told, typed, warn_of_build, writable};
use super::output::{Output, style, width};
use super::report;
use super::selection::Scenarios;
use crate::campaign::{Selection, Settings, disproved, kept_out};
use crate::catalogue::Catalogue;
use crate::descriptions::Descriptions;
use crate::foreign::VARIABLE;
use crate::scenario::{ScenarioSpec, built_in};

/// Seconds that the engine may take, if other than the default.
const BUDGET: &str = "FLOWMETER_BUDGET";

/// Cells of implementations in other languages at most: in each fork each starts a process and warms it up, for a second or
/// more. All of them take part in `measure`.
const FOREIGN_CELLS: usize = 6;

/// Proves and times each `scenario/implementation` that matches `filter`, prints the ranking, writes the report and
/// prints its path last.
///
/// Between the proofs and the engine, `uncontended` runs criterion. It leaves out the ids (`scenario/implementation`)
/// that it is given, which did not pass, and returns its results.
pub fn bench(
    catalogue: &Catalogue,
    filter: Option<&str>,
    uncontended: impl FnOnce(&[String]) -> Vec<Uncontended>,
) -> ExitCode {
    run(catalogue, filter, uncontended).unwrap_or_else(Failure::tell)
}

fn run(
    catalogue: &Catalogue,
    filter: Option<&str>,
    uncontended: impl FnOnce(&[String]) -> Vec<Uncontended>,
) -> Outcome {
    let filter = filter.map(Regex::new).transpose().map_err(|why| {
        let why = why.to_string();
        let reason = why.lines().last().unwrap_or_default();
        Failure::input(format!(
            "the filter is not a regular expression: {}",
            reason.trim()
        ))
    })?;
    let selection = select(catalogue, filter.as_ref())?;
    if selection.scenarios.is_empty() {
        // The filter selects nothing curated, so only criterion runs.
        uncontended(&[]);
        return Ok(ExitCode::SUCCESS);
    }
    let said = environment(&[BUDGET, VARIABLE]);
    let asked = filter.iter().flat_map(|filter| ["--", filter.as_str()]);
    let command = typed(&said, "cargo bench", asked.map(str::to_owned));
    let settings = Settings::of_bench(budget()?, command);
    let folder = new_folder();
    writable(&folder)?;
    warn_of_build();
    let proofs = proofs(None, &selection);
    let mut timed = uncontended(&left_out(&selection, &proofs));
    // An implementation without a scenario of the engine's has no introduction in the records.
    let takes_part = |name: &str| selection.descriptions.iter().any(|it| it.name == name);
    timed.retain(|it| takes_part(&it.implementation));
    let before = (proofs, timed);
    let summary = time(&selection, &settings, &folder, before, false)?;
    let run = read_run(&folder)?;
    let page = report::page_of(&run);
    let estimates = flowmeter_reports::estimates_of(slice::from_ref(&run))?;
    report::write(vec![run], &page)?;
    let mut output = Output::default();
    output.line(&flowmeter_reports::rank_table(&estimates, width(), style()));
    if let Some(summary) = summary {
        output.line(&told(&summary, &folder));
    }
    let page = page.canonicalize().unwrap_or(page);
    output.line(&format!("report: {}", page.display()));
    Ok(ExitCode::SUCCESS)
}

/// Ids of what a proof keeps from being timed.
fn left_out(selection: &Selection, proofs: &[Proof]) -> Vec<String> {
    let scenarios = built_in();
    let ids = scenarios.iter().flat_map(|scenario| {
        // Nothing was proved for cells that were not selected.
        let mut selected = selection.scenarios.iter();
        let why = match selected.any(|it| it.name == scenario.name) {
            true => kept_out,
            false => disproved,
        };
        let is_out = |implementation: &&Registered| why(proofs, implementation, scenario).is_some();
        let out = selection.descriptions.iter().filter(is_out);
        out.map(|implementation| format!("{}/{}", scenario.name, implementation.name))
            .collect::<Vec<_>>()
    });
    ids.collect()
}

fn budget() -> Result<Duration, Failure> {
    let Ok(seconds) = std::env::var(BUDGET) else {
        return Ok(Settings::BENCH_BUDGET);
    };
    match seconds.parse() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(Failure::input(format!(
            "{BUDGET}={seconds}: give whole seconds above 0"
        ))),
    }
}

/// Scenarios and implementations of which any pair matches, like criterion's ids.
fn select(catalogue: &Catalogue, filter: Option<&Regex>) -> Result<Selection, Failure> {
    let mut scenarios = Scenarios::default().of()?;
    let mut all = Descriptions::ask(catalogue, |_| true, &scenarios);
    let mut foreign = Foreign::default().find()?;
    let is_asked_for = |scenario: &ScenarioSpec, implementation: &str| {
        let id = format!("{}/{implementation}", scenario.name);
        filter.is_none_or(|filter| filter.is_match(&id))
    };
    all.join(
        &foreign,
        &foreign.affordable(&scenarios, FOREIGN_CELLS, is_asked_for),
    )?;
    let matches = |scenario: &ScenarioSpec, implementation: &Registered| {
        all.supports(implementation.name, scenario) && is_asked_for(scenario, implementation.name)
    };
    let mut descriptions = all.clone();
    descriptions.retain(|it| scenarios.iter().any(|scenario| matches(scenario, it)));
    scenarios.retain(|scenario| {
        descriptions
            .iter()
            .any(|implementation| matches(scenario, implementation))
    });
    foreign.retain(|name| descriptions.iter().any(|it| it.name == name));
    Ok(Selection {
        descriptions,
        foreign,
        scenarios,
    })
}
