//! Twins: published crates in the explored worlds. A program of their own serves their cells, because their sources are
//! compiled against another `std` (`impls/twins`). `scripts/twins` builds it.
//!
//! Without that program the cells of published crates are absent there, as they are in a world without models.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, RwLock};
use std::time::Duration;

use flowmeter_harness::registry::Mutant;
use serde::{Deserialize, Serialize};

use crate::process::{self, Request};
use crate::worlds::Worlds;

/// Names another program, in place of the one that `scripts/twins` built.
const VARIABLE: &str = "FLOWMETER_TWINS";
/// Where `scripts/twins` leaves it, below the folder of this program or one above that.
const PLACE: &str = "twins/flowmeter-twins";
/// To name its implementations, on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

/// The program, and what it serves.
#[derive(Debug)]
struct Twins {
    worlds: &'static [&'static str],
    /// None of these has a twin.
    mutants: &'static [Mutant],
    program: Option<PathBuf>,
    /// The implementations of each world that was asked for.
    present: RwLock<Vec<(String, BTreeSet<String>)>>,
}

static TWINS: OnceLock<Twins> = OnceLock::new();

/// The question to the program: the implementations of a world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    world: String,
    program: PathBuf,
}

impl Question {
    /// The program that is asked.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }
}

/// The program, if it was built.
pub(crate) fn built() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(named.into());
    }
    let here = std::env::current_exe().ok()?;
    let mut above = here.ancestors().skip(1).map(|folder| folder.join(PLACE));
    above.find(|program| program.is_file())
}

/// Lets that program serve the cells of its implementations in these worlds from here on. It is not asked about mutants.
///
/// # Panics
/// When it was called before.
pub(crate) fn serve_in(
    worlds: &'static [&'static str],
    mutants: &'static [Mutant],
    program: Option<PathBuf>,
) {
    let twins = Twins {
        worlds,
        mutants,
        program,
        present: RwLock::default(),
    };
    TWINS.set(twins).expect("the twins are named once");
}

/// Whether that world would have twins if they were built.
pub(crate) fn are_missing(world: &str) -> bool {
    let twins = TWINS.get();
    twins.is_some_and(|twins| twins.program.is_none() && twins.worlds.contains(&world))
}

/// The program that serves the cells of that implementation in that world, if it is not this one.
pub(crate) fn program_of(world: &str, implementation: &str) -> Option<&'static Path> {
    let twins = TWINS.get().filter(|twins| twins.worlds.contains(&world))?;
    let program = twins.program.as_deref()?;
    let is_mutant = |mutant: &Mutant| mutant.name == implementation;
    if twins.mutants.iter().any(is_mutant) {
        return None;
    }
    let known = |present: &[(String, BTreeSet<String>)]| {
        let of_world = present.iter().find(|(name, _)| name == world)?;
        Some(of_world.1.contains(implementation))
    };
    let poisoned = "no thread panics while it looks";
    let present = known(&twins.present.read().expect(poisoned));
    let present = present.unwrap_or_else(|| {
        let names = ask(program, world);
        let mut all = twins.present.write().expect(poisoned);
        all.push((world.to_owned(), names));
        known(&all).expect("it was added")
    });
    present.then_some(program)
}

/// Its implementations in that world. A program that does not answer has none, and the reason is printed.
fn ask(program: &Path, world: &str) -> BTreeSet<String> {
    let question = Question {
        world: world.to_owned(),
        program: program.to_owned(),
    };
    process::ask(&Request::Present(question), LIMIT).unwrap_or_else(|why| {
        let program = program.display();
        eprintln!("{program}: {why}; scripts/twins builds the twins anew");
        BTreeSet::new()
    })
}

/// The process of the program: the names of its implementations in a world.
pub(crate) fn serve(worlds: &Worlds, question: &Question) -> BTreeSet<String> {
    let prover = worlds.find(&question.world);
    let implementations = prover.map_or_else(Vec::new, |prover| prover.implementations());
    implementations
        .into_iter()
        .map(|it| it.name.to_owned())
        .collect()
}
