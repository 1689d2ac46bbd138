//! `cargo bench`: criterion on uncontended costs, then the interleaved engine on everything.
//!
//! One filter is for both. Criterion's own options (`--list`, `--test`, `--save-baseline NAME`, `--baseline
//! NAME`, …) run criterion alone. `FLOWMETER_BUDGET=SECONDS` shortens the engine's part.

use std::process::ExitCode;
use std::time::Duration;

use criterion::Criterion;
use flowmeter_impls::registry::Everybody;
use flowmeter_suites::contest::Contest;
use flowmeter_suites::{cli, process, scenario};

fn main() -> ExitCode {
    if let Some(code) = process::serve_if_asked(Everybody) {
        return code;
    }
    // Cargo starts benches in the folder of their package; runs belong where the command looks for them.
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    if let Err(why) = std::env::set_current_dir(workspace) {
        eprintln!("flowmeter: {workspace}: {why}; run it where it was built");
        return ExitCode::from(2);
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .configure_from_args();
    uncontended(&mut criterion);
    criterion.final_summary();

    // What cargo adds by itself, and what is left when that is taken away.
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if asked.iter().any(|argument| argument.starts_with('-')) {
        return ExitCode::SUCCESS;
    }
    cli::bench(Everybody, asked.first().map(String::as_str))
}

/// What an operation costs when nobody is in the way, from the same workloads as the engine's.
fn uncontended(criterion: &mut Criterion) {
    let contest = Contest::of(Everybody);
    for scenario in scenario::built_in() {
        let timings: Vec<_> = contest
            .implementations()
            .iter()
            .filter_map(|who| Some((who.name, contest.timing(who.name, &scenario)?)))
            .collect();
        if timings.is_empty() {
            continue;
        }
        let mut group = criterion.benchmark_group(&scenario.name);
        for (name, timing) in timings {
            match timing {
                Err(why) => eprintln!("{name} in {}: {why}", scenario.name),
                Ok(mut time) => {
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
