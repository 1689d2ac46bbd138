//! The estimates from the records of a run, and their file beside the records.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Better, FailureKind, RunData, Uncontended};
use serde::{Deserialize, Serialize};

use super::excess::FullestPeriod;
use super::flight::Flight;
use super::health::Health;
use super::latency::LatencyCurves;
use super::lateness::LatenessCurves;
use super::modes::Mode;
use super::quantity::Quantity;
use crate::checked::Checked;
use crate::error::StatisticsError;
use crate::number;

/// Name of the file of estimates in a run's folder.
pub const ESTIMATES_FILE: &str = "estimates.json";

/// Version of the file of estimates.
pub const ESTIMATES_SCHEMA: u32 = 7;

/// Version of the method. Raised whenever the same records would give other estimates, so that stored ones are computed
/// again.
pub const METHOD: u32 = 7;

/// All numbers of a report, computed once from the records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// [`ESTIMATES_SCHEMA`] of the writer.
    pub schema: u32,
    /// [`METHOD`] of the writer.
    pub method: u32,
    /// How often an interval holds the true value, as a share.
    pub confidence: f64,
    /// Nothing is called faster: too few forks, or an unoptimised build.
    pub exploratory: bool,
    /// From an unoptimised build: these are no figures. Omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// The runs it was computed from.
    pub sources: Vec<Source>,
    /// Implementation x scenario, by group, scenario and implementation.
    pub cells: Vec<Cell>,
    /// Second entries of an implementation: a check of the run's health.
    pub placebos: Vec<Twin>,
    /// Copies slowed on purpose.
    pub slowed: Vec<SlowedTwin>,
    /// One for each group, quantity and view.
    pub rankings: Vec<Ranking>,
    /// Percentiles of latency, of scenarios that record them.
    pub latencies: Vec<LatencyCurves>,
    /// Percentiles of lateness, of scenarios of timers that record it.
    pub lateness: Vec<LatenessCurves>,
    /// Tasks in flight, of scenarios of pipelines that record them.
    pub flights: Vec<Flight>,
    /// The fullest periods, of scenarios of limiters that record them.
    pub periods: Vec<FullestPeriod>,
    /// What operations allocate, where that was counted; by scenario and implementation.
    pub allocations: Vec<Allocated>,
    /// Criterion's estimates of operations on one thread, by scenario and implementation. The scenario may be
    /// one without cells.
    pub uncontended: Vec<Uncontended>,
}

/// A run, distinguished from others and from its own later states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// When it started.
    pub started: String,
    /// Its build.
    pub commit: String,
    /// Seed of its shuffles.
    pub seed: u64,
    /// Windows in it.
    pub windows: usize,
    /// Complete rounds in it.
    pub rounds: usize,
    /// Failures in it.
    pub failures: usize,
    /// Proofs in it.
    pub proofs: usize,
    /// Passes in it that counted allocations.
    pub allocations: usize,
}

impl Source {
    /// Describes a run as it is now.
    pub fn of(run: &RunData) -> Source {
        Source {
            started: run.run.started.clone(),
            commit: run.run.commit.clone(),
            seed: run.run.seed,
            windows: run.windows.len(),
            rounds: run.rounds.len(),
            failures: run.failures.len(),
            proofs: run.proofs.len(),
            allocations: run.allocations.len(),
        }
    }
}

/// An implementation in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which scenario.
    pub scenario: String,
    /// Group of the scenario.
    pub group: String,
    /// The implementation.
    pub implementation: String,
    /// Where it comes from.
    pub origin: Origin,
    /// A reference: compared with the best, never the best itself, and in no ranking.
    pub reference: bool,
    /// Why nothing was proved of it in the scenario's form; omitted if something was. Like a reference it has a number,
    /// is never the best, and is in no ranking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<String>,
    /// Unit of the median.
    pub unit: String,
    /// Whether more or less is better.
    pub better: Better,
    /// Its number, or why it has none.
    pub outcome: Outcome,
}

/// A cell's number, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It has a number.
    Measured(Measured),
    /// It fell short of the scenario's rate in more than a fifth of its windows, so it has none.
    Unsustained {
        /// Windows of complete rounds that fell short.
        disturbed: usize,
        /// Of how many.
        windows: usize,
        /// The rate asked for, messages per second.
        rate: Option<u64>,
    },
    /// It has no number.
    Failed {
        /// What kind of failure.
        kind: FailureKind,
        /// What was observed, in a sentence.
        message: String,
        /// Complete rounds that were timed nevertheless; their values are not used.
        rounds: usize,
    },
}

