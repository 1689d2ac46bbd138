//! The quality of the harness: which property found which mutant, in how many executions.

use std::collections::BTreeMap;

use flowmeter_records::{Attack, RunData, Verdict};

use crate::number;

/// The mutants that were run.
pub struct Mutants {
    pub summary: String,
    /// Results that are not as expected, in words.
    pub alarms: Vec<String>,
    pub rows: Vec<Row>,
}

/// A mutant and a property.
pub struct Row {
    pub mutant: String,
    pub family: String,
    pub by: String,
    pub world: String,
    /// For the badge's colour.
    pub kind: &'static str,
    pub said: &'static str,
    pub executions: String,
    /// The sort key.
    pub sort: u64,
}

/// From all runs, if any has mutants. For each mutant and property the last row counts.
pub fn of<'a>(runs: impl Iterator<Item = &'a RunData>) -> Option<Mutants> {
    let mut last: BTreeMap<(bool, &str, &str), &Attack> = BTreeMap::new();
    for attack in runs.flat_map(|run| &run.attacks) {
        last.insert((attack.equivalent, &attack.mutant, &attack.by), attack);
    }
    let all: Vec<&Attack> = last.into_values().collect();
    (!all.is_empty()).then(|| Mutants {
        summary: summary(&all),
        alarms: all.iter().filter_map(|attack| alarm(attack)).collect(),
        rows: all.iter().map(|attack| row(attack)).collect(),
    })
}

/// Whether the result is as expected: a mutant is killed, and an equivalent rewrite raises no
/// alarm.
fn as_expected(attack: &Attack) -> bool {
    match attack.equivalent {
        true => !matches!(
            attack.verdict,
            Verdict::Fail | Verdict::Hung | Verdict::Error
        ),
        false => attack.killed,
    }
}

fn summary(all: &[&Attack]) -> String {
    let count = |equivalent: bool| {
        let of = all.iter().filter(|attack| attack.equivalent == equivalent);
        let mut names: Vec<&str> = of.map(|attack| &*attack.mutant).collect();
        names.dedup();
        names.len()
    };
    let executions: u64 = all.iter().map(|attack| attack.executions).sum();
    let expected = all.iter().filter(|attack| as_expected(attack)).count();
    let several = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    format!(
        "{} and {}: {expected} of {} went as they should, in {} executions.",
        several(count(false), "mutant"),
        several(count(true), "equivalent rewrite"),
        several(all.len(), "attack"),
        number::count(executions)
    )
}

fn alarm(attack: &Attack) -> Option<String> {
    let seen = attack.detail.as_deref().unwrap_or("nothing was seen");
    (!as_expected(attack)).then(|| match attack.equivalent {
        true => format!(
            "{} raised a false alarm of {}: {seen}",
            attack.mutant, attack.by
        ),
        false => format!("{} survived {}: {seen}", attack.mutant, attack.by),
    })
}

fn row(attack: &Attack) -> Row {
    let (kind, said) = match (attack.equivalent, as_expected(attack)) {
        (false, true) => ("pass", "killed"),
        (false, false) => ("fail", "survived"),
        (true, true) => ("pass", "no alarm"),
        (true, false) => ("fail", "false alarm"),
    };
    Row {
        mutant: attack.mutant.clone(),
        family: attack.family.clone(),
        by: attack.by.clone(),
        world: attack.world.clone().unwrap_or_else(|| "–".to_owned()),
        kind,
        said,
        executions: number::count(attack.executions),
        sort: attack.executions,
    }
}
