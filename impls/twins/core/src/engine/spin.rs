//! Spin loops: `spin_loop` and `yield_now`.
//!
//! A thread that yields again and again waits in truth. It waits for the moment that it compared the clock with, or
//! else for a short time. The time doubles while nothing is written anywhere. So time passes for it too, and a loop that
//! waits for ever becomes a deadlock with a report.
//!
//! Some loops have no hint, because a real machine stops their thread sooner or later. So a thread that has run alone
//! for many steps yields.

use ::std::cell::{Cell, RefCell};

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::shuttle::{clock, twin};
use shuttle_engine::runtime::execution::ExecutionState;
use shuttle_engine::runtime::thread::switch;

use super::{Place, clear_later, place, task};

/// The shortest wait of a thread that has spun out, in nanoseconds.
const SHORTEST: u64 = 1_000;

/// Steps that a thread makes alone before it yields.
const ALONE: u32 = 200;

/// The last wait of a thread that had spun out.
#[derive(Clone, Copy, Default)]
struct Nap {
    length: u64,
    /// What [`WRITTEN`] was when it began.
    written: u64,
}

::std::thread_local! {
    /// How many steps the execution had when a thread last yielded in a spin loop.
    static SPUN_AT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The latest moment that a task compared the clock with, and the task.
    static COMPARED: Cell<(u64, usize)> = const { Cell::new((0, usize::MAX)) };
    /// How often something was written.
    static WRITTEN: Cell<u64> = const { Cell::new(0) };
    /// The task that runs, and its steps since another one ran.
    static RUN: Cell<(usize, u32)> = const { Cell::new((usize::MAX, 0)) };
    /// Steps of an execution in which threads take turns.
    static TURNS: Cell<u64> = const { Cell::new(0) };
    /// The last one of each task.
    static NAPS: RefCell<Vec<Nap>> = const { RefCell::new(Vec::new()) };
}

/// Forgets the execution before.
pub(super) fn clear() {
    SPUN_AT.set(usize::MAX);
    COMPARED.set((0, usize::MAX));
    WRITTEN.set(0);
    RUN.set((usize::MAX, 0));
    TURNS.set(0);
    NAPS.take();
}

/// One turn of a spin loop. It yields unless no other thread has run since the last one.
#[inline]
#[track_caller]
pub fn spin_loop() {
    if place() != Place::Inside {
        return ::core::hint::spin_loop();
    }
    clear_later();
    if SPUN_AT.get() != ExecutionState::context_switches() {
        yield_now();
        SPUN_AT.set(ExecutionState::context_switches());
    }
}

/// Lets other threads run.
#[track_caller]
pub fn yield_now() {
    match place() {
        Place::Outside => ::std::thread::yield_now(),
        Place::Ending => {}
        Place::Inside if twin::has_spun_out() && !::std::thread::panicking() => nap(),
        Place::Inside => {
            let _apart = twin::apart();
            // shuttle's own `yield_now` wakes the calling task as well, which costs a poll for nothing.
            ExecutionState::request_yield();
            switch();
        }
    }
}

/// Whether the thread makes its next step in the same turn. Where threads take turns, it does so at one step in some
/// eight, the same ones in each execution. Otherwise two threads that retry in step would do so for ever.
#[inline]
pub(super) fn keeps_its_turn() -> bool {
    if !twin::takes_turns() {
        return false;
    }
    let turn = TURNS.get().wrapping_add(1);
    TURNS.set(turn);
    // Fibonacci hashing, with no period that a loop could have.
    turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 == 0
}

/// Something was written that other threads can see.
#[inline]
pub fn wrote() {
    WRITTEN.set(WRITTEN.get() + 1);
}

/// Counts a step of that task; whether it should yield.
#[inline]
pub(super) fn has_run_alone(task: usize) -> bool {
    let (last, steps) = RUN.get();
    let steps = if last == task { steps + 1 } else { 0 };
    let enough = steps == ALONE;
    RUN.set((task, if enough { 0 } else { steps }));
    enough
}

/// The calling thread has compared the clock with that moment.
pub fn compared_with(nanos: u64) {
    if let Some(task) = task() {
        COMPARED.set((nanos, task));
    }
}

#[track_caller]
fn nap() {
    clear_later();
    let Some(task) = task() else { return };
    let _apart = twin::apart();
    let now = clock::now_nanos();
    let last = NAPS.with_borrow(|naps| naps.get(task).copied().unwrap_or_default());
    let written = WRITTEN.get();
    let length = match last.written == written {
        true => last.length.saturating_mul(2),
        false => last.length / 2,
    };
    let length = length.max(SHORTEST);
    NAPS.with_borrow_mut(|naps| {
        naps.resize(naps.len().max(task + 1), Nap::default());
        naps[task] = Nap { length, written };
    });
    let (compared, by) = COMPARED.get();
    let until = match by == task && compared > now {
        true => compared,
        false => now.saturating_add(length),
    };
    twin::Wait::here().sit("a spin loop", Deadline::from_nanos(until));
}