/// A cell's number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Complete rounds behind it.
    pub rounds: usize,
    /// Rounds in which the scenario's rate was not kept; their values count.
    pub disturbed: usize,
    /// Median of the values of all rounds, in the cell's unit.
    pub median: f64,
    /// The two modes of these values, where they have two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<[Mode; 2]>,
    /// Lower end of its interval.
    pub lo: f64,
    /// Upper end of its interval.
    pub hi: f64,
    /// Ratio to the scenario's leading entry, at most 1 except for a reference and an unproved cell. A fork counts once,
    /// with the median of the ratios within its rounds; this is the geometric mean of forks.
    pub ratio: f64,
    /// Lower end of the interval of the ratio to the best, whichever entry that is.
    pub ratio_lo: f64,
    /// Upper end; 1 where the cell may be the best.
    pub ratio_hi: f64,
    /// The p-value of "as good as the best", corrected for the entries of the scenario; 1 for the leading entry, and
    /// with one fork.
    pub p: f64,
    /// The verdict about it.
    pub standing: Standing,
    /// What an operation costs beside time.
    pub cost: Box<Cost>,
}

/// What operations cost beside time; absent where the system does not report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// CPU time per operation, nanoseconds: median over rounds.
    pub cpu_nanos_per_op: Option<f64>,
    /// Times a thread gave up its core to wait, per million operations: median over rounds. An implementation that
    /// sleeps has many, and one that spins has none.
    pub voluntary_switches: Option<f64>,
    /// Times a thread was preempted, per million operations: median over rounds.
    pub involuntary_switches: Option<f64>,
    /// Instructions per operation, where the processor counts them: median over rounds.
    #[serde(default)]
    pub instructions: Option<f64>,
    /// Misses of the last cache per operation, likewise.
    #[serde(default)]
    pub cache_misses: Option<f64>,
    /// Peak memory of its process, bytes: the most of all forks.
    pub peak_bytes: Option<u64>,
    /// What the workload's own loop takes without the implementation, nanoseconds per operation: median over rounds.
    #[serde(default)]
    pub bare_nanos: Option<f64>,
    /// Messages a second that it was offered, where that is a share of its own capacity: median over rounds.
    #[serde(default)]
    pub offered: Option<f64>,
    /// How evenly turns were distributed among its threads: Jain's index of the side where it is lower, median over
    /// rounds.
    pub fairness: Option<f64>,
}

/// What a cell's operations allocate, from a pass of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allocated {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Allocations per operation.
    pub allocations_per_op: f64,
    /// Bytes requested per operation.
    pub bytes_per_op: f64,
    /// The most bytes that were live at a time.
    pub peak_live_bytes: u64,
}

/// The verdict about a cell against the best of its scenario, or about an implementation in a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// All others are slower, and no number is better than its own.
    Best,
    /// As the best, but another number is better: of a reference, of an unproved implementation, or from other rounds.
    First,
    /// Not the best, and behind it by [`RELEVANT`](crate::RELEVANT) or more.
    Slower,
    /// Within [`RELEVANT`](crate::RELEVANT) of the best: its whole interval is. The leading one is so beside another.
    #[serde(rename = "indistinguishable")]
    Level,
    /// None of these is shown; more forks decide it. In an exploratory run this is every cell.
    Undecided,
    /// A rate dictates the time, and it was kept: the whole interval is within [`RELEVANT`](crate::RELEVANT) of it.
    Reached,
    /// A rate dictates the time, and it took longer by more than [`RELEVANT`](crate::RELEVANT).
    Missed,
    /// It had a load of its own, so it is compared with nothing.
    OwnLoad,
    /// Its number is an upper bound: the generator's own lateness is more than half of it. Neither best nor slower. The
    /// ratio of a ranking uses the bound; its tiers leave the cell out.
    #[serde(rename = "by-generator")]
    AtMost,
    /// A reference: compared with the best of the others, and in no ranking.
    Reference,
    /// Nothing was proved of it: compared with the best of the others, and in no ranking.
    Unproved,
}

