//! `list`: the implementations, the scenarios, the properties, and the mutants on which they are tried.

use std::process::ExitCode;

use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use flowmeter_harness::caps::{Kind, Origin};
use serde::Serialize;

use super::failure::Outcome;
use super::foreign::Foreign;
use super::output::{Format, Output, width};
use super::selection::{Implementations, Properties, Scenarios};
use crate::descriptions::Descriptions;
use crate::properties::PROPERTIES;
use crate::worlds::Worlds;

/// Show implementations with their claims, scenarios, properties and mutants
///
/// With some of -i, -s and -p only what they select; -i selects implementations and mutants.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    scenarios: Scenarios,
    #[command(flatten)]
    properties: Properties,
    #[command(flatten)]
    foreign: Foreign,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One line of `list --format json`.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    name: String,
    origin: Origin,
    caps: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reference: bool,
}

impl List {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let catalogue = worlds.catalogue();
        let mutants = worlds.mutants().iter().map(|mutant| mutant.name);
        let known = catalogue.implementations().iter().map(|it| it.name);
        let mut foreign = self.foreign.find()?;
        let foreign_names = foreign.implementations().map(|it| it.name);
        self.implementations
            .find_in(known.chain(mutants).chain(foreign_names))?;
        let matches = |name: &str| self.implementations.matches(name);
        let mut descriptions = Descriptions::ask(catalogue, matches, &[]);
        foreign.retain(matches);
        descriptions.join(&foreign, &[])?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let scenarios = self.scenarios.all()?;
        let everything = !(self.implementations.is_given()
            || self.scenarios.are_named()
            || self.properties.is_given());
        let shows_implementations = everything || self.implementations.is_given();
        let mut rows = Vec::new();
        for implementation in descriptions.iter().filter(|_| shows_implementations) {
            rows.push(Row {
                kind: implementation.kind.name(),
                name: implementation.name.to_owned(),
                origin: implementation.origin,
                caps: implementation.capabilities.names(),
                version: Some(implementation.version.clone()),
                title: None,
                reference: implementation.reference,
            });
        }
        let own = |kind, name: &str, title: &str| Row {
            kind,
            name: name.to_owned(),
            origin: Origin::Own,
            caps: Vec::new(),
            version: None,
            title: Some(title.to_owned()),
            reference: false,
        };
        let shown = everything || self.scenarios.are_named();
        for scenario in scenarios.iter().filter(|_| shown) {
            rows.push(own("scenario", &scenario.name, &scenario.title));
        }
        let shown = everything || self.properties.is_given();
        for property in PROPERTIES
            .iter()
            .filter(|property| shown && self.properties.matches(property.name))
        {
            rows.push(own("property", property.name, property.statement));
        }
        for mutant in worlds.mutants() {
            if shows_implementations && self.implementations.matches(mutant.name) {
                rows.push(Row {
                    origin: Origin::Mutant,
                    ..own("mutant", mutant.name, mutant.models)
                });
            }
        }
        let mut output = Output::default();
        match self.format {
            Format::Json => rows.iter().for_each(|row| output.json(row)),
            Format::Table => {
                let kinds = Kind::ALL.iter().map(|kind| kind.name());
                for kind in kinds.chain(["scenario", "property", "mutant"]) {
                    let rows: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
                    if !rows.is_empty() {
                        output.line(&table(kind, &rows));
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn table(kind: &str, rows: &[&Row]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width() as u16);
    if rows.iter().any(|row| row.version.is_some()) {
        table.set_header([kind, "origin", "version", "capabilities and claims"]);
    } else {
        table.set_header([kind, "what it is"]);
    }
    for row in rows {
        match (&row.version, &row.title) {
            (Some(version), _) => {
                let origin = row.origin.to_string();
                let reference = row.reference.then(|| "(reference)".to_owned());
                let caps: Vec<String> = row.caps.iter().cloned().chain(reference).collect();
                table.add_row([row.name.as_str(), &origin, version, &caps.join(" ")])
            }
            (None, title) => table.add_row([row.name.as_str(), title.as_deref().unwrap_or("")]),
        };
    }
    format!("{table}\n")
}
