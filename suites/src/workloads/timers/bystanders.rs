//! Bystanders: threads that arm timers of their own, one every 10 us, while those of others fire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::sync::std::clock;

use super::storm::Raining;
use crate::workloads::crew;
use crate::workloads::ledger::disproved;

/// From one timer to the next, nanoseconds.
const EVERY: u64 = 10_000;
/// How far ahead each is due.
const DELAY: Duration = Duration::from_millis(2);
/// Whoever takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Threads that arm timers until they are told to end.
pub(super) struct Bystanders {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<(), StageError>>>,
}

impl Bystanders {
    /// So many, with that service.
    pub(super) fn of<R: Raining>(service: &Arc<R>, count: usize) -> Bystanders {
        let over = Arc::new(AtomicBool::new(false));
        let bystander = |place| {
            let (service, over) = (service.clone(), over.clone());
            thread::spawn(move || {
                crew::settle(place + 1);
                stand_by(&*service, &over)
            })
        };
        Bystanders {
            threads: (0..count).map(bystander).collect(),
            over,
        }
    }

    /// Ends them, when all of their timers have fired.
    ///
    /// # Errors
    /// When one has not, or fired early.
    pub(super) fn end(self) -> Result<(), StageError> {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let answer = thread.join();
            answer.unwrap_or_else(|_| {
                Err(StageError {
                    kind: FailureKind::Panic,
                    message: "it panicked while another storm came down".to_owned(),
                })
            })?;
        }
        Ok(())
    }
}

fn stand_by<R: Raining>(service: &R, over: &AtomicBool) -> Result<(), StageError> {
    let counts = Arc::new([const { AtomicU64::new(0) }; 2]);
    let mut armed = Vec::new();
    let mut next = clock::now_nanos();
    while !over.load(Ordering::Relaxed) {
        let due = clock::after(DELAY);
        let heard = counts.clone();
        armed.push(service.arm(1, due, move || {
            let [fired, early] = &*heard;
            if !clock::has_passed(due) {
                early.fetch_add(1, Ordering::Relaxed);
            }
            fired.fetch_add(1, Ordering::Release);
        }));
        // Not faster than that after a pause either.
        next = clock::now_nanos().max(next + EVERY);
        while clock::now_nanos() < next && !over.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
    let [fired, early] = &*counts;
    let patience = clock::after(PATIENCE);
    while fired.load(Ordering::Acquire) < armed.len() as u64 {
        if clock::has_passed(patience) {
            let (fired, armed) = (fired.load(Ordering::Relaxed), armed.len());
            return Err(StageError {
                kind: FailureKind::Hang,
                message: format!("{fired} of {armed} timers armed meanwhile fired within 10 s"),
            });
        }
        thread::yield_now();
    }
    match early.load(Ordering::Relaxed) {
        0 => Ok(()),
        early => Err(disproved(format!(
            "{early} timers armed meanwhile fired before their deadline"
        ))),
    }
}
