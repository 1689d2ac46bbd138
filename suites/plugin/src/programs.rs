//! The two programs of [`suite!`](crate::suite!): the tests, and the command.

use std::process::ExitCode;

use flowmeter_harness::registry::{Registered, Registry};
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::descriptions::claimed;
use flowmeter_suites::proving::test;
use flowmeter_suites::worlds::Worlds;
use flowmeter_suites::{cli, process};
use libtest_mimic::{Arguments, Trial};

use crate::grounds::Explored;

/// An implementation of an explored compilation, by its name, and what opens and uses one. Pipelines and combinators have
/// none: they may have no lock, no atomic and no thread of their own.
pub type Touch = (&'static str, Option<fn()>);

/// An explored compilation of the caller's crate.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    word: &'static str,
    worlds: &'static [&'static str],
    needs: &'static str,
    sees: fn(fn()) -> bool,
    touches: &'static [Touch],
}

impl Twin {
    /// The one that `suite!` names with that word.
    pub const fn of<G: Explored>(word: &'static str, touches: &'static [Touch]) -> Twin {
        Twin {
            word,
            worlds: G::WORLDS,
            needs: G::NEEDS,
            sees: G::sees,
            touches,
        }
    }
}

/// The tests: each property that an implementation of `registry` claims, in std and in each world of its twins.
pub fn tested(worlds: &Worlds, registry: impl Registry, twins: &[Twin]) -> ExitCode {
    if let Some(code) = process::serve_if_asked(worlds) {
        return code;
    }
    let implementations = introduced(registry);
    let explored = twins.iter().flat_map(|twin| twin.worlds);
    let names: Vec<_> = explored.copied().chain(["std"]).collect();
    let owed = usable(&implementations, twins).and_then(|()| claimed(&implementations, &names));
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
pub fn commanded(worlds: Worlds, twins: &[Twin]) -> ExitCode {
    let worlds = beside_rivals(worlds);
    if let Some(code) = process::serve_if_asked(&worlds) {
        return code;
    }
    if let Err(why) = usable(worlds.catalogue().implementations(), twins) {
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
fn usable(implementations: &[Registered], twins: &[Twin]) -> Result<(), String> {
    for (at, one) in implementations.iter().enumerate() {
        if implementations[..at].iter().any(|it| it.name == one.name) {
            return Err(format!(
                "two implementations have the name {}; rename one family in `suite!`, or split one that is of several kinds",
                one.name
            ));
        }
    }
    for twin in twins {
        let unseen = |(_, touch): &&Touch| touch.is_some_and(|touch| !(twin.sees)(touch));
        if let Some((name, _)) = twin.touches.iter().find(unseen) {
            return Err(format!(
                "no step of {name} is seen in {}, so nothing would be explored; the package that `{}:` names in `suite!` {}",
                twin.worlds.join(" and "),
                twin.word,
                twin.needs
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::sync;

    use super::*;
    use crate::grounds::explored;

    fn of_std() {
        drop(std::sync::Mutex::new(0).lock());
    }

    fn of_shuttle() {
        drop(sync::shuttle::Mutex::new(0).lock());
    }

    #[test]
    fn a_twin_over_std_is_refused_with_what_it_needs() {
        let seen = Twin::of::<explored>("explored", &[("Mine", Some(of_shuttle))]);
        assert_eq!(usable(&[], &[seen]), Ok(()));
        let touches: &[Touch] = &[("Above", None), ("Mine", Some(of_std))];
        let unseen = Twin::of::<explored>("explored", touches);
        assert_eq!(
            usable(&[], &[seen, unseen]).unwrap_err(),
            "no step of Mine is seen in shuttle and sim, so nothing would be explored; the package that `explored:` names in \
             `suite!` needs flowmeter-std and flowmeter-core as its dependencies `std` and `core`"
        );
    }

    #[cfg(feature = "loom")]
    #[test]
    fn a_twin_over_std_is_refused_under_loom() {
        use crate::grounds::loom;

        fn of_loom() {
            drop(sync::loom::Mutex::new(0).lock());
        }
        fn fails() {
            panic!("a fault of its own");
        }
        let seen = Twin::of::<loom>("loom", &[("Mine", Some(of_loom))]);
        assert_eq!(usable(&[], &[seen]), Ok(()));
        let failed = Twin::of::<loom>("loom", &[("Mine", Some(fails))]);
        assert!(usable(&[], &[failed]).is_err());
        let unseen = Twin::of::<loom>("loom", &[("Mine", Some(of_std))]);
        assert_eq!(
            usable(&[], &[unseen]).unwrap_err(),
            "no step of Mine is seen in loom, so nothing would be explored; the package that `loom:` names in `suite!` must \
             take its locks, atomics and threads from loom or from the facade's module `loom`: loom has no shim for \
             those of std"
        );
    }
}
