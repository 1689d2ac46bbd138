//! `ab`: how the implementations of this build differ from those of another commit.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_measure::Settled;
use flowmeter_records::{GivenUp, RunData, read_run};
use flowmeter_reports::statistics::RELEVANT;
use flowmeter_reports::{Paired, Stop, given_up, paired, paired_markdown, paired_table};
use regex::Regex;

use super::failure::{FAILED, Failure, Outcome, warn};
use super::measure::{
    Pin, asked, base_program, command_line, named, new_folder_in, pinnable, proofs, time_planned,
    warn_of_build, writable,
};
use super::output::{Output, style, width, wrapped};
use super::selection::{Implementations, Scenarios};
use crate::base::{Base, VARIABLE};
use crate::campaign::{Selection, Settings, plan_of_pairs};
use crate::foreign::Foreigners;
use crate::timed;
use crate::without::Without;
use crate::worlds::Worlds;

/// Compare this build with that of another commit, or with one that promises less, both timed side by side
///
/// The commit is checked out in target/flowmeter/ab and built there, which takes minutes the first time. Both builds of
/// each implementation of ours (origin own) then run in the same rounds, one directly after the other, in random order,
/// with a core for each thread where that is possible.
/// A cell is called faster or slower if it changed by at least the threshold, and chance does not explain the change: at
/// most one run in twenty has any false call. A cell that cannot have changed by the threshold has no difference.
/// A cell that is clear or hopeless is measured no further: what it leaves of the budget goes to the others.
/// Positive changes are better. The answer is conditional on one layout of each build: another placement of the same
/// code can move an uncontended cell by some percent.
#[derive(Debug, Args)]
pub(super) struct Ab {
    /// The commit, branch or tag to compare with
    #[arg(
        long,
        value_name = "REV",
        required_unless_present = "without",
        conflicts_with = "without"
    )]
    base: Option<String>,
    /// Compare with a build of HEAD that gives these promises up: what they cost is then a negative change. Of lock_free:
    /// bounded-waiters, calls-unlocked, cancel-safe, keeps-buffered, panic-safe, waiter-fifo
    #[arg(long, value_name = "PROMISES", value_delimiter = ',')]
    without: Vec<String>,
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    scenarios: Scenarios,
    /// Generations of processes, two for each cell [default: 8, doubled up to 128 while more may decide a cell]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    forks: Option<u32>,
    /// Rounds in each fork [default: 2 or 4, as the budget allows]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// Length of a window in milliseconds; the budget may shorten longer ones to 50 [default: 20]
    #[arg(long, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    window: Option<u64>,
    /// Time for proving and timing, without the builds. If it is too short, the least important scenarios are dropped
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Smallest change that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = RELEVANT * 100.0)]
    threshold: f64,
    /// Exit with 1 if a cell has this change
    #[arg(long, value_name = "CHANGE")]
    fail_on: Option<FailOn>,
    /// How threads are pinned. Free threads that share a core in one window and not in the next differ by more than builds do
    #[arg(long, value_enum, default_value_t = Pin::WherePossible)]
    pin: Pin,
    /// Slow this build down by this percentage, to test whether it is called
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=90))]
    slowed: Option<u32>,
    /// Slow only the cells with a name SCENARIO/IMPLEMENTATION that matches
    #[arg(long, value_name = "REGEX", requires = "slowed")]
    slowed_cells: Option<Regex>,
    /// Folder of the run [default: a new one below target/flowmeter/ab/runs]
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    output: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The conditions that a script can request.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailOn {
    /// A cell is slower than in the base build, or has lost its number
    Regression,
}

/// How cells are printed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// A table for reading
    #[default]
    Table,
    /// One JSON object a line, with stable keys
    Json,
    /// A table in Markdown of the cells that differ, for the summary of a build server
    Markdown,
}

/// Forks of a cell that is never settled, and how often it is looked at: after 8, 16, 32, 64 and 128.
const FORKS: u32 = 128;
const LOOKS: u32 = 5;
/// Forks of a cell before it may be called alike, so that a mode of one fork in ten is seen.
const LEVEL_FORKS: usize = 16;
/// Rounds in each fork, where there is time. Quiet cells become clear with few, and more forks are worth more than more rounds
/// (docs/lab/2026-11-26-paired-builds.md).
const ROUNDS: u32 = 4;
/// Fewer do not alternate which build is first.
const FEWEST_ROUNDS: u32 = 2;
/// The share of the budget for the first look.
const FIRST_LOOK: f64 = 0.6;
/// What a window and a process take beside the window itself, seconds.
const WINDOW_OVERHEAD: f64 = 0.012;
const PROCESS: f64 = 0.015;
/// Where runs of pairs are: apart from those that rank.
const PAIRS: &str = "target/flowmeter/ab/runs";
/// A window without `--window`.
const WINDOW: Duration = Duration::from_millis(20);

