//! The ranking section: each group in its views. A view of few cells shows the cells, and no order.

use std::collections::BTreeSet;

use flowmeter_harness::caps::Origin;

use super::heading;
use crate::chart::Data;
use crate::checked::{Checked, SELF_CHECKED};
use crate::number;
use crate::statistics::{Quantity, Rank, Ranking, Standing, View};
use crate::terminal::{references, without_number};

/// The views of a group.
pub struct Group {
    /// As in records.
    pub group: String,
    pub name: String,
    pub views: Vec<Tab>,
    /// Quantities with too few cells for a ranking, beside those that have one; empty if there are none.
    pub unranked: String,
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
    /// The verdict about it; empty if it is undecided.
    pub said: String,
}

/// What was checked of an implementation, shown beside its name.
pub struct Badge {
    /// `pass`, `fail`, `hung` or `none`, for its colour.
    pub kind: &'static str,
    pub text: String,
    /// Empty where another place has it.
    pub title: String,
}

/// Above the implementations that lack a cell.
const PARTIAL: &str = "not in every cell, so not in order with the others; by coverage, and without a ratio below half of the cells";

/// Above the unproved implementations.
const UNPROVED: &str =
    "unproved: nothing was proved in the form of their numbers, so they are not ranked";

/// All groups, in the order of the rankings. Where a group has a ranking by value, quantities with too few cells for one are only
/// named: the heat map has their cells.
pub fn groups(data: &Data) -> Vec<Group> {
    let rankings = &data.estimates.rankings;
    let groups = rankings.chunk_by(|a, b| a.group == b.group);
    let groups = groups.map(|of_group| {
        let has_place = |r: &&Ranking| r.is_ranked() && r.quantity != Quantity::CpuTime;
        let any = of_group.iter().any(|r| has_place(&r));
        let (shown, named): (Vec<&Ranking>, Vec<&Ranking>) =
            of_group.iter().partition(|r| r.is_ranked() || !any);
        let named = named.into_iter().filter(|r| r.view == View::All);
        let named = named.map(|r| format!("{} ({})", r.quantity.name(), r.scenarios.join(", ")));
        let mut group = Group {
            group: of_group[0].group.clone(),
            name: heading(&of_group[0].group),
            views: shown.into_iter().map(|r| tab(data, r)).collect(),
            unranked: named.collect::<Vec<String>>().join("; "),
            references: references(data.estimates, &of_group[0].group).join(", "),
        };
        tell_once(&mut group);
        group
    });
    groups.collect()
}

/// Removes the sentence of a badge where an earlier view of the group has it beside the same name, and the one that
/// stands above the rankings.
fn tell_once(group: &mut Group) {
    let mut told = BTreeSet::new();
    for view in &mut group.views {
        let rows = view.rows.iter_mut().map(|row| (&row.name, &mut row.badges));
        let cells = view.cells.iter_mut();
        let cells = cells.map(|cell| (&cell.name, &mut cell.badges));
        for (name, badges) in rows.chain(cells) {
            for badge in badges {
                let is_noted = badge.title == SELF_CHECKED;
                if is_noted || !told.insert((name.clone(), badge.title.clone())) {
                    badge.title.clear();
                }
            }
        }
    }
}

fn tab(data: &Data, ranking: &Ranking) -> Tab {
    let ranked = ranking.is_ranked();
    let mut tab = Tab {
        name: match &ranking.view {
            View::All => ranking.quantity.name().to_owned(),
            View::Shared => "cells all share".to_owned(),
            View::Form(form) => form.clone(),
        },
        scenarios: match ranking.quantity {
            // The heat map has no ratios of CPU time, so the page cannot choose among these.
            Quantity::CpuTime => String::new(),
            _ => ranking.scenarios.join(" "),
        },
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
    };
    if ranking.quantity == Quantity::CpuTime {
        // A page has many of these rows. The view of speed has the rest of them.
        for row in &mut tab.rows {
            row.badges.clear();
            row.version.clear();
            "0".clone_into(&mut row.bar);
        }
    }
    tab
}

fn note(ranking: &Ranking) -> String {
    let cells = match ranking.cells {
        1 => "Over 1 cell".to_owned(),
        n => format!("Over {n} cells"),
    };
    if ranking.quantity == Quantity::Ceiling {
        return format!(
            "{cells}: a rate dictates the time, which is reached within 5 %, or missed."
        );
    }
    if ranking.quantity == Quantity::OwnLoad {
        return format!("{cells}: each has a load of its own, so there is no order.");
    }
    if !ranking.is_ranked() {
        return format!("{cells}: too few for a ranking, so these are the cells.");
    }
    let bounds = match ranking.ranks.iter().any(|rank| rank.bounds > 0) {
        true => {
            " ≥: some numbers behind it are bounds, which count as they stand and tell no tiers apart."
        }
        false => "",
    };
    let of = match ranking.quantity {
        Quantity::CpuTime => ": CPU time of an operation, in every scenario that records it",
        Quantity::Excess => ": excess over the ideal makespan, at least 1 % of it",
        _ => "",
    };
    format!("{cells}{of}.{bounds}")
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
                    None if m.standing == Standing::Undecided => String::new(),
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
