//! The page of runs, without the command: of the named runs, or of generated ones with all features.
//!
//! `cargo run -p flowmeter-reports --example page -- PAGE [RUN...]`
//!
//! The generated runs are two of one machine and one of another. An implementation, a scenario and a failure have
//! markup for names. `scripts/browser` drives a browser over that page.

#[path = "../tests/reports/fixture/mod.rs"]
mod fixture;

use std::error::Error;

use fixture::{Shape, kinds};
use flowmeter_records::{Attack, RunData, Verdict, read_run};
use flowmeter_reports::{Texts, machines, render_machines};

/// It would have an effect if it were ever more than text.
const MARKUP: &str = "<img src=x onerror=document.title='broken'>";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let page = arguments.next().ok_or("name the page to write")?;
    let folders: Vec<String> = arguments.collect();
    let runs = match folders.is_empty() {
        true => made_up(),
        false => folders
            .iter()
            .map(|folder| read_run(folder.as_ref()))
            .collect::<Result<_, _>>()?,
    };
    std::fs::write(&page, render_machines(&machines(runs)?, &Texts::default())?)?;
    println!("{page}");
    Ok(())
}

fn made_up() -> Vec<RunData> {
    let shape = |seed| Shape {
        seed,
        ..Shape::default()
    };
    let mut earlier = run(&shape(1));
    earlier.run.started = "2026-11-19T08:00:00Z".to_owned();
    earlier.run.commit = "fedcba9876543210fedcba9876543210fedcba98".to_owned();
    let mut elsewhere = run(&Shape {
        scenarios: 6,
        ..shape(2)
    });
    elsewhere.run.machine.cpu = "Neoverse-N1".to_owned();
    elsewhere.run.machine.cores = 4;
    vec![earlier, run(&shape(3)), elsewhere]
}

fn run(shape: &Shape) -> RunData {
    let mut run = fixture::run(shape);
    kinds::add(shape, &mut run);
    for window in run
        .windows
        .iter_mut()
        .filter(|w| w.implementation == "kanal")
    {
        window.implementation = MARKUP.to_owned();
    }
    if let Some(mut it) = run.implementations.remove("kanal") {
        it.name = MARKUP.to_owned();
        run.implementations.insert(it.name.clone(), it);
    }
    for scenario in run.scenarios.values_mut() {
        scenario.why.push_str(MARKUP);
    }
    for failure in &mut run.failures {
        failure.message.push_str(MARKUP);
    }
    let attack = |mutant: &str, equivalent, killed, detail: &str| Attack {
        mutant: mutant.to_owned(),
        family: "missed wake-up".to_owned(),
        equivalent,
        killed,
        verdict: if killed { Verdict::Fail } else { Verdict::Pass },
        by: "c3-capacity".to_owned(),
        world: killed.then(|| "shuttle".to_owned()),
        check: None,
        executions: 1234,
        seconds: 0.5,
        detail: Some(detail.to_owned()),
    };
    run.attacks = vec![
        attack(
            "mutex-forgets-a-putter",
            false,
            true,
            "C3: a put waits for ever",
        ),
        attack("mutex-wakes-twice", true, false, "nothing was seen"),
    ];
    run
}
