//! The `flowmeter` command: one file for each verb.
//!
//! It is generic over a registry, so a crate with implementations of its own gets the same command for them. Bad
//! usage and bad input end with one sentence and exit code 2.

mod ab;
mod bench;
mod check;
mod checkout;
mod claims;
mod cmp;
mod completions;
mod corpus;
mod cost;
mod criterion;
mod diff;
mod each_check;
mod failure;
mod foreign;
mod into;
mod junit;
mod list;
mod measure;
mod mutants;
mod new;
mod nightly;
mod noise;
mod output;
mod progress;
mod rank;
mod replay;
mod report;
mod resume;
mod selection;
mod show;
mod sites;
mod standings;
mod verdicts;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flowmeter_harness::registry::AsyncRegistry;

use crate::process;
use crate::worlds::Worlds;

pub use bench::bench;
pub use criterion::written_since;
use failure::Failure;

/// Prove and time channels, timers, pipelines, rate limiters and executors
///
/// No proof, no number: where an implementation fails a property that it claims, the failure is shown in place of its
/// number.
#[derive(Debug, Parser)]
#[command(
    name = "flowmeter",
    bin_name = "cargo flowmeter",
    version,
    max_term_width = 100
)]
#[command(after_help = "Exit codes:\n  \
0 fine, also for measure with failures among its rows\n  \
1 a property failed or is undecided, a mutant survived, a claim does not hold for no stated\n    \
reason, or diff or ab --fail-on found a regression\n  \
2 bad usage or bad input\n  \
3 too noisy, under --strict\n\n\
Start with `cargo bench`: it proves and times the curated scenarios and writes a report.")]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Check(check::Check),
    Mutants(mutants::Mutants),
    Sites(sites::Sites),
    Claims(claims::Claims),
    Measure(measure::Measure),
    Rank(rank::Rank),
    Cmp(cmp::Cmp),
    Diff(diff::Diff),
    Ab(ab::Ab),
    Corpus(corpus::Corpus),
    Cost(cost::Cost),
    Report(report::Report),
    Show(show::Show),
    New(new::New),
    Noise(noise::Noise),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Runs the command over the implementations of `registry`, with properties checked in the std world only; call it
/// from `main`.
pub fn main(registry: impl AsyncRegistry) -> ExitCode {
    main_in(&Worlds::of(registry))
}

/// Runs the command over implementations in several worlds; call it from `main`.
///
/// ```ignore
/// cli::main_in(&Worlds::of(mine::All).with::<Loom>(mine_loom::All))
/// ```
pub fn main_in(worlds: &Worlds) -> ExitCode {
    if let Some(code) = process::serve_if_asked(worlds) {
        return code;
    }
    let outcome = match Command::parse().verb {
        Verb::List(list) => list.run(worlds),
        Verb::Check(check) => check.run(worlds),
        Verb::Mutants(mutants) => mutants.run(worlds),
        Verb::Sites(sites) => sites.run(worlds),
        Verb::Claims(claims) => claims.run(worlds),
        Verb::Measure(measure) => measure.run(worlds),
        Verb::Rank(rank) => rank.run(),
        Verb::Cmp(cmp) => cmp.run(),
        Verb::Diff(diff) => diff.run(),
        Verb::Ab(ab) => ab.run(worlds),
        Verb::Corpus(corpus) => corpus.run(),
        Verb::Cost(cost) => cost.run(worlds),
        Verb::Report(report) => report.run(),
        Verb::Show(show) => show.run(),
        Verb::New(new) => new.run(),
        Verb::Noise(noise) => noise.run(),
        Verb::Completions(completions) => completions.run(),
        Verb::Man(man) => man.run(),
    };
    match (outcome, output::lost()) {
        (Ok(_), Some(lost)) => lost.tell(),
        (outcome, _) => outcome.unwrap_or_else(Failure::tell),
    }
}
