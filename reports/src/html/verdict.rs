//! The conclusions in sentences, made from the estimates: which implementation to use, which one leads in each group,
//! and how reliable that is. A run that may not call anything faster says so in its first sentence, and compares
//! nothing.

use flowmeter_records::{Measure, Proof, Scenario, Verdict};

use crate::chart::Data;
use crate::number;
use crate::statistics::{Cell, Rank, Ranking, Standing, UNOPTIMISED, View};

/// A sentence with its names marked.
#[derive(Default)]
pub struct Sentence {
    /// Parts: whether a part is a name, and its text.
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

/// Which implementation to use, which one leads overall, and how reliable that is. A run that may conclude nothing says
/// that first, and then what was measured, without a comparison.
pub fn sentences(data: &Data) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let health = data.estimates.health();
    if !health.is_sound() {
        let sentence = health.sentence().replacen("unhealthy", "Unhealthy", 1);
        sentences.push(Sentence::default().say(format!("{sentence}.")));
    }
    if data.estimates.exploratory {
        sentences.push(Sentence::default().say(inconclusive(data)));
        sentences.push(seen(data));
        sentences.extend(means(data));
    } else {
        sentences.push(choice(data));
        sentences.extend(leads(data));
    }
    sentences.extend(few(data));
    sentences.push(worth(data));
    sentences
}

/// Why a run calls nothing faster.
fn inconclusive(data: &Data) -> String {
    let short = data.runs.iter().find(|run| run.run.exploratory);
    let length = short.map(|run| {
        let (forks, rounds) = (run.run.forks, run.run.rounds);
        let forks_word = if forks == 1 { "fork" } else { "forks" };
        format!("{forks} {forks_word} of {rounds} rounds")
    });
    match (length, data.estimates.unoptimised) {
        (Some(length), false) => {
            format!("This run is too short to call any implementation faster: {length}.")
        }
        (Some(length), true) => format!(
            "This run is too short to call any implementation faster ({length}), and of an {UNOPTIMISED}."
        ),
        (None, _) => format!(
            "This run cannot call any implementation faster, since it is of an {UNOPTIMISED}."
        ),
    }
}

/// The largest number of cells of a scenario that a sentence names.
const TOLD: usize = 3;

/// Appends the medians of some cells of one scenario with their intervals: the first few, and how many more there are.
fn medians(mut sentence: Sentence, cells: &[&Cell]) -> Sentence {
    for (i, cell) in cells.iter().take(TOLD).enumerate() {
        let Some(m) = cell.measured() else {
            continue;
        };
        let unproved = match cell.unproved {
            Some(_) => ", unproved",
            None => "",
        };
        sentence = sentence
            .say(if i == 0 { "" } else { ", " })
            .name(&cell.implementation)
            .say(format!(
                " {}{} ({}{unproved})",
                m.bound(),
                number::value_with_unit(m.median, &cell.unit),
                number::interval(m.lo, m.hi, &cell.unit)
            ));
    }
    match cells.len().saturating_sub(TOLD) {
        0 => sentence,
        more => sentence.say(format!(" and {} more", in_words(more))),
    }
}

/// Medians of the typical scenarios.
fn seen(data: &Data) -> Sentence {
    let scenarios = typical(data);
    if scenarios.is_empty() {
        return Sentence::default().say(NO_NUMBER);
    }
    let mut sentence = Sentence::default();
    for (i, scenario) in scenarios.into_iter().enumerate() {
        let over = if i == 0 { "Medians for" } else { "; for" };
        sentence = sentence.say(format!("{over} {}: ", situation(scenario)));
        sentence = medians(sentence, &implementations(data, scenario));
    }
    sentence.say(".")
}

/// The means of each ranking, in its order.
fn means(data: &Data) -> Option<Sentence> {
    let rankings = data.estimates.rankings.iter();
    let rankings = rankings.filter(|r| r.view == View::All && r.is_ranked());
    let mut sentence = Sentence::default();
    let mut any = false;
    for ranking in rankings {
        let telling = ranking.ranks.iter().filter(|rank| ranking.telling(rank));
        let telling: Vec<&Rank> = telling.collect();
        if telling.is_empty() {
            continue;
        }
        let over = if any { "; over" } else { "Mean ratios over" };
        any = true;
        sentence = sentence.say(format!("{over} {}: ", cells_of(ranking)));
        for (i, rank) in telling.iter().take(TOLD).enumerate() {
            let cells = match ranking.complete(rank) {
                true => String::new(),
                false => format!(", in {} of the cells", rank.cells),
            };
            sentence = sentence
                .say(if i == 0 { "" } else { ", " })
                .name(&rank.implementation)
                .say(format!(
                    " {}{} ({}{cells})",
                    rank.at_least(),
                    number::ratio(rank.ratio),
                    number::ratio_interval(rank.lo, rank.hi)
                ));
        }
        if let more @ 1.. = telling.len().saturating_sub(TOLD) {
            sentence = sentence.say(format!(" and {} more", in_words(more)));
        }
    }
    any.then(|| sentence.say("."))
}

