//! One self-contained page: opens from disk, asks the network for nothing, reads without scripts.
//!
//! Everything that comes from a record passes through the template's escaping (or, inside pictures,
//! through the drawing backend's). The same input gives the same bytes: no clock, no hash order.

mod claims;
mod cost;
mod heat;
mod machine;
mod proofs;
mod ranking;
mod reproduce;
mod theme;
mod verdict;

use askama::Template;
use flowmeter_harness::record::RunData;

use crate::chart::{self, Chart, Data, Hover};
use crate::error::ReportError;
use crate::statistics::Estimates;
use verdict::Sentence;

/// The page.
#[derive(Template)]
#[template(path = "report.html", whitespace = "minimize")]
struct Page {
    style: String,
    script: &'static str,
    symbols: String,
    subtitle: String,
    warnings: Vec<String>,
    verdict: Vec<Sentence>,
    rankings: Vec<ranking::Group>,
    exploratory: bool,
    proofs: proofs::Proofs,
    heat: Vec<heat::Group>,
    costs: Vec<cost::Group>,
    uncontended: Option<cost::Uncontended>,
    claims: Vec<claims::Text>,
    charts: Vec<Charts>,
    machines: Vec<machine::Card>,
    noise: machine::Noise,
    commands: Vec<String>,
}

/// The charts of a group.
struct Charts {
    group: String,
    figures: Vec<Figure>,
}

/// A chart, and what measures it again.
struct Figure {
    chart: Chart,
    hover: String,
    commands: Vec<String>,
    provenance: String,
}

/// Renders the page of these runs from their estimates.
///
/// # Errors
/// [`ReportError`] when the runs contradict each other or the page cannot be put together.
pub fn render(runs: &[RunData], estimates: &Estimates) -> Result<String, ReportError> {
    let first = runs.first().ok_or(ReportError::NoRuns)?;
    let data = Data::new(runs, estimates)?;
    let provenance = reproduce::provenance(runs);
    let mut charts = Vec::new();
    let names: Vec<&str> = data.scenarios.iter().map(|s| &*s.name).collect();
    let mut groups: Vec<&str> = data.scenarios.iter().map(|s| &*s.group).collect();
    groups.dedup();
    for group in groups {
        let mut said = String::new();
        let figures: Vec<Figure> = chart::charts(&data, group)?
            .into_iter()
            .map(|mut chart| {
                // Families share their reasons; saying one twice in a row helps nobody.
                if chart.why == said {
                    chart.why.clear();
                } else if !chart.why.is_empty() {
                    said.clone_from(&chart.why);
                }
                Figure {
                    hover: hover(&chart.hover),
                    commands: reproduce::commands(runs, &chart.scenarios, &names),
                    provenance: provenance.clone(),
                    chart,
                }
            })
            .collect();
        if !figures.is_empty() {
            let group = heading(group);
            charts.push(Charts { group, figures });
        }
    }
    let alone = chart::uncontended(&data)?.into_iter();
    let figures: Vec<Figure> = alone
        .map(|chart| Figure {
            hover: hover(&chart.hover),
            commands: chart
                .scenarios
                .iter()
                .map(|s| reproduce::bench(s))
                .collect(),
            provenance: provenance.clone(),
            chart,
        })
        .collect();
    if !figures.is_empty() {
        let group = "Uncontended costs (criterion)".to_owned();
        charts.push(Charts { group, figures });
    }
    let page = Page {
        style: theme::style(data.places()),
        script: theme::SCRIPT,
        symbols: theme::symbols(data.places())?,
        subtitle: machine::subtitle(runs),
        warnings: machine::warnings(runs),
        verdict: verdict::sentences(&data),
        rankings: ranking::groups(&data),
        exploratory: estimates.exploratory,
        proofs: proofs::of(&data),
        heat: heat::groups(&data),
        costs: cost::groups(&data),
        uncontended: cost::uncontended(&data),
        claims: claims::of(runs),
        charts,
        machines: runs.iter().map(machine::card).collect(),
        noise: machine::noise(&data),
        commands: if runs.len() == 1 {
            vec![first.run.command.clone()]
        } else {
            runs.iter().map(|run| run.run.command.clone()).collect()
        },
    };
    Ok(page.render()?)
}

/// A group's name over its part of the page: `Channels, async`.
fn heading(group: &str) -> String {
    let words = match group.strip_suffix("-async") {
        Some(group) => format!("{group}, async"),
        None => group.replace('-', " "),
    };
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// The places of a chart's data, as the script reads them: ` data-x="…"`, ` data-y="…"`, or both.
fn hover(hover: &Hover) -> String {
    let list = |numbers: &mut dyn Iterator<Item = i32>| {
        numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
    };
    match hover {
        Hover::Columns(x) => format!(" data-x=\"{}\"", list(&mut x.iter().copied())),
        Hover::Levels(y) => format!(" data-l=\"{}\"", list(&mut y.iter().copied())),
        Hover::Rows(y) => format!(" data-y=\"{}\"", list(&mut y.iter().copied())),
        Hover::Points(points) => format!(
            " data-x=\"{}\" data-y=\"{}\"",
            list(&mut points.iter().map(|p| p.0)),
            list(&mut points.iter().map(|p| p.1))
        ),
    }
}
