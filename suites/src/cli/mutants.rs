//! `mutants`: tests the harness itself.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use flowmeter_harness::registry::Mutant;
use flowmeter_harness::sync::Scheduling;
use flowmeter_records::Attack as Told;

use super::check::{provers, scheduling, time};
use super::each_check::each_check;
use super::failure::{FAILED, Failure, Outcome};
use super::into::Into;
use super::output::{Format, Output, width};
use super::progress::steps;
use super::selection::{Implementations, Properties, Shard};
use crate::mutants::{Attack, Plan, attack, attackers};
use crate::properties::{PROPERTIES, Property};
use crate::proving::Effort;
use crate::worlds::Worlds;

/// Run the properties on implementations that are broken on purpose
///
/// Each mutant is one of our implementations with one defect, modelled on faults that shipped in real systems. Every
/// property that its description names has to find it, in some world, by an assertion or an explained deadlock.
/// Equivalent rewrites are different and correct: no property may find anything.
#[derive(Debug, Args)]
pub(super) struct Mutants {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    properties: Properties,
    /// Seed of random choices
    #[arg(long, default_value_t = Effort::CHECK.seed)]
    seed: u64,
    /// Maximum seconds for a mutant, a property and a world [default: 15 under std, 30 elsewhere]
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// Attack once in each world, with this maximum of executions of each case, and not in three rounds of growing
    /// effort; equivalent rewrites are left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    executions: Option<u64>,
    /// Worlds to attack in: std, shuttle, loom, sim [default: all]
    #[arg(long, value_name = "WORLDS", value_delimiter = ',')]
    under: Option<Vec<String>>,
    /// Under shuttle: how schedules are chosen [default: turns]
    #[arg(long, value_name = "SCHEDULER", value_parser = scheduling())]
    scheduler: Option<Scheduling>,
    /// Only the k-th of n equal parts of the pairs of mutant and property, to distribute them over machines
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Switch off one check of the properties, named by its place, such as a1_exclusive.rs:77
    #[arg(long, value_name = "CHECK", conflicts_with = "out")]
    without: Option<String>,
    /// Switch off each check of the properties in turn, and show what survives without it
    #[arg(long, conflicts_with_all = ["without", "out", "shard"])]
    each_check: bool,
    /// With --each-check: try only injected faults, which are quick, and no mutants
    #[arg(long, requires = "each_check")]
    lies_only: bool,
    /// With --each-check: a file of checks that may be unneeded, one a line. Another unneeded check is a failure,
    /// and so is a listed one that is needed
    #[arg(long, value_name = "FILE", requires = "each_check")]
    unneeded: Option<PathBuf>,
    /// Keep the counterexamples in this folder: files to replay, and pages to look at
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    out: Option<PathBuf>,
    /// Add the results to this run: its report shows them
    #[arg(long, value_name = "RUN", conflicts_with_all = ["without", "each_check"])]
    into: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Mutants {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let time = time(self.budget)?;
        let shard = self.shard.as_deref();
        let shard = shard.map_or(Ok(Shard::WHOLE), Shard::parse)?;
        let run = self.into.as_deref().map(Into::read).transpose()?;
        if let Some(under) = &self.under {
            provers(worlds, under)?;
        }
        let all = worlds.mutants();
        if all.is_empty() {
            return Err(Failure::input("this program has no mutants".to_owned()));
        }
        self.implementations
            .find_in(all.iter().map(|mutant| mutant.name))?;
        self.properties
            .find_in(PROPERTIES.iter().map(|property| property.name))?;
        let attacks: Vec<(&Mutant, &Property)> = (all.iter())
            .filter(|mutant| self.implementations.matches(mutant.name))
            .filter(|mutant| self.executions.is_none() || !mutant.equivalent)
            .flat_map(|mutant| {
                attackers(worlds, mutant)
                    .into_iter()
                    .map(move |by| (mutant, by))
            })
            .filter(|(_, property)| self.properties.matches(property.name))
            .collect();
        if self.each_check {
            let wanted = |property: &str| self.properties.matches(property);
            let unneeded = self.unneeded.as_deref();
            let attacks = if self.lies_only { &[][..] } else { &attacks };
            return each_check(worlds, wanted, attacks, time, unneeded, self.format);
        }

        let attacks = shard.of(attacks);
        if attacks.is_empty() {
            return Err(Failure::input(
                "no selected mutant has to be found by a selected property; widen -i or -p, or the shard",
            ));
        }
        let plan = Plan {
            time,
            seed: self.seed,
            folder: self.out.as_deref(),
            without: self.without.as_deref(),
            worlds: self.under.as_deref(),
            executions: self.executions,
            scheduling: self.scheduler.unwrap_or(Effort::CHECK.scheduling),
        };
        let mut output = Output::default();
        let mut done = Vec::new();
        let bar = steps(attacks.len() as u64, "attacking");
        each(
            &attacks,
            |(mutant, property)| attack(worlds, mutant, property, &plan),
            |attack| {
                if self.format == Format::Json {
                    output.json(&row(&attack));
                }
                bar.set_message(format!(
                    "{} by {}",
                    attack.mutant.name, attack.property.name
                ));
                bar.inc(1);
                done.push(attack);
            },
        );
        bar.finish_and_clear();
        if self.format == Format::Table {
            done.sort_by_key(|attack| (attack.mutant.equivalent, attack.mutant.family));
            output.line(&table(&done));
            output.line(&summary(&done));
        }
        if let Some(run) = run {
            run.add_attacks(done.iter().map(row))?;
        }
        Ok(if done.iter().all(Attack::as_expected) {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(FAILED)
        })
    }
}

