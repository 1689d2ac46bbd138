//! `noise`: tests whether this machine is quiet enough now.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use flowmeter_measure::noise::watch;

use super::failure::{NOISY, Outcome};
use super::output::{Format, Output};

/// Watch this machine and say whether it is quiet enough to measure on
#[derive(Debug, Args)]
pub(super) struct Noise {
    /// Seconds to watch
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    watch: u64,
    /// Exit code 3 when it is not quiet
    #[arg(long)]
    strict: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Noise {
    pub(super) fn run(self) -> Outcome {
        let noise = watch(Duration::from_secs(self.watch));
        let mut output = Output::default();
        match self.format {
            Format::Json => output.json(&noise),
            Format::Table => {
                let percent = |share: Option<f64>| {
                    share.map_or("unknown".to_owned(), |share| {
                        format!("{:.1} %", 100.0 * share)
                    })
                };
                let load = noise
                    .load_1m
                    .map_or("unknown".to_owned(), |load| format!("{load:.2}"));
                output.line(&format!("load over the last minute  {load}"));
                output.line(&format!(
                    "taken by the hypervisor    {}",
                    percent(noise.steal)
                ));
                output.line(&format!(
                    "used by other processes    {}",
                    percent(noise.busy)
                ));
                output.line(&format!(
                    "spread of equal work       {}",
                    percent(noise.spread)
                ));
                let quiet = if noise.quiet { "quiet" } else { "not quiet" };
                output.line(&format!(
                    "score                      {} of 100: {quiet}",
                    noise.score
                ));
            }
        }
        Ok(if self.strict && !noise.quiet {
            ExitCode::from(NOISY)
        } else {
            ExitCode::SUCCESS
        })
    }
}
