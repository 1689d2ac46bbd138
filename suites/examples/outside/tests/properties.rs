//! Every property that my implementations claim: on real threads, under loom and shuttle, and in virtual time.

use std::process::ExitCode;

use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_impls::registry::All;
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::process;
use flowmeter_suites::proving::test;
use flowmeter_suites::descriptions::claimed;
use flowmeter_suites::worlds::Worlds;
use libtest_mimic::{Arguments, Trial};
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
    let implementations = introduced(Alone);
    let owed = claimed(&implementations, &["std", "shuttle", "sim", "loom"]);
    let owed = owed.unwrap_or_else(|why| panic!("{why}"));
    let trials = owed.into_iter().map(|cell| {
        let name = format!(
            "{}::{}::{}",
            cell.world, cell.implementation, cell.property.name
        );
        Trial::test(name, move || Ok(test(&cell)?))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
