//! The ranking section: each group in its views.

use flowmeter_harness::caps::Origin;

use super::heading;
use crate::chart::Data;
use crate::checked::Checked;
use crate::number;
use crate::statistics::{Rank, Ranking, View};
use crate::terminal::{references, without_number};

/// A group's views.
pub struct Group {
    pub name: String,
    pub views: Vec<Tab>,
    /// Who was measured beside them for comparison.
    pub references: String,
}

/// One view.
pub struct Tab {
    pub name: String,
    pub note: String,
    pub rows: Vec<Row>,
}

/// One implementation.
pub struct Row {
    pub tier: String,
    pub partial: bool,
    /// The first of the partial entrants: a line is drawn above.
    pub first_partial: bool,
    pub name: String,
    pub place: u16,
    pub origin: String,
    /// What a published crate or a system of others was; empty for ours, whose commit stands elsewhere.
    pub version: String,
    pub badge: Badge,
    pub ratio: String,
    pub interval: String,
    /// Percent of the bar's length; `0` for no bar.
    pub bar: String,
    pub bar_lo: String,
    pub bar_width: String,
    pub cells: String,
}

/// What was checked of an implementation, beside its name.
pub struct Badge {
    /// `pass`, `fail` or `none`, for its colour.
    pub kind: &'static str,
    pub text: String,
    pub title: String,
}

/// All groups, in the order of the rankings.
pub fn groups(data: &Data) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for ranking in &data.estimates.rankings {
        let name = heading(&ranking.group);
        if groups.last().is_none_or(|g| g.name != name) {
            groups.push(Group {
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
    let mut rows = Vec::new();
    let mut line_drawn = false;
    for rank in &ranking.ranks {
        let partial = !ranking.complete(rank);
        rows.push(row(data, ranking, rank, partial, partial && !line_drawn));
        line_drawn |= partial;
    }
    if ranking.view == View::All {
        for (name, failed) in without_number(data.estimates, ranking) {
            rows.push(Row {
                tier: "–".to_owned(),
                partial: true,
                first_partial: !line_drawn,
                name: name.to_owned(),
                place: data.place(name),
                origin: crate::statistics::origin(data.runs, name).to_string(),
                version: version(data, name),
                badge: badge(data, name),
                ratio: "no number".to_owned(),
                interval: format!("{failed} failed"),
                bar: "0".to_owned(),
                bar_lo: "0".to_owned(),
                bar_width: "0".to_owned(),
                cells: format!("0/{}", ranking.cells),
            });
            line_drawn = true;
        }
    }
    let cells = match ranking.cells {
        1 => "Over 1 cell".to_owned(),
        n => format!("Over {n} cells"),
    };
    Tab {
        name: match &ranking.view {
            View::All => "all cells".to_owned(),
            View::Shared => "cells all share".to_owned(),
            View::Form(form) => form.clone(),
        },
        note: format!(
            "{cells}.{}",
            if ranking.ranks.iter().any(|rank| rank.bounds > 0) {
                " ≥: some numbers behind it are bounds, which count as they stand and tell no tiers apart."
            } else {
                ""
            }
        ),
        rows,
    }
}

fn row(data: &Data, ranking: &Ranking, rank: &Rank, partial: bool, first_partial: bool) -> Row {
    let telling = ranking.telling(rank);
    let share = |x: f64| match telling {
        true => format!("{:.1}", x.clamp(0.0, 1.0) * 100.0),
        false => "0".to_owned(),
    };
    Row {
        tier: if partial {
            "–".to_owned()
        } else {
            rank.tier.to_string()
        },
        partial,
        first_partial,
        name: rank.implementation.clone(),
        place: data.place(&rank.implementation),
        origin: rank.origin.to_string(),
        version: version(data, &rank.implementation),
        badge: badge(data, &rank.implementation),
        ratio: if telling {
            format!("{}{}", rank.at_least(), number::ratio(rank.ratio))
        } else {
            "–".to_owned()
        },
        interval: if telling {
            number::ratio_interval(rank.lo, rank.hi)
        } else {
            "too few cells".to_owned()
        },
        bar: share(rank.ratio),
        bar_lo: share(rank.lo),
        bar_width: share(rank.hi.min(1.0) - rank.lo),
        cells: format!("{}/{}", rank.cells, ranking.cells),
    }
}

fn version(data: &Data, implementation: &str) -> String {
    let it = crate::statistics::implementation(data.runs, implementation);
    let of_others = it.filter(|it| it.origin != Origin::Own);
    of_others.map_or_else(String::new, |it| it.version.clone())
}

fn badge(data: &Data, implementation: &str) -> Badge {
    let checked = Checked::of(data.runs, implementation);
    Badge {
        kind: match checked {
            Checked::Failed(_) => "fail",
            Checked::Held(_) => "pass",
            Checked::Itself | Checked::Nothing => "none",
        },
        text: checked.word(),
        title: checked.sentence(),
    }
}
