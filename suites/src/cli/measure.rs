//! `measure`: proves, then times.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_measure::pin::Pinning;
use flowmeter_measure::plan::{Plan, USUAL_PROVE_LIMIT};
use flowmeter_measure::{MeasureError, RunSummary, Settled, clock};
use flowmeter_records::{Build, Proof, RECORDS_FILE, RunData, Uncontended, Verdict, read_run};
use flowmeter_reports::estimate;
use flowmeter_reports::statistics::{RELEVANT, UNOPTIMISED};

use super::failure::{Failure, Outcome};
use super::foreign::Foreign;
use super::output::{Format, Output, style, width};
use super::progress::{Measuring, steps};
use super::resume::Begun;
use super::selection::{Implementations, RUNS, Scenarios, latest_run};
use super::verdicts::sentence;
use crate::campaign::{self, Selection, Settings, plan, quick_proof};
use crate::catalogue::Catalogue;
use crate::descriptions::Descriptions;
use crate::foreign::{Foreigners, VARIABLE};
use crate::layouts::{self, Layouts};
use crate::process::{self, pinning_name};
use crate::scenario::ScenarioSpec;
use crate::timed;
use crate::worlds::{Prover, Worlds};

/// Time implementations against each other, after proving them
///
/// Records are appended to DIR/records.jsonl as they come. An implementation that hangs, crashes or delivers wrong values
/// gets a row that says so, and no number. An implementation gets no number either where a property on which the scenario
/// relies did not hold. The code that is timed is another program, flowmeter-timed. It is built first where it is missing
/// or old, which takes some two minutes.
#[derive(Debug, Args)]
pub(super) struct Measure {
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    scenarios: Scenarios,
    #[command(flatten)]
    foreign: Foreign,
    /// Rounds in each fork: every implementation has one window per round [default: 6]
    #[arg(long)]
    rounds: Option<u32>,
    /// Generations of processes, one process for each implementation [default: 5]
    #[arg(long)]
    forks: Option<u32>,
    /// Length of a window in milliseconds [default: 250]
    #[arg(long, value_name = "MILLISECONDS")]
    window: Option<u64>,
    /// Fit everything into this many seconds: windows get shorter, then scenarios are dropped; with --resume the time
    /// of earlier parts is subtracted, and at least a tenth is left
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
    /// Leave out scenarios with more threads than this
    #[arg(long)]
    threads: Option<u32>,
    /// How threads are pinned [default: free]
    #[arg(long, value_enum)]
    pin: Option<Pin>,
    /// Five forks of one round with windows of 100 ms
    #[arg(long, conflicts_with_all = ["rounds", "forks"])]
    quick: bool,
    /// Refuse to measure on a machine that is not quiet (exit code 3)
    #[arg(long)]
    strict: bool,
    /// Continue the run in DIR where it was cut off, with all of its settings
    #[arg(long)]
    resume: bool,
    /// Add to each scenario a copy of one implementation slowed by this percentage, to test whether it is noticed
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=90))]
    slowed: Option<u32>,
    /// Also time each implementation of ours (origin own) with this program of another build, in the same rounds, and
    /// show how the two differ. It is another flowmeter-timed; `ab` builds it from a commit
    #[arg(long, value_name = "BINARY", conflicts_with = "resume")]
    against: Option<PathBuf>,
    /// Time in this many layouts of flowmeter-timed, which the forks take in turn: the same build, linked with its
    /// functions in another order. Intervals then contain what a layout moves, and a table shows it. Needs the linker lld
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with = "against")]
    layouts: Option<u32>,
    /// Seed of every shuffle [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Folder of the run [default: a new one below runs/; with --resume the latest]
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    output: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Pin {
    /// Wherever the system schedules them
    Free,
    /// All on one core
    OneCore,
    /// Each thread of a workload on a core of its own, starting over where there are more; for tasks each thread of
    /// the executor
    CorePerThread,
    /// Each thread on a hardware thread, neighbours on the same core. An executor that has all cores shows no difference
    Siblings,
    /// Each thread on a core, neighbours on different sockets. An executor that has all cores shows no difference
    Sockets,
    /// As core-per-thread, but free in scenarios with threads that cannot be pinned one by one
    WherePossible,
}

