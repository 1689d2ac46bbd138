//! The observations of each claim, for a terminal. The claim is above its rows, so that names and most words are not
//! broken.

use std::fmt::Write;

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Holds, SeedClaim};
use flowmeter_reports::claims::{Alike, alike, word};

use crate::cli::output::{width, wrapped};

/// Between two fields.
const GAP: &str = "  ";
/// The longest of the words that say whether a claim holds, and its heading.
const HOLDS: usize = "inconsistent".len();
/// The minimum width of names.
const NAMES: usize = 30;

/// The claims of each text with their rows and notes, and a summary.
pub(super) fn told(rows: &[SeedClaim]) -> String {
    if rows.is_empty() {
        return "no claim is about these implementations".to_owned();
    }
    let mut text = String::new();
    for of_text in alike(rows).chunk_by(|one, other| one.row.seed == other.row.seed) {
        let _ = writeln!(text, "{}\n", of_text[0].row.seed);
        let layout = Layout::of(of_text, width());
        for of_claim in of_text.chunk_by(|one, other| one.row.claim == other.row.claim) {
            layout.claim(of_claim, &mut text);
        }
    }
    text + &counted(rows)
}

fn counted(rows: &[SeedClaim]) -> String {
    let count = |holds| rows.iter().filter(|row| row.holds == holds).count();
    let others = [
        (Holds::Differs, "differ on purpose"),
        (Holds::Version, "of another version"),
        (Holds::Inconsistent, "inconsistent"),
    ];
    let others = others.map(|(holds, what)| match count(holds) {
        0 => String::new(),
        count => format!(", {count} {what}"),
    });
    format!(
        "{} hold, {} do not{}",
        count(Holds::Yes),
        count(Holds::No),
        others.concat()
    )
}

/// The widths of the columns of a text.
struct Layout {
    width: usize,
    names: usize,
    seen: usize,
}

impl Layout {
    fn of(rows: &[Alike], width: usize) -> Layout {
        let longest = rows.iter().flat_map(|one| &one.names);
        let longest = longest.map(|name| name.chars().count()).max();
        let names = longest.unwrap_or_default().max(NAMES);
        Layout {
            width,
            names,
            seen: width.saturating_sub(names + HOLDS + 3 * GAP.len()),
        }
    }

    /// A claim, its expected result, and a row for each group of equal observations.
    fn claim(&self, rows: &[Alike], text: &mut String) {
        let claim = rows[0].row;
        for line in wrapped(&claim.claim, self.width) {
            let _ = writeln!(text, "{line}");
        }
        // Beside the text's words there is no verdict.
        let stated = wrapped(&claim.expected, self.seen + GAP.len() + HOLDS);
        self.row(&wrapped("expected", self.names), &stated, "", text);
        for Alike { row, names } in rows {
            let mut seen = wrapped(&row.seen, self.seen);
            if let Some(why) = why(row) {
                seen.extend(wrapped(&format!("({why})"), self.seen));
            }
            let names = wrapped(&names.join(" "), self.names);
            self.row(&names, &seen, word(row.holds), text);
        }
        text.push('\n');
    }

    fn row(&self, names: &[String], seen: &[String], holds: &str, text: &mut String) {
        for place in 0..names.len().max(seen.len()) {
            let at = |lines: &[String]| lines.get(place).cloned().unwrap_or_default();
            let (names, seen) = (at(names), at(seen));
            let holds = if place == 0 { holds } else { "" };
            let (first, second) = (self.names, self.seen);
            let line = format!("{GAP}{names:<first$}{GAP}{seen:<second$}{GAP}{holds}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

/// Why a claim does not simply hold; for an original its measured figure too.
fn why(row: &SeedClaim) -> Option<&str> {
    match (row.holds, row.origin) {
        (Holds::Yes, Origin::Own | Origin::Peer | Origin::Mutant) => None,
        (Holds::No, _) => Some(row.note.as_deref().unwrap_or("nothing says why")),
        _ => row.note.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        implementation: &str,
        origin: Origin,
        seen: &str,
        holds: Holds,
        note: Option<&str>,
    ) -> SeedClaim {
        SeedClaim {
            seed: "001.txt".to_owned(),
            claim: "a response comes faster than 300 ms, which is what an alts with a timeout of 300 ms is to wait for"
                .to_owned(),
            implementation: implementation.to_owned(),
            origin,
            expected: "the code returns that value".to_owned(),
            seen: seen.to_owned(),
            holds,
            note: note.map(str::to_owned),
        }
    }

    #[test]
    fn a_claim_stands_over_its_rows_and_no_name_is_broken() {
        let of_ours = |implementation| {
            row(
                implementation,
                Origin::Own,
                "the value",
                Holds::Yes,
                Some("a note"),
            )
        };
        let rows = [
            of_ours("mutex"),
            of_ours("hierarchical_wheel"),
            row(
                "core-async-pipeline-unordered-and-more",
                Origin::Foreign,
                "the value",
                Holds::Yes,
                Some("200.3 ms in real time"),
            ),
            row("heap", Origin::Own, "nothing", Holds::No, None),
        ];
        let expected = "\
001.txt

a response comes faster than 300 ms, which is what an alts with a timeout of 300 ms is to wait for
  expected                                the code returns that value
  mutex hierarchical_wheel                the value                                     yes
  core-async-pipeline-unordered-and-more  the value                                     yes
                                          (200.3 ms in real time)
  heap                                    nothing                                       NO
                                          (nothing says why)

3 hold, 1 do not";
        assert_eq!(told(&rows), expected);
    }
}
