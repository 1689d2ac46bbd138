//! Every mutant is killed by the properties that its description names, and no equivalent rewrite by any: through
//! the command, a test for each mutant. A rewrite of a channel goes through a forty-eighth of the properties here,
//! another one through a twelfth; `scripts/long` takes all of them through all. It also attacks the mutants that
//! take longest to die, which are left out here. None is a caricature: it passes the smoke test, as ours do. The
//! rules of CONTRIBUTING.md on mutants are held here, too.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::registry::{Mutant, Registered, Registry};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{World, panic_text};
use flowmeter_impls::mutants::{ALL, Mutants};
use flowmeter_impls::registry::All;
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::descriptions::claimed;
use flowmeter_suites::isolation::{self, Model};
use flowmeter_suites::process;
use flowmeter_suites::properties::PROPERTIES;
use flowmeter_suites::smoke::smoke;

/// An equivalent rewrite is checked by many properties in every world.
const LONG: Duration = Duration::from_secs(3_600);

/// Each takes more than four seconds of a core to die, and together they take as long as all others. Only `scripts/long`
/// attacks them.
const RARE: [&str; 10] = [
    "combinators-panic-leaves-open",
    "hashed-wheel-tick-begun",
    "heap-sunk-link-left-behind",
    "hierarchical-wheel-misses-the-slot-before",
    "hierarchical-wheel-popped-keys-stay",
    "lock-free-always-seems-full",
    "lock-free-handed-places-stand-still",
    "lock-free-seats-are-counted",
    "mutex-callback-that-waited-nests",
    "mutex-closed-with-a-value-left",
];

/// How often a mutant may fail the smoke test, and how long a try may take: together less than a test may.
const TRIES: usize = 3;
const TRY: Duration = Duration::from_secs(15);

/// How many of them share the properties of a kind; channels have the most.
fn shares(kind: Kind) -> usize {
    match kind {
        Kind::Channel => 48,
        _ => 12,
    }
}

/// The properties for the `nth` of them, among all that its base owes: at least one.
fn share(mutant: &Mutant, nth: usize) -> Result<String, String> {
    process::serve_in(env!("CARGO_BIN_EXE_flowmeter"));
    let bases = ours().into_iter().filter(|it| it.name == mutant.base);
    let base: Vec<Registered> = bases.collect();
    let owed = claimed(&base, &[Std::NAME])?;
    let shares = shares(base[0].kind).min(owed.len());
    let mine = owed.iter().skip(nth % shares).step_by(shares);
    let mine: Vec<&str> = mine.map(|cell| cell.property.name).collect();
    Ok(format!("^({})$", mine.join("|")))
}

fn main() -> ExitCode {
    let attacked = |(nth, mutant): (usize, &'static Mutant)| {
        let role = if mutant.equivalent { "passes" } else { "dies" };
        let name = format!("{role}::{}", mutant.name);
        let by = move || match mutant.equivalent {
            true => share(mutant, nth),
            false => Ok(String::new()),
        };
        Model::new(name, move || attack(mutant, &by()?)).within(LONG)
    };
    let (equivalent, broken): (Vec<&Mutant>, Vec<&Mutant>) =
        ALL.iter().partition(|mutant| mutant.equivalent);
    let broken = broken.into_iter().enumerate();
    let broken = broken.filter(|(_, mutant)| !RARE.contains(&mutant.name));
    let all = equivalent.into_iter().enumerate().chain(broken);
    let mut models: Vec<Model> = all.map(attacked).collect();
    models.push(Model::new("rules::each_mutant_has_its_killers", rules));
    let plain = ALL.iter().filter(|mutant| !mutant.sequential);
    models.extend(plain.map(|mutant| {
        let name = mutant.name;
        Model::new(format!("smoke::{name}"), || smoked_at_times(name))
    }));
    models.push(Model::new("smoke::a_caricature_fails", caricature));
    models.push(Model::new("checks::each_of_a_property_is_needed", || {
        each_check("", 0)
    }));
    models.push(Model::new("checks::a_needed_one_stands_in_no_list", || {
        each_check(
            "c13_identity.rs two_channels: C13: a clone is another channel",
            1,
        )
    }));
    models.extend(ours().into_iter().map(|implementation| {
        Model::new(format!("smoke::{}", implementation.name), move || {
            smoked(All, implementation.name)
        })
    }));
    isolation::main(models)
}

