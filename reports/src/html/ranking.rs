//! The ranking section: each group in its views. A view of few cells shows the cells, and no order.

use std::collections::BTreeSet;

use flowmeter_harness::caps::Origin;

use super::heading;
use crate::chart::Data;
use crate::checked::Checked;
use crate::number;
use crate::statistics::{Rank, Ranking, View};
use crate::terminal::{references, without_number};

/// The views of a group.
pub struct Group {
    /// As in records.
    pub group: String,
    pub name: String,
    pub views: Vec<Tab>,
    /// The references that were measured for comparison.
    pub references: String,
}

/// One view.
pub struct Tab {
    pub name: String,
    /// The names of its scenarios, separated by blanks.
    pub scenarios: String,
    pub note: String,
    /// Empty where there are too few cells for an order.
    pub rows: Vec<Row>,
    /// The cells, where they are too few for an order.
    pub cells: Vec<Cell>,
}

/// One implementation.
pub struct Row {
    pub tier: String,
    pub partial: bool,
    /// The text above it, if a line separates it from the row before.
    pub line: &'static str,
    pub name: String,
    pub place: u16,
    pub origin: String,
    /// The version of a published crate or foreign system; empty for ours, with their commit shown
    /// elsewhere.
    pub version: String,
    pub badges: Vec<Badge>,
    pub ratio: String,
    pub interval: String,
    /// Percent of the bar's length; `0` for no bar.
    pub bar: String,
    pub bar_lo: String,
    pub bar_width: String,
    pub cells: String,
}

/// A cell of a view that is not ranked.
pub struct Cell {
    pub scenario: String,
    pub name: String,
    pub place: u16,
    pub origin: String,
    pub version: String,
    pub badges: Vec<Badge>,
    pub median: String,
    /// The sort key; empty without a number.
    pub sort: String,
    pub interval: String,
    /// The verdict about it; empty if there is none.
    pub said: String,
}

/// What was checked of an implementation, shown beside its name.
pub struct Badge {
    /// `pass`, `fail`, `hung` or `none`, for its colour.
    pub kind: &'static str,
    pub text: String,
    pub title: String,
}

/// Above the implementations that lack a cell.
const PARTIAL: &str = "not in every cell, so not in order with the others; by coverage, and without a ratio below half of the cells";

/// Above the unproved implementations.
const UNPROVED: &str =
    "unproved: nothing was proved in the form of their numbers, so they are not ranked";

/// All groups, in the order of the rankings.
pub fn groups(data: &Data) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for ranking in &data.estimates.rankings {
        let name = heading(&ranking.group);
        if groups.last().is_none_or(|g| g.name != name) {
            groups.push(Group {
                group: ranking.group.clone(),
                name,
                views: Vec::new(),
                references: references(data.estimates, &ranking.group).join(", "),
            });
        }
        let group = groups.last_mut().expect("pushed above");
        group.views.push(tab(data, ranking));
    }
    groups
}

fn tab(data: &Data, ranking: &Ranking) -> Tab {
    let ranked = ranking.is_ranked();
    Tab {
        name: match &ranking.view {
            View::All => "all cells".to_owned(),
            View::Shared => "cells all share".to_owned(),
            View::Form(form) => form.clone(),
        },
        scenarios: ranking.scenarios.join(" "),
        note: note(ranking),
        rows: if ranked {
            rows(data, ranking)
        } else {
            Vec::new()
        },
        cells: if ranked {
            Vec::new()
        } else {
            cells(data, ranking)
        },
    }
}

fn note(ranking: &Ranking) -> String {
    let cells = match ranking.cells {
        1 => "Over 1 cell".to_owned(),
        n => format!("Over {n} cells"),
    };
    if !ranking.is_ranked() {
        return format!("{cells}: too few for a ranking, so these are the cells.");
    }
    let bounds = match ranking.ranks.iter().any(|rank| rank.bounds > 0) {
        true => {
            " ≥: some numbers behind it are bounds, which count as they stand and tell no tiers apart."
        }
        false => "",
    };
    format!("{cells}.{bounds}")
}

