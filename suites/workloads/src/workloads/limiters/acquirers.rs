//! Acquirers: threads or tasks that acquire repeatedly, and record when they got each permit. For tasks, the wake-ups
//! for each permit are counted.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::limiter::{AsyncLimit, BlockingLimit};
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;
use flowmeter_measure::interval::Interval;
use flowmeter_records::FailureKind;

use super::Rate;
use crate::scenario::cores;
use crate::workloads::crew;
use crate::workloads::start::Start;

/// Whether there is more to acquire in that interval.
pub type More = Arc<dyn Fn(&Interval) -> bool + Send + Sync>;

/// Awaits the future; returns how often it was polled.
async fn polled(future: impl Future<Output = ()>) -> u64 {
    let (mut future, mut polls) = (pin!(future), 0);
    poll_fn(|context| {
        polls += 1;
        future.as_mut().poll(context)
    })
    .await;
    polls
}

/// A limiter, and a way to wait for it.
pub trait Acquiring: Sized + Send + 'static {
    /// A new limiter.
    ///
    /// # Errors
    /// Where the design refuses the rate.
    fn start(rate: Rate) -> Result<Self, StageError>;

    /// Starts so many acquirers, which meet at `start` and then acquire as long as there is more.
    fn crowd(&self, waiters: usize, start: &Arc<Start>, more: &More, notes: &Notes);
}

/// An acquisition.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// When its acquirer got it, in nanoseconds.
    pub at: u64,
    /// The acquirer's number.
    pub by: usize,
    /// How often the acquirer was woken meanwhile; tasks only.
    pub wakes: u64,
}

/// The sender of acquisitions; each acquirer has a clone.
#[derive(Clone)]
pub struct Notes {
    grants: Arc<Mutex<Vec<Grant>>>,
    /// Closed when the last acquirer is done.
    _at_it: mpsc::Sender<()>,
}

/// The receiver of [`Notes`].
pub struct Hearer {
    notes: Arc<Mutex<Vec<Grant>>>,
    done: mpsc::Receiver<()>,
}

impl Notes {
    /// With room for so many acquisitions.
    pub fn with_room(acquisitions: usize) -> (Notes, Hearer) {
        let grants = Arc::new(Mutex::new(Vec::with_capacity(acquisitions)));
        let (_at_it, done) = mpsc::channel();
        let notes = grants.clone();
        (Notes { grants, _at_it }, Hearer { notes, done })
    }

    /// Records that an acquirer got a permit just now, after so many wake-ups.
    fn note(&self, by: usize, wakes: u64) {
        // Read before the lock: waiting for the lock is no part of the acquisition.
        let at = clock::now_nanos();
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        grants.push(Grant { at, by, wakes });
    }
}

impl Hearer {
    /// All acquisitions in order of time, once every acquirer is done.
    ///
    /// # Errors
    /// When one is still waiting after `patience`.
    pub fn hear(self, patience: Duration) -> Result<Vec<Grant>, StageError> {
        match self.done.recv_timeout(patience) {
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
                let mut grants = std::mem::take(&mut *notes);
                grants.sort_unstable_by_key(|grant| grant.at);
                Ok(grants)
            }
            Err(mpsc::RecvTimeoutError::Timeout) => Err(StageError {
                kind: FailureKind::Hang,
                message: format!(
                    "an acquirer still waits for a permit {:.0} s after it was due",
                    patience.as_secs_f64()
                ),
            }),
        }
    }
}

/// Threads that block.
pub struct ByThread<L>(Arc<L>);

impl<L: BlockingLimit> Acquiring for ByThread<L> {
    fn start(rate: Rate) -> Result<Self, StageError> {
        rate.limiter().map(|limiter| ByThread(Arc::new(limiter)))
    }

    fn crowd(&self, waiters: usize, start: &Arc<Start>, more: &More, notes: &Notes) {
        for place in 0..waiters {
            let (limiter, more, notes) = (self.0.clone(), more.clone(), notes.clone());
            let start = start.clone();
            thread::spawn(move || {
                crew::settle(place);
                let interval = start.wait();
                while more(&interval) {
                    limiter.acquire();
                    notes.note(place, 0);
                }
            });
        }
    }
}

/// Tasks that wait.
pub struct ByTask<L, E> {
    limiter: Arc<L>,
    executor: E,
}

impl<L: AsyncLimit, E: Executors> Acquiring for ByTask<L, E> {
    fn start(rate: Rate) -> Result<Self, StageError> {
        Ok(ByTask {
            limiter: Arc::new(rate.limiter()?),
            executor: crew::executor(cores())?,
        })
    }

    fn crowd(&self, waiters: usize, start: &Arc<Start>, more: &More, notes: &Notes) {
        let spawner = self.executor.spawner();
        for place in 0..waiters {
            let (limiter, more, notes) = (self.limiter.clone(), more.clone(), notes.clone());
            let start = start.clone();
            spawner.spawn(async move {
                let interval = start.wait_async().await;
                while more(&interval) {
                    let polls = polled(limiter.acquire_async()).await;
                    notes.note(place, polls - 1);
                }
            });
        }
    }
}