impl Pin {
    pub(super) fn pinning(self) -> Pinning {
        match self {
            Pin::Free => Pinning::Free,
            Pin::OneCore => Pinning::OneCore,
            Pin::CorePerThread => Pinning::CorePerThread,
            Pin::Siblings => Pinning::Siblings,
            Pin::Sockets => Pinning::Sockets,
            Pin::WherePossible => Pinning::WherePossible,
        }
    }
}

/// # Errors
/// What this machine lacks for it.
pub(super) fn pinnable(pinning: Pinning) -> Result<(), Failure> {
    pinning.lacking().map_or(Ok(()), |why| {
        let name = pinning_name(pinning);
        Err(Failure::input(format!(
            "--pin {name}: {why}; use core-per-thread or free"
        )))
    })
}

impl Measure {
    pub(super) fn run(self, worlds: &Worlds) -> Outcome {
        let folder = match (&self.output, self.resume) {
            (Some(folder), _) => folder.clone(),
            (None, false) => new_folder(),
            (None, true) => latest_run().ok_or_else(|| {
                Failure::input(format!(
                    "no run in {RUNS}/ to resume; name its folder with -o"
                ))
            })?,
        };
        // Settings that are not given are those of the run.
        let begun = self.resume.then(|| Begun::read(&folder)).transpose()?;
        let settings = self.settings(begun.as_ref())?;
        // Refused before minutes of proving.
        pinnable(settings.pinning)?;
        settings.against.as_deref().map(base_program).transpose()?;
        layouts::possible(settings.layouts).map_err(Failure::input)?;
        let selection = self.selection(worlds.catalogue(), &settings, begun.as_ref())?;
        let begun = begun.as_ref();
        let done = conduct(worlds, &selection, &settings, &folder, begun)?;
        let mut output = Output::default();
        match (done, self.format) {
            (None, Format::Table) => {
                output.line("nothing left to measure: the run is complete");
            }
            (Some(summary), Format::Table) => {
                output.line(&told(&summary, &folder));
            }
            // The run has ended, and its last record has the summary.
            (None, Format::Json) => {
                let run = read_run(&folder)?;
                let measured = |name: &String| {
                    run.rounds.iter().any(|round| round.scenario == *name)
                        || run.failures.iter().any(|row| row.scenario == *name)
                };
                let dropped = run.scenarios.keys().filter(|name| !measured(name)).count();
                output.json(&serde_json::json!({
                    "folder": folder,
                    "windows": run.end.as_ref().map_or(0, |end| end.windows),
                    "failures": run.end.as_ref().map_or(0, |end| end.failures),
                    "dropped": dropped,
                    "seconds": 0.0,
                }));
            }
            (Some(summary), Format::Json) => output.json(&serde_json::json!({
                "folder": folder,
                "windows": summary.windows,
                "failures": summary.failures,
                "dropped": summary.dropped,
                "seconds": summary.took.as_secs_f64(),
            })),
        }
        if self.format == Format::Table {
            let run = [read_run(&folder)?];
            let estimates = flowmeter_reports::estimates_of(&run)?;
            output.line(&flowmeter_reports::rank_table(&estimates, width(), style()));
            if settings.against.is_some() {
                let paired = flowmeter_reports::paired(&run[0], RELEVANT)?;
                output.line(&flowmeter_reports::paired_table(&paired, width(), style()));
            }
            let moved = flowmeter_reports::moved(&run[0])?;
            if !moved.is_empty() {
                output.line(&flowmeter_reports::layouts_table(&moved, width(), style()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn settings(&self, begun: Option<&Begun>) -> Result<Settings, Failure> {
        let usual = begun.map_or_else(usual_settings, Begun::settings);
        let (forks, rounds, window) = if self.quick {
            Settings::QUICK
        } else {
            (usual.forks, usual.rounds, usual.window)
        };
        let window = self.window.map_or(window, Duration::from_millis);
        let layouts = self.layouts.unwrap_or(usual.layouts);
        let forks = self.forks.unwrap_or(forks.max(layouts));
        let rounds = self.rounds.unwrap_or(rounds);
        for (option, value) in [
            ("--rounds", u64::from(rounds)),
            ("--forks", u64::from(forks)),
            ("--window", self.window.unwrap_or(1)),
            ("--budget", self.budget.unwrap_or(1)),
            ("--threads", u64::from(self.threads.unwrap_or(1))),
        ] {
            if value == 0 {
                return Err(Failure::input(format!(
                    "{option} 0 measures nothing; give at least 1"
                )));
            }
        }
        if forks < layouts {
            return Err(Failure::input(format!(
                "--layouts {layouts}: each fork runs in one layout, so {forks} forks are too few; give --forks {layouts} or more"
            )));
        }
        if rounds.checked_mul(forks).is_none() {
            return Err(Failure::input(format!(
                "--forks {forks} of --rounds {rounds} are more than can be counted; give fewer"
            )));
        }
        if window > LONGEST_WINDOW {
            return Err(Failure::input(format!(
                "--window {}: windows of more than an hour are not measured; give at most {} milliseconds",
                window.as_millis(),
                LONGEST_WINDOW.as_millis()
            )));
        }
        Ok(Settings {
            rounds,
            forks,
            looks: usual.looks,
            window,
            budget: self.budget.map(Duration::from_secs).or(usual.budget),
            seed: self.seed.unwrap_or(usual.seed),
            pinning: self.pin.map_or(usual.pinning, Pin::pinning),
            slowed_percent: self.slowed.or(usual.slowed_percent),
            against: named(self.against.as_deref()).or(usual.against),
            without: usual.without,
            layouts,
            strict: self.strict,
            command: usual.command,
            scenario_dir: named(self.scenarios.folder()).or(usual.scenario_dir),
            foreign_dir: named(self.foreign.folder()).or(usual.foreign_dir),
        })
    }

    fn selection(
        &self,
        catalogue: &Catalogue,
        settings: &Settings,
        begun: Option<&Begun>,
    ) -> Result<Selection, Failure> {
        let mut foreign = match settings.pinning {
            Pinning::Free => self.foreign.find_in(settings.foreign_dir.as_deref())?,
            _ => self
                .foreign
                .none("--pin: only processes of ours are pinned")?,
        };
        let all = catalogue.implementations().iter();
        let all: Vec<Registered> = all.chain(foreign.implementations()).cloned().collect();
        let implementations = match begun {
            Some(begun) if !self.implementations.is_given() => begun.implementations(&all)?,
            _ => self.implementations.of(&all)?,
        };
        let mut scenarios = match begun {
            Some(begun) if !self.scenarios.is_given() => begun.scenarios()?,
            _ => self.scenarios.of()?,
        };
        if let Some(threads) = self.threads {
            scenarios.retain(|scenario| scenario.work.busy_threads() <= threads as usize);
            if scenarios.is_empty() {
                return Err(Failure::input(format!(
                    "--threads {threads} leaves no scenario; give more, or select others with -s"
                )));
            }
        }
        let wanted = |name: &str| implementations.iter().any(|it| it.name == name);
        foreign.retain(wanted);
        asked(catalogue, wanted, foreign, scenarios)
    }
}

/// The selection of these implementations and scenarios, once each implementation was asked. Refuses a selection in
/// which nothing can run.
pub(super) fn asked(
    catalogue: &Catalogue,
    wanted: impl Fn(&str) -> bool,
    foreign: Foreigners,
    scenarios: Vec<ScenarioSpec>,
) -> Result<Selection, Failure> {
    // Built before implementations are asked, whose answers have a time limit.
    timed::program().transpose().map_err(Failure::input)?;
    let mut descriptions = Descriptions::ask(catalogue, wanted, &scenarios);
    descriptions.join(&foreign, &scenarios)?;
    let is_runnable = |scenario: &ScenarioSpec| {
        let mut all = descriptions.iter();
        all.any(|implementation| descriptions.supports(implementation.name, scenario))
    };
    if !scenarios.iter().any(is_runnable) {
        return Err(Failure::input(
            "none of these implementations can run any of these scenarios; `cargo flowmeter list` \
             shows what each can do",
        ));
    }
    Ok(Selection {
        descriptions,
        foreign,
        scenarios,
    })
}

/// The form in records; a path that is no valid text is converted as well as possible.
pub(super) fn named(folder: Option<&Path>) -> Option<String> {
    folder.map(|folder| folder.display().to_string())
}

/// Longer windows show nothing more.
const LONGEST_WINDOW: Duration = Duration::from_secs(3600);

/// The settings of a new run without options.
fn usual_settings() -> Settings {
    let (forks, rounds, window) = Settings::THOROUGH;
    Settings {
        rounds,
        forks,
        looks: 1,
        window,
        budget: None,
        seed: 1,
        pinning: Pinning::Free,
        slowed_percent: None,
        against: None,
        without: Vec::new(),
        layouts: 1,
        strict: false,
        command: command_line(),
        scenario_dir: None,
        foreign_dir: None,
    }
}

/// Proves and times a selection into a folder, and keeps the estimates beside the records. `None` when a resumed run
/// was complete.
pub(super) fn conduct(
    worlds: &Worlds,
    selection: &Selection,
    settings: &Settings,
    folder: &Path,
    begun: Option<&Begun>,
) -> Result<Option<RunSummary>, Failure> {
    let proofs = match begun {
        Some(begun) => begun.proofs(),
        None => {
            // Refused before minutes of proving.
            writable(folder)?;
            warn_of_build();
            proofs(worlds.find(Shuttle::NAME), selection)
        }
    };
    let before = (proofs, Vec::new());
    time(selection, settings, folder, before, begun.is_some())
}

/// Times without proving; otherwise as [`conduct`]. `before` has the proofs, and what criterion timed.
pub(super) fn time(
    selection: &Selection,
    settings: &Settings,
    folder: &Path,
    before: (Vec<Proof>, Vec<Uncontended>),
    resume: bool,
) -> Result<Option<RunSummary>, Failure> {
    let (proofs, uncontended) = before;
    let plan = plan(selection, proofs, uncontended, settings);
    let summary = time_planned(&plan, selection, settings, folder, resume, |_| {
        Settled::new()
    })?;
    let run = read_run(folder)?;
    estimate(&[run])?.write(folder)?;
    Ok(summary)
}

/// Times what is planned.
pub(super) fn time_planned(
    plan: &Plan,
    selection: &Selection,
    settings: &Settings,
    folder: &Path,
    resume: bool,
    settled: impl Fn(&RunData) -> Settled,
) -> Result<Option<RunSummary>, Failure> {
    let pinning = settings.pinning;
    process::implementation(pinning)
        .map_err(|why| Failure::input(format!("no process can be started: {why}")))?;
    let base = settings.against.as_deref().map(base_program).transpose()?;
    let layouts = Layouts::of(settings.layouts).map_err(Failure::input)?;
    let spawn = |scenario: &str, entry: &flowmeter_measure::Entry, fork: u32| {
        let pinning = selection.pinning(pinning, scenario);
        match (entry.build, &base) {
            (Some(Build::Base), Some(base)) => process::implementation_in(&base.path, pinning),
            _ => {
                let foreign = selection.foreign.command(&entry.implementation);
                foreign.unwrap_or_else(|| match layouts.program(fork) {
                    Some(program) => process::implementation_in(program, pinning),
                    None => process::implementation(pinning).expect("found just now"),
                })
            }
        }
    };
    let mut progress = Measuring::new();
    Ok(if resume {
        flowmeter_measure::resume(plan, folder, spawn, &mut progress)?
    } else {
        let run = flowmeter_measure::run_in_looks(plan, folder, spawn, settled, &mut progress);
        Some(run?)
    })
}

/// The program of the base build, which answers as one that times.
pub(super) fn base_program(path: &str) -> Result<timed::Found, Failure> {
    let base = timed::held_open(PathBuf::from(path))
        .map_err(|why| Failure::input(format!("{why}; name a program flowmeter-timed")))?;
    let command = process::implementation_in(&base.path, Pinning::Free);
    flowmeter_measure::speaks(command, USUAL_PROVE_LIMIT).map_err(|why| {
        Failure::input(format!(
            "{path} does not answer as a program that times ({}); name a program flowmeter-timed",
            why.message
        ))
    })?;
    Ok(base)
}

/// Proves what the selection relies on, with progress.
pub(super) fn proofs(explored: Option<&dyn Prover>, selection: &Selection) -> Vec<Proof> {
    let bar = steps(1, "proving");
    quick_proof(explored, selection, |index, of, proof| {
        bar.set_length(of as u64);
        bar.set_position(index as u64);
        bar.set_message(format!("{} {}", proof.implementation, proof.property));
        if proof.verdict != Verdict::Pass {
            let told = sentence(proof);
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            bar.suspend(|| {
                // If stderr is closed, the records still report it.
                let _ = writeln!(anstream::stderr(), "  {told}");
            });
        }
        if index == of {
            bar.finish_and_clear();
        }
    })
}

/// Warns before a run that its numbers will be no valid figures.
pub(super) fn warn_of_build() {
    if campaign::UNOPTIMISED {
        // If stderr is closed, the records still report it.
        let _ = writeln!(anstream::stderr(), "flowmeter: this is an {UNOPTIMISED}");
    }
}

/// The result of a run, in a sentence.
pub(super) fn told(summary: &RunSummary, folder: &Path) -> String {
    let failures = match summary.failures {
        0 => String::new(),
        1 => ", 1 cell without a number".to_owned(),
        n => format!(", {n} cells without a number"),
    };
    let dropped = match summary.dropped {
        0 => String::new(),
        n => format!(", {n} scenarios dropped for want of time"),
    };
    let seconds = summary.took.as_secs();
    format!(
        "{} windows in {seconds} s{failures}{dropped}: {}",
        summary.windows,
        folder.display()
    )
}

/// A folder below `runs/` named after this moment.
pub(super) fn new_folder() -> PathBuf {
    new_folder_in(Path::new(RUNS))
}

/// A folder below that one, named after this moment.
pub(super) fn new_folder_in(parent: &Path) -> PathBuf {
    let now = clock::utc(SystemTime::now());
    parent.join(
        now.replace([':', '-'], "")
            .replace('T', "-")
            .replace('Z', ""),
    )
}

/// Refuses a folder that cannot be written, or holds a run that must not be overwritten.
pub(super) fn writable(folder: &Path) -> Result<(), Failure> {
    if folder.join(RECORDS_FILE).exists() {
        return Err(MeasureError::Exists {
            path: folder.to_owned(),
        }
        .into());
    }
    let probe = folder.join(".writable");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, []))
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|source| {
            MeasureError::Folder {
                path: folder.to_owned(),
                source,
            }
            .into()
        })
}

/// This command as it would be typed again.
pub(super) fn command_line() -> String {
    typed(
        &environment(&[VARIABLE]),
        "cargo flowmeter",
        std::env::args().skip(1),
    )
}

/// Those of these variables that are set, with their values.
pub(super) fn environment(names: &[&'static str]) -> Vec<(&'static str, String)> {
    let set = |&name: &&'static str| Some((name, std::env::var(name).ok()?));
    names.iter().filter_map(set).collect()
}

/// A command in words of a POSIX shell, after the variables that it was started with.
pub(super) fn typed(
    variables: &[(&str, String)],
    command: &str,
    arguments: impl Iterator<Item = String>,
) -> String {
    let set = variables.iter();
    let set = set.map(|(name, value)| format!("{name}={}", quoted(value)));
    set.chain([command.to_owned()])
        .chain(arguments.map(|argument| quoted(&argument)))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn a_command_is_told_with_what_it_was_started_with() {
        let arguments = |all: &[&str]| all.iter().map(|one| one.to_string()).collect::<Vec<_>>();
        let told = |variables: &[(&str, String)], all: &[&str]| {
            typed(variables, "cargo bench", arguments(all).into_iter())
        };
        assert_eq!(told(&[], &[]), "cargo bench");
        assert_eq!(
            told(
                &[
                    ("FLOWMETER_BUDGET", "60".to_owned()),
                    ("FLOWMETER_FOREIGN", "a b".to_owned())
                ],
                &["--", "it's|^a"],
            ),
            r"FLOWMETER_BUDGET=60 FLOWMETER_FOREIGN='a b' cargo bench -- 'it'\''s|^a'"
        );
    }
}