impl Standing {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Best => "best",
            Standing::First => "first",
            Standing::Slower => "slower",
            Standing::Level => "indistinguishable",
            Standing::Undecided => "undecided",
            Standing::Reached => "reached",
            Standing::Missed => "missed",
            Standing::OwnLoad => "own load",
            Standing::AtMost => "by generator",
            Standing::Reference => "reference",
            Standing::Unproved => "unproved",
        }
    }
}

/// A second entry of an implementation, against the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// Which scenario.
    pub scenario: String,
    /// The implementation with two entries.
    pub implementation: String,
    /// Rounds in which both were timed.
    pub rounds: usize,
    /// Second against first, above 1 if the second was better: the geometric mean over forks of the median of ratios
    /// within rounds.
    pub ratio: f64,
    /// Lower end of its t interval.
    pub lo: f64,
    /// Upper end of its t interval.
    pub hi: f64,
    /// Half the width of the interval, as a share. 0 to 1.
    pub half_width: f64,
    /// Whether there were forks enough for a test. A file says so only where there were not.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub tested: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(tested: &bool) -> bool {
    *tested
}

impl Twin {
    /// Whether the interval holds 1.
    pub fn holds_one(&self) -> bool {
        self.lo <= 1.0 && 1.0 <= self.hi
    }

    /// Its interval, as text: `0.98–1.03`.
    pub fn range(&self) -> String {
        number::ratio_interval(self.lo, self.hi)
    }
}

/// A copy slowed on purpose, against the implementation itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowedTwin {
    /// The percentage by which it was slowed.
    pub percent: u32,
    /// The comparison.
    pub twin: Twin,
    /// Two-sided p-value of "not slower".
    pub p: f64,
    /// Whether it is called slower: its interval ends below 1.
    pub called_slower: bool,
}

/// The cells that a ranking uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// All cells of the group and quantity.
    All,
    /// The cells of scenarios in which every implementation of the group has a number.
    Shared,
    /// The cells of one form: blocking, async or callback.
    Form(String),
}

/// A group's implementations in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Group of scenarios.
    pub group: String,
    /// What its cells measure.
    pub quantity: Quantity,
    /// The cells that it uses.
    pub view: View,
    /// The number of scenarios in which a proved implementation has a number; of all scenarios if none has.
    pub cells: usize,
    /// The scenarios in which an implementation other than a reference has a number.
    pub scenarios: Vec<String>,
    /// Implementations with all cells first, by ratio; then partial entrants, by coverage; then unproved ones.
    pub ranks: Vec<Rank>,
    /// What was checked of each implementation, in the forms of its numbers here; without numbers, in those of its
    /// failures.
    pub checked: BTreeMap<String, Vec<Checked>>,
}

/// With fewer cells there is no ranking: one cell would decide it.
pub(crate) const LEAST_CELLS: usize = 3;

/// An implementation in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rank {
    /// The implementation.
    pub implementation: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Geometric mean of its ratios to the best of each cell, at most 1.
    pub ratio: f64,
    /// Lower end of its interval.
    pub lo: f64,
    /// Upper end of its interval.
    pub hi: f64,
    /// Tier, from 1. The next begins where all that follow are slower than the best of this one; in an exploratory run
    /// all are 1. Partial entrants share one after all others: they ran other cells, so their order is unknown.
    pub tier: u32,
    /// The verdict about it, over all entrants with every cell. A partial one is undecided.
    pub standing: Standing,
    /// Cells in which it has a number.
    pub cells: usize,
    /// How many of these numbers are bounds. With bounds, its true ratio is at least the one shown.
    pub bounds: usize,
    /// Why nothing was proved of it in the forms of its cells, so that it has no place in the order. Omitted if
    /// something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<String>,
}

impl Rank {
    /// The prefix of its ratio: `≥ ` if bounds are behind it.
    pub fn at_least(&self) -> &'static str {
        if self.bounds > 0 { "≥ " } else { "" }
    }
}

impl Ranking {
    /// Its group, with the quantity unless that is speed: `timers, tail latency`.
    pub fn title(&self) -> String {
        match self.quantity {
            Quantity::Speed => self.group.clone(),
            other => format!("{}, {}", self.group, other.name()),
        }
    }

