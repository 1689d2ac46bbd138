//! The originals themselves: processes in other languages that re-enact the claims of the texts in real time.
//!
//! Such a program, started for its claims, writes a line for each as it is done, and ends. It names a claim of a text
//! by the words of [`Claim::says`](super::Claim), and is judged like one of ours, except that it may be another
//! version. Or it names a statement of SEMANTICS.md from which the original differs, with the observation that would
//! confirm the statement.

use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Holds, SeedClaim};
use serde::Deserialize;

use super::{judge, statements};
use crate::foreign::{Asking, Language, excerpt};

/// For all claims of one language. The longest alone takes 13 s, and they run in parallel.
const LIMIT: Duration = Duration::from_secs(180);
/// Stands in for the text where the claim is a statement of ours.
const STATEMENTS: &str = "SEMANTICS.md";

/// A line of its output.
#[derive(Debug, Deserialize)]
struct Line {
    /// The file of the text; `None` for a statement.
    seed: Option<String>,
    /// The id of the statement; `None` for a text.
    statement: Option<String>,
    claim: String,
    implementation: String,
    /// The observation that confirms a statement.
    expected: Option<String>,
    seen: String,
    note: Option<String>,
}

/// The claims that a language re-enacts: rows with the index of their claim, and an error if there are fewer than
/// expected.
pub(crate) fn reenact_in(
    language: &Language,
    names: &[&str],
    wanted: &BTreeSet<usize>,
    is_wanted: impl Fn(&str) -> bool,
) -> (Vec<(usize, SeedClaim)>, Option<String>) {
    let mut rows = Vec::new();
    let Some(command) = language.claims_command() else {
        return (rows, None);
    };
    let read = || {
        let mut asking = Asking::begin(command, LIMIT)?;
        while let Some(line) = asking.next()? {
            let line: Line = serde_json::from_str(&line)
                .map_err(|_| format!("it answered {:?}", excerpt(&line)))?;
            let (place, row) = row(line)?;
            let chosen = match row.seed.as_str() {
                STATEMENTS => is_wanted(&format!("{STATEMENTS} {}", row.claim)),
                _ => wanted.contains(&place),
            };
            if chosen && names.contains(&row.implementation.as_str()) {
                rows.push((place, row));
            }
        }
        Ok(())
    };
    let read: Result<(), String> = read();
    let wrong = read
        .err()
        .map(|why| format!("{} cannot be asked: {why}", language.name()));
    (rows, wrong)
}

fn row(line: Line) -> Result<(usize, SeedClaim), String> {
    let all = statements();
    let row = |seed: String, expected: String, holds, note| SeedClaim {
        seed,
        claim: line.claim.clone(),
        implementation: line.implementation.clone(),
        origin: Origin::Foreign,
        expected,
        seen: line.seen.clone(),
        holds,
        note,
    };
    match (&line.seed, &line.statement, &line.expected) {
        (Some(seed), None, _) => {
            let mut places = 0..all.len();
            let place = places
                .find(|place| all[*place].seed == seed && all[*place].claim.says == line.claim);
            let place = place.ok_or_else(|| format!("no text claims {:?}", line.claim))?;
            let claim = all[place].claim;
            let holds = judge(claim.seen, &line.seen, Origin::Foreign);
            let expected = claim.expected.to_owned();
            Ok((place, row(seed.clone(), expected, holds, line.note.clone())))
        }
        (None, Some(statement), Some(expected)) => {
            let holds = match line.seen == *expected {
                true => Holds::Yes,
                false => Holds::Differs,
            };
            let why = match (line.note.as_deref(), holds) {
                (None, Holds::Yes) => None,
                (why, _) => Some(why.unwrap_or("the original differs")),
            };
            let note = why.map(|why| format!("{statement}: {why}"));
            let seed = STATEMENTS.to_owned();
            Ok((all.len(), row(seed, expected.clone(), holds, note)))
        }
        _ => Err(format!(
            "{:?} is neither a text's claim nor a statement",
            line.claim
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Result<(usize, SeedClaim), String> {
        row(serde_json::from_str(line).unwrap())
    }

    #[test]
    fn an_original_is_judged_by_the_words_of_its_text() {
        let said = |seen: &str| {
            let line = format!(
                r#"{{"seed":"001_d22df209ee62fd6d.txt","claim":"10,000 timeouts of 1,000 ms",
                "implementation":"core-async-timeout","seen":"{seen}"}}"#
            );
            told(&line).unwrap().1
        };
        let six = said("6 channels");
        assert_eq!((six.holds, six.origin), (Holds::Yes, Origin::Foreign));
        assert_eq!(six.expected, "6 channels in 19.8315 ms");
        assert_eq!(said("14 channels").holds, Holds::Version);
    }

    #[test]
    fn a_statement_that_an_original_breaks_says_which() {
        let line = r#"{"statement":"T1","claim":"500 timeouts","expected":"0 early","seen":"17 early",
            "implementation":"core-async-timeout","note":"it truncates the clock"}"#;
        let (place, row) = told(line).unwrap();
        assert_eq!(place, statements().len());
        assert_eq!(row.holds, Holds::Differs);
        assert_eq!(row.note.as_deref(), Some("T1: it truncates the clock"));
    }

    #[test]
    fn a_statement_that_an_original_keeps_needs_no_note() {
        let line = r#"{"statement":"T1","claim":"500 timeouts","expected":"0 early","seen":"0 early",
            "implementation":"go-timer"}"#;
        let row = told(line).unwrap().1;
        assert_eq!((row.holds, row.note), (Holds::Yes, None));
    }

    #[test]
    fn what_no_text_claims_is_no_row() {
        for line in [
            r#"{"seed":"001_d22df209ee62fd6d.txt","claim":"it is fast","implementation":"x","seen":"y"}"#,
            r#"{"claim":"it is fast","implementation":"x","seen":"y"}"#,
            r#"{"statement":"T1","claim":"it is fast","implementation":"x","seen":"y"}"#,
        ] {
            assert!(told(line).is_err(), "{line}");
        }
    }
}