fn rows(data: &Data, ranking: &Ranking) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut drawn = "";
    let mut above = |line: &'static str| match line == drawn {
        true => "",
        false => {
            drawn = line;
            line
        }
    };
    for rank in &ranking.ranks {
        let line = match (ranking.complete(rank), &rank.unproved) {
            (true, _) => "",
            (false, None) => above(PARTIAL),
            (false, Some(_)) => above(UNPROVED),
        };
        rows.push(row(data, ranking, rank, line));
    }
    if ranking.view == View::All {
        for (name, failed) in without_number(data.estimates, ranking) {
            rows.push(Row {
                tier: "–".to_owned(),
                partial: true,
                line: above("without a number"),
                name: name.to_owned(),
                place: data.place(name),
                origin: crate::statistics::origin(data.runs, name).to_string(),
                version: version(data, name),
                badges: badges(ranking, name),
                ratio: "no number".to_owned(),
                interval: format!("in {failed}"),
                bar: "0".to_owned(),
                bar_lo: "0".to_owned(),
                bar_width: "0".to_owned(),
                cells: format!("0/{}", ranking.cells),
            });
        }
    }
    rows
}

fn row(data: &Data, ranking: &Ranking, rank: &Rank, line: &'static str) -> Row {
    let (complete, telling) = (ranking.complete(rank), ranking.telling(rank));
    let share = |x: f64| match telling {
        true => format!("{:.1}", x.clamp(0.0, 1.0) * 100.0),
        false => "0".to_owned(),
    };
    Row {
        tier: match complete {
            true => rank.tier.to_string(),
            false => "–".to_owned(),
        },
        partial: !complete,
        line,
        name: rank.implementation.clone(),
        place: data.place(&rank.implementation),
        origin: rank.origin.to_string(),
        version: version(data, &rank.implementation),
        badges: badges(ranking, &rank.implementation),
        ratio: match (&rank.unproved, telling) {
            (Some(_), _) => "unproved".to_owned(),
            (None, true) => format!("{}{}", rank.at_least(), number::ratio(rank.ratio)),
            (None, false) => "–".to_owned(),
        },
        interval: match (&rank.unproved, telling) {
            (Some(why), _) => why.clone(),
            (None, true) => number::ratio_interval(rank.lo, rank.hi),
            (None, false) => "too few cells".to_owned(),
        },
        bar: share(rank.ratio),
        bar_lo: share(rank.lo),
        bar_width: share(rank.hi.min(1.0) - rank.lo),
        cells: format!("{}/{}", rank.cells, ranking.cells),
    }
}

/// The cells of a view that is not ranked.
fn cells(data: &Data, ranking: &Ranking) -> Vec<Cell> {
    let exploratory = data.estimates.exploratory;
    let of_view = data.estimates.cells_of(ranking).into_iter();
    let cells = of_view.map(|cell| {
        let name = &*cell.implementation;
        let (median, interval, said) = match cell.measured() {
            Some(m) => (
                format!(
                    "{}{}",
                    m.bound(),
                    number::value_with_unit(m.median, &cell.unit)
                ),
                number::interval(m.lo, m.hi, &cell.unit),
                match &cell.unproved {
                    Some(why) => why.clone(),
                    None => cell.word(exploratory).to_owned(),
                },
            ),
            None => (
                "no number".to_owned(),
                String::new(),
                cell.failed().unwrap_or_default().to_owned(),
            ),
        };
        Cell {
            scenario: cell.scenario.clone(),
            name: name.to_owned(),
            place: data.place(name),
            origin: cell.origin.to_string(),
            version: version(data, name),
            badges: badges(ranking, name),
            median,
            sort: (cell.measured()).map_or(String::new(), |m| format!("{:.2e}", m.median)),
            interval,
            said,
        }
    });
    cells.collect()
}

/// The versions that all runs recorded, which may be several.
fn version(data: &Data, implementation: &str) -> String {
    let all = data.runs.iter();
    let all = all.filter_map(|run| run.implementations.get(implementation));
    let of_others = all.filter(|it| matches!(it.origin, Origin::Peer | Origin::Foreign));
    let versions: BTreeSet<&str> = of_others.map(|it| &*it.version).collect();
    Vec::from_iter(versions).join(", ")
}

fn badges(ranking: &Ranking, implementation: &str) -> Vec<Badge> {
    let checked = ranking.checked(implementation).iter();
    checked.map(badge).collect()
}

fn badge(checked: &Checked) -> Badge {
    Badge {
        kind: match () {
            () if !checked.failed.is_empty() || !checked.broke_off.is_empty() => "fail",
            () if !checked.hung.is_empty() => "hung",
            () if checked.held.is_empty() || checked.undecided() > 0 => "none",
            () => "pass",
        },
        text: checked.word(),
        title: checked.sentence(),
    }
}
