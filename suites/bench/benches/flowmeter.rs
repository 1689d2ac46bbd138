//! `cargo bench`: proofs, criterion on uncontended costs, then the interleaved engine on everything.
//!
//! One filter is for both. Criterion's own options (`--list`, `--test`, `--save-baseline NAME`, `--baseline NAME`, …)
//! run criterion alone. `FLOWMETER_BUDGET=SECONDS` shortens the engine's part.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use criterion::Criterion;
use flowmeter_measure::allocation::Counting;
use flowmeter_suites::{cli, process, scenario};

/// Counts only in the processes that request it; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Set for the process that runs criterion: the ids that failed their proof, one a line.
const LEFT_OUT: &str = "FLOWMETER_LEFT_OUT";

fn main() -> ExitCode {
    process::serve_in(env!("CARGO_BIN_EXE_flowmeter-timed"));
    // Cargo starts benches in the folder of their package; the command looks for runs in the workspace.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.ancestors().nth(2).unwrap_or(package);
    if let Err(why) = env::set_current_dir(workspace) {
        eprintln!(
            "flowmeter: {}: {why}; run it where it was built",
            workspace.display()
        );
        return ExitCode::from(2);
    }
    // The argument that cargo adds, and the remaining ones.
    let asked: Vec<String> = env::args().skip(1).filter(|a| a != "--bench").collect();
    let left_out = env::var(LEFT_OUT);
    if left_out.is_ok() || asked.iter().any(|argument| argument.starts_with('-')) {
        let left_out = left_out.unwrap_or_default();
        criterion_alone(&left_out.lines().collect::<Vec<_>>(), asked.is_empty());
        return ExitCode::SUCCESS;
    }
    cli::bench(
        &flowmeter_timed::catalogue(),
        asked.first().map(String::as_str),
        |left_out| {
            let began = SystemTime::now();
            // In a process of its own: an implementation that hangs or aborts there loses only its figures.
            let criterion = env::current_exe().and_then(|program| {
                let mut command = Command::new(program);
                command
                    .args(env::args().skip(1))
                    .env(LEFT_OUT, left_out.join("\n"));
                command.status()
            });
            match criterion {
                Ok(status) if status.success() => {}
                Ok(status) => eprintln!("criterion ended early ({status}); the engine goes on"),
                Err(why) => eprintln!("criterion could not be started ({why}); the engine goes on"),
            }
            cli::written_since(&criterion_home(), began)
        },
    )
}

/// The folder of criterion's estimates, chosen as criterion chooses it, except that cargo is not asked. It is passed
/// to criterion in every mode, so that this program and `--baseline` use the same folder.
fn criterion_home() -> PathBuf {
    let below = |target: PathBuf| target.join("criterion");
    match (
        env::var_os("CRITERION_HOME"),
        env::var_os("CARGO_TARGET_DIR"),
    ) {
        (Some(home), _) => home.into(),
        (None, Some(target)) => below(target.into()),
        (None, None) => below("target".into()),
    }
}

fn criterion_alone(left_out: &[&str], curated_only: bool) {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        // By default criterion resamples for longer than it measures here.
        .nresamples(5_000)
        .configure_from_args();
    uncontended(&mut criterion, left_out, curated_only);
    criterion.final_summary();
}

/// The uncontended cost of an operation, from the same workloads as the engine's. Without a filter, also from the
/// same scenarios only.
fn uncontended(criterion: &mut Criterion, left_out: &[&str], curated_only: bool) {
    let catalogue = flowmeter_timed::catalogue();
    let mut scenarios = scenario::built_in();
    scenarios.retain(|scenario| scenario.priority.is_some() || !curated_only);
    for scenario in scenarios {
        let timings: Vec<_> = catalogue
            .implementations()
            .iter()
            .filter(|implementation| {
                !left_out.contains(&format!("{}/{}", scenario.name, implementation.name).as_str())
            })
            .filter_map(|it| Some((it.name, catalogue.timing(it.name, &scenario)?)))
            .collect();
        if timings.is_empty() {
            continue;
        }
        let mut group = criterion.benchmark_group(&scenario.name);
        for (name, timing) in timings {
            match timing {
                Err(why) => eprintln!("{name} in {}: {why}", scenario.name),
                Ok(mut time) => {
                    // A warm-up turn: threads of earlier set-ups may still be at work. Otherwise criterion would take
                    // a slow first turn for the usual duration.
                    let _ = time(1);
                    group.bench_function(name, |bencher| {
                        bencher.iter_custom(|turns| match time(turns) {
                            Ok(took) => took,
                            Err(why) => panic!("{name} in {}: {why}", scenario.name),
                        });
                    });
                }
            }
        }
        group.finish();
    }
}
