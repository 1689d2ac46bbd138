//! The correctness matrix of each kind: implementation x property.

use std::collections::BTreeSet;

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Proof, Verdict};

use super::heading;
use crate::chart::Data;
use crate::checked::Checked;
use crate::number;
use crate::texts::Texts;

/// A matrix for each kind, and the failures, hangs and aborted checks in words.
pub struct Proofs {
    pub matrices: Vec<Matrix>,
    pub failures: Vec<Failure>,
    /// What published crates do not promise.
    pub given_up: Vec<GivenUp>,
    /// Implementations without a row, since their own processes proved what they timed.
    pub self_checked: Vec<String>,
}

/// What the choice of a published crate gives up: properties that it does not claim.
pub struct GivenUp {
    pub name: String,
    pub place: u16,
    pub broken: Vec<Broken>,
    /// The names of those that were not seen broken.
    pub unbroken: String,
}

/// A property that is not claimed and was seen broken.
pub struct Broken {
    pub property: String,
    /// What was seen, in a line.
    pub seen: String,
    /// Where that is told in full, from 1.
    pub failure: usize,
}

/// Implementations of one kind, and the properties that any of them claims.
pub struct Matrix {
    /// `Channels`; empty if no run records the kind.
    pub kind: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// The properties with what they state, each once; those without a text are left out.
    pub stated: Vec<(String, &'static str)>,
}

/// A property in a world.
pub struct Column {
    /// The id in SEMANTICS.md.
    pub id: String,
    /// The rest of its name.
    pub name: String,
    pub world: String,
    /// What it states, or the world if that is unknown.
    pub title: String,
}

/// An implementation.
pub struct Row {
    pub name: String,
    pub origin: String,
    pub place: u16,
    pub cells: Vec<Cell>,
}

/// The verdict on a property.
pub struct Cell {
    /// For its colour.
    pub kind: &'static str,
    pub text: String,
    pub title: String,
    /// The failure that it links to, from 1; 0 for none.
    pub failure: usize,
}

/// A property that failed, was left without a verdict, or is not promised and broken.
pub struct Failure {
    /// `undecided` for its colour, where nothing failed that was promised.
    pub kind: &'static str,
    pub implementation: String,
    /// In what way the property was not shown to hold.
    pub said: &'static str,
    pub property: String,
    /// What the property states; empty if that is unknown.
    pub statement: &'static str,
    pub world: String,
    /// What was seen, in a line.
    pub detail: String,
    /// The further lines, such as a history in columns.
    pub history: String,
    /// The file of the failing execution.
    pub counterexample: Option<String>,
    pub replay: Option<String>,
}

/// From all runs. If several checked the same property, the worst verdict is shown.
pub fn of(data: &Data, texts: &Texts) -> Proofs {
    let proofs: Vec<&Proof> = data.runs.iter().flat_map(|run| &run.proofs).collect();
    let mut kinds: Vec<&str> = data
        .implementations
        .iter()
        .map(|(name, _)| data.kind(name))
        .collect();
    kinds.dedup();
    let failed = |p: &&Proof| {
        use Verdict::{Error, Fail, Hung, NotPromisedBroken};
        matches!(p.verdict, Fail | Error | Hung | NotPromisedBroken)
    };
    let failed: Vec<&Proof> = proofs.iter().copied().filter(failed).collect();
    let matrices = kinds.into_iter().map(|kind| {
        let of_kind = proofs.iter().copied();
        let of_kind = of_kind.filter(|p| data.kind(&p.implementation) == kind);
        matrix(data, kind, &of_kind.collect::<Vec<_>>(), &failed, texts)
    });
    let lines = |p: &Proof| {
        let detail = p.detail.as_deref().unwrap_or("no detail was recorded");
        let (line, more) = detail.split_once('\n').unwrap_or((detail, ""));
        (line.to_owned(), more.to_owned())
    };
    let failures = failed.iter().map(|p| Failure {
        kind: match p.verdict {
            Verdict::NotPromisedBroken | Verdict::Hung => " undecided",
            _ => "",
        },
        implementation: p.implementation.clone(),
        said: match p.verdict {
            Verdict::Error => "has no verdict: the check broke off in",
            Verdict::Hung => "is undecided: it hung twice alone, in",
            Verdict::NotPromisedBroken => "does not promise, and broke,",
            _ => "failed",
        },
        property: p.property.clone(),
        statement: texts.statement(&p.property),
        world: p.world.clone(),
        detail: lines(p).0,
        history: lines(p).1,
        counterexample: (p.counterexample.as_ref()).map(|path| path.display().to_string()),
        replay: p.replay.clone(),
    });
    Proofs {
        matrices: matrices.filter(|m| !m.columns.is_empty()).collect(),
        failures: failures.collect(),
        given_up: given_up(data, &proofs, &failed),
        self_checked: (data.those(|name| Checked::of(data.runs, name).is_self_checked()))
            .into_iter()
            .map(|key| key.name)
            .collect(),
    }
}

/// A row for each published crate of which a property was looked at that it does not claim.
fn given_up(data: &Data, proofs: &[&Proof], failed: &[&Proof]) -> Vec<GivenUp> {
    let of = |name: &str, verdict: Verdict| {
        let mut all: Vec<&Proof> = proofs.to_vec();
        all.retain(|proof| proof.implementation == name && proof.verdict == verdict);
        all.sort_by_key(|proof| order(&proof.property));
        all.dedup_by_key(|proof| &proof.property);
        all
    };
    let broken = |proof: &Proof| Broken {
        property: proof.property.clone(),
        seen: first_line(proof.detail.as_deref().unwrap_or_default()),
        failure: failed
            .iter()
            .position(|it| std::ptr::eq(*it, proof))
            .map_or(0, |at| at + 1),
    };
    let published = |name: &str| crate::statistics::origin(data.runs, name) == Origin::Peer;
    let rows = data.those(published).into_iter().map(|key| {
        let broken: Vec<Broken> = of(&key.name, Verdict::NotPromisedBroken)
            .into_iter()
            .map(broken)
            .collect();
        let mut unbroken: Vec<&str> = of(&key.name, Verdict::NotPromisedUnbroken)
            .into_iter()
            .map(|proof| &*proof.property)
            .collect();
        unbroken.retain(|name| broken.iter().all(|it| it.property != *name));
        GivenUp {
            unbroken: unbroken.join(", "),
            name: key.name,
            place: key.place,
            broken,
        }
    });
    rows.filter(|row| !row.broken.is_empty() || !row.unbroken.is_empty())
        .collect()
}

/// The first line of a text, cut where it is long.
fn first_line(text: &str) -> String {
    const LONGEST: usize = 140;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// The matrix of one kind. A property that none of them claims has no column, and an implementation
/// without claims has no row.
fn matrix(data: &Data, kind: &str, proofs: &[&Proof], failed: &[&Proof], texts: &Texts) -> Matrix {
    let said = proofs.iter().filter(|p| p.verdict != Verdict::Unclaimed);
    let mut keys: Vec<(&str, &str)> = said.map(|p| (&*p.property, &*p.world)).collect();
    keys.sort_by_key(|(property, world)| (order(property), *world));
    keys.dedup();
    let said = proofs.iter().filter(|p| p.verdict != Verdict::Unclaimed);
    let checked: BTreeSet<&str> = said.map(|p| &*p.implementation).collect();
    let rows = data
        .those(|name| checked.contains(name))
        .into_iter()
        .map(|key| {
            let cells = keys.iter().map(|(property, world)| {
                let of = proofs.iter().filter(|p| {
                    p.implementation == key.name && p.property == *property && p.world == *world
                });
                let worst = of.max_by_key(|p| severity(p.verdict)).copied();
                let which = |worst: &Proof| failed.iter().position(|p| std::ptr::eq(*p, worst));
                cell(worst, worst.and_then(which).map_or(0, |at| at + 1))
            });
            let cells = cells.collect();
            Row {
                origin: crate::statistics::origin(data.runs, &key.name).to_string(),
                name: key.name,
                place: key.place,
                cells,
            }
        });
    let mut stated: Vec<&str> = keys.iter().map(|(property, _)| *property).collect();
    stated.dedup();
    let stated = stated.into_iter();
    let stated = stated.map(|property| (property.to_owned(), texts.statement(property)));
    let stated = stated
        .filter(|(_, statement)| !statement.is_empty())
        .collect();
    Matrix {
        kind: match kind {
            "" => String::new(),
            kind => heading(&format!("{kind}s")),
        },
        rows: rows.collect(),
        columns: keys
            .into_iter()
            .map(|(property, world)| column(property, world, texts))
            .collect(),
        stated,
    }
}

/// Sorts C2 before C10: letter, number, name.
fn order(property: &str) -> (char, u32, &str) {
    let mut characters = property.chars();
    let letter = characters.next().unwrap_or(' ').to_ascii_lowercase();
    let digits: String = characters.take_while(char::is_ascii_digit).collect();
    (letter, digits.parse().unwrap_or(0), property)
}

fn column(property: &str, world: &str, texts: &Texts) -> Column {
    let (id, name) = property.split_once('-').unwrap_or((property, ""));
    Column {
        id: id.to_uppercase(),
        name: name.to_owned(),
        world: world.to_owned(),
        title: match texts.statement(property) {
            "" => world.to_owned(),
            statement => statement.to_owned(),
        },
    }
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Fail => 8,
        Verdict::Hung => 7,
        Verdict::Error => 6,
        Verdict::Inconclusive => 5,
        Verdict::Pass => 4,
        Verdict::NotPromisedBroken => 3,
        Verdict::NotPromisedUnbroken => 2,
        Verdict::NotInstrumentable => 1,
        Verdict::Unclaimed => 0,
    }
}

fn cell(proof: Option<&Proof>, failure: usize) -> Cell {
    let Some(proof) = proof else {
        return Cell {
            kind: "",
            text: String::new(),
            title: "not checked".to_owned(),
            failure,
        };
    };
    let executions = number::count(proof.executions);
    let (kind, text, title) = match proof.verdict {
        Verdict::Pass if proof.complete => (
            "pass",
            format!("✓ {executions}"),
            "held in every execution within the bound",
        ),
        Verdict::Pass => (
            "pass",
            format!("✓ {executions}"),
            "held in so many executions",
        ),
        Verdict::Fail => (
            "fail",
            format!("✗ {executions}"),
            "failed after so many executions",
        ),
        Verdict::Error => ("fail", "error".to_owned(), "the check broke off"),
        Verdict::Hung => (
            "hung",
            "? hung".to_owned(),
            "undecided: no answer, nor when it was repeated alone, twice",
        ),
        Verdict::Inconclusive => ("none", format!("? {executions}"), "undecided"),
        Verdict::Unclaimed => ("none", "–".to_owned(), "not claimed"),
        Verdict::NotPromisedBroken => ("none", "– ✗".to_owned(), "not promised and broken"),
        Verdict::NotPromisedUnbroken => (
            "none",
            "–".to_owned(),
            "not promised, not seen broken in a short look",
        ),
        Verdict::NotInstrumentable => ("none", "n/a".to_owned(), "cannot run in this world"),
    };
    let bound = proof.bound.iter().map(|bound| format!("; {bound}"));
    Cell {
        kind,
        text,
        title: bound.fold(title.to_owned(), |title, bound| title + &bound),
        failure,
    }
}
