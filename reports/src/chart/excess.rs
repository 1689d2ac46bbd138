//! How full the fullest period of limiters was: a bar for each implementation, and a mark at its promise.

use flowmeter_records::Scenario;
use plotters::element::Rectangle;
use plotters::style::Color;

use super::axis::Axis;
use super::frame::{Frame, line};
use super::svg::Ink;
use super::{Chart, Data, Hover, Key, dots, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::{FullestPeriod, Promise};

/// Draws a scenario's chart, if its periods were recorded.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Option<Chart>, ReportError> {
    let of = |name: &str| {
        let mut periods = data.estimates.periods.iter();
        periods.find(|p| p.scenario == scenario.name && p.implementation == name)
    };
    let keys = data.those(|name| of(name).is_some());
    let mut periods: Vec<(&Key, &FullestPeriod)> = keys
        .iter()
        .filter_map(|key| Some((key, of(&key.name)?)))
        .collect();
    periods.sort_by(|a, b| a.1.share().total_cmp(&b.1.share()));
    let Some((_, first)) = periods.first() else {
        return Ok(None);
    };
    let (allowed, period) = (first.allowed, number::nanos(first.period_nanos as f64));
    let reach = periods
        .iter()
        .map(|(_, p)| p.share().max(p.promise.most().unwrap_or(1.0)));
    let reach = reach.fold(1.0, f64::max);
    let row = |n: usize| (periods.len() - 1 - n) as f64;
    let names = periods.iter().rev().map(|(key, _)| dots::short(&key.name));
    let frame = Frame {
        width: 440,
        height: 70 + 19 * periods.len() as u32,
        x: Axis::from_zero(reach, |v| number::tick(v, "")),
        y: Axis::categories(names.collect()),
        x_name: "acquisitions in the fullest period, times what is allowed".to_owned(),
        y_name: String::new(),
        x_grid: true,
        y_grid: false,
    };
    let shapes = frame.draw(&scenario.name, |inside, _| {
        for (n, (key, fullest)) in periods.iter().enumerate() {
            let corners = [(0.0, row(n) + 0.3), (fullest.share(), row(n) - 0.3)];
            let style = Ink::Marker(key.place).colour().filled();
            inside.draw_series([Rectangle::new(corners, style)])?;
            if let Some(most) = fullest.promise.most() {
                let mark = vec![(most, row(n) - 0.5), (most, row(n) + 0.5)];
                inside.draw_series([line(mark, Ink::Bound)])?;
            }
        }
        Ok(())
    })?;
    let head = [
        "",
        "fullest period",
        "times allowed",
        "median of the rounds",
        "promises",
        "rounds",
    ];
    let rows = periods.iter().map(|(key, p)| {
        vec![
            key.name.clone(),
            number::count(p.worst),
            format!("{:.3}", p.share()),
            number::tick(p.typical, ""),
            promise(p).to_owned(),
            p.rounds.to_string(),
        ]
    });
    let title = format!(
        "Fullest {period} against the {} allowed: at or below its dashed mark is better",
        number::count(allowed)
    );
    Ok(Some(Chart {
        subtitle: format!("{} · dashed: the most that each promises", scenario.name),
        description: format!(
            "{title}. {}.",
            periods
                .iter()
                .map(|(key, p)| format!("{}: {:.2} times", key.name, p.share()))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Rows((0..periods.len()).map(|n| frame.y_pixel(row(n))).collect()),
        head: head.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        failures: super::failures(data, scenario)
            .into_iter()
            .map(|(name, error)| format!("{name}: {error}"))
            .collect(),
        alarms: Vec::new(),
        remark: format!("{}{}", seen(&periods), LATE),
        why: String::new(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
        keys: Vec::new(),
    }))
}

/// What an excess means, and what it does not.
const LATE: &str = "This counts when acquirers ran on. What is promised is when the permit was granted. \
                    An acquirer that is woken late starts in a later period, so a small excess can be lateness. \
                    The checks of L1 and L2 judge the promise.";

fn promise(of: &FullestPeriod) -> &'static str {
    match of.promise {
        Promise::Window => "every period (window-bound)",
        Promise::Rate => "burst and rate (rate-bound)",
        Promise::None => "nothing",
    }
}

/// The implementations observed above their promise, in words.
fn seen(periods: &[(&Key, &FullestPeriod)]) -> String {
    let above = |p: &FullestPeriod| p.promise.most().is_some_and(|most| p.share() > most);
    let said: Vec<String> = periods
        .iter()
        .filter(|(_, p)| above(p))
        .map(|(key, p)| {
            let most = p.promise.most().unwrap_or(1.0) * p.allowed as f64;
            let over = p.worst.saturating_sub(most as u64);
            format!("{} by {}", key.name, number::count(over))
        })
        .collect();
    match said.is_empty() {
        true => "No limiter was seen above what it promises. ".to_owned(),
        false => format!("Seen above what it promises: {}. ", said.join(", ")),
    }
}
