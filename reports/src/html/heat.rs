//! The heat map: scenario x implementation, coloured by the logarithm of the ratio to the best.

use flowmeter_records::{Better, Scenario};

use super::heading;
use crate::chart::{Data, Key};
use crate::number;
use crate::statistics::{Measured, Standing};

/// The map of a group.
pub struct Group {
    /// As in records.
    pub group: String,
    pub name: String,
    pub implementations: Vec<Head>,
    pub rows: Vec<Row>,
}

/// An implementation at the head of its column.
pub struct Head {
    pub place: u16,
    pub name: String,
    pub origin: String,
    pub reference: bool,
}

/// A scenario.
pub struct Row {
    /// Without its group, which is in the heading.
    pub name: String,
    pub title: String,
    pub form: String,
    pub unit: String,
    pub placebo: String,
    pub cells: Vec<Cell>,
}

/// A cell of the map.
pub struct Cell {
    /// `0` close to the best to `8` far behind; `x` failed, `n` not measured, `r` a reference or unproved.
    pub heat: char,
    pub value: String,
    pub ratio: String,
    pub interval: String,
    /// The verdict about it; empty if there is none, or if it is shown in place of the interval.
    pub word: &'static str,
    pub title: String,
    /// The sort key: the ratio; empty without one.
    pub sort: String,
}

/// All groups in the order of the page. A group with several kinds of implementations has a map for each kind.
pub fn groups(data: &Data) -> Vec<Group> {
    let mut maps = Vec::new();
    for scenarios in data.scenarios.chunk_by(|a, b| a.group == b.group) {
        let keys = data.those(|name| scenarios.iter().any(|s| data.cell(&s.name, name).is_some()));
        let kinds = keys.chunk_by(|a, b| data.kind(&a.name) == data.kind(&b.name));
        let several = kinds.clone().count() > 1;
        for keys in kinds {
            let mut name = heading(&scenarios[0].group);
            if several {
                name.push_str(&format!(": {}s", data.kind(&keys[0].name)));
            }
            maps.push(map(data, name, scenarios, keys));
        }
    }
    maps
}

/// The map of one kind. Scenarios in which none of them took part are left out.
fn map(data: &Data, name: String, scenarios: &[&Scenario], keys: &[Key]) -> Group {
    let takes_part = |s: &&&Scenario| keys.iter().any(|k| data.cell(&s.name, &k.name).is_some());
    // The most rounds of any implementation in a scenario.
    let most = |scenario: &str| {
        let cells = keys
            .iter()
            .filter_map(|key| data.cell(scenario, &key.name)?.measured());
        cells.map(|m| m.rounds).max().unwrap_or(0)
    };
    let rows = scenarios.iter().filter(takes_part).map(|scenario| Row {
        name: short(&scenario.name, &scenario.group),
        title: format!("{}: {}", scenario.name, scenario.title),
        form: scenario.form.clone(),
        unit: match scenario.measure.better() {
            Better::Higher => format!("↑ {}", number::axis_name(&scenario.unit)),
            Better::Lower => format!("↓ {}", number::axis_name(&scenario.unit)),
        },
        placebo: match data.estimates.placebo(&scenario.name) {
            Some(twin) => format!("placebo {}", twin.range()),
            None => "no placebo".to_owned(),
        },
        cells: keys
            .iter()
            .map(|key| cell(data, &scenario.name, &key.name, most(&scenario.name)))
            .collect(),
    });
    Group {
        group: scenarios[0].group.clone(),
        name,
        rows: rows.collect(),
        implementations: keys
            .iter()
            .map(|key| Head {
                place: key.place,
                name: key.name.clone(),
                origin: crate::statistics::origin(data.runs, &key.name).to_string(),
                reference: key.reference,
            })
            .collect(),
    }
}

/// A scenario's name without the group it begins with.
fn short(name: &str, group: &str) -> String {
    let rest = name
        .strip_prefix(group)
        .and_then(|rest| rest.strip_prefix('/'));
    rest.unwrap_or(name).to_owned()
}

fn cell(data: &Data, scenario: &str, implementation: &str, most: usize) -> Cell {
    let Some(cell) = data.cell(scenario, implementation) else {
        return Cell {
            heat: 'n',
            value: "–".to_owned(),
            ratio: String::new(),
            interval: String::new(),
            word: "",
            title: String::new(),
            sort: String::new(),
        };
    };
    match cell.measured() {
        Some(m) => Cell {
            heat: match cell.competes() {
                true => heat(m.ratio),
                false => 'r',
            },
            value: format!("{}{}", m.bound(), number::value(m.median, &cell.unit)),
            ratio: match m.standing {
                Standing::Reached | Standing::Missed | Standing::OwnLoad => {
                    m.standing.word().to_owned()
                }
                _ => number::ratio(m.ratio),
            },
            interval: match m.standing {
                Standing::Reached | Standing::Missed | Standing::OwnLoad => String::new(),
                Standing::Best => "best".to_owned(),
                _ => number::ratio_interval(m.ratio_lo, m.ratio_hi),
            },
            word: match cell.word(data.estimates.exploratory) {
                word @ ("indistinguishable" | "unproved" | "first") => word,
                _ => "",
            },
            title: title(cell, m, most),
            sort: number::sorted(m.ratio),
        },
        None => Cell {
            heat: 'x',
            value: cell.failed().unwrap_or_default().to_owned(),
            ratio: String::new(),
            interval: String::new(),
            word: "",
            title: cell.error().unwrap_or_default(),
            sort: String::new(),
        },
    }
}

/// What else a reader has to know about a number.
fn title(cell: &crate::statistics::Cell, m: &Measured, most: usize) -> String {
    // A full number of rounds is not mentioned.
    let fewer = (m.rounds < most).then(|| format!("{} of {most} rounds", m.rounds));
    let mut said: Vec<String> = fewer.into_iter().chain(m.disturbance()).collect();
    if m.standing == Standing::AtMost {
        said.push("limited by the generator of load: the true number is at most this".to_owned());
    }
    if m.standing == Standing::Reference {
        said.push("a reference: compared with the best, and in no ranking".to_owned());
    }
    said.extend(cell.unproved.as_ref().map(|why| format!("unproved: {why}")));
    said.join(", ")
}

/// Each step is half an octave.
fn heat(ratio: f64) -> char {
    let steps = (-ratio.log2() * 2.0).round().clamp(0.0, 8.0) as u32;
    char::from_digit(steps, 10).unwrap_or('8')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_octave_is_a_step() {
        let steps: String = [1.0, 0.9, 0.7, 0.5, 0.25, 0.001]
            .into_iter()
            .map(heat)
            .collect();
        assert_eq!(steps, "001248");
    }
}
