//! Measurements of the tiers for which there is no rival.

use std::hint::black_box;
use std::time::{Duration, Instant};

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::dual::{
    Verdict,
    generate::{Dice, corrupt, execute},
    judge,
};
use flowmeter_harness::check::fifo::{History, Operation};
use flowmeter_harness::history;
use flowmeter_harness::spec::Rules;

use crate::checker::{BUDGET, keep_books};
use crate::queue::queue;

const ROUNDS: usize = 7;

/// Operations per second of tiers one and two, on operations that each thread recorded by itself.
pub fn long() {
    println!("\nlong histories: million operations a second, median of {ROUNDS} (least to most)");
    println!(
        "{:>10} | {:>9} | {:>22} | {:>22} | {:>22}",
        "operations", "room", "tier 1", "tier 2", "both"
    );
    for length in [10_000, 100_000, 1_000_000] {
        for (room, buffer) in [
            (usize::MAX, Buffer::Unbounded),
            (64, Buffer::fixed(64)),
            (1, Buffer::fixed(1)),
        ] {
            let mut operations = queue(&mut Dice::new(length as u64), length, room);
            operations.sort_by_key(|operation| operation.thread);
            let rate = |time: Duration| length as f64 / time.as_secs_f64() / 1e6;
            let mut rates = [const { Vec::new() }; 3];
            for _ in 0..ROUNDS {
                let started = Instant::now();
                assert!(keep_books(&operations));
                let ledger = started.elapsed();
                judge_order(&operations, buffer);
                let both = started.elapsed();
                for (rates, time) in rates.iter_mut().zip([ledger, both - ledger, both]) {
                    rates.push(rate(time));
                }
            }
            let name = match room {
                usize::MAX => "unbounded".to_owned(),
                room => room.to_string(),
            };
            print!("{length:>10} | {name:>9}");
            for mut rates in rates {
                rates.sort_by(f64::total_cmp);
                let (least, most) = (rates[0], rates[ROUNDS - 1]);
                let text = format!("{:.1} ({least:.1} to {most:.1})", rates[ROUNDS / 2]);
                print!(" | {text:>22}");
            }
            println!();
        }
    }
}

fn judge_order(operations: &[Operation], buffer: Buffer) {
    let history = History::new(operations).expect("it is well formed");
    black_box(history.judge(buffer)).expect("it can be explained");
}

/// Histories per second of tier three, on executions of the whole specification.
pub fn whole() {
    println!("\nthe whole specification, tier 3: histories a second");
    println!(
        "{:>10} | {:>9} | {:>9} | {:>8} | {:>9} | {:>11} | worst",
        "operations", "histories", "which", "a second", "illegal", "not decided"
    );
    for count in [10, 20, 40] {
        let executions = (0..500).map(|seed| execute(&mut Dice::new(seed), count, Rules::STRICT));
        let histories: Vec<history::History> = executions
            .filter(|history| history.operations.len() * 10 >= count * 8)
            .collect();
        let corrupted = histories.iter().zip(0..).map(|(history, seed)| {
            let mut history = history.clone();
            let mut dice = Dice::new(seed);
            (0..20).any(|_| corrupt(&mut dice, &mut history));
            history
        });
        let corrupted: Vec<history::History> = corrupted.collect();
        for (which, histories) in [("legal", histories), ("corrupted", corrupted)] {
            let (mut worst, mut illegal, mut unknown) = (Duration::ZERO, 0, 0);
            let all = Instant::now();
            for history in &histories {
                let started = Instant::now();
                match judge(history, Rules::STRICT, BUDGET / 50) {
                    Verdict::Legal => {}
                    Verdict::Illegal(_) => illegal += 1,
                    Verdict::Inconclusive(_) => unknown += 1,
                }
                worst = worst.max(started.elapsed());
            }
            let rate = histories.len() as f64 / all.elapsed().as_secs_f64();
            println!(
                "{count:>10} | {:>9} | {which:>9} | {rate:>8.0} | {illegal:>9} | {unknown:>11} | {worst:.1?}",
                histories.len()
            );
        }
    }
}