fn smoked(registry: impl Registry, name: &str) -> Result<String, String> {
    match smoke(registry, name) {
        0 => Err("nothing was tried".to_owned()),
        uses => Ok(format!("{uses} uses")),
    }
}

/// A mutant that races with a thread which starts may hang or fail at times. It is a caricature only where it always
/// does. What hangs ends with the process of the test.
fn smoked_at_times(mutant: &'static str) -> Result<String, String> {
    let mut failure = String::new();
    for _ in 0..TRIES {
        let (done, finished) = mpsc::channel();
        thread::spawn(move || {
            let tried = catch_unwind(|| smoked(Mutants, mutant));
            // The receiver is gone once the time is up.
            let _ = done.send(tried.unwrap_or_else(|panic| Err(panic_text(&*panic))));
        });
        match finished.recv_timeout(TRY) {
            Ok(Ok(said)) => return Ok(said),
            Ok(Err(said)) => failure = said,
            Err(_) => failure = format!("took longer than {} s", TRY.as_secs()),
        }
    }
    Err(format!("{failure}, the last of {TRIES} tries"))
}

/// A mutant with a fault that the simplest use shows, so that it is excused.
fn caricature() -> Result<String, String> {
    match smoked_at_times("mutex-one-too-many") {
        Ok(said) => Err(format!("it passed {said}")),
        Err(failure) => Ok(failure),
    }
}

/// Our implementations.
fn ours() -> Vec<Registered> {
    let mut ours = introduced(All);
    ours.retain(|it| it.origin == Origin::Own);
    ours
}

/// Runs those properties on it, among all that should attack it.
fn attack(mutant: &Mutant, properties: &str) -> Result<String, String> {
    let name = format!("^{}$", mutant.name);
    let output = Command::new(env!("CARGO_BIN_EXE_flowmeter"))
        .args(["mutants", "-i", &name, "-p", properties])
        .output()
        .map_err(|why| why.to_string())?;
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() {
        Ok(told.concat())
    } else {
        Err(told.concat())
    }
}

/// Injects faults for one property, with a list of checks that are said to be unneeded.
fn each_check(unneeded: &str, expected: i32) -> Result<String, String> {
    let list = tempfile::NamedTempFile::new().map_err(|why| why.to_string())?;
    std::fs::write(&list, unneeded).map_err(|why| why.to_string())?;
    let output = Command::new(env!("CARGO_BIN_EXE_flowmeter"))
        .args([
            "mutants",
            "--each-check",
            "--lies-only",
            "-p",
            "^c13-identity$",
            "--unneeded",
        ])
        .arg(list.path())
        .output()
        .map_err(|why| why.to_string())?;
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.code() == Some(expected) {
        Ok(told.concat())
    } else {
        Err(told.concat())
    }
}

fn rules() -> Result<String, String> {
    let (equivalent, mutants): (Vec<&Mutant>, Vec<&Mutant>) =
        ALL.iter().partition(|mutant| mutant.equivalent);
    if mutants.len() < 40 || equivalent.len() < 8 {
        let counts = (mutants.len(), equivalent.len());
        return Err(format!(
            "{} mutants and {} equivalent rewrites",
            counts.0, counts.1
        ));
    }
    let is_mutant = |name: &&str| mutants.iter().any(|mutant| mutant.name == *name);
    if let Some(unknown) = RARE.iter().find(|name| !is_mutant(name)) {
        return Err(format!("{unknown}, said to be rare, is no mutant"));
    }
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in &mutants {
        *families.entry(mutant.family).or_default() += 1;
        if mutant.killed_by.is_empty() {
            return Err(format!("{} is found by no property", mutant.name));
        }
    }
    if let Some((family, count)) = families.iter().find(|(_, count)| **count > 4) {
        return Err(format!("{count} mutants are of the family '{family}'"));
    }
    let finds_no_property = |name: &&str| {
        mutants
            .iter()
            .all(|mutant| !mutant.killed_by.contains(name))
    };
    // A property that none of ours claims cannot have a mutant.
    process::serve_in(env!("CARGO_BIN_EXE_flowmeter"));
    let ours = claimed(&ours(), &[Std::NAME])?;
    let is_claimed = |name: &&str| ours.iter().any(|owed| owed.property.name == *name);
    let idle: Vec<&str> = (PROPERTIES.iter())
        .map(|property| property.name)
        .filter(is_claimed)
        .filter(finds_no_property)
        .collect();
    if idle.is_empty() {
        return Ok(format!("{} families", families.len()));
    }
    Err(format!("no mutant is found by {}", idle.join(", ")))
}
