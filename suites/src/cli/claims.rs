//! `claims`: the statements of the seed texts, and the behaviour of ours.

mod table;

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Args;
use flowmeter_harness::caps::Origin;
use flowmeter_harness::registry::Registered;
use flowmeter_records::{Holds, SeedClaim};
use regex::Regex;

use super::failure::{FAILED, Failure, Outcome};
use super::foreign::Foreign;
use super::into::Into;
use super::output::{Format, Output};
use super::selection::Implementations;
use crate::claims::{reenact, reenact_in, statements};
use crate::foreign::Foreigners;
use crate::worlds::Worlds;

/// Re-enact the statements of the seed texts, and print expected and observed results
///
/// Each figure and statement of a text is re-enacted by the implementations of ours that it is about: in virtual
/// time, so that figures are exact, or by a real process where one has to end. Installed originals in other languages
/// do so in real time, which takes a minute. yes: the observation is what the text says. differs: it is not, on
/// purpose, and the note names the statement of SEMANTICS.md. NO: it is not, and no statement says why; exit code 1.
/// version: the original differs from its text. inconsistent: the text contradicts itself.
#[derive(Debug, Args)]
pub(super) struct Claims {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    foreign: Foreign,
    /// Only claims that match this regular expression, by the name of their text (`^001`) or their words (`close!`)
    #[arg(short, long, value_name = "REGEX")]
    claims: Option<Regex>,
    /// Add the rows to this run: its report shows them
    #[arg(long, value_name = "RUN")]
    into: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Claims {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        if worlds.stage().is_none() {
            return Err(Failure::input(
                "this program re-enacts no claims; its `main` has to name a stage for them (Worlds::with_claims)",
            ));
        }
        let catalogue = worlds.catalogue();
        let show_all = catalogue.implementations();
        let mut foreign = self.foreign.find()?;
        let foreign_names = foreign.implementations().map(|it| it.name);
        let known = show_all.iter().map(|it| it.name);
        self.implementations.find_in(known.chain(foreign_names))?;
        foreign.retain(|name| self.implementations.matches(name));
        let wanted = self.wanted(&foreign)?;
        let run = self.into.as_deref().map(Into::read).transpose()?;
        // Published crates are in no text.
        let ours = show_all.iter().filter(|it| it.origin == Origin::Own);
        let asked: Vec<&Registered> = ours
            .filter(|implementation| self.implementations.matches(implementation.name))
            .collect();
        let (mut rows, mut unasked) = ask(&asked, &wanted);
        for (language, names) in foreign.languages() {
            let is_wanted = |name: &str| self.is_wanted(name);
            let (its, wrong) = reenact_in(language, &names, &wanted, is_wanted);
            rows.extend(its);
            unasked.extend(wrong);
        }
        let rows = in_order(rows);

        let mut output = Output::default();
        match self.format {
            Format::Json => rows.iter().for_each(|row| output.json(row)),
            Format::Table => output.line(&table::told(&rows)),
        }
        for why in &unasked {
            // If stderr is closed, the exit code still reports it.
            let _ = writeln!(anstream::stderr(), "flowmeter: {why}");
        }
        if let Some(run) = run {
            let added = run.add_claims(&rows)?;
            if self.format == Format::Table {
                output.line(&format!("{added} rows added to the run"));
            }
        }
        let fails = |row: &SeedClaim| row.holds == Holds::No;
        Ok(if rows.iter().any(fails) || !unasked.is_empty() {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn is_wanted(&self, name: &str) -> bool {
        let pattern = self.claims.as_ref();
        pattern.is_none_or(|pattern| pattern.is_match(name))
    }

    /// Indices of the matching claims. Claims of originals beyond the texts are known only to them.
    fn wanted(&self, foreign: &Foreigners) -> Result<BTreeSet<usize>, Failure> {
        let all = statements();
        let matches = |place: &usize| self.is_wanted(&all[*place].name());
        let wanted: BTreeSet<usize> = (0..all.len()).filter(matches).collect();
        match &self.claims {
            Some(pattern) if wanted.is_empty() && foreign.languages().is_empty() => {
                Err(Failure::input(format!(
                    "no claim matches '{pattern}'; `cargo flowmeter claims` shows them all"
                )))
            }
            _ => Ok(wanted),
        }
    }
}

/// Sorts by claim. The implementations of one claim stay in the order of the registry, followed by the originals.
/// Statements that originals name share one position: each stays with the first of its own.
fn in_order(mut rows: Vec<(usize, SeedClaim)>) -> Vec<SeedClaim> {
    let mut firsts: HashMap<String, usize> = HashMap::new();
    for (at, (_, row)) in rows.iter().enumerate() {
        firsts.entry(row.claim.clone()).or_insert(at);
    }
    // Stable.
    rows.sort_by_key(|(place, row)| (*place, firsts[&row.claim]));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Lets them re-enact these claims, all at once. Returns rows with their indices in the texts, and those that did not
/// answer.
fn ask(asked: &[&Registered], wanted: &BTreeSet<usize>) -> (Vec<(usize, SeedClaim)>, Vec<String>) {
    let answers = thread::scope(|scope| {
        let asking: Vec<_> = asked
            .iter()
            .map(|implementation| scope.spawn(|| reenact(implementation, wanted)))
            .collect();
        let answers = asking.into_iter().map(|asking| asking.join());
        answers
            .map(|answer| answer.expect("asking does not panic"))
            .collect::<Vec<_>>()
    });
    let (mut rows, mut unasked) = (Vec::new(), Vec::new());
    for (implementation, answer) in asked.iter().zip(answers) {
        match answer {
            Ok(its) => rows.extend(its),
            Err(why) => unasked.push(format!("{} cannot be asked: {why}", implementation.name)),
        }
    }
    (rows, unasked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_stands_where_its_first_row_does() {
        let row = |place: usize, claim: &str, implementation: &str| {
            let row = SeedClaim {
                seed: String::new(),
                claim: claim.to_owned(),
                implementation: implementation.to_owned(),
                origin: Origin::Foreign,
                expected: String::new(),
                seen: String::new(),
                holds: Holds::Yes,
                note: None,
            };
            (place, row)
        };
        let rows = in_order(vec![
            row(9, "early", "clojure"),
            row(9, "itself", "clojure"),
            row(9, "early", "go"),
            row(2, "of a text", "go"),
        ]);
        let told: Vec<_> = rows
            .iter()
            .map(|row| [&*row.claim, &*row.implementation])
            .collect();
        let expected = [
            ["of a text", "go"],
            ["early", "clojure"],
            ["early", "go"],
            ["itself", "clojure"],
        ];
        assert_eq!(told, expected);
    }
}
