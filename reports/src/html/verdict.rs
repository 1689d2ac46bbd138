//! Sentences that a hurried engineer can act on, made from the estimates: what to take, who leads in each group, and
//! what that is worth.

use flowmeter_harness::record::{Measure, Scenario, Verdict};

use crate::chart::Data;
use crate::number;
use crate::statistics::{Cell, Measured, Rank, Ranking, Standing, Twin, View};

/// A sentence with the names in it set apart.
#[derive(Default)]
pub struct Sentence {
    /// Whether a part is a name, and its text.
    pub parts: Vec<(bool, String)>,
}

impl Sentence {
    fn say(mut self, text: impl Into<String>) -> Sentence {
        self.parts.push((false, text.into()));
        self
    }

    fn name(mut self, name: impl Into<String>) -> Sentence {
        self.parts.push((true, name.into()));
        self
    }

    fn names(mut self, names: &[&str]) -> Sentence {
        for (i, name) in names.iter().enumerate() {
            self = match i {
                0 => self,
                i if i + 1 == names.len() => self.say(" and "),
                _ => self.say(", "),
            };
            self = self.name(*name);
        }
        self
    }
}

/// What to take, who leads overall, and what that is worth.
pub fn sentences(data: &Data) -> Vec<Sentence> {
    let mut sentences = vec![choice(data)];
    sentences.extend(leads(data));
    sentences.push(worth(data));
    sentences
}

/// The scenario that most programs look like: one to one at 64, blocking; else the first throughput.
fn typical<'a>(data: &Data<'a>) -> Vec<&'a Scenario> {
    let timed = |s: &&&Scenario| {
        data.implementations.iter().any(|(name, _)| {
            data.cell(&s.name, name)
                .is_some_and(|c| c.measured().is_some() && !c.reference)
        })
    };
    let all: Vec<&Scenario> = data.scenarios.iter().filter(timed).copied().collect();
    let at = |producers, consumers| {
        all.iter().copied().find(|s| {
            s.measure == Measure::Throughput
                && s.group == "channels"
                && s.form == "blocking"
                && s.axes.producers == Some(producers)
                && s.axes.consumers == Some(consumers)
                && s.axes.capacity == Some(64)
        })
    };
    let mut found: Vec<&Scenario> = [at(1, 1), at(4, 4)].into_iter().flatten().collect();
    if found.is_empty() {
        let throughput = all.iter().find(|s| s.measure == Measure::Throughput);
        found.extend(throughput.or(all.first()));
    }
    found
}

fn in_words(n: usize) -> String {
    match n {
        1 => "one".to_owned(),
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        4 => "four".to_owned(),
        n => n.to_string(),
    }
}

fn situation(scenario: &Scenario) -> String {
    let plural =
        |n: usize, what: &str| format!("{} {what}{}", in_words(n), if n == 1 { "" } else { "s" });
    match (
        scenario.axes.producers,
        scenario.axes.consumers,
        scenario.axes.capacity,
    ) {
        (Some(p), Some(c), Some(capacity)) if scenario.group == "channels" => format!(
            "{} and {} at capacity {capacity}",
            plural(p, "producer"),
            plural(c, "consumer")
        ),
        _ => scenario.name.clone(),
    }
}

/// Whether better is faster, not less of something else: bytes, wake-ups, time of the processor.
fn is_speed(scenario: &Scenario) -> bool {
    let in_time = matches!(&*scenario.unit, "ns" | "ns/op" | "x ideal");
    scenario.measure == Measure::Throughput || in_time
}

