//! One self-contained page: it opens from disk, makes no network requests, and is readable without scripts.
//!
//! Every text from a record passes through the template's escaping or, inside pictures, through that of the
//! drawing backend. The same input gives the same bytes: no clock, no hash order.

mod across;
mod builds;
mod claims;
mod cost;
mod heat;
mod history;
mod machine;
mod mutants;
mod proofs;
mod ranking;
mod reproduce;
mod theme;
mod toggles;
mod verdict;

use askama::Template;
use flowmeter_records::RunData;

use crate::chart::{self, Chart, Data, Hover};
use crate::checked::SELF_CHECKED;
use crate::error::ReportError;
use crate::machines::{Machine, Step};
use crate::statistics::{Estimates, HELD_OUT, StatisticsError};
use crate::texts::Texts;
pub(crate) use reproduce::commands;
use verdict::Verdict;

/// The page.
#[derive(Template)]
#[template(path = "report.html", whitespace = "minimize")]
struct Page {
    style: String,
    script: String,
    symbols: String,
    subtitle: String,
    warnings: Vec<String>,
    toggles: toggles::Toggles,
    across: Vec<across::Group>,
    machines: Vec<Part>,
    exploratory: bool,
    proved: bool,
    /// What self-checked means; empty if no implementation is.
    self_checked: &'static str,
    mutants: Option<mutants::Mutants>,
    claims: Vec<claims::Text>,
    commands: Vec<reproduce::Whole>,
    history: Vec<history::History>,
}

/// The part of the page about one machine.
struct Part {
    /// The heading of its part of each section; empty if it is the only machine.
    name: String,
    /// The prefix of the ids in its part of the page; empty for the first machine.
    prefix: String,
    verdict: Verdict,
    rankings: Vec<ranking::Group>,
    proofs: proofs::Proofs,
    heat: Vec<heat::Group>,
    charts: Vec<Charts>,
    costs: Vec<cost::Group>,
    uncontended: Option<cost::Uncontended>,
    builds: Vec<builds::Builds>,
    cards: Vec<machine::Card>,
    noise: machine::Noise,
}

/// The charts of a group.
struct Charts {
    group: String,
    figures: Vec<Figure>,
}

/// A chart, and the command that measures it again.
struct Figure {
    /// The fragment of a link to it.
    id: String,
    /// The form of all its scenarios; empty where they have several.
    form: String,
    chart: Chart,
    hover: String,
    commands: Vec<String>,
    provenance: String,
}

/// The source of a part of the page.
struct Source<'a> {
    name: String,
    /// The runs with the numbers of the page.
    runs: &'a [RunData],
    estimates: &'a Estimates,
    /// All runs, with those of earlier builds.
    all: &'a [RunData],
    steps: &'a [Step],
}

/// Renders the page of these runs, taken together, from their estimates, without texts.
///
/// # Errors
/// [`ReportError`] when the runs contradict each other or the page cannot be put together.
pub fn render(runs: &[RunData], estimates: &Estimates) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(StatisticsError::NoRuns.into());
    }
    let source = Source {
        name: String::new(),
        runs,
        estimates,
        all: runs,
        steps: &[],
    };
    page(&[source], &Texts::default())
}

/// Renders the page of what was measured on these machines, each by itself. `texts` tells what the names of properties
/// and articles mean.
///
/// # Errors
/// As [`render`].
pub fn render_machines(machines: &[Machine], texts: &Texts) -> Result<String, ReportError> {
    if machines.is_empty() {
        return Err(StatisticsError::NoRuns.into());
    }
    let several = machines.len() > 1;
    let steps = machines.iter().map(Machine::steps);
    let steps = steps.collect::<Result<Vec<Vec<Step>>, ReportError>>()?;
    let sources: Vec<Source> = machines
        .iter()
        .zip(&steps)
        .map(|(machine, steps)| Source {
            name: if several {
                machine.name().to_owned()
            } else {
                String::new()
            },
            runs: machine.latest(),
            estimates: machine.estimates(),
            all: machine.runs(),
            steps,
        })
        .collect();
    page(&sources, texts)
}

fn page(sources: &[Source], texts: &Texts) -> Result<String, ReportError> {
    let runs: Vec<&RunData> = sources.iter().flat_map(|source| source.runs).collect();
    let mut data = Vec::new();
    for source in sources {
        data.push(Data::new(source.runs, &runs, source.estimates)?);
    }
    let places = data.iter().map(Data::places).max().unwrap_or_default();
    let machines = sources.iter().zip(&data).enumerate();
    let machines = machines
        .map(|(n, (source, data))| part(n, source, data, texts))
        .collect::<Result<Vec<Part>, ReportError>>()?;
    let everything: Vec<&RunData> = sources.iter().flat_map(|source| source.all).collect();
    let page = Page {
        style: theme::style(places),
        script: theme::script(),
        symbols: theme::symbols(places)?,
        subtitle: machine::subtitle(&everything, sources.len()),
        warnings: sources.iter().fold(Vec::new(), |mut all, source| {
            machine::warnings(source.runs, source.all.len(), &mut all);
            all
        }),
        toggles: toggles::of(&runs),
        across: across::groups(sources),
        exploratory: sources.iter().any(|source| source.estimates.exploratory),
        proved: machines.iter().any(|part| !part.proofs.matrices.is_empty()),
        self_checked: match machines
            .iter()
            .all(|part| part.proofs.self_checked.is_empty())
        {
            true => "",
            false => SELF_CHECKED,
        },
        machines,
        mutants: mutants::of(runs.iter().copied()),
        claims: claims::of(runs.iter().copied(), texts),
        commands: reproduce::whole(&everything),
        history: sources.iter().filter_map(history::of).collect(),
    };
    Ok(page.render()?)
}