/// The cells of the groups that have too few for a ranking: a sentence for each group.
fn few(data: &Data) -> Vec<Sentence> {
    let rankings = data.estimates.rankings.iter();
    let few = rankings.filter(|r| r.view == View::All && !r.is_ranked());
    let told = few.map(|ranking| {
        let cells = data.estimates.cells_of(ranking);
        let measured: Vec<&Cell> = cells
            .into_iter()
            .filter(|c| c.measured().is_some())
            .collect();
        let too_few = format!("{} too few for a ranking: ", cells_are(ranking));
        let mut sentence = Sentence::default().say(too_few);
        for (i, cells) in measured
            .chunk_by(|a, b| a.scenario == b.scenario)
            .enumerate()
        {
            let between = if i == 0 { "" } else { "; " };
            sentence = sentence.say(format!("{between}in {} ", cells[0].scenario));
            sentence = medians(sentence, cells);
        }
        sentence.say(".")
    });
    told.collect()
}

/// The implementations with a number in a scenario, by median; unproved ones only if there are no others.
fn implementations<'a>(data: &Data<'a>, scenario: &Scenario) -> Vec<&'a Cell> {
    let cells = data.implementations.iter();
    let cells = cells.filter_map(|(name, _)| data.cell(&scenario.name, name));
    let cells = cells.filter(|cell| cell.measured().is_some() && !cell.reference);
    let mut cells: Vec<&Cell> = cells.collect();
    // An unproved implementation is not recommended, unless there is no other.
    if cells.iter().any(|cell| cell.competes()) {
        cells.retain(|cell| cell.competes());
    }
    cells.sort_by(|a, b| Cell::by_median(a, b));
    cells
}

/// Workload of the typical scenarios: continuous puts and takes, without a pattern of bursts or turns.
const STREAM: &str = "stream";

/// The scenarios that resemble most programs: words through a buffer of 64, one to one and four to four, blocking; else
/// the first throughput scenario.
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
                && s.axes.message_bytes == Some(8)
                && s.params
                    .get("workload")
                    .is_some_and(|workload| workload == STREAM)
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

/// Whether better means faster, and not less of something else: bytes, wake-ups, CPU time.
fn is_speed(scenario: &Scenario) -> bool {
    let in_time = matches!(&*scenario.unit, "ns" | "ns/op" | "x ideal");
    scenario.measure == Measure::Throughput || in_time
}

/// The sentence of a run without a number.
const NO_NUMBER: &str = "No implementation has a number in any scenario: see what failed below.";

/// The recommendation for the typical scenarios.
fn choice(data: &Data) -> Sentence {
    let scenarios = typical(data);
    if scenarios.is_empty() {
        return Sentence::default().say(NO_NUMBER);
    }
    let mut sentence = Sentence::default();
    for (i, scenario) in scenarios.into_iter().enumerate() {
        let cells = implementations(data, scenario);
        let over = if i == 0 { "For" } else { "; for" };
        sentence = sentence.say(format!("{over} {}, ", situation(scenario)));
        let standing = |cell: &Cell| cell.measured().map(|m| m.standing);
        let ahead = |cell: &&&Cell| standing(cell) != Some(Standing::Slower);
        let leading: Vec<&Cell> = cells.iter().filter(ahead).copied().collect();
        let all_unproved = cells.iter().all(|cell| !cell.competes());
        sentence = match *leading {
            _ if all_unproved => medians(sentence.say("nothing was proved of any: "), &cells),
            [] => medians(sentence, &cells),
            [only] => fastest(sentence, scenario, only, &cells),
            _ if leading
                .iter()
                .all(|cell| standing(cell) == Some(Standing::Level)) =>
            {
                medians(sentence, &leading).say(" are indistinguishable")
            }
            _ => medians(sentence, &leading).say(" are not told apart"),
        };
    }
    sentence.say(".")
}

/// Appends that one of these is told apart from all others.
fn fastest(sentence: Sentence, scenario: &Scenario, first: &Cell, cells: &[&Cell]) -> Sentence {
    let Some(m) = first.measured() else {
        return sentence;
    };
    let value = number::value_with_unit(m.median, &scenario.unit);
    let verb = match scenario.measure {
        Measure::Throughput if scenario.unit.starts_with("messages") => "moves",
        Measure::Throughput => "reaches",
        Measure::Latency | Measure::Cost => "takes",
    };
    let sentence = sentence.name(&first.implementation);
    let sentence = sentence.say(format!(" {verb} {value}"));
    let others = cells.iter();
    let others = others.filter(|cell| cell.implementation != first.implementation);
    let numbers = others.filter_map(|cell| Some((cell, cell.measured()?)));
    let next = numbers.max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    let Some((next, m)) = next else {
        return sentence.say(", the only one with a number there");
    };
    let times = if m.ratio > 0.0 {
        1.0 / m.ratio
    } else {
        f64::INFINITY
    };
    match is_speed(scenario) {
        true => sentence
            .say(format!(", {times:.2} times as fast as "))
            .name(&next.implementation),
        false => sentence
            .say(", where ")
            .name(&next.implementation)
            .say(format!(" takes {times:.2} times as much")),
    }
}

