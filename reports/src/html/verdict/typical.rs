//! The scenarios that resemble most programs, and which implementation to use there.

use flowmeter_records::{Measure, Scenario};

use super::{Row, Sentence, TOLD, medians};
use crate::chart::Data;
use crate::statistics::{Cell, Standing};

/// A row for each of them.
pub fn rows(data: &Data) -> Vec<Row> {
    let scenarios = typical(data).into_iter();
    scenarios.map(|scenario| row(data, scenario)).collect()
}

fn row(data: &Data, scenario: &Scenario) -> Row {
    let cells = implementations(data, scenario);
    let over = situation(scenario);
    let row = |cells: &[&Cell], next: Sentence| Row {
        over: over.clone(),
        leading: medians(cells, TOLD),
        next,
        least_cpu: Sentence::default(),
    };
    let say = |text: &str| Sentence::default().say(text);
    if data.estimates.exploratory {
        return row(&cells, Sentence::default());
    }
    if cells.iter().all(|cell| !cell.competes()) {
        return row(&cells, say("nothing was proved of any"));
    }
    let standing = |cell: &Cell| cell.measured().map(|m| m.standing);
    let ahead = |cell: &&&Cell| standing(cell) != Some(Standing::Slower);
    let leading: Vec<&Cell> = cells.iter().filter(ahead).copied().collect();
    let level = |cell: &&Cell| standing(cell) == Some(Standing::Level);
    match *leading {
        [] => row(&cells, Sentence::default()),
        [only] => row(&[only], behind(scenario, only, &cells)),
        _ if leading.iter().all(level) => row(&leading, say("indistinguishable")),
        _ => row(&leading, say("not told apart")),
    }
}

/// How far the next one is behind the only one ahead.
fn behind(scenario: &Scenario, first: &Cell, cells: &[&Cell]) -> Sentence {
    let others = cells.iter();
    let others = others.filter(|cell| cell.implementation != first.implementation);
    let numbers = others.filter_map(|cell| Some((cell, cell.measured()?)));
    let next = numbers.max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    let Some((next, m)) = next else {
        return Sentence::default().say("the only one with a number there");
    };
    let times = if m.ratio > 0.0 {
        1.0 / m.ratio
    } else {
        f64::INFINITY
    };
    match is_speed(scenario) {
        true => Sentence::default()
            .say(format!("{times:.2} times as fast as "))
            .name(&next.implementation),
        false => Sentence::default()
            .name(&next.implementation)
            .say(format!(" takes {times:.2} times as much")),
    }
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

/// The scenario in words.
fn situation(scenario: &Scenario) -> String {
    let plural = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    match (
        scenario.axes.producers,
        scenario.axes.consumers,
        scenario.axes.capacity,
    ) {
        (Some(p), Some(c), Some(capacity)) if scenario.group == "channels" => format!(
            "{}, {}, capacity {capacity}",
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