impl Ab {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let catalogue = worlds.catalogue();
        if !(0.0..100.0).contains(&self.threshold) {
            return Err(Failure::input(format!(
                "--threshold {}: give percent from 0 to below 100",
                self.threshold
            )));
        }
        pinnable(self.pin.pinning())?;
        let all = catalogue.implementations().iter();
        let own: Vec<_> = all.filter(|it| it.origin == Origin::Own).cloned().collect();
        let own = self.implementations.of(&own)?;
        let mut scenarios = self.scenarios.of()?;
        // A faster build would be offered more, and look worse.
        let all = scenarios.len();
        scenarios.retain(|scenario| scenario.record().axes.load_percent.is_none());
        if scenarios.len() < all {
            warn(&format!(
                "{} scenarios that offer each build a share of its own capacity are left out",
                all - scenarios.len()
            ));
        }
        if scenarios.is_empty() {
            return Err(Failure::input(
                "these scenarios offer each build a share of its own capacity, so ab cannot compare them; select others with -s",
            ));
        }
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| new_folder_in(Path::new(PAIRS)));
        writable(&folder)?;
        let (against, without) = self.base_build(&own)?;
        warn_of_build();
        let gives_up = |name: &str| {
            let without = without.as_ref();
            without.is_none_or(|it| it.implementations.contains(name))
        };
        let wanted = |name: &str| gives_up(name) && own.iter().any(|it| it.name == name);
        let selection = asked(catalogue, wanted, Foreigners::default(), scenarios)?;
        let began = Instant::now();
        let proofs = proofs(worlds.find(Shuttle::NAME), &selection);
        let without =
            without.map_or_else(Vec::new, |it| described(catalogue.implementations(), it));
        let settings = Settings {
            against: Some(against),
            without,
            ..self.settings(&selection, began.elapsed())
        };
        let is_slowed = |scenario: &str, name: &str| {
            let cell = format!("{scenario}/{name}");
            self.slowed_cells
                .as_ref()
                .is_none_or(|it| it.is_match(&cell))
        };
        let plan = plan_of_pairs(&selection, proofs, &settings, is_slowed);
        let threshold = self.threshold / 100.0;
        let stop = Stop {
            threshold,
            level: LEVEL_FORKS,
            last: FORKS as usize,
        };
        let settled = |run: &RunData| settled(run, stop);
        time_planned(&plan, &selection, &settings, &folder, false, settled)?;
        let run = read_run(&folder)?;
        let paired = paired(&run, threshold)?;
        self.print(&paired, &folder);
        let regressed = paired.pairs.iter().any(|pair| pair.verdict.is_regression());
        match self.fail_on {
            Some(FailOn::Regression) if regressed => Ok(ExitCode::from(FAILED)),
            Some(FailOn::Regression) if !paired.is_judged() => Err(Failure::input(
                "--fail-on regression: no cell was judged, so this run cannot tell; its rows have the reasons",
            )),
            _ => Ok(ExitCode::SUCCESS),
        }
    }

    /// The program of the base build.
    fn base_build(&self, own: &[Registered]) -> Result<(String, Option<Without>), Failure> {
        if let Some(named) = std::env::var_os(VARIABLE) {
            if !self.without.is_empty() {
                return Err(Failure::input(format!(
                    "--without builds its base itself, and {VARIABLE} names another; unset it"
                )));
            }
            let path = named.to_string_lossy().into_owned();
            base_program(&path)?;
            return Ok((path, None));
        }
        let timed = timed::named().ok_or_else(|| {
            Failure::input(format!(
                "this command times by itself, so ab cannot build it from another commit; build it there and name that program with {VARIABLE}"
            ))
        })?;
        let revision = self.base.as_deref().unwrap_or("HEAD");
        let mut base = Base::find(*timed, revision).map_err(Failure::input)?;
        let mut without = None;
        if !self.without.is_empty() {
            if base.has_changes() {
                warn(
                    "the changes of this checkout that HEAD has not count as part of what the promises cost",
                );
            }
            let (less, gives_up) = base.without(&self.without).map_err(Failure::input)?;
            if !own
                .iter()
                .any(|it| gives_up.implementations.contains(it.name))
            {
                let can: Vec<&str> = gives_up.implementations.iter().map(|it| &**it).collect();
                return Err(Failure::input(format!(
                    "--without: -i selects none of those that can be built so: {}",
                    can.join(", ")
                )));
            }
            (base, without) = (less, Some(gives_up));
        }
        warn(&format!(
            "building {} of {} in {}: minutes the first time",
            timed.name,
            base.short(),
            base.folder().display()
        ));
        let this = std::env::current_exe();
        let this =
            this.map_err(|why| Failure::input(format!("this program has no path: {why}")))?;
        let path = base.built_as(&this).map_err(Failure::input)?;
        let path = path.display().to_string();
        base_program(&path).map_err(|why| why.and(&base.oldest()))?;
        Ok((path, without))
    }

    /// As thorough as the budget allows.
    fn settings(&self, selection: &Selection, spent: Duration) -> Settings {
        let total = Duration::from_secs(self.budget);
        let left = total.saturating_sub(spent).max(total / 2);
        let cells = selection.scenarios.iter().map(|scenario| {
            let all = selection.descriptions.iter();
            all.filter(|it| selection.descriptions.supports(it.name, scenario))
                .count()
        });
        let window = self.window.map_or(WINDOW, Duration::from_millis);
        let (forks, looks) = self.forks.map_or((FORKS, LOOKS), |forks| (forks, 1));
        let share = if looks > 1 { FIRST_LOOK } else { 1.0 };
        let first = forks >> (looks - 1);
        let rounds = rounds(cells.sum(), first, window, share * left.as_secs_f64());
        Settings {
            rounds: self.rounds.unwrap_or(rounds),
            forks,
            looks,
            window,
            budget: Some(left),
            seed: 1,
            pinning: self.pin.pinning(),
            slowed_percent: self.slowed,
            against: None,
            without: Vec::new(),
            layouts: 1,
            strict: false,
            command: command_line(),
            scenario_dir: named(self.scenarios.folder()),
            foreign_dir: None,
        }
    }

    fn print(&self, paired: &Paired, folder: &Path) {
        let mut output = Output::default();
        match self.format {
            Format::Table => {
                output.line(&paired_table(paired, width(), style()));
                for sentence in given_up(paired) {
                    wrapped(&sentence, width())
                        .iter()
                        .for_each(|line| output.line(line));
                }
                output.line(&folder.display().to_string());
            }
            Format::Json => paired.pairs.iter().for_each(|pair| output.json(pair)),
            Format::Markdown => output.line(paired_markdown(paired).trim_end()),
        }
    }
}