/// Processes all items, as many at a time as there are cores, and passes on the results in order of completion.
pub(super) fn each<T: Sync, D: Send>(
    all: &[T],
    work: impl Fn(&T) -> D + Sync,
    mut hand_on: impl FnMut(D) + Send,
) {
    let next = AtomicUsize::new(0);
    let hand_on = Mutex::new(&mut hand_on);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = work(one);
                    hand_on
                        .lock()
                        .expect("no thread panics while it holds the lock")(
                        done
                    );
                }
            });
        }
    });
}

/// The form in which it is printed and kept.
fn row(attack: &Attack) -> Told {
    Told {
        mutant: attack.mutant.name.to_owned(),
        family: attack.mutant.family.to_owned(),
        equivalent: attack.mutant.equivalent,
        killed: attack.killed(),
        verdict: attack.proof.verdict,
        by: attack.property.name.to_owned(),
        world: attack.killed().then(|| attack.proof.world.clone()),
        check: attack.check.clone(),
        executions: attack.executions,
        seconds: attack.seconds,
        detail: attack.proof.detail.clone(),
    }
}

/// Mutants and the properties that killed them; of equivalent rewrites only those with a false alarm.
fn table(attacks: &[Attack]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width() as u16)
        .set_header(["mutant", "family", "", "by", "under", "executions", "s"]);
    let shown = |attack: &&Attack| !attack.mutant.equivalent || !attack.as_expected();
    for attack in attacks.iter().filter(shown) {
        table.add_row([
            attack.mutant.name,
            attack.mutant.family,
            match (attack.killed(), attack.mutant.equivalent) {
                (true, false) => "killed",
                (_, true) => "FALSE ALARM",
                (false, false) => "SURVIVED",
            },
            attack.property.name,
            if attack.killed() {
                &attack.proof.world
            } else {
                "-"
            },
            &attack.executions.to_string(),
            &format!("{:.1}", attack.seconds),
        ]);
    }
    table.to_string()
}

fn summary(attacks: &[Attack]) -> String {
    let mut text = String::new();
    for attack in attacks.iter().filter(|attack| !attack.as_expected()) {
        let told = attack.proof.detail.as_deref().unwrap_or("nothing was seen");
        text.push_str(&format!(
            "{} and {}: {told}\n    cargo flowmeter mutants -i '^{}$' -p '^{}$'\n",
            attack.mutant.name, attack.property.name, attack.mutant.name, attack.property.name
        ));
    }
    let count = |equivalent| {
        let mut names: Vec<&str> = (attacks.iter())
            .filter(|attack| attack.mutant.equivalent == equivalent)
            .map(|attack| attack.mutant.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let expected = attacks.iter().filter(|attack| attack.as_expected()).count();
    let executions: u64 = attacks.iter().map(|attack| attack.executions).sum();
    text + &format!(
        "{} mutants and {} equivalent rewrites, {expected} of {} attacks as expected; {executions} executions",
        count(false),
        count(true),
        attacks.len(),
    )
}
