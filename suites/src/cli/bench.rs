//! The engine's part of `cargo bench`: a quick pass over the curated scenarios, the ranking, the report.

use std::process::ExitCode;
use std::slice;
use std::time::Duration;

use flowmeter_harness::measure::pin::Pinning;
use flowmeter_harness::record::{Proof, Uncontended, read_run};
use flowmeter_harness::registry::{AsyncRegistry, Contestant};
use regex::Regex;

use super::failure::{Failure, Outcome};
use super::foreign::Foreign;
use super::measure::{environment, new_folder, proofs, time, told, typed, warn_of_build, writable};
use super::output::{Output, style, width};
use super::report;
use super::selection::Scenarios;
use crate::campaign::{Selection, Settings, disproved, kept_out};
use crate::contest::Contest;
use crate::foreign::VARIABLE;
use crate::roster::Roster;
use crate::scenario::{ScenarioSpec, built_in};

/// Seconds that the engine may take, if other than the default.
const BUDGET: &str = "FLOWMETER_BUDGET";

/// Leaves room for criterion and the proofs within ten minutes.
const DEFAULT_BUDGET: Duration = Duration::from_secs(400);

/// The maximum number of cells in other languages: each starts a process and warms it up, which takes some seconds.
/// `measure` includes all of them.
const FOREIGN_CELLS: usize = 30;

/// Proves and times each `scenario/implementation` that matches `filter`, prints the ranking, writes the report and
/// prints its path last.
///
/// Between the proofs and the engine, `uncontended` runs criterion. It leaves out the ids (`scenario/implementation`)
/// that it is given, which did not pass, and returns its results.
pub fn bench<R: AsyncRegistry>(
    registry: R,
    filter: Option<&str>,
    uncontended: impl FnOnce(&[String]) -> Vec<Uncontended>,
) -> ExitCode {
    run(registry, filter, uncontended).unwrap_or_else(Failure::tell)
}

fn run<R: AsyncRegistry>(
    registry: R,
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
    let selection = select(&Contest::of(registry), filter.as_ref())?;
    if selection.scenarios.is_empty() {
        // The filter selects nothing curated, so only criterion runs.
        uncontended(&[]);
        return Ok(ExitCode::SUCCESS);
    }
    let said = environment(&[BUDGET, VARIABLE]);
    let asked = filter.iter().flat_map(|filter| ["--", filter.as_str()]);
    let command = typed(&said, "cargo bench", asked.map(str::to_owned));
    let settings = settings(budget()?, command);
    let folder = new_folder();
    writable(&folder)?;
    warn_of_build();
    let proofs = proofs(&selection);
    let mut timed = uncontended(&left_out(&selection, &proofs));
    // An implementation without a scenario of the engine's has no introduction in the records.
    let takes_part = |name: &str| selection.roster.contestants().any(|who| who.name == name);
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

fn settings(budget: Duration, command: String) -> Settings {
    let (forks, rounds, window) = Settings::QUICK;
    Settings {
        rounds,
        forks,
        window,
        budget: Some(budget),
        seed: 1,
        pinning: Pinning::Free,
        slowed_percent: None,
        strict: false,
        command,
        scenario_dir: None,
        foreign_dir: None,
    }
}

/// Ids that a proof keeps from being timed.
fn left_out(selection: &Selection, proofs: &[Proof]) -> Vec<String> {
    let scenarios = built_in();
    let ids = scenarios.iter().flat_map(|scenario| {
        // Nothing was proved for cells that were not selected.
        let mut selected = selection.scenarios.iter();
        let why = match selected.any(|it| it.name == scenario.name) {
            true => kept_out,
            false => disproved,
        };
        let is_out = |who: &&Contestant| why(proofs, who, scenario).is_some();
        let out = selection.roster.contestants().filter(is_out);
        out.map(|who| format!("{}/{}", scenario.name, who.name))
            .collect::<Vec<_>>()
    });
    ids.collect()
}

fn budget() -> Result<Duration, Failure> {
    let Ok(seconds) = std::env::var(BUDGET) else {
        return Ok(DEFAULT_BUDGET);
    };
    match seconds.parse() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(Failure::input(format!(
            "{BUDGET}={seconds}: give whole seconds above 0"
        ))),
    }
}