fn choice(data: &Data) -> Sentence {
    let scenarios = typical(data);
    if scenarios.is_empty() {
        return Sentence::default()
            .say("No implementation has a number in any scenario: see what failed below.");
    }
    let mut sentence = Sentence::default();
    for (i, scenario) in scenarios.into_iter().enumerate() {
        let cells = data.implementations.iter();
        let mut cells: Vec<(&Cell, &Measured)> = cells
            .filter_map(|(name, _)| data.cell(&scenario.name, name))
            .filter(|cell| !cell.reference)
            .filter_map(|cell| Some((cell, cell.measured()?)))
            .collect();
        // A bound is not what to take, unless there is nothing else.
        let is_bound = |m: &Measured| m.standing == Standing::AtMost;
        if !cells.iter().all(|(_, m)| is_bound(m)) {
            cells.retain(|(_, m)| !is_bound(m));
        }
        cells.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
        let (best, number_of_best) = cells[0];
        let value = number::value_with_unit(number_of_best.median, &scenario.unit);
        sentence = sentence
            .say(format!(
                "{} {}, ",
                if i == 0 { "For" } else { "; for" },
                situation(scenario)
            ))
            .name(&best.implementation)
            .say(match scenario.measure {
                Measure::Throughput if scenario.unit.starts_with("messages") => {
                    format!(" moves {value}")
                }
                Measure::Throughput => format!(" reaches {value}"),
                Measure::Latency | Measure::Cost => {
                    format!(" takes {}{value}", number_of_best.bound())
                }
            });
        let level: Vec<&str> = cells[1..]
            .iter()
            .filter(|(_, m)| match m.standing {
                Standing::Level => m.ratio_hi >= 1.0,
                Standing::AtMost => true,
                Standing::Best | Standing::Slower | Standing::Reference => false,
            })
            .map(|(cell, _)| &*cell.implementation)
            .take(2)
            .collect();
        sentence = match cells.get(1) {
            None => sentence.say(", the only one with a number there"),
            Some(_) if !level.is_empty() => {
                let tell = if level.len() == 1 { " is" } else { " are" };
                sentence
                    .say(", and ")
                    .names(&level)
                    .say(format!("{tell} not told apart from it"))
            }
            Some((next, m)) => {
                let times = if m.ratio > 0.0 {
                    1.0 / m.ratio
                } else {
                    f64::INFINITY
                };
                let hedge = match (m.standing, data.estimates.exploratory) {
                    (Standing::Slower, _) => "",
                    (_, true) => ", as far as a short run can tell",
                    (_, false) => ", which noise could explain",
                };
                if is_speed(scenario) {
                    sentence
                        .say(format!(", {times:.2} times as fast as "))
                        .name(&next.implementation)
                        .say(hedge)
                } else {
                    sentence
                        .say(", where ")
                        .name(&next.implementation)
                        .say(format!(" takes {times:.2} times as much{hedge}"))
                }
            }
        };
    }
    sentence.say(".")
}

/// A ranking's cells in words: `the 12 cells of channels`.
fn cells_of(ranking: &Ranking) -> String {
    let group = match ranking.group.strip_suffix("-async") {
        Some(group) => format!("async {group}"),
        None => ranking.group.clone(),
    };
    match ranking.cells {
        1 => format!("the one cell of {group}"),
        n => format!("the {n} cells of {group}"),
    }
}

/// Whether a group is one of channels.
fn of_channels(ranking: &Ranking) -> bool {
    matches!(&*ranking.group, "channels" | "channels-async" | "alts")
}

/// Who leads where: a sentence on channels, and one on each other group in which anybody is told apart; the rest
/// are named together. An exploratory run tells nobody apart, so there it is who comes first that is told of each group.
/// Without channels the first group is told of as they are.
fn leads(data: &Data) -> Vec<Sentence> {
    let rankings = data.estimates.rankings.iter();
    let all: Vec<&Ranking> = rankings
        .filter(|r| r.view == View::All && !r.ranks.is_empty())
        .collect();
    let (mut first, mut others): (Vec<&Ranking>, Vec<&Ranking>) =
        all.into_iter().partition(|ranking| of_channels(ranking));
    if first.is_empty() && !others.is_empty() {
        first.push(others.remove(0));
    }
    if first.is_empty() {
        let nothing = "There is no ranking, since no cell has a number.";
        return vec![Sentence::default().say(nothing)];
    }
    let exploratory = data.estimates.exploratory;
    let mut sentences = vec![together(&first, exploratory)];
    if exploratory {
        if !others.is_empty() {
            sentences.push(together(&others, exploratory));
        }
        return sentences;
    }
    let (apart, level): (Vec<&Ranking>, Vec<&Ranking>) =
        others.into_iter().partition(|ranking| tells_apart(ranking));
    sentences.extend(
        apart
            .iter()
            .map(|ranking| together(&[ranking], exploratory)),
    );
    if !level.is_empty() {
        let groups: Vec<&str> = level.iter().map(|ranking| &*ranking.group).collect();
        let nobody = Sentence::default().say("Nobody is told apart over all cells of ");
        sentences.push(nobody.names(&groups).say("."));
    }
    sentences
}

/// Who leads each of these, in one sentence.
fn together(rankings: &[&Ranking], exploratory: bool) -> Sentence {
    let mut sentence = Sentence::default();
    for (i, ranking) in rankings.iter().enumerate() {
        let over = match (i, exploratory) {
            (0, true) => "As far as this run can tell: over ",
            (0, false) => "Over ",
            _ => "; over ",
        };
        let over = sentence.say(format!("{over}{}, ", cells_of(ranking)));
        sentence = leader(over, ranking, exploratory);
    }
    sentence.say(".")
}

/// Whether a ranking of those with every cell has more than one tier.
fn tells_apart(ranking: &Ranking) -> bool {
    let mut complete = ranking.ranks.iter().filter(|r| ranking.complete(r));
    complete.any(|rank| rank.tier > 1)
}