/// The promises, and which published crates of the same kind do not make them.
fn described(all: &[Registered], without: Without) -> Vec<GivenUp> {
    let has = |it: &Registered, promise: &str| it.capabilities.names().iter().any(|n| n == promise);
    let ours = all
        .iter()
        .filter(|it| without.implementations.contains(it.name));
    let kinds: Vec<Kind> = ours.map(|it| it.kind).collect();
    let peers = all
        .iter()
        .filter(|it| it.origin == Origin::Peer && kinds.contains(&it.kind));
    let peers: Vec<&Registered> = peers.collect();
    let crates = |promise: &str| {
        let peers = peers.iter().filter(|it| !has(it, promise));
        peers.map(|it| it.name.to_owned()).collect()
    };
    let promises = without.promises.into_iter();
    let described = promises.map(|(promise, says)| GivenUp {
        crates: crates(&promise),
        promise,
        says,
    });
    described.collect()
}

/// The cells that are measured no further.
fn settled(run: &RunData, stop: Stop) -> Settled {
    let failed = run.failures.iter();
    let failed = failed.map(|it| (it.scenario.clone(), it.implementation.clone()));
    // An error of the statistics is reported when the run has ended.
    let pairs = paired(run, stop.threshold).map_or_else(|_| Vec::new(), |paired| paired.pairs);
    let ended = pairs.into_iter().filter(|pair| stop.ends(pair));
    let ended = ended.map(|pair| (pair.scenario, pair.implementation));
    ended.chain(failed).collect()
}

/// Rounds for that many forks of so many cells in that time.
fn rounds(cells: usize, forks: u32, window: Duration, time: f64) -> u32 {
    let of_fork = time / (cells.max(1) as f64 * f64::from(forks)) / 2.0;
    let fitting = (of_fork - PROCESS) / (window.as_secs_f64() + WINDOW_OVERHEAD);
    let pairs_of_rounds = (fitting / 2.0).clamp(0.0, f64::from(ROUNDS / 2)) as u32;
    (2 * pairs_of_rounds).max(FEWEST_ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_cells_in_ten_minutes_have_all_rounds_and_more_have_fewer() {
        let in_ten_minutes = |cells| rounds(cells, 8, WINDOW, FIRST_LOOK * 600.0);
        assert_eq!(in_ten_minutes(1), 4);
        assert_eq!(in_ten_minutes(100), 4);
        assert_eq!(in_ten_minutes(200), 2);
        assert_eq!(in_ten_minutes(0), 4);
        assert_eq!(rounds(100, 8, 10 * WINDOW, 360.0), 2, "long windows");
    }
}