/// Scenarios and implementations of which any pair matches, like criterion's ids.
fn select<R: AsyncRegistry>(
    contest: &Contest<R>,
    filter: Option<&Regex>,
) -> Result<Selection, Failure> {
    let mut scenarios = Scenarios::default().of()?;
    let mut all = Roster::ask(contest, |_| true, &scenarios);
    let mut foreign = Foreign::default().find()?;
    let is_asked_for = |scenario: &ScenarioSpec, who: &str| {
        let id = format!("{}/{who}", scenario.name);
        filter.is_none_or(|filter| filter.is_match(&id))
    };
    all.join(
        &foreign,
        &foreign.affordable(&scenarios, FOREIGN_CELLS, is_asked_for),
    )?;
    let matches = |scenario: &ScenarioSpec, who: &Contestant| {
        all.supports(who.name, scenario) && is_asked_for(scenario, who.name)
    };
    let mut roster = all.clone();
    roster.retain(|who| scenarios.iter().any(|scenario| matches(scenario, who)));
    scenarios.retain(|scenario| roster.contestants().any(|who| matches(scenario, who)));
    foreign.retain(|name| roster.contestants().any(|who| who.name == name));
    Ok(Selection {
        roster,
        foreign,
        scenarios,
    })
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::measure::budget::{Demand, Overhead, SHORTEST_WINDOW, allot};
    use flowmeter_harness::record::Verdict;
    use flowmeter_impls::registry::Everybody;

    use super::*;
    use crate::campaign::plan;
    use crate::foreign::Foreigners;
    use crate::roster::{Due, Owed};

    fn held(cell: Owed) -> Proof {
        Proof {
            implementation: cell.implementation.to_owned(),
            property: cell.property.name.to_owned(),
            world: cell.world.to_owned(),
            verdict: Verdict::Pass,
            complete: false,
            executions: 1,
            seconds: 0.0,
            counterexample: None,
            detail: None,
            replay: None,
        }
    }

    #[test]
    fn two_hundred_cells_of_five_rounds_fit_into_the_budget() {
        let contest = Contest::of(Everybody);
        let mut scenarios = built_in();
        scenarios.retain(|scenario| scenario.priority.is_some());
        let selection = Selection {
            roster: Roster::ask_here(Everybody, &contest, &scenarios),
            foreign: Foreigners::default(),
            scenarios,
        };
        let settings = settings(DEFAULT_BUDGET, String::new());
        let owed = selection.roster.owed();
        let proofs = owed
            .filter(|cell| cell.due == Due::Owed)
            .map(held)
            .collect();
        let plan = plan(&selection, proofs, Vec::new(), &settings);
        assert!(plan.contests.len() <= 50);
        assert!(plan.total_rounds() >= 5);
        let cells: Vec<u64> = plan
            .contests
            .iter()
            .map(|c| c.entries.len() as u64)
            .collect();
        assert!(cells.iter().sum::<u64>() >= 200, "{cells:?}");
        let demands: Vec<Demand> = cells
            .iter()
            .map(|cells| Demand {
                windows: cells * u64::from(plan.total_rounds()),
                // Timed in one and counted in another.
                processes: 2 * cells,
            })
            .collect();
        // As measured on two cores with other load: twice the ramp, and a fifth of a second to start and prove.
        let overhead = Overhead {
            window: 2 * plan.ramp,
            process: Duration::from_millis(200),
        };
        let budget = plan.budget.expect("it has one");
        let allotment = allot(budget.total, budget.longest_window, &demands, overhead);
        assert_eq!(allotment.kept, demands.len(), "none is dropped");
        assert!(allotment.window >= SHORTEST_WINDOW);
    }
}
