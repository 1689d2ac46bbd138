//! Every mutant is killed by the properties that its description names, and no equivalent rewrite by any: through
//! the command, a test for each mutant. The rules of CONTRIBUTING.md on mutants are held here, too.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use flowmeter_harness::registry::Mutant;
use flowmeter_impls::mutants::ALL;
use flowmeter_suites::properties::PROPERTIES;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let attacked = |mutant: &'static Mutant| {
        let role = if mutant.equivalent { "passes" } else { "dies" };
        Trial::test(format!("{role}::{}", mutant.name), || attack(mutant))
    };
    let mut trials: Vec<Trial> = ALL.iter().map(attacked).collect();
    trials.push(Trial::test("rules::who_is_killed_and_by_whom", rules));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn attack(mutant: &Mutant) -> Result<(), Failed> {
    let name = format!("^{}$", mutant.name);
    let output = Command::new(env!("CARGO_BIN_EXE_flowmeter"))
        .args(["mutants", "-i", &name])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Err(told.concat().into())
}

fn rules() -> Result<(), Failed> {
    let (equivalent, mutants): (Vec<&Mutant>, Vec<&Mutant>) =
        ALL.iter().partition(|mutant| mutant.equivalent);
    if mutants.len() < 40 || equivalent.len() < 8 {
        let counts = (mutants.len(), equivalent.len());
        return Err(format!("{} mutants and {} equivalent rewrites", counts.0, counts.1).into());
    }
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in &mutants {
        *families.entry(mutant.family).or_default() += 1;
        if mutant.killed_by.is_empty() {
            return Err(format!("{} is found by nobody", mutant.name).into());
        }
    }
    if let Some((family, count)) = families.iter().find(|(_, count)| **count > 4) {
        return Err(format!("{count} mutants are of the family '{family}'").into());
    }
    let finds_nobody = |name: &&str| {
        mutants
            .iter()
            .all(|mutant| !mutant.killed_by.contains(name))
    };
    // What none of ours claims, none of them can be broken in.
    let ours = flowmeter_suites::worlds::Worlds::of(flowmeter_impls::registry::Everybody)
        .owed_here(|who| who.origin == flowmeter_harness::caps::Origin::Own);
    let is_claimed = |name: &&str| ours.iter().any(|owed| owed.property.name == *name);
    let idle: Vec<&str> = (PROPERTIES.iter())
        .map(|property| property.name)
        .filter(is_claimed)
        .filter(finds_nobody)
        .collect();
    if idle.is_empty() {
        return Ok(());
    }
    Err(format!("no mutant is found by {}", idle.join(", ")).into())
}
