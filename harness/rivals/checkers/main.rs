//! Compares the three tiers with three published checkers on the same questions, in verdicts and in time.
//!
//! The question is one that all of them can answer: is a history of an unbounded queue linearizable, if every put and
//! every poll was answered? Each history comes in two forms: as a queue produced it, and with the answers of two polls
//! exchanged, which makes it illegal. Before timing, all checkers must agree on every short history.
//!
//! Each cell (a checker, a length, legal or illegal) is a process of its own. It is killed when one history takes
//! longer than 10 s, and longer histories are then not tried. Our tiers are timed from the recorded operations to the
//! verdict. The other checkers are timed from their own form of the history, so the cost of translation is not counted.
//!
//! The second part has no rivals: operations per second of tiers one and two on long histories, and of tier three on
//! alts, timeouts, cancels and closes on all kinds of buffers.
//!
//! ```text
//! cargo run --release --manifest-path harness/rivals/Cargo.toml
//! ```

mod cell;
mod checker;
mod queue;
mod tiers;

use std::env;

use cell::{Cell, Timing};
use checker::Checker;

/// Beyond the lengths that the others can judge only tiers one and two are left.
const LENGTHS: [usize; 9] = [8, 16, 24, 32, 40, 64, 128, 1_000, 10_000];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(("--cell", cell)) = arguments.first().map(String::as_str).zip(arguments.get(1)) {
        let cell: Cell = cell.parse().expect("the parent names a cell");
        return cell.run();
    }
    println!("agreement: {} histories, all checkers", agree());
    for legal in [true, false] {
        compare(legal);
    }
    tiers::long();
    tiers::whole();
}

/// Checks that every checker judges every short history correctly; returns the number of histories.
fn agree() -> u64 {
    let mut histories = 0;
    for seed in 0..2_000 {
        for legal in [true, false] {
            let history = queue::history(4 + (seed % 9) as usize, seed, legal);
            for checker in Checker::ALL {
                let said = checker.ask(&history)();
                assert_eq!(said, legal, "{checker:?}, seed {seed}: {history:?}");
            }
            histories += 1;
        }
    }
    histories
}

fn compare(legal: bool) {
    let what = if legal { "legal" } else { "illegal" };
    println!(
        "\n{what}: microseconds a history, median (least to most); how many times as fast as the fastest rival"
    );
    println!("by the median and by the mean, tiers 1 and 2, then tier 3");
    print!("{:>10}", "operations");
    for checker in Checker::ALL {
        print!(" | {:>26}", checker.name());
    }
    println!(" | 1+2, med. | 1+2, mean | 3, median |   3, mean");
    let mut tired = [false; Checker::ALL.len()];
    for length in LENGTHS {
        print!("{length:>10}");
        let timings: Vec<Timing> = Checker::ALL
            .into_iter()
            .zip(&mut tired)
            .map(|(checker, tired)| {
                let cell = Cell {
                    checker,
                    length,
                    legal,
                };
                let timing = match *tired || !checker.takes(length) {
                    true => Timing::Untried,
                    false => cell.time(),
                };
                *tired |= matches!(timing, Timing::Stopped { .. });
                print!(" | {timing:>26}");
                timing
            })
            .collect();
        let least = |is: fn(Checker) -> bool, of: fn(&Timing) -> Option<f64>| {
            Checker::ALL
                .into_iter()
                .zip(&timings)
                .filter(|(checker, _)| is(*checker))
                .filter_map(|(_, timing)| of(timing))
                .min_by(f64::total_cmp)
        };
        for ours in [|c| c == Checker::Fifo, |c| c == Checker::Dual] {
            for of in [Timing::median, Timing::mean] {
                match least(Checker::is_rival, of).zip(least(ours, of)) {
                    Some((rival, ours)) => print!(" | {:>7.1} x", rival / ours),
                    None => print!(" | {:>9}", "-"),
                }
            }
        }
        println!();
    }
}
