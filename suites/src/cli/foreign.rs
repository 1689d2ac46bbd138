//! `--foreign`: implementations in other languages, the same in every verb.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use flowmeter_harness::caps::Origin;
use flowmeter_records::RunData;

use super::failure::Failure;
use crate::foreign::{ForeignError, Foreigners, VARIABLE, Wanted};

/// Whether implementations in other languages take part, and from which folder.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Foreign {
    #[command(flatten)]
    wanted: InRuns,
    /// Where these implementations are, a folder for each language [default: scripts/foreign of the checkout]
    #[arg(long, value_name = "DIR")]
    foreign_dir: Option<PathBuf>,
}

/// Whether implementations in other languages are shown of a run.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct InRuns {
    /// Whether implementations in other languages take part [default: auto, or what FLOWMETER_FOREIGN says]
    #[arg(long, value_enum, value_name = "WHEN")]
    foreign: Option<Wanted>,
}

impl InRuns {
    fn wanted(self) -> Result<Wanted, Failure> {
        match (self.foreign, env::var(VARIABLE)) {
            (Some(wanted), _) => Ok(wanted),
            (None, Err(_)) => Ok(Wanted::default()),
            (None, Ok(word)) => Wanted::named(&word).ok_or_else(|| {
                Failure::input(format!("{VARIABLE}={word}: give auto, off or require"))
            }),
        }
    }

    /// The runs as they should be shown.
    pub(super) fn of(self, mut runs: Vec<RunData>) -> Result<Vec<RunData>, Failure> {
        let wanted = self.wanted()?;
        for run in &mut runs {
            let foreign = |it: &str| {
                let known = run.implementations.get(it);
                known.is_some_and(|known| known.origin == Origin::Foreign)
            };
            let any = run.implementations.keys().any(|name| foreign(name));
            if wanted == Wanted::Require && !any {
                return Err(Failure::input(format!(
                    "--foreign require: no implementation in another language takes part in {}",
                    run.folder.display()
                )));
            }
            if wanted != Wanted::Off {
                continue;
            }
            run.proofs.retain(|row| !foreign(&row.implementation));
            run.uncontended.retain(|row| !foreign(&row.implementation));
            run.allocations.retain(|row| !foreign(&row.implementation));
            run.windows.retain(|row| !foreign(&row.implementation));
            run.failures.retain(|row| !foreign(&row.implementation));
            run.seed_claims.retain(|row| row.origin != Origin::Foreign);
            run.implementations
                .retain(|_, it| it.origin != Origin::Foreign);
        }
        Ok(runs)
    }
}

impl Foreign {
    /// The implementations that are available; the standard error reports the missing ones.
    pub(super) fn find(&self) -> Result<Foreigners, Failure> {
        self.find_in(None)
    }

    /// The same, in the folder that a run was begun with where this command names none.
    pub(super) fn find_in(&self, begun_with: Option<&str>) -> Result<Foreigners, Failure> {
        let wanted = self.wanted.wanted()?;
        let folder = self.folder().or(begun_with.map(Path::new));
        let found = Foreigners::find(wanted, folder)?;
        for why in found.missing() {
            // If stderr is closed, their rows are missing all the same.
            let _ = writeln!(anstream::stderr(), "{why}");
        }
        Ok(found)
    }

    /// No implementations, for that reason.
    pub(super) fn none(&self, why: &str) -> Result<Foreigners, Failure> {
        match self.wanted.wanted()? {
            Wanted::Require => Err(Failure::input(format!("--foreign require: {why}"))),
            Wanted::Auto | Wanted::Off => Ok(Foreigners::default()),
        }
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.foreign_dir.as_deref()
    }

    pub(super) fn is_given(&self) -> bool {
        self.wanted.foreign.is_some() || self.foreign_dir.is_some()
    }
}

impl From<ForeignError> for Failure {
    fn from(why: ForeignError) -> Failure {
        Failure::input(why.to_string())
    }
}
