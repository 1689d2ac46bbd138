//! A soak test: tens of thousands of channels, with puts, takes, closes and replacements, alts and abandoned futures,
//! for any duration. After each tenth of the time all channels are emptied and checked. Every accepted value was
//! taken once, and every value was dropped once. The bytes held are no more than after the first tenth, plus an
//! allowance.
//!
//! `scripts/soak [IMPLEMENTATION [MINUTES]]`

mod books;
mod hall;

use std::process::ExitCode;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use flowmeter_harness::channel::AwaitAlts;
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_measure::allocation::{self, Counting};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use books::BOOKS;
use hall::Hall;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many more bytes may be held at the end than after a tenth of the time.
const ALLOWANCE: i64 = 64 * 1024;
/// Channels at any time.
const CHANNELS: usize = 30_000;
/// How many of these are never replaced.
const LASTING: usize = 100;
/// The operations of a thread between two checks whether the hall should be cleared.
const DEEDS: usize = 256;

/// Soaks a channel that has alts and futures.
#[derive(Parser)]
#[command(name = "soak")]
struct Options {
    /// The name of the implementation.
    #[arg(short, long, default_value = "mutex")]
    implementation: String,
    /// How long, in minutes.
    #[arg(short, long, default_value_t = 10.0, value_parser = minutes)]
    minutes: f64,
    /// Seed of the operations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes.is_finite() && minutes > 0.0 => Ok(minutes),
        _ => Err("a number of minutes above 0 is wanted".to_owned()),
    }
}

/// Finds the family.
struct Search<'a> {
    options: &'a Options,
    answer: Option<Result<(), String>>,
}

impl Visitor for Search<'_> {
    fn only(&self) -> Option<&str> {
        Some(&self.options.implementation)
    }

    fn await_alts<C: AwaitAlts>(&mut self, _: &Registered) {
        self.answer = Some(soak::<C>(self.options));
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut search = Search {
        options: &options,
        answer: None,
    };
    flowmeter_impls::registry::All.channels(&mut search);
    let name = &options.implementation;
    match search.answer {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(why)) => {
            eprintln!("soak: {name}: {why}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!(
                "soak: no channel '{name}' with alts and futures; `flowmeter list` shows all"
            );
            ExitCode::from(2)
        }
    }
}

fn soak<C: AwaitAlts>(options: &Options) -> Result<(), String> {
    if !allocation::switch_on() {
        return Err("allocations are not counted".to_owned());
    }
    let hall = Hall::<C>::open(CHANNELS, LASTING);
    let hall = RwLock::new(hall.ok_or("it lacks a further producer or consumer, or a close")?);
    let threads = 2 * thread::available_parallelism().map_or(2, usize::from);
    let tenth = Duration::from_secs_f64(options.minutes * 6.0);
    println!(
        "{}: {CHANNELS} channels, {threads} threads, {} minutes, seed {}",
        options.implementation, options.minutes, options.seed
    );
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..threads {
            let (hall, over) = (&hall, &over);
            scope.spawn(move || {
                let mut random = Pcg64Mcg::seed_from_u64(options.seed + thread as u64);
                while !over.load(Ordering::Relaxed) {
                    let hall = hall
                        .read()
                        .expect("no thread panics while it holds the lock");
                    (0..DEEDS).for_each(|_| hall.act(&mut random));
                }
            });
        }
        let judged = judge_tenths(&hall, tenth);
        over.store(true, Ordering::Relaxed);
        judged
    })
}

/// Empties and judges the hall at every tenth.
fn judge_tenths<C: AwaitAlts>(hall: &RwLock<Hall<C>>, tenth: Duration) -> Result<(), String> {
    let began = Instant::now();
    let mut at_first = None;
    for nth in 1..=10 {
        thread::sleep((tenth * nth).saturating_sub(began.elapsed()));
        let mut hall = hall.write().map_err(|_| "a thread panicked in the hall")?;
        hall.clear();
        let judged = BOOKS.judge();
        let live = allocation::live_bytes().ok_or("allocations are not counted");
        // Whatever the result, threads wait to continue.
        hall.refill(CHANNELS);
        drop(hall);
        let (live, ()) = (live?, judged?);
        let first = *at_first.get_or_insert(live);
        println!(
            "{:3} %  {:>13} values through  {live:>9} bytes held  {:+}",
            nth * 10,
            BOOKS.through(),
            live - first
        );
        if live - first >= ALLOWANCE {
            return Err(format!(
                "{} bytes more are held than at a tenth of the time",
                live - first
            ));
        }
    }
    Ok(())
}
