//! Mutation by site of an implementation: the calls of the facade that its models reach, and the model that notices
//! when one of them is broken.
//!
//! A site that no model notices has no model, is not needed, or stays with a written argument; `docs/sites.md` has
//! those of our own. Each cell runs in a process of its own, with one site broken in it.

use std::collections::BTreeSet;
use std::time::Instant;

use flowmeter_harness::sync::World;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::sites::{self, Breakage, Mutation, Site};
use flowmeter_records::Verdict;
use serde::{Deserialize, Serialize};

use crate::descriptions::Owed;
use crate::process::{self, Request};
use crate::properties::Judgement;
use crate::proving::{self, Effort, LEEWAY, Task};
use crate::worlds::Worlds;

/// Executions to list the sites of a cell: sites are lines, and a few schedules reach all of them.
const LISTING: u64 = 500;

/// A cell and the sites of its implementation that it reaches.
#[derive(Clone, Debug)]
pub struct Passage {
    /// The cell.
    pub cell: Owed,
    /// Lines of the implementation, not of the models.
    pub sites: BTreeSet<Site>,
}

/// The result of a site.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The implementation.
    pub implementation: String,
    /// Its place, and the operation.
    pub site: Site,
    /// How it was broken; a lock is only listed.
    pub breakage: Option<Breakage>,
    /// The cell that failed.
    pub killer: Option<Killer>,
    /// The message of that cell; for a survivor, the cells without a verdict.
    pub detail: Option<String>,
    /// Executions of all cells that were run.
    pub executions: u64,
    /// How long that took, in seconds.
    pub seconds: f64,
}

/// A cell that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Killer {
    /// The violated property.
    pub property: String,
    /// The world.
    pub world: String,
}

impl Row {
    /// `listed`, `killed` or `survived`.
    pub fn outcome(&self) -> &'static str {
        match (&self.breakage, &self.killer) {
            (None, _) => "listed",
            (Some(_), Some(_)) => "killed",
            (Some(_), None) => "survived",
        }
    }
}

/// Lists the sites that a cell reaches, in a process of its own.
///
/// # Errors
/// When that process gives no answer: why, in a sentence.
pub fn list(cell: Owed, effort: Effort) -> Result<Passage, String> {
    let few = Effort {
        executions: LISTING,
        ..effort
    };
    let limit = effort.time + effort.grace + LEEWAY;
    let task = Task::of(&cell, few);
    let (judged, sites): (Judgement, BTreeSet<Site>) =
        process::ask(&Request::ListSites(task), limit)?;
    if judged.proof.verdict == Verdict::Fail {
        let why = judged.proof.detail.unwrap_or_default();
        return Err(format!("it fails with nothing broken: {why}"));
    }
    let sites = sites.into_iter().filter(is_of_an_implementation).collect();
    Ok(Passage { cell, sites })
}

/// Models and the harness also call the facade.
fn is_of_an_implementation(site: &Site) -> bool {
    let ours = ["harness/", "suites/"];
    !ours.iter().any(|folder| site.file.starts_with(folder))
}

/// Breaks every site of an implementation in every way, one after the other, and runs the cells that reach it until
/// one fails. `tell` gets the result of each, in the order of files and lines.
pub fn hunt(passages: &[Passage], effort: impl Fn(&str) -> Effort, mut tell: impl FnMut(Row)) {
    let all: BTreeSet<&Site> = passages.iter().flat_map(|passage| &passage.sites).collect();
    for site in all {
        let passing = passages
            .iter()
            .filter(|passage| passage.sites.contains(site));
        let cells: Vec<&Owed> = passing.map(|passage| &passage.cell).collect();
        let implementation = cells[0].implementation;
        let breakages = site.breakages();
        if breakages.is_empty() {
            tell(listed(site, implementation));
        }
        for breakage in breakages {
            // The other worlds have only one memory order.
            let felt = |cell: &&Owed| breakage != Breakage::Relaxed || cell.world == Loom::NAME;
            let cells: Vec<&Owed> = cells.iter().copied().filter(felt).collect();
            let site = site.clone();
            tell(kill(
                implementation,
                Mutation { site, breakage },
                &cells,
                &effort,
            ));
        }
    }
}

fn listed(site: &Site, implementation: &str) -> Row {
    Row {
        implementation: implementation.to_owned(),
        site: site.clone(),
        breakage: None,
        killer: None,
        detail: None,
        executions: 0,
        seconds: 0.0,
    }
}

fn kill(
    implementation: &str,
    mutation: Mutation,
    cells: &[&Owed],
    effort: &impl Fn(&str) -> Effort,
) -> Row {
    let began = Instant::now();
    let mut row = Row {
        breakage: Some(mutation.breakage),
        ..listed(&mutation.site, implementation)
    };
    let mut open = Vec::new();
    for cell in cells {
        let effort = effort(cell.world);
        let broken = Broken {
            task: Task::of(cell, effort),
            mutation: mutation.clone(),
        };
        let limit = effort.time + effort.grace + LEEWAY;
        let without = |why: &str| format!("{} under {}: {why}", cell.property.name, cell.world);
        match process::ask::<Judgement>(&Request::ProveBroken(broken), limit) {
            Ok(Judgement { proof, .. }) => {
                row.executions += proof.executions;
                let why = proof.detail.unwrap_or_default();
                match proof.verdict {
                    Verdict::Fail => {
                        row.killer = Some(Killer {
                            property: proof.property,
                            world: proof.world,
                        });
                        row.detail = Some(why);
                        break;
                    }
                    Verdict::Pass => {}
                    _ => open.push(without(&why)),
                }
            }
            // It passed with nothing broken: a crash or hang now has this cause.
            Err(why) => {
                row.killer = Some(Killer {
                    property: cell.property.name.to_owned(),
                    world: cell.world.to_owned(),
                });
                row.detail = Some(why);
                break;
            }
        }
    }
    if cells.is_empty() {
        row.detail = Some(format!("no model under {} passes it", Loom::NAME));
    } else if row.killer.is_none() && !open.is_empty() {
        row.detail = Some(open.join("; "));
    }
    row.seconds = began.elapsed().as_secs_f64();
    row
}

/// The request to the process of a cell with a broken site.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Broken {
    task: Task,
    mutation: Mutation,
}

/// The process that lists.
pub(crate) fn serve_listing(worlds: &Worlds, task: Task) -> (Judgement, BTreeSet<Site>) {
    sites::listed(|| proving::serve(worlds, task))
}

/// The process of one cell with a broken site: its verdict.
pub(crate) fn serve_broken(worlds: &Worlds, broken: Broken) -> Judgement {
    sites::break_one(broken.mutation).expect("this process has broken nothing yet");
    proving::serve(worlds, broken.task)
}
