//! Every property of our channels in every world: the same statements on real threads, under loom and under
//! shuttle, one test for each implementation, property and world.

use std::process::ExitCode;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::Registry;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_suites::isolation::{self, Model};
use flowmeter_suites::properties::{Checks, judge};

fn main() -> ExitCode {
    let seconds = Duration::from_secs;
    let plan = Exploration::default();
    let mut models = Vec::new();
    models.extend(owed::<Std>(
        flowmeter_impls::registry::Everybody,
        Exploration {
            executions: 20_000,
            time: seconds(1),
            ..plan.clone()
        },
    ));
    models.extend(owed::<Shuttle>(
        flowmeter_impls_shuttle::registry::Everybody,
        Exploration {
            executions: 2_000,
            time: seconds(4),
            ..plan.clone()
        },
    ));
    models.extend(owed::<Sim>(
        flowmeter_impls_shuttle::registry::Everybody,
        plan.clone(),
    ));
    models.extend(owed::<Loom>(
        flowmeter_impls_loom::registry::Everybody,
        Exploration {
            executions: 200_000,
            time: seconds(40),
            ..plan
        },
    ));
    models.push(Model::new(
        "verdict::an_exploration_that_loom_breaks_off_is_inconclusive",
        broken_off,
    ));
    isolation::main(models)
}

/// For one execution on a busy machine.
const GRACE: Duration = Duration::from_secs(10);

/// A test for each property that one of ours claims in a world; `flowmeter check` has the published crates too,
/// whose faults are not ours to fail on.
fn owed<W: World>(registry: impl Registry, plan: Exploration) -> Vec<Model> {
    let checks = Checks::<W>::of(registry);
    let ours = checks.cells().filter(|cell| cell.who.origin == Origin::Own);
    let claimed = ours.filter(|cell| !cell.cases.is_empty());
    claimed
        .map(|cell| {
            let plan = plan.clone();
            let name = format!("{}::{}::{}", W::NAME, cell.who.name, cell.property.name);
            // Whatever is beyond the plan's time is a thread that waits for ever.
            let limit = plan.time + GRACE;
            Model::new(name, move || answer(judge::<W>(&cell, &plan))).within(limit)
        })
        .collect()
}

/// A space of more than ten executions, of which ten are looked at.
fn broken_off() -> Result<String, String> {
    let checks = Checks::<Loom>::of(flowmeter_impls_loom::registry::Everybody);
    let mut cells = checks.cells();
    let cell = cells
        .find(|cell| cell.property.name == "c1-conservation" && !cell.cases.is_empty())
        .ok_or("nobody owes c1-conservation")?;
    let plan = Exploration {
        executions: 10,
        ..Exploration::default()
    };
    let proof = judge::<Loom>(&cell, &plan);
    match (proof.verdict, proof.complete) {
        (Verdict::Inconclusive, false) => Ok(proof.detail.unwrap_or_default()),
        other => Err(format!("{other:?} after {} executions", proof.executions)),
    }
}

fn answer(proof: Proof) -> Result<String, String> {
    let extent = if proof.complete {
        "exhausted"
    } else {
        "within the budget"
    };
    match proof.verdict {
        Verdict::Pass => Ok(format!("{} executions, {extent}", proof.executions)),
        _ => Err(proof
            .detail
            .unwrap_or_else(|| format!("{:?}", proof.verdict))),
    }
}
