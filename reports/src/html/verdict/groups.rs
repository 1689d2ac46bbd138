//! What leads over each group of scenarios, and what costs the least CPU time there.

use super::{Row, Sentence, TOLD, medians};
use crate::chart::Data;
use crate::number;
use crate::statistics::{Cell, HELD_OUT, Quantity, Rank, Ranking, Standing, View};

/// A row for each ranking but those of CPU time, which have a column. Cells that are too few for a ranking have rows where
/// nothing else of their group is ranked.
pub fn rows(data: &Data) -> Vec<Row> {
    let views = data.estimates.rankings.iter();
    let all: Vec<&Ranking> = views
        .filter(|r| r.view == View::All && !r.ranks.is_empty())
        .collect();
    let is_cpu = |r: &Ranking| r.quantity == Quantity::CpuTime;
    let has_row = |r: &Ranking| r.is_ranked() && !is_cpu(r);
    let least_cpu = |group: &str| {
        let cpu = all.iter().find(|r| r.group == group && is_cpu(r));
        cpu.filter(|r| r.is_ranked() && !data.estimates.exploratory)
            .map_or(Sentence::default(), |r| leading(r))
    };
    let groups = all.chunk_by(|a, b| a.group == b.group);
    let mut rows: Vec<Row> = Vec::new();
    for group in groups.clone() {
        let mut cpu = least_cpu(&group[0].group);
        rows.extend(group.iter().filter(|r| has_row(r)).map(|ranking| Row {
            over: over(ranking),
            leading: match data.estimates.exploratory {
                true => means(ranking),
                false => leading(ranking),
            },
            next: match data.estimates.exploratory {
                true => Sentence::default(),
                false => next(ranking),
            },
            least_cpu: std::mem::take(&mut cpu),
        }));
    }
    for group in groups.filter(|group| !group.iter().any(|r| has_row(r))) {
        let mut cpu = least_cpu(&group[0].group);
        let cells = group.iter().filter(|r| !(r.is_ranked() && is_cpu(r)));
        rows.extend(
            cells
                .flat_map(|ranking| cells_in(data, ranking))
                .map(|row| Row {
                    least_cpu: std::mem::take(&mut cpu),
                    ..row
                }),
        );
    }
    rows
}

/// The cells of a ranking in words: `channels, 12 cells`.
fn over(ranking: &Ranking) -> String {
    let (group, held_out) = match ranking.group.strip_suffix(HELD_OUT) {
        Some(group) => (group, ", held out"),
        None => (&*ranking.group, ""),
    };
    let group = match group.strip_suffix("-async") {
        Some(group) => format!("async {group}{held_out}"),
        None => format!("{group}{held_out}"),
    };
    let of = match ranking.quantity {
        Quantity::Speed => String::new(),
        other => format!(", {}", other.name()),
    };
    match ranking.cells {
        1 => format!("{group}{of}, 1 cell"),
        n => format!("{group}{of}, {n} cells"),
    }
}

/// How many implementations have their medians in a row of a scenario that is not ranked.
const FEW: usize = 2;

/// A row for each scenario of a group that is not ranked.
fn cells_in(data: &Data, ranking: &Ranking) -> Vec<Row> {
    let cells = data.estimates.cells_of(ranking).into_iter();
    let measured: Vec<&Cell> = cells.filter(|cell| cell.measured().is_some()).collect();
    let each = measured.chunk_by(|a, b| a.scenario == b.scenario);
    let rows = each.map(|cells| Row {
        over: cells[0].scenario.clone(),
        leading: medians(cells, FEW),
        next: Sentence::default().say(match ranking.quantity {
            Quantity::Ceiling => ceiling(cells),
            Quantity::OwnLoad => "each has a load of its own: not compared".to_owned(),
            _ => "too few cells for a ranking".to_owned(),
        }),
        least_cpu: Sentence::default(),
    });
    rows.collect()
}

/// How many keep the time that a rate dictates.
fn ceiling(cells: &[&Cell]) -> String {
    let reached = |cell: &&&Cell| cell.measured().map(|m| m.standing) == Some(Standing::Reached);
    let reached = cells.iter().filter(reached).count();
    format!("{reached} of {} keep the ceiling", cells.len())
}

fn mean(rank: &Rank) -> String {
    let (least, ratio) = (rank.at_least(), number::ratio(rank.ratio));
    format!(
        "{least}{ratio} ({})",
        number::ratio_interval(rank.lo, rank.hi)
    )
}

/// The first means, without a comparison.
fn means(ranking: &Ranking) -> Sentence {
    let telling = ranking.ranks.iter().filter(|rank| ranking.telling(rank));
    let telling: Vec<&Rank> = telling.collect();
    let mut sentence = Sentence::default();
    for (i, rank) in telling.iter().take(TOLD).enumerate() {
        sentence = sentence.say(if i == 0 { "" } else { ", " });
        sentence = sentence.name(&rank.implementation);
        sentence = sentence.say(match ranking.complete(rank) {
            true => format!(" {}", mean(rank)),
            false => format!(" {} in {} of the cells", mean(rank), rank.cells),
        });
    }
    sentence.more(telling.len().saturating_sub(TOLD))
}

/// The complete entrants of a tier.
fn of_tier(ranking: &Ranking, tier: u32) -> impl Iterator<Item = &Rank> {
    let complete = ranking.ranks.iter().filter(|r| ranking.complete(r));
    complete.filter(move |r| r.tier == tier)
}

/// The first tier, with the mean of its first.
fn leading(ranking: &Ranking) -> Sentence {
    if ranking.ranks.iter().all(|r| r.unproved.is_some()) {
        return Sentence::default().say("nothing was proved of any, so none is ranked");
    }
    let first: Vec<&Rank> = of_tier(ranking, 1).collect();
    let Some(leader) = first.first() else {
        return Sentence::default().say("none has every cell");
    };
    let names: Vec<&str> = first.iter().map(|r| &*r.implementation).collect();
    let sentence = Sentence::default().names(&names[..names.len().min(4)]);
    let sentence = sentence.more(names.len().saturating_sub(4));
    sentence.say(format!(" {}", mean(leader)))
}

/// The first of the second tier. An implementation that lacks few cells may be ahead of the leader, so it is named too.
fn next(ranking: &Ranking) -> Sentence {
    let mut sentence = Sentence::default();
    let mut between = "";
    if let Some(next) = of_tier(ranking, 2).next() {
        let ratio = number::ratio(next.ratio);
        sentence = sentence.name(&next.implementation).say(format!(" {ratio}"));
        between = "; ";
    } else if of_tier(ranking, 1).count() > 1 {
        sentence = sentence.say("not told apart");
        between = "; ";
    }
    let partial = ranking.ranks.iter().filter(|r| !ranking.complete(r));
    let best = partial
        .filter(|r| ranking.telling(r))
        .max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let Some(best) = best else {
        return sentence;
    };
    let (ratio, cells) = (number::ratio(best.ratio), best.cells);
    sentence
        .say(between)
        .name(&best.implementation)
        .say(format!(" {ratio} in only {cells} cells"))
}
