//! What was proved, and what the placebos say.

use flowmeter_records::{Proof, Verdict};

use super::{Sentence, TOLD};
use crate::chart::Data;

/// What was proved, and what the placebos say.
pub fn worth(data: &Data) -> Sentence {
    let proofs: Vec<&Proof> = data.runs.iter().flat_map(|run| &run.proofs).collect();
    let with = |verdict: Verdict| {
        let proofs = proofs.iter().filter(|p| p.verdict == verdict);
        let mut named: Vec<(&str, &str)> =
            proofs.map(|p| (&*p.implementation, &*p.property)).collect();
        named.sort_unstable();
        named
    };
    let mut failures = with(Verdict::Fail);
    failures.dedup_by_key(|(name, _)| *name);
    let passed = with(Verdict::Pass).len();
    let undecided = [
        (with(Verdict::Hung), "undecided: it hung twice alone"),
        (
            with(Verdict::Error),
            "without a verdict, since the check broke off",
        ),
        (with(Verdict::Inconclusive), "undecided within the budget"),
    ];
    let mut sentence = Sentence::default();
    let all_decided = undecided.iter().all(|(cells, _)| cells.is_empty());
    sentence = match failures.as_slice() {
        [] if passed == 0 && all_decided => sentence.say("Nothing was proved in this run"),
        [] => {
            let mut worlds: Vec<&str> = proofs.iter().map(|p| &*p.world).collect();
            worlds.sort_unstable();
            worlds.dedup();
            let all = if all_decided { "All " } else { "" };
            let s = if worlds.len() == 1 { "" } else { "s" };
            sentence.say(format!(
                "{all}{passed} quick checks of claimed properties held ({} world{s})",
                worlds.join(", ")
            ))
        }
        some => {
            for (i, (name, property)) in some.iter().take(3).enumerate() {
                let between = if i == 0 { "" } else { ", " };
                sentence = sentence
                    .say(between)
                    .name(*name)
                    .say(format!(" failed {property}"));
            }
            let more = some.len().saturating_sub(3);
            if more > 0 {
                sentence = sentence.say(format!(", {more} more failed something"));
            }
            let have = if some.len() > 1 { "have" } else { "has" };
            sentence.say(format!(" and {have} no number where that matters"))
        }
    };
    for (cells, said) in &undecided {
        for (i, (name, property)) in cells.iter().take(TOLD).enumerate() {
            let between = if i == 0 { "; " } else { ", " };
            sentence = sentence.say(between).say(format!("{property} of "));
            sentence = sentence.name(*name);
        }
        let verb = if cells.len() == 1 { "is" } else { "are" };
        sentence = match cells.len() {
            0 => sentence,
            n if n > TOLD => sentence.say(format!(" and {} more {verb} {said}", n - TOLD)),
            _ => sentence.say(format!(" {verb} {said}")),
        };
    }
    let without = data
        .estimates
        .cells
        .iter()
        .filter(|c| c.measured().is_none())
        .count();
    if without > 0 {
        let cells = if without == 1 {
            "cell shows"
        } else {
            "cells show"
        };
        sentence = sentence.say(format!("; {without} {cells} a reason instead of a number"));
    }
    sentence
        .say(format!("; {}", data.estimates.health().sentence()))
        .say(".")
}