/// Who leads a ranking, appended.
fn leader(mut sentence: Sentence, ranking: &Ranking, exploratory: bool) -> Sentence {
    let mean = |rank: &Rank| {
        format!(
            "{}{} of the best on average ({})",
            rank.at_least(),
            number::ratio(rank.ratio),
            number::ratio_interval(rank.lo, rank.hi)
        )
    };
    let mut partial = ranking.ranks.iter().filter(|r| !ranking.complete(r));
    let Some(leader) = ranking.ranks.first().filter(|r| ranking.complete(r)) else {
        let telling = partial.find(|r| ranking.telling(r));
        sentence = match telling {
            Some(first) => sentence
                .say("nobody has every cell, and ")
                .name(&first.implementation)
                .say(format!(" has {} of them with {}", first.cells, mean(first))),
            None => sentence.say("nobody has even half of them"),
        };
        return sentence;
    };
    let of_tier = |tier: u32| {
        let complete = ranking.ranks.iter().filter(|r| ranking.complete(r));
        complete.filter(move |r| r.tier == tier)
    };
    let first: Vec<&str> = of_tier(1).map(|r| &*r.implementation).collect();
    sentence = match first.len() {
        // One tier of all says nothing of who leads; the order alone does.
        _ if exploratory => sentence
            .name(&leader.implementation)
            .say(format!(" comes first with {}", mean(leader))),
        1 => sentence
            .name(first[0])
            .say(format!(" leads with {}", mean(leader))),
        n => {
            let others = match n.saturating_sub(4) {
                0 => String::new(),
                more => format!(" and {} more", in_words(more)),
            };
            sentence
                .names(&first[..n.min(4)])
                .say(format!("{others} share the first tier, {}", mean(leader)))
        }
    };
    let next = if exploratory {
        ranking.ranks.get(1).filter(|r| ranking.complete(r))
    } else {
        of_tier(2).next()
    };
    if let Some(next) = next {
        sentence = sentence
            .say(", before ")
            .name(&next.implementation)
            .say(format!(" with {}", number::ratio(next.ratio)));
    }
    // Whoever is nearly complete may be ahead of the leader, and is not to vanish from the sentence.
    let best = partial
        .filter(|r| ranking.telling(r))
        .max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    if let Some(best) = best {
        let (ratio, cells) = (number::ratio(best.ratio), best.cells);
        sentence = sentence.say(" (").name(&best.implementation).say(format!(
            " has only {cells} of the cells, with {ratio} there)"
        ));
    }
    sentence
}

fn worth(data: &Data) -> Sentence {
    let proofs: Vec<_> = data.runs.iter().flat_map(|run| &run.proofs).collect();
    let failed = |verdict| matches!(verdict, Verdict::Fail | Verdict::Error);
    let mut failures: Vec<(&str, &str)> = proofs
        .iter()
        .filter(|p| failed(p.verdict))
        .map(|p| (&*p.implementation, &*p.property))
        .collect();
    failures.sort_unstable();
    failures.dedup_by_key(|(name, _)| *name);
    let passed = proofs.iter().filter(|p| p.verdict == Verdict::Pass).count();
    let mut sentence = Sentence::default();
    sentence = match failures.as_slice() {
        [] if passed == 0 => sentence.say("Nothing was proved in this run"),
        [] => {
            let undecided = proofs
                .iter()
                .filter(|p| p.verdict == Verdict::Inconclusive)
                .count();
            let mut worlds: Vec<&str> = proofs.iter().map(|p| &*p.world).collect();
            worlds.sort_unstable();
            worlds.dedup();
            let of_claims = match undecided {
                0 => format!("All {passed} quick checks of claimed properties held"),
                n => format!(
                    "{passed} quick checks of claimed properties held and {} came to no end in their time",
                    in_words(n)
                ),
            };
            let s = if worlds.len() == 1 { "" } else { "s" };
            sentence.say(format!("{of_claims} ({} world{s})", worlds.join(", ")))
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
        sentence = sentence.say(format!("; {without} {cells} a failure instead of a number"));
    }
    sentence = sentence.say(noise(data));
    if data.estimates.unoptimised {
        sentence = sentence.say(", and an unoptimised build calls nothing faster");
    } else if data.estimates.exploratory {
        sentence = sentence.say(", and this run is too short to call anything faster");
    }
    sentence.say(".")
}

/// Which differences are noise.
fn noise(data: &Data) -> String {
    let mut noises: Vec<f64> = data.estimates.placebos.iter().map(Twin::noise).collect();
    noises.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(most)) = (noises.first(), noises.last()) else {
        return "; without a placebo the noise is unknown".to_owned();
    };
    // Nothing is below 0.
    let none = number::percent(0.0);
    match (number::percent(*least), number::percent(*most)) {
        (_, most) if most == none => "; the placebo shows no noise in any scenario".to_owned(),
        (least, most) if least == none => format!(
            "; the placebo shows no noise in the quietest scenario, and differences below {most} in the noisiest are \
             noise on this machine"
        ),
        (least, most) => format!(
            "; differences below {least} in the quietest scenario, and {most} in the noisiest, are noise on this machine"
        ),
    }
}
