//! `sites`: breaks one call at a time, and shows which property notices.

use std::process::ExitCode;

use clap::Args;
use comfy_table::{Table, presets};
use flowmeter_harness::caps::Origin;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;

use super::check::{provers, time};
use super::failure::{FAILED, Failure, Outcome};
use super::output::{Format, Output};
use super::progress::steps;
use super::selection::{Implementations, Properties};
use crate::descriptions::{Descriptions, Due, Owed};
use crate::properties::PROPERTIES;
use crate::proving::Effort;
use crate::sites::{Passage, Row, hunt, list};
use crate::worlds::Worlds;

/// Break one call of a lock, a condition variable, a parker or an atomic at a time, by file and line
///
/// Every such call of an implementation that its models reach is listed and broken. The cells that reach it are run
/// until one fails. A notification is dropped or goes to another waiter, an unpark or a fence is dropped, a memory
/// order is relaxed, a weak exchange fails once. A call that no property notices has no model, is not needed, or
/// needs an argument. It takes minutes for a channel.
#[derive(Debug, Args)]
pub(super) struct Sites {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    properties: Properties,
    /// Worlds to run in, one after the other: shuttle, sim, loom
    #[arg(
        long,
        value_name = "WORLDS",
        value_delimiter = ',',
        default_values = [Shuttle::NAME, Sim::NAME, Loom::NAME]
    )]
    under: Vec<String>,
    /// Seed of random choices
    #[arg(long, default_value_t = Effort::CHECK.seed)]
    seed: u64,
    /// Maximum seconds for each cell (implementation x property x world)
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    budget: f64,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Sites {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let provers = provers(worlds, &self.under)?;
        if provers.iter().any(|prover| prover.world() == Std::NAME) {
            return Err(Failure::input(
                "--under std: its calls are bare primitives and have no sites; give shuttle, sim or loom",
            ));
        }
        let time = time(Some(self.budget))?;
        let catalogue = worlds.catalogue();
        self.implementations
            .find_in(catalogue.implementations().iter().map(|it| it.name))?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let own = |name: &str| {
            let mut own = catalogue.implementations().iter();
            own.any(|it| it.name == name && it.origin == Origin::Own)
        };
        let chosen = |name: &str| own(name) && self.implementations.matches(name);
        let descriptions = Descriptions::ask(catalogue, chosen, &[]);
        let effort = |world: &str| {
            let default = Effort::under(world);
            Effort {
                // Under loom too: a broken call usually fails within hundreds of executions, and further cases need
                // their turn.
                executions: Effort::CHECK.executions,
                time: time.unwrap_or(default.time),
                seed: self.seed,
                ..default
            }
        };

        let cells = provers
            .iter()
            .flat_map(|prover| descriptions.owed_in(*prover));
        let cells: Vec<Owed> = cells.collect();
        for Owed {
            implementation,
            world,
            due,
            ..
        } in &cells
        {
            if let Due::Unknown(why) = due {
                let sentence = format!("{implementation} under {world}: {why}");
                return Err(Failure::input(sentence));
            }
        }
        let cells: Vec<Owed> = cells
            .into_iter()
            .filter(|cell| cell.due == Due::Owed && self.properties.matches(cell.property.name))
            .collect();
        let bar = steps(cells.len() as u64, "listing");
        let mut passages: Vec<Passage> = Vec::new();
        let mut output = Output::default();
        for cell in cells {
            let (implementation, what, world) =
                (cell.implementation, cell.property.name, cell.world);
            bar.set_message(format!("{implementation} {what} under {world}"));
            match list(cell, effort(world)) {
                Ok(passage) => passages.push(passage),
                Err(why) => bar.println(format!("{implementation} {what} under {world}: {why}")),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();

        let mut rows = Vec::new();
        for implementation in descriptions.iter() {
            let of_them = passages.iter();
            let of_them: Vec<Passage> = of_them
                .filter(|passage| passage.cell.implementation == implementation.name)
                .cloned()
                .collect();
            let sites = of_them.iter().flat_map(|passage| &passage.sites);
            let sites = sites.collect::<std::collections::BTreeSet<_>>();
            let bar = steps(sites.len() as u64, "breaking");
            let mut last = None;
            hunt(&of_them, effort, |row| {
                if last.as_ref() != Some(&row.site) {
                    bar.inc(1);
                    last = Some(row.site.clone());
                }
                bar.set_message(format!("{} {}", row.implementation, row.site));
                if self.format == Format::Json {
                    output.json(&row);
                }
                rows.push(row);
            });
            bar.finish_and_clear();
        }
        if self.format == Format::Table {
            for implementation in descriptions.iter() {
                output.line(&table(implementation.name, &rows).to_string());
            }
            output.line(&summary(&rows));
        }
        let admitted = |row: &Row| row.breakage.is_some_and(|breakage| breakage.is_admitted());
        let failed = rows.iter().any(|row| row.killer.is_some() && admitted(row));
        Ok(if failed {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// As wide as the names: a wrapped path cannot be copied.
fn table(implementation: &str, rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        implementation,
        "breakage",
        "killer",
        "executions",
        "s",
    ]);
    for row in rows {
        let Some(breakage) = row
            .breakage
            .filter(|_| row.implementation == implementation)
        else {
            continue;
        };
        let killer = match &row.killer {
            Some(killer) => format!("{} under {}", killer.property, killer.world),
            None if breakage.is_admitted() => "survived, by right".to_owned(),
            None => "survived".to_owned(),
        };
        table.add_row([
            row.site.to_string(),
            breakage.name().to_owned(),
            killer,
            row.executions.to_string(),
            format!("{:.1}", row.seconds),
        ]);
    }
    table
}

/// The number of each outcome, and the details of survivors.
fn summary(rows: &[Row]) -> String {
    let count = |outcome| rows.iter().filter(|row| row.outcome() == outcome).count();
    let survivors = rows.iter().filter(|row| row.outcome() == "survived");
    let admitted = survivors
        .clone()
        .filter(|row| row.breakage.is_some_and(|breakage| breakage.is_admitted()));
    let mut text = format!(
        "{} killed, {} survived ({} of them by right: the contract admits it), {} locks listed",
        count("killed"),
        count("survived"),
        admitted.count(),
        count("listed"),
    );
    // Where the budget ended first, the line is not known to be unneeded.
    for row in survivors {
        if let Some(detail) = &row.detail {
            text.push_str(&format!("\nno verdict on {}: {detail}", row.site));
        }
    }
    text
}
