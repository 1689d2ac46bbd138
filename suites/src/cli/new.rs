//! `new`: where one more implementation, scenario or property begins, in a checkout of Flowmeter itself.
//!
//! What is written compiles, is listed, and fails its property until somebody goes on. Every place that has to know of it
//! is edited: a list is text, and a line goes where its order puts it. Nothing is written before all of it is known to
//! fit.

mod checkout;
mod implementation;
mod kinds;
mod names;
mod property;
mod scenario;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::failure::{Failure, Outcome};
use super::output::Output;
use checkout::{Begun, Checkout, found};
use kinds::{BEGINNINGS, Beginning};

/// Begin an implementation, a scenario or a property in this checkout
///
/// An implementation is one of ours, `new implementation ring`, and a channel unless told otherwise, `new implementation
/// sand --of limiter`. A scenario is named with its folder, which says what it is of: `new scenario timers/my-load`. A
/// property is named after the statement of SEMANTICS.md that it holds, `new property c3-never-over`, one that everybody of
/// a kind owes: C speaks of channels, T of timers, L of limiters, G of executors. It is owed by every channel whose threads
/// block, every timer and limiter in each way to wait, every executor with tasks, and fails until it is written.
#[derive(Debug, Args)]
pub(super) struct New {
    /// What to begin
    #[arg(value_enum)]
    what: What,
    /// Its name
    name: String,
    /// What an implementation is [default: channel]
    #[arg(long, value_name = "KIND", value_parser = Beginning::parser())]
    of: Option<&'static Beginning>,
    /// The checkout [default: the one that this folder is in]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// A contestant
    Implementation,
    /// A workload with parameters
    Scenario,
    /// A statement, checked on every contestant of its kind
    Property,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => found()?,
        };
        let (files, next) = self.begun(&root)?;
        for file in &files {
            let folder = file.path.parent().expect("a file has a folder");
            let written =
                fs::create_dir_all(folder).and_then(|()| fs::write(&file.path, &file.text));
            written.map_err(|why| Failure::write(&file.path, &why))?;
        }
        let mut output = Output::default();
        for file in &files {
            output.line(&file.path.display().to_string());
        }
        output.line(&next);
        Ok(ExitCode::SUCCESS)
    }

    fn begun(&self, root: &Path) -> Begun {
        let checkout = Checkout { root };
        if let (Some(of), What::Scenario | What::Property) = (self.of, self.what) {
            return Err(Failure::input(format!(
                "--of {}: the name of a scenario or a property says what it is of; leave it out",
                of.kind
            )));
        }
        match self.what {
            What::Implementation => {
                let of = self.of.unwrap_or(&BEGINNINGS[0]);
                implementation::begun(&checkout, &self.name, of)
            }
            What::Scenario => scenario::begun(&checkout, &self.name),
            What::Property => property::begun(&checkout, &self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::checkout::tests::{refusal, this};
    use super::*;

    fn new(what: What, name: &str, of: Option<&'static Beginning>) -> Begun {
        let new = New {
            what,
            name: name.to_owned(),
            of,
            root: None,
        };
        new.begun(this().root)
    }

    #[test]
    fn an_implementation_of_which_nobody_says_more_is_a_channel() {
        let (files, _) = new(What::Implementation, "two_locks", None).unwrap();
        assert!(files[0].path.ends_with("impls/src/channel/two_locks.rs"));
    }

    #[test]
    fn only_an_implementation_is_told_what_it_is() {
        for (what, name) in [
            (What::Scenario, "timers/my-load"),
            (What::Property, "t2-mine"),
        ] {
            let told = refusal(new(what, name, Some(&BEGINNINGS[1])));
            assert!(told.contains("--of timer: "), "{told}");
        }
    }
}
