//! Every property that my implementations claim: on real threads, under loom and shuttle, and in virtual time.

use std::process::ExitCode;

use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::{AsyncRegistry, Visitor, Registry};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_impls::registry::All;
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::process;
use flowmeter_suites::proving::{Effort, prove};
use flowmeter_suites::roster::claimed;
use flowmeter_suites::worlds::Worlds;
use libtest_mimic::{Arguments, Failed, Trial};
use outside::Mine;

/// My implementations alone. Properties of channels and timers need no executor, but a program has to name one.
#[derive(Clone, Copy, Debug)]
struct Alone;

impl Registry for Alone {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        Mine.channels(visitor);
    }
    fn timers<V: Visitor>(self, visitor: &mut V) {
        Mine.timers(visitor);
    }
}

impl AsyncRegistry for Alone {
    type Executor = <All as AsyncRegistry>::Executor;
    type Sleep = <All as AsyncRegistry>::Sleep;
}

fn main() -> ExitCode {
    let worlds = Worlds::of(Alone)
        .with::<Shuttle>(outside_shuttle::Mine)
        .with::<Loom>(outside_loom::Mine)
        .with::<Sim>(outside_shuttle::Mine);
    if let Some(code) = process::serve_if_asked(&worlds) {
        return code;
    }
    let contestants = introduced(Alone);
    let owed = claimed(&contestants, &["std", "shuttle", "sim", "loom"]);
    let owed = owed.unwrap_or_else(|why| panic!("{why}"));
    let trials = owed.into_iter().map(|cell| {
        let name = format!(
            "{}::{}::{}",
            cell.world, cell.implementation, cell.property.name
        );
        Trial::test(name, move || passed(prove(&cell, effort(cell.world))))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// How many executions of a case suffice under loom: a test need not exhaust its space of schedules.
const ENOUGH: u64 = 2_000;

/// Enough for a test; `check` of the command runs longer.
fn effort(world: &str) -> Effort {
    Effort {
        executions: if world == "loom" { ENOUGH } else { 500 },
        ..Effort::under(world)
    }
}

fn passed(proof: Proof) -> Result<(), Failed> {
    match proof.verdict {
        Verdict::Pass => Ok(()),
        Verdict::Inconclusive if proof.world == "loom" && proof.executions >= ENOUGH => Ok(()),
        verdict => Err(proof.detail.unwrap_or(format!("{verdict:?}")).into()),
    }
}
