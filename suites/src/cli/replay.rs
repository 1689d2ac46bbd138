//! `check --replay`: one failing execution again.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use flowmeter_records::Verdict;

use super::failure::{FAILED, Failure, Outcome};
use super::output::{Format, Output};
use super::verdicts::sentence;
use crate::properties::PROPERTIES;
use crate::proving::again;
use crate::proving::counterexample::Counterexample;
use crate::worlds::Worlds;

/// Runs it in a process of its own. Not failing is no error: exit code 0, and no pass either.
pub(super) fn replay(worlds: &Worlds, path: &Path, format: Format) -> Outcome {
    let example = Counterexample::read(path)?;
    let refused = |why: String| Failure::input(format!("{}: {why}", path.display()));
    let unknown = |what, name: &str| refused(format!("there is no {what} '{name}' here"));
    if worlds.find(&example.world).is_none() {
        return Err(unknown("world", &example.world));
    }
    let catalogue = worlds.catalogue();
    let mutants = worlds.mutants().iter().map(|mutant| mutant.name);
    let known = catalogue.implementations().iter().map(|it| it.name);
    let mut known = known.chain(mutants);
    if !known.any(|name| name == example.implementation) {
        return Err(unknown("implementation", &example.implementation));
    }
    let mut known = PROPERTIES.iter().map(|property| property.name);
    if !known.any(|name| name == example.property) {
        return Err(unknown("property", &example.property));
    }
    let began = Instant::now();
    let replayed = again::replay(&example).map_err(refused)?;
    let proof = again::as_proof(&example, path, &replayed, began.elapsed().as_secs_f64());
    let mut output = Output::default();
    match format {
        Format::Json => output.json(&proof),
        Format::Table => output.line(&sentence(&proof)),
    }
    Ok(match proof.verdict {
        Verdict::Fail | Verdict::Hung | Verdict::Error => ExitCode::from(FAILED),
        _ => ExitCode::SUCCESS,
    })
}
