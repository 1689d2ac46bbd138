//! Rows of the record: the result of a claim, and the notes on it.

use flowmeter_harness::registry::Registered;
use flowmeter_records::{Holds, SeedClaim};

use crate::claims::{Statement, judge};

/// A row of that statement for that implementation.
pub(super) fn row(
    statement: &Statement,
    implementation: &Registered,
    seen: String,
    holds: Holds,
    note: Option<String>,
) -> SeedClaim {
    SeedClaim {
        seed: statement.seed.to_owned(),
        claim: statement.claim.says.to_owned(),
        implementation: implementation.name.to_owned(),
        origin: implementation.origin,
        expected: statement.claim.expected.to_owned(),
        seen,
        holds,
        note,
    }
}

/// The result of a claim, as a row.
pub(super) fn judged(
    statement: &Statement,
    implementation: &Registered,
    differs: Option<&str>,
    seen: Result<String, String>,
) -> SeedClaim {
    let claim = statement.claim;
    let (seen, holds) = match seen {
        Ok(seen) => {
            let holds = judge(claim.seen, &seen, implementation.origin);
            (seen, holds)
        }
        Err(why) => return row(statement, implementation, why, Holds::No, None),
    };
    let (holds, note) = match (holds, differs, claim.note) {
        (Holds::No, Some(why), Some(how)) => (Holds::Differs, Some(format!("{why} ({how})"))),
        (Holds::No, Some(why), None) => (Holds::Differs, Some(why.to_owned())),
        // A claim that does not hold, without a reason, has no further note.
        (Holds::No, None, _) => (Holds::No, None),
        (_, _, how) => (holds, how.map(str::to_owned)),
    };
    row(statement, implementation, seen, holds, note)
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::caps::{Capabilities, Kind, Origin};

    use super::*;
    use crate::claims::Claim;

    fn implementation() -> Registered {
        Registered {
            name: "an-implementation",
            kind: Kind::Timer,
            origin: Origin::Own,
            version: String::new(),
            capabilities: Capabilities::default(),
            reference: false,
            family: "",
        }
    }

    const CLAIM: Claim = Claim::new("it is so", "so", &["so"]).note("by looking");
    const STATEMENT: Statement = Statement {
        seed: "a text",
        claim: &CLAIM,
    };

    fn told(differs: Option<&str>, seen: Result<&str, &str>) -> (Holds, Option<String>) {
        let seen = seen.map(str::to_owned).map_err(str::to_owned);
        let row = judged(&STATEMENT, &implementation(), differs, seen);
        (row.holds, row.note)
    }

    #[test]
    fn a_reason_is_given_where_it_is_needed() {
        let how = Some("by looking".to_owned());
        assert_eq!(told(None, Ok("so")), (Holds::Yes, how.clone()));
        assert_eq!(told(Some("T4: not so"), Ok("so")), (Holds::Yes, how));
        let why = Some("T4: not so (by looking)".to_owned());
        assert_eq!(told(Some("T4: not so"), Ok("other")), (Holds::Differs, why));
    }

    #[test]
    fn a_difference_without_a_reason_or_a_break_is_not_explained() {
        assert_eq!(told(None, Ok("other")), (Holds::No, None));
        assert_eq!(told(Some("T4: not so"), Err("a panic")), (Holds::No, None));
    }
}
