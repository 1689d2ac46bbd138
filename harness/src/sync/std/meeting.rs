//! Makes the threads of a model run concurrently. Real threads start tens of microseconds apart, longer than most
//! operations take, so hardly two of them would ever be inside a channel at once. Therefore threads that were started
//! one after the other begin together, and each operation is delayed by a small random number of turns.
//!
//! Invariant: no thread waits here for long. A gate opens by itself, so a model that never opens it is only slow.

use ::std::cell::{Cell, RefCell};
use ::std::hint::spin_loop;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicUsize, Ordering};
use ::std::thread::yield_now;
use ::std::time::{Duration, Instant};

use super::super::split_mix;

/// The gate at which threads of one start wait.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    /// 1 once it is open.
    open: AtomicUsize,
}

thread_local! {
    /// The gate of the threads that this thread has started since it last opened one, and the number of these threads.
    static STARTED: RefCell<Option<(Arc<Gate>, usize)>> = const { RefCell::new(None) };
    /// Index of this thread's next random number.
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// The most turns, as a power of two: about as long as the longest operation without a wait.
const MAX_TURNS_LOG2: u64 = 8;

/// Checks without yielding the core.
const SPINS: u32 = 64;

/// Longer than a thread takes to start on a machine that is not overloaded.
const PATIENCE: Duration = Duration::from_millis(1);

/// Seeds this thread's random numbers. Those of the threads that it starts follow from them.
pub fn seed(seed: u64) {
    NEXT.set(split_mix(seed));
}

fn random() -> u64 {
    NEXT.set(NEXT.get().wrapping_add(1));
    split_mix(NEXT.get())
}

/// A choice of a model, derived from the exploration's seed.
///
/// # Panics
/// When there is nothing to choose from.
#[track_caller]
pub fn choose(n: usize) -> usize {
    super::super::scale(random(), n)
}

/// Wraps `body` for a thread of its own: it does not begin before the gate opens.
pub fn together<T>(body: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let gate = STARTED.with_borrow_mut(|started| {
        let (gate, count) = started.get_or_insert_default();
        *count += 1;
        Arc::clone(gate)
    });
    let own_seed = random();
    move || {
        seed(own_seed);
        gate.arrived.fetch_add(1, Ordering::Relaxed);
        wait_until_reaches(&gate.open, 1);
        body()
    }
}

/// Opens the gate for the threads that this thread has started, once all of them have arrived.
pub fn open() {
    if let Some((gate, count)) = STARTED.take() {
        wait_until_reaches(&gate.arrived, count);
        // Relaxed, as everywhere here: the start of a thread orders what it reads. A stronger order would hide orders
        // that an operation lacks.
        gate.open.store(1, Ordering::Relaxed);
    }
}

fn wait_until_reaches(count: &AtomicUsize, goal: usize) {
    let mut spins = 0;
    let mut since = None;
    while count.load(Ordering::Relaxed) < goal {
        spins += 1;
        if spins < SPINS {
            spin_loop();
            continue;
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return;
        }
        yield_now();
    }
}

/// Waits a random number of turns: none, one, or up to any power of two with the same probability, because the windows
/// of races have various lengths.
pub fn wait_a_little() {
    let random = random();
    let turns = (random >> 8) & ((1 << (random % (MAX_TURNS_LOG2 + 1))) - 1);
    for _ in 0..turns {
        spin_loop();
    }
}
