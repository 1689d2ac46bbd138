//! The two programs of [`suite!`](crate::suite!): the tests, and the command.

use std::process::ExitCode;

use flowmeter_harness::registry::{Registered, Registry};
use flowmeter_harness::sync::shuttle::Sim;
use flowmeter_harness::sync::trace::{What, traced};
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::descriptions::claimed;
use flowmeter_suites::proving::test;
use flowmeter_suites::worlds::Worlds;
use flowmeter_suites::{cli, process};
use libtest_mimic::{Arguments, Trial};

/// An implementation of the explored worlds, by its name, and what opens and uses one.
pub type Touch = (&'static str, fn());

/// The tests: each property that an implementation of `registry` claims, in each of these worlds.
pub fn tested(
    worlds: &Worlds,
    registry: impl Registry,
    names: &[&'static str],
    explored: &[Touch],
) -> ExitCode {
    if let Some(code) = process::serve_if_asked(worlds) {
        return code;
    }
    let implementations = introduced(registry);
    let owed = usable(&implementations, explored).and_then(|()| claimed(&implementations, names));
    let owed = match owed {
        Ok(owed) => owed,
        Err(why) => return refused(&why),
    };
    let trials = owed.into_iter().map(|cell| {
        let property = cell.property.name;
        let name = format!("{}::{}::{property}", cell.world, cell.implementation);
        Trial::test(name, move || Ok(test(&cell)?))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// The command over these implementations, among the rivals if they are compiled.
pub fn commanded(worlds: Worlds, explored: &[Touch]) -> ExitCode {
    let worlds = beside_rivals(worlds);
    if let Some(code) = process::serve_if_asked(&worlds) {
        return code;
    }
    if let Err(why) = usable(worlds.catalogue().implementations(), explored) {
        return refused(&why);
    }
    cli::main_in(&worlds)
}

#[cfg(feature = "rivals")]
fn beside_rivals(worlds: Worlds) -> Worlds {
    let rivals = Worlds::timing(flowmeter_timed::catalogue(), flowmeter_impls::registry::All);
    worlds.beside(rivals)
}

#[cfg(not(feature = "rivals"))]
fn beside_rivals(worlds: Worlds) -> Worlds {
    worlds
}

fn refused(why: &str) -> ExitCode {
    eprintln!("flowmeter: {why}");
    ExitCode::from(2)
}

/// # Errors
/// When two have one name, or an explored world sees nothing of an implementation.
fn usable(implementations: &[Registered], explored: &[Touch]) -> Result<(), String> {
    for (at, one) in implementations.iter().enumerate() {
        if implementations[..at].iter().any(|it| it.name == one.name) {
            return Err(format!(
                "two implementations have the name {}; rename the family in `suite!`",
                one.name
            ));
        }
    }
    // Once for both explored worlds: they have the same primitives.
    match explored.iter().find(|(_, touch)| !is_seen(*touch)) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "{} sees no step of {name}, so it would explore nothing; the package that `explored:` names in `suite!` \
             needs flowmeter-std and flowmeter-core as its dependencies `std` and `core`",
            Sim::NAME
        )),
    }
}

/// Whether it makes a step that the explored worlds see.
fn is_seen(touch: fn()) -> bool {
    let once = Exploration {
        executions: 1,
        ..Exploration::default()
    };
    let (_, events) = traced(|| Sim::explore(&once, touch));
    let is_step = |what: &What| matches!(what, What::Step { at: Some(_), .. });
    events.iter().any(|event| is_step(&event.what))
}