/// The part of the n-th machine.
fn part(n: usize, source: &Source, data: &Data, texts: &Texts) -> Result<Part, ReportError> {
    let prefix = match n {
        0 => String::new(),
        n => format!("m{}-", n + 1),
    };
    Ok(Part {
        name: source.name.clone(),
        verdict: verdict::of(data),
        rankings: ranking::groups(data),
        proofs: proofs::of(data, texts),
        heat: heat::groups(data),
        charts: charts(data, &prefix)?,
        costs: cost::groups(data),
        uncontended: cost::uncontended(data),
        builds: builds::of(source.all)?,
        cards: source.all.iter().map(machine::card).collect(),
        noise: machine::noise(data),
        prefix,
    })
}

/// All charts, by group.
fn charts(data: &Data, prefix: &str) -> Result<Vec<Charts>, ReportError> {
    let provenance = reproduce::provenance(data.runs);
    let names: Vec<&str> = data.scenarios.iter().map(|s| &*s.name).collect();
    let mut groups: Vec<&str> = data.scenarios.iter().map(|s| &*s.group).collect();
    groups.dedup();
    let mut ids = Ids::new(prefix);
    let mut charts = Vec::new();
    for group in groups {
        let mut said = String::new();
        let mut figures: Vec<Figure> = Vec::new();
        for mut chart in chart::charts(data, group)? {
            // Families share their reasons; a repeated one is left out.
            if chart.why == said {
                chart.why.clear();
            } else if !chart.why.is_empty() {
                said.clone_from(&chart.why);
            }
            let commands = commands(data.runs, &chart.scenarios, &names);
            figures.push(figure(data, &mut ids, chart, commands, &provenance));
        }
        if !figures.is_empty() {
            let group = heading(group);
            charts.push(Charts { group, figures });
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    for chart in chart::uncontended(data)? {
        let commands = chart.scenarios.iter().map(|s| reproduce::bench(s));
        let commands = commands.collect();
        figures.push(figure(data, &mut ids, chart, commands, &provenance));
    }
    if !figures.is_empty() {
        let group = "Uncontended costs (criterion)".to_owned();
        charts.push(Charts { group, figures });
    }
    Ok(charts)
}

fn figure(
    data: &Data,
    ids: &mut Ids,
    chart: Chart,
    commands: Vec<String>,
    provenance: &str,
) -> Figure {
    let forms = data.scenarios.iter();
    let forms = forms.filter(|s| chart.scenarios.contains(&s.name));
    let mut forms: Vec<&str> = forms.map(|s| &*s.form).collect();
    forms.dedup();
    Figure {
        id: ids.next(chart.scenarios.first().map_or("", |name| name)),
        form: match forms.as_slice() {
            [only] => (*only).to_owned(),
            _ => String::new(),
        },
        hover: hover(&chart.hover),
        commands,
        provenance: provenance.to_owned(),
        chart,
    }
}

/// Unique ids of charts: the name of the chart's first scenario, with a number from its second chart on.
struct Ids {
    prefix: String,
    given: Vec<String>,
}

impl Ids {
    fn new(prefix: &str) -> Ids {
        Ids {
            prefix: format!("{prefix}c-"),
            given: Vec::new(),
        }
    }

    /// Only letters, digits and dashes, so that it needs no quotes anywhere.
    fn next(&mut self, scenario: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = scenario.chars().map(plain).collect();
        let first = format!("{}{name}", self.prefix);
        let mut id = first.clone();
        let mut n = 2;
        while self.given.contains(&id) {
            id = format!("{first}.{n}");
            n += 1;
        }
        self.given.push(id.clone());
        id
    }
}

/// The heading of a group in its part of the page: `Channels, async`.
fn heading(group: &str) -> String {
    let (group, held_out) = match group.strip_suffix(HELD_OUT) {
        Some(group) => (group, ", held out"),
        None => (group, ""),
    };
    let words = match group.strip_suffix("-async") {
        Some(group) => format!("{group}, async{held_out}"),
        None => format!("{}{held_out}", group.replace('-', " ")),
    };
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// The positions of a chart's data as the script reads them: ` data-x="…"`, ` data-y="…"`, or both.
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
