//! Claims of the seed texts, as tables show them: implementations with the same observation share a
//! row.

use flowmeter_records::{Holds, SeedClaim};

/// Implementations with the same observation for one claim.
#[derive(Clone, Debug)]
pub struct Alike<'a> {
    /// The row of the first of them. The others differ in the implementation only.
    pub row: &'a SeedClaim,
    /// Their names, in the order of the rows.
    pub names: Vec<&'a str>,
}

/// Groups equal observations, in the order in which they first appeared.
pub fn alike<'a>(rows: impl IntoIterator<Item = &'a SeedClaim>) -> Vec<Alike<'a>> {
    let mut all: Vec<Alike> = Vec::new();
    for row in rows {
        let mut known = all.iter_mut();
        match known.find(|known| is_told_alike(known.row, row)) {
            Some(known) => known.names.push(&row.implementation),
            None => all.push(Alike {
                row,
                names: vec![&row.implementation],
            }),
        }
    }
    all
}

fn is_told_alike(one: &SeedClaim, other: &SeedClaim) -> bool {
    (&one.seed, &one.claim, &one.expected, one.origin)
        == (&other.seed, &other.claim, &other.expected, other.origin)
        && (&one.seen, one.holds, &one.note) == (&other.seen, other.holds, &other.note)
}

/// Whether a claim holds, in a word.
pub const fn word(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "yes",
        Holds::Differs => "differs",
        Holds::No => "NO",
        Holds::Version => "version",
        Holds::Inconsistent => "inconsistent",
    }
}