    /// Whether it has enough cells for an order. Ceilings and own loads have none. Otherwise the cells themselves are shown, and all share a tier.
    pub fn is_ranked(&self) -> bool {
        !matches!(self.quantity, Quantity::Ceiling | Quantity::OwnLoad) && self.cells >= LEAST_CELLS
    }

    /// Whether that entrant has a number in every cell, and a place in the order.
    pub fn complete(&self, rank: &Rank) -> bool {
        rank.unproved.is_none() && rank.cells == self.cells
    }

    /// Whether its ratio is worth showing: it is proved, and has a number in at least half of the cells. Otherwise one
    /// good cell would look like an implementation that is best everywhere.
    pub fn telling(&self, rank: &Rank) -> bool {
        rank.unproved.is_none() && rank.cells * 2 >= self.cells
    }

    /// What was checked of an implementation, in the forms of its numbers.
    pub fn checked(&self, implementation: &str) -> &[Checked] {
        self.checked.get(implementation).map_or(&[], Vec::as_slice)
    }
}

impl Estimates {
    /// Writes them beside the records, atomically.
    ///
    /// # Errors
    /// [`StatisticsError::Io`] when the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), StatisticsError> {
        let path = folder.join(ESTIMATES_FILE);
        let io = |source| StatisticsError::Io {
            path: path.clone(),
            source,
        };
        let mut text = serde_json::to_string(self).map_err(|e| io(e.into()))?;
        text.push('\n');
        // A reader never sees half a file.
        let partial = folder.join(format!(".{ESTIMATES_FILE}.partial"));
        fs::write(&partial, text).map_err(io)?;
        fs::rename(&partial, &path).map_err(io)
    }

    /// Reads them from a run's folder.
    ///
    /// # Errors
    /// [`StatisticsError::Io`] when there is no such file, [`StatisticsError::Estimates`] when it is not one of this build.
    pub fn read(folder: &Path) -> Result<Estimates, StatisticsError> {
        let path = folder.join(ESTIMATES_FILE);
        let text = fs::read_to_string(&path).map_err(|source| StatisticsError::Io {
            path: path.clone(),
            source,
        })?;
        let refuse = |reason: String| StatisticsError::Estimates {
            path: path.clone(),
            reason,
        };
        let estimates: Estimates =
            serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
        if estimates.schema != ESTIMATES_SCHEMA {
            return Err(refuse(format!(
                "schema {}, not {ESTIMATES_SCHEMA}",
                estimates.schema
            )));
        }
        Ok(estimates)
    }

    /// Whether they were computed from these runs in their present state, and by this build's method.
    pub fn are_of(&self, runs: &[RunData]) -> bool {
        self.method == METHOD && self.sources.iter().cloned().eq(runs.iter().map(Source::of))
    }

    /// What a cell's operations allocate.
    pub fn allocated(&self, scenario: &str, implementation: &str) -> Option<&Allocated> {
        self.allocations
            .iter()
            .find(|a| a.scenario == scenario && a.implementation == implementation)
    }

    /// The cell of an implementation in a scenario.
    pub fn cell(&self, scenario: &str, implementation: &str) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|c| c.scenario == scenario && c.implementation == implementation)
    }

    /// The cells of a ranking, scenario by scenario: competing implementations by median, then unproved ones, then
    /// those without a number.
    pub fn cells_of(&self, ranking: &Ranking) -> Vec<&Cell> {
        let of = |scenario: &str| {
            let cells = self.cells.iter();
            let cells = cells.filter(|cell| cell.scenario == scenario && !cell.reference);
            let mut cells: Vec<&Cell> = cells.collect();
            cells.sort_by(|a, b| {
                let place = |cell: &Cell| (cell.measured().is_none(), cell.unproved.is_some());
                place(a).cmp(&place(b)).then_with(|| Cell::by_median(a, b))
            });
            cells
        };
        let scenarios = ranking.scenarios.iter();
        scenarios.flat_map(|scenario| of(scenario)).collect()
    }

    /// The placebo of a scenario: the widest, if several implementations were entered twice.
    pub fn placebo(&self, scenario: &str) -> Option<&Twin> {
        self.placebos
            .iter()
            .filter(|twin| twin.scenario == scenario)
            .max_by(|a, b| a.half_width.total_cmp(&b.half_width))
    }

    /// What the placebos say about the run.
    pub fn health(&self) -> Health {
        Health::of(&self.placebos)
    }
}