/// The cells of a ranking in words: `the 12 cells of channels`.
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

/// The number of cells of a group, at the beginning of a sentence: `The one cell of limiters is`.
fn cells_are(ranking: &Ranking) -> String {
    let of = cells_of(ranking).replacen("the ", "The ", 1);
    match ranking.cells {
        1 => format!("{of} is"),
        _ => format!("{of} are"),
    }
}

/// Whether a group holds channels.
fn of_channels(ranking: &Ranking) -> bool {
    matches!(&*ranking.group, "channels" | "channels-async" | "alts")
}

/// The leaders: a sentence on channels, and one on each other group in which any implementation is told apart. The
/// other groups share a sentence. Without channels the first group takes their place.
fn leads(data: &Data) -> Vec<Sentence> {
    let rankings = data.estimates.rankings.iter();
    let views = rankings.filter(|r| r.view == View::All && !r.ranks.is_empty());
    let all: Vec<&Ranking> = views.collect();
    if all.is_empty() {
        let nothing = "There is no ranking, since no cell has a number.";
        return vec![Sentence::default().say(nothing)];
    }
    let ranked = all.into_iter().filter(|ranking| ranking.is_ranked());
    let (mut first, mut others): (Vec<&Ranking>, Vec<&Ranking>) =
        ranked.partition(|ranking| of_channels(ranking));
    if first.is_empty() && !others.is_empty() {
        first.push(others.remove(0));
    }
    let mut sentences = Vec::new();
    if !first.is_empty() {
        sentences.push(together(&first));
    }
    let (apart, level): (Vec<&Ranking>, Vec<&Ranking>) =
        others.into_iter().partition(|ranking| tells_apart(ranking));
    sentences.extend(apart.iter().map(|ranking| together(&[ranking])));
    if !level.is_empty() {
        let groups: Vec<&str> = level.iter().map(|ranking| &*ranking.group).collect();
        let none = "No implementation is told apart over all cells of ";
        sentences.push(Sentence::default().say(none).names(&groups).say("."));
    }
    sentences
}

/// The leaders of these groups, in one sentence.
fn together(rankings: &[&Ranking]) -> Sentence {
    let mut sentence = Sentence::default();
    for (i, ranking) in rankings.iter().enumerate() {
        let over = if i == 0 { "Over" } else { "; over" };
        sentence = sentence.say(format!("{over} {}, ", cells_of(ranking)));
        sentence = leader(sentence, ranking);
    }
    sentence.say(".")
}

/// Whether the implementations with every cell of a ranking form more than one tier.
fn tells_apart(ranking: &Ranking) -> bool {
    let mut complete = ranking.ranks.iter().filter(|r| ranking.complete(r));
    complete.any(|rank| rank.tier > 1)
}

/// Appends the leader of a ranking.
fn leader(mut sentence: Sentence, ranking: &Ranking) -> Sentence {
    let mean = |rank: &Rank| {
        format!(
            "{}{} of the best on average ({})",
            rank.at_least(),
            number::ratio(rank.ratio),
            number::ratio_interval(rank.lo, rank.hi)
        )
    };
    let proved = ranking.ranks.iter().filter(|r| r.unproved.is_none());
    let mut partial = proved.filter(|r| !ranking.complete(r));
    if ranking.ranks.iter().all(|r| r.unproved.is_some()) {
        return sentence.say("nothing was proved of any, so none is ranked");
    }
    let Some(leader) = ranking.ranks.first().filter(|r| ranking.complete(r)) else {
        let telling = partial.find(|r| ranking.telling(r));
        sentence = match telling {
            Some(first) => sentence
                .say("none has every cell, and ")
                .name(&first.implementation)
                .say(format!(" has {} of them with {}", first.cells, mean(first))),
            None => sentence.say("none has even half of them"),
        };
        return sentence;
    };
    let of_tier = |tier: u32| {
        let complete = ranking.ranks.iter().filter(|r| ranking.complete(r));
        complete.filter(move |r| r.tier == tier)
    };
    let first: Vec<&str> = of_tier(1).map(|r| &*r.implementation).collect();
    sentence = match first.len() {
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
    if let Some(next) = of_tier(2).next() {
        sentence = sentence
            .say(", before ")
            .name(&next.implementation)
            .say(format!(" with {}", number::ratio(next.ratio)));
    }
    // An implementation that lacks few cells may be ahead of the leader, so the sentence has to mention it.
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

/// What was proved, and what the placebos say.
fn worth(data: &Data) -> Sentence {
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
        (
            with(Verdict::Hung),
            "not shown to hold, since the check hung",
        ),
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
            n if n > TOLD => {
                sentence.say(format!(" and {} more {verb} {said}", in_words(n - TOLD)))
            }
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
