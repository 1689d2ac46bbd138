//! The rankings of several machines side by side: whether an order holds on other machines.

use super::{Source, heading};
use crate::number;
use crate::statistics::{Rank, Ranking, View};

/// A group: implementations by machine.
pub struct Group {
    pub name: String,
    pub machines: Vec<String>,
    pub rows: Vec<Row>,
}

/// An implementation.
pub struct Row {
    pub name: String,
    pub origin: String,
    /// One for each machine.
    pub cells: Vec<Cell>,
}

/// Its ratio on a machine, and the sort key.
pub struct Cell {
    pub ratio: String,
    pub said: String,
    pub sort: String,
}

/// Every group that several machines rank; none if there is one machine.
pub fn groups(sources: &[Source]) -> Vec<Group> {
    let rankings = |source: &Source| {
        let all = source.estimates.rankings.clone().into_iter();
        all.filter(|ranking| ranking.view == View::All && ranking.is_ranked())
            .collect::<Vec<Ranking>>()
    };
    let of_machine: Vec<Vec<Ranking>> = sources.iter().map(rankings).collect();
    let mut names: Vec<String> = Vec::new();
    for ranking in of_machine.iter().flatten() {
        if !names.contains(&ranking.title()) {
            names.push(ranking.title());
        }
    }
    let group = |name: &String| {
        let find = |of: &'_ [Ranking]| of.iter().position(|ranking| ranking.title() == *name);
        let places: Vec<Option<usize>> = of_machine.iter().map(|of| find(of)).collect();
        let several = places.iter().flatten().count() > 1;
        several.then(|| {
            let rankings = of_machine.iter().zip(&places);
            let rankings: Vec<Option<&Ranking>> = rankings
                .map(|(of, place)| place.map(|at| &of[at]))
                .collect();
            Group {
                name: heading(name),
                machines: sources.iter().map(|source| source.name.clone()).collect(),
                rows: rows(&rankings),
            }
        })
    };
    names.iter().filter_map(group).collect()
}

/// All implementations that any machine ranks, in the order of the first machine that does.
fn rows(rankings: &[Option<&Ranking>]) -> Vec<Row> {
    let mut known: Vec<&Rank> = Vec::new();
    for rank in rankings.iter().flatten().flat_map(|ranking| &ranking.ranks) {
        if known
            .iter()
            .all(|other| other.implementation != rank.implementation)
        {
            known.push(rank);
        }
    }
    let row = |implementation: &Rank| Row {
        name: implementation.implementation.clone(),
        origin: implementation.origin.to_string(),
        cells: rankings
            .iter()
            .map(|ranking| cell(*ranking, &implementation.implementation))
            .collect(),
    };
    known.into_iter().map(row).collect()
}

fn cell(ranking: Option<&Ranking>, name: &str) -> Cell {
    let found = ranking.and_then(|ranking| {
        let mut ranks = ranking.ranks.iter();
        Some((ranking, ranks.find(|rank| rank.implementation == name)?))
    });
    match found {
        Some((ranking, rank)) if ranking.telling(rank) => Cell {
            ratio: format!("{}{}", rank.at_least(), number::ratio(rank.ratio)),
            said: match ranking.complete(rank) {
                true => format!(
                    "tier {}, {}",
                    rank.tier,
                    number::ratio_interval(rank.lo, rank.hi)
                ),
                false => format!("{} of {} cells", rank.cells, ranking.cells),
            },
            sort: format!("{:.4}", rank.ratio),
        },
        found => Cell {
            ratio: "–".to_owned(),
            said: match found.and_then(|(_, rank)| rank.unproved.as_ref()) {
                Some(_) => "unproved".to_owned(),
                None => String::new(),
            },
            sort: String::new(),
        },
    }
}