impl Cell {
    /// Whether it may be the best and be ranked: it is no reference, and something was proved of it.
    pub fn competes(&self) -> bool {
        !self.reference && self.unproved.is_none()
    }

    /// The verdict about its number, in a word; empty without a number, and where an exploratory run decides nothing.
    pub fn word(&self, exploratory: bool) -> &'static str {
        match self.measured() {
            None => "",
            Some(_) if self.reference => Standing::Reference.word(),
            Some(_) if self.unproved.is_some() => Standing::Unproved.word(),
            Some(m) if m.standing == Standing::Undecided && exploratory => "",
            Some(m) => m.standing.word(),
        }
    }

    /// The order of two cells of a scenario by their medians, the better first. A cell without a number is last.
    pub fn by_median(a: &Cell, b: &Cell) -> Ordering {
        let median = |cell: &Cell| {
            let sign = match cell.better {
                Better::Higher => -1.0,
                Better::Lower => 1.0,
            };
            cell.measured().map_or(f64::INFINITY, |m| sign * m.median)
        };
        median(a).total_cmp(&median(b))
    }

    /// Its number, if it has one.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Measured(measured) => Some(measured),
            Outcome::Failed { .. } | Outcome::Unsustained { .. } => None,
        }
    }

    /// Why it has no number, in one or two words, if it has none.
    pub fn failed(&self) -> Option<&'static str> {
        match self.outcome {
            Outcome::Measured(_) => None,
            Outcome::Unsustained { .. } => Some("cannot sustain"),
            Outcome::Failed { kind, .. } => Some(failure_word(kind)),
        }
    }

    /// Why it has no number, in words, if it has none.
    pub fn error(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Measured(_) => None,
            Outcome::Unsustained {
                disturbed,
                windows,
                rate,
            } => {
                let rate = match rate {
                    Some(rate) => format!("{} messages/s", number::count(*rate)),
                    None => "the rate".to_owned(),
                };
                Some(format!(
                    "cannot sustain {rate} ({disturbed} of {windows} windows)"
                ))
            }
            Outcome::Failed {
                kind,
                message,
                rounds,
            } => {
                let kind = failure_word(*kind);
                let timed = match rounds {
                    0 => String::new(),
                    1 => " (1 round was timed)".to_owned(),
                    n => format!(" ({n} rounds were timed)"),
                };
                Some(format!("{kind}: {message}{timed}"))
            }
        }
    }
}

impl Measured {
    /// The prefix of its number: `at most ` for a bound.
    pub fn bound(&self) -> &'static str {
        match self.standing {
            Standing::AtMost => "at most ",
            _ => "",
        }
    }

    /// `2 of 30 windows disturbed`, if any were.
    pub fn disturbance(&self) -> Option<String> {
        let (disturbed, rounds) = (self.disturbed, self.rounds);
        (disturbed > 0).then(|| format!("{disturbed} of {rounds} windows disturbed"))
    }

    /// What qualifies the median, in words: two modes and disturbed windows. `unit` is that of the cell.
    pub fn remark(&self, unit: &str) -> Option<String> {
        let all = [self.two_modes(unit), self.disturbance()].into_iter();
        all.flatten()
            .reduce(|modes, rate| format!("{modes}; {rate}"))
    }

    /// The medians of its modes, where it has two.
    pub fn mode_medians(&self) -> impl Iterator<Item = f64> {
        self.modes.into_iter().flatten().map(|mode| mode.median)
    }

    /// `two modes: 6.1 M in 18 windows, 9.8 M in 12`, if it has two.
    fn two_modes(&self, unit: &str) -> Option<String> {
        let [low, high] = self.modes?;
        Some(format!(
            "two modes: {} in {} windows, {} in {}",
            number::value(low.median, unit),
            low.rounds,
            number::value(high.median, unit),
            high.rounds
        ))
    }
}

/// A failure in one or two words.
pub fn failure_word(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Proof => "proof failed",
        FailureKind::Unproved => "unproved",
        FailureKind::Hang => "hung",
        FailureKind::Crash => "crashed",
        FailureKind::Panic => "panicked",
        FailureKind::Count => "wrong count",
        FailureKind::Void => "void",
        FailureKind::Protocol => "protocol broken",
    }
}
