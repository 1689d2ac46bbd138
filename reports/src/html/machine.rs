//! The machine, its noise, and the warnings about a run.

use flowmeter_records::{Round, RunData, Topology};

use crate::chart::Data;
use crate::number;
use crate::statistics::{Twin, UNOPTIMISED};

/// The machine of a run: names and values.
pub struct Card {
    pub heading: String,
    pub facts: Vec<(&'static str, String)>,
}

/// The noise of the machine.
pub struct Noise {
    pub summary: String,
    pub placebos: Vec<Row>,
    pub slowed: Vec<Row>,
}

/// A second entry of an implementation.
pub struct Row {
    pub scenario: String,
    pub implementation: String,
    pub ratio: String,
    pub interval: String,
    pub said: String,
    /// Whether it is not as expected.
    pub odd: bool,
}

/// One line under the title.
pub fn subtitle(runs: &[&RunData], machines: usize) -> String {
    let first = &runs[0].run;
    let windows: usize = runs.iter().map(|run| run.windows.len()).sum();
    let of_runs = match (runs.len(), machines) {
        (1, _) => String::new(),
        (runs, 1) => format!("{runs} runs, the first of "),
        (runs, machines) => format!("{runs} runs on {machines} machines, the first of "),
    };
    let unoptimised = runs.iter().any(|run| run.run.unoptimised);
    let machine = &first.machine;
    let windows = number::count(windows as u64);
    let parts = [
        first
            .started
            .replace('T', " ")
            .trim_end_matches('Z')
            .to_owned(),
        machine.cpu.clone(),
        format!(
            "{} core{}",
            machine.cores,
            if machine.cores == 1 { "" } else { "s" }
        ),
        machine.os.clone(),
        // Without the commit and date of the compiler, which are shown below.
        machine
            .rustc
            .split(" (")
            .next()
            .unwrap_or_default()
            .to_owned(),
        format!("{windows} windows"),
        if unoptimised { "unoptimised" } else { "" }.to_owned(),
    ];
    let known = parts
        .into_iter()
        .filter(|part| !part.is_empty() && part != "unknown");
    of_runs + &Vec::from_iter(known).join(" · ")
}

/// The warnings that a reader needs before the numbers, each once. `all` is the number of runs of this machine.
pub fn warnings(runs: &[RunData], all: usize, warnings: &mut Vec<String>) {
    let mut warn = |warning: String| {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    for run in runs {
        let name = run.folder.display();
        if run.run.unoptimised {
            warn(format!(
                "{name} is of an {UNOPTIMISED}. Measure it with an optimised one (`cargo flowmeter` and `cargo bench` are)."
            ));
        }
        if run.run.exploratory {
            let (forks, rounds) = (run.run.forks, run.run.rounds);
            let forks_word = if forks == 1 { "fork" } else { "forks" };
            warn(format!(
                "Exploratory: {forks} {forks_word} of {rounds} rounds. Good for a first look; nothing is called faster."
            ));
        }
        if run.end.is_none() {
            warn(format!(
                "{name} was cut off before its end; continue it with --resume."
            ));
        }
        let dropped = run.end.iter().flat_map(|end| &end.dropped);
        let dropped: Vec<&str> = dropped.map(String::as_str).collect();
        if !dropped.is_empty() {
            let (n, s) = (dropped.len(), if dropped.len() == 1 { "" } else { "s" });
            warn(format!(
                "{n} scenario{s} dropped for want of time, and not measured: {}.",
                dropped.join(", ")
            ));
        }
        if run.noise.iter().any(|noise| !noise.quiet) {
            warn("The machine was not quiet; see Machine and noise.".to_owned());
        }
        if let Some((near, far)) = round_trips(run).filter(|(near, far)| *far >= CORES_MOVED * near)
        {
            warn(format!(
                "The distance of two cores changed: a cache line took {} to {} there and back in different rounds. Cells \
                 with several threads may have two modes.",
                number::nanos(near),
                number::nanos(far)
            ));
        }
        if run.run.commit.ends_with("-dirty") {
            warn("The build had changes that are in no commit.".to_owned());
        }
    }
    if all > runs.len() {
        let earlier = all - runs.len();
        let stand = match earlier {
            1 => "1 run of an earlier one stands".to_owned(),
            n => format!("{n} runs of earlier ones stand"),
        };
        warn(format!(
            "The numbers are of the latest build; {stand} in History alone."
        ));
    }
}

/// How many times as far two cores are before the page warns. On a KVM guest whose cores stayed where they were, nine rounds of
/// ten differed by up to half (docs/lab/2026-11-28-cores-that-move.md).
const CORES_MOVED: f64 = 2.0;

/// What the probes of nine rounds in ten were between: the 5th and the 95th percentile.
fn probes(run: &RunData, of: fn(&Round) -> Option<f64>) -> Option<(f64, f64)> {
    let mut all: Vec<f64> = run.rounds.iter().filter_map(of).collect();
    all.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| {
        all.get(all.len().saturating_sub(1) * percent / 100)
            .copied()
    };
    Some((at(5)?, at(95)?))
}

/// Those of a cache line to another core and back.
fn round_trips(run: &RunData) -> Option<(f64, f64)> {
    probes(run, |round| round.core_round_trip_nanos)
}

/// The facts of a run.
pub fn card(run: &RunData) -> Card {
    let machine = &run.run.machine;
    let nanos = |value: Option<f64>| value.map_or("unknown".to_owned(), number::nanos);
    let between = |ends: Option<(f64, f64)>| match ends {
        Some((least, most)) => format!("{} to {}", number::nanos(least), number::nanos(most)),
        None => String::new(),
    };
    let worst = |of: fn(&flowmeter_records::Noise) -> Option<f64>| {
        let worst = run.noise.iter().filter_map(of).reduce(f64::max);
        worst.map_or("unknown".to_owned(), number::percent)
    };
    let score = run.noise.iter().map(|n| n.score).max();
    let versions: Vec<String> = run
        .implementations
        .values()
        .map(|it| format!("{} {}", it.name, it.version).trim().to_owned())
        .collect();
    let facts = vec![
        ("processor", machine.cpu.clone()),
        ("cores", machine.cores.to_string()),
        ("topology", machine.topology.map_or(String::new(), topology)),
        (
            "memory",
            machine
                .memory_bytes
                .map_or("unknown".to_owned(), number::bytes),
        ),
        ("system", machine.os.clone()),
        ("governor", machine.governor.clone()),
        ("hypervisor", machine.hypervisor.clone()),
        ("counters", machine.counters.clone()),
        ("compiler", machine.rustc.clone()),
        (
            "build",
            match run.run.unoptimised {
                true => UNOPTIMISED.to_owned(),
                false => String::new(),
            },
        ),
        ("reading the clock", nanos(machine.clock_read_nanos)),
        (
            "core to core and back",
            nanos(machine.core_round_trip_nanos),
        ),
        (
            "core to core in nine rounds of ten",
            between(round_trips(run)),
        ),
        (
            "fixed work in nine rounds of ten",
            between(probes(run, |round| {
                round.fixed_work_nanos.map(|n| n as f64)
            })),
        ),
        ("park and unpark", nanos(machine.park_round_trip_nanos)),
        (
            "noise score, 0 to 100",
            score.map_or("unknown".to_owned(), |s| s.to_string()),
        ),
        ("steal, at worst", worst(|n| n.steal)),
        ("others' load, at worst", worst(|n| n.busy)),
        ("spread of fixed work", worst(|n| n.spread)),
        (
            "protocol",
            format!(
                "{} × {} rounds, {}",
                run.run.forks,
                run.run.rounds,
                windows(run)
            ),
        ),
        (
            "duration",
            run.end
                .as_ref()
                .map_or("cut off".to_owned(), |end| format!("{:.0} s", end.seconds)),
        ),
        ("commit", run.run.commit.clone()),
        ("seed", run.run.seed.to_string()),
        ("implementations", versions.join(", ")),
    ];
    Card {
        heading: run.run.started.clone(),
        facts: facts
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect(),
    }
}

/// What the hardware threads belong to, from the largest part to the smallest.
fn topology(of: Topology) -> String {
    let parts = [
        (Some(of.sockets), "socket"),
        (of.numa_nodes, "NUMA node"),
        (of.last_level_caches, "last-level cache"),
        (Some(of.cores), "core"),
        (Some(of.hardware_threads), "hardware thread"),
    ];
    let known = parts.iter().filter_map(|(count, what)| {
        let count = (*count)?;
        let plural = if count == 1 { "" } else { "s" };
        Some(format!("{count} {what}{plural}"))
    });
    known.collect::<Vec<_>>().join(", ")
}

/// The lengths of the windows; a budget may have shortened the requested length.
fn windows(run: &RunData) -> String {
    let lengths = || run.windows.iter().map(|w| w.nanos);
    let (Some(least), Some(most)) = (lengths().min(), lengths().max()) else {
        return "no windows".to_owned();
    };
    let one = number::nanos(least as f64);
    if one == number::nanos(most as f64) {
        return format!("windows of {one}");
    }
    let range = number::interval(least as f64, most as f64, "ns");
    format!("windows of {range}")
}

/// What the placebos and the slowed copies show.
pub fn noise(data: &Data) -> Noise {
    let placebos = &data.estimates.placebos;
    let row = |twin: &Twin, said: String, odd: bool| Row {
        scenario: twin.scenario.clone(),
        implementation: twin.implementation.clone(),
        ratio: format!("{:.3}", twin.ratio),
        interval: format!("{:.3}–{:.3}", twin.lo, twin.hi),
        said,
        odd,
    };
    Noise {
        summary: format!(
            "An implementation entered twice is the same code, so its interval excludes 1 once in twenty by chance. In this run: {}.",
            data.estimates.health().sentence()
        ),
        placebos: placebos
            .iter()
            .map(|twin| {
                let holds = twin.holds_one();
                row(
                    twin,
                    if holds { "holds 1" } else { "excludes 1" }.to_owned(),
                    !holds,
                )
            })
            .collect(),
        slowed: data
            .estimates
            .slowed
            .iter()
            .map(|copy| {
                let said = if copy.called_slower {
                    "called slower"
                } else {
                    "not noticed"
                };
                row(
                    &copy.twin,
                    format!("slowed by {} %: {said}", copy.percent),
                    !copy.called_slower,
                )
            })
            .collect(),
    }
}
