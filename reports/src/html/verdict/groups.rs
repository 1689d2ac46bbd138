//! What leads over each group of scenarios.

use super::{Row, Sentence, TOLD, medians};
use crate::chart::Data;
use crate::number;
use crate::statistics::{Cell, Rank, Ranking, View};

/// A row for each ranked group in the order of the page; then one for each scenario of a group with too few cells for
/// a ranking.
pub fn rows(data: &Data) -> Vec<Row> {
    let views = data.estimates.rankings.iter();
    let all = views.filter(|r| r.view == View::All && !r.ranks.is_empty());
    let (ranked, few): (Vec<&Ranking>, Vec<&Ranking>) = all.partition(|r| r.is_ranked());
    let ranked = ranked.into_iter().map(|ranking| Row {
        over: over(ranking),
        leading: match data.estimates.exploratory {
            true => means(ranking),
            false => leading(ranking),
        },
        next: match data.estimates.exploratory {
            true => Sentence::default(),
            false => next(ranking),
        },
    });
    let ranked: Vec<Row> = ranked.collect();
    let few = few.into_iter().flat_map(|ranking| cells(data, ranking));
    ranked.into_iter().chain(few).collect()
}

/// The cells of a ranking in words: `channels, 12 cells`.
fn over(ranking: &Ranking) -> String {
    let group = match ranking.group.strip_suffix("-async") {
        Some(group) => format!("async {group}"),
        None => ranking.group.clone(),
    };
    match ranking.cells {
        1 => format!("{group}, 1 cell"),
        n => format!("{group}, {n} cells"),
    }
}

/// A row for each scenario of a group that is not ranked.
fn cells(data: &Data, ranking: &Ranking) -> Vec<Row> {
    let cells = data.estimates.cells_of(ranking).into_iter();
    let measured: Vec<&Cell> = cells.filter(|cell| cell.measured().is_some()).collect();
    let each = measured.chunk_by(|a, b| a.scenario == b.scenario);
    let rows = each.map(|cells| Row {
        over: cells[0].scenario.clone(),
        leading: medians(cells),
        next: Sentence::default().say("too few cells for a ranking"),
    });
    rows.collect()
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
