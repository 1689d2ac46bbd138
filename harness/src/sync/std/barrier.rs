//! A memory barrier in two halves: [`here`] is nearly free, [`everywhere`] interrupts other cores.
//!
//! Of two threads that each store, pass a barrier and load what the other one stores, at least one sees the other's
//! store. That holds if both pass `fence(SeqCst)`. It also holds if one passes [`here`] and the other [`everywhere`].
//! Two threads that both pass [`here`] may miss each other's store.
//!
//! On Linux `everywhere` is the system call `membarrier`, which makes every running thread of the process pass a fence.
//! Then `here` only keeps the compiler from exchanging the two accesses. Elsewhere, and until the system has agreed,
//! both halves are a fence.

use ::std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};

/// Both halves are a fence.
const FENCED: u8 = 0;
/// `everywhere` asks the system, and `here` is still a fence.
const CHANGING: u8 = 1;
/// `everywhere` asks the system.
const ASKED: u8 = 2;

/// On cache lines of its own, because each release of a lock and each operation of a ring reads it.
#[repr(align(128))]
struct Kind(AtomicU8);

static KIND: Kind = Kind(AtomicU8::new(FENCED));

/// The half for the common path.
#[inline]
pub fn here() {
    // Acquire: what comes next is not read before.
    if KIND.0.load(Ordering::Acquire) == ASKED {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The half for the rare path. `false` if the system refused, so that another thread's store may be missed.
#[must_use = "if the system refused, a store may be missed"]
pub fn everywhere() -> bool {
    fence(Ordering::SeqCst);
    KIND.0.load(Ordering::Acquire) == FENCED || system::barrier()
}

/// Makes [`here`] nearly free, if the system supports it. That takes some milliseconds in a process of several threads.
///
/// A thread that reads `FENCED` in `everywhere` stored and passed a fence before it read. It read before the barrier
/// between the two stores below: after that it would have read `CHANGING`. So a thread that reads `ASKED` sees what the
/// first thread stored.
///
/// If the system refuses that barrier, no thread has read `ASKED`, and both halves are a fence again.
pub(super) fn ask() {
    let begins = || {
        let begun =
            (KIND.0).compare_exchange(FENCED, CHANGING, Ordering::AcqRel, Ordering::Relaxed);
        begun.is_ok()
    };
    if system::agrees() && begins() {
        let kind = if system::barrier() { ASKED } else { FENCED };
        KIND.0.store(kind, Ordering::Release);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use ::std::ffi::{c_int, c_long, c_uint};

    /// The number of the call; `None` where it is not known, and under Miri, which lacks it.
    const MEMBARRIER: Option<c_long> = if cfg!(miri) {
        None
    } else if cfg!(target_arch = "x86_64") {
        Some(324)
    } else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
        Some(283)
    } else {
        None
    };
    const PRIVATE_EXPEDITED: c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;

    // std links the C library itself; the package libc would be the library's only dependency.
    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    fn membarrier(command: c_int) -> bool {
        let (flags, cpu): (c_uint, c_int) = (0, 0);
        // SAFETY: the call takes these three numbers, and touches no memory of this process.
        MEMBARRIER.is_some_and(|number| unsafe { syscall(number, command, flags, cpu) } == 0)
    }

    pub(super) fn agrees() -> bool {
        membarrier(REGISTER_PRIVATE_EXPEDITED)
    }

    pub(super) fn barrier() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn agrees() -> bool {
        false
    }

    pub(super) fn barrier() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::std::hint::spin_loop;
    use ::std::sync::atomic::AtomicU32;
    use ::std::thread;
    use ::std::time::{Duration, Instant};

    #[repr(align(128))]
    struct Word(AtomicU32);

    impl Word {
        const fn zero() -> Self {
            Word(AtomicU32::new(0))
        }

        fn wait_for(&self, round: u32) {
            while self.0.load(Ordering::Acquire) < round {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn one_of_two_threads_sees_the_others_store() {
        const ROUNDS: u32 = 20_000;
        const END: u32 = u32::MAX;
        ask();
        if system::agrees() {
            // Another test may have begun.
            while KIND.0.load(Ordering::Relaxed) == CHANGING {
                thread::yield_now();
            }
            assert_eq!(KIND.0.load(Ordering::Relaxed), ASKED);
        }
        let [x, y, start, seen, done] = [const { Word::zero() }; 5];
        let missed = thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1.. {
                    start.wait_for(round);
                    if start.0.load(Ordering::Relaxed) == END {
                        break;
                    }
                    x.0.store(round, Ordering::Relaxed);
                    here();
                    seen.0.store(y.0.load(Ordering::Relaxed), Ordering::Relaxed);
                    done.0.store(round, Ordering::Release);
                }
            });
            // Beside other programs each round may take a time slice.
            let end = Instant::now() + Duration::from_secs(2);
            let in_time = (1..=ROUNDS).take_while(|round| round % 256 > 0 || Instant::now() < end);
            let missed = in_time.filter(|round| {
                start.0.store(*round, Ordering::Release);
                // So that the two meet in some rounds.
                (0..round % 64).for_each(|_| spin_loop());
                y.0.store(*round, Ordering::Relaxed);
                let is_certain = everywhere();
                let others = x.0.load(Ordering::Relaxed);
                done.wait_for(*round);
                !is_certain || others != *round && seen.0.load(Ordering::Relaxed) != *round
            });
            let missed = missed.count();
            start.0.store(END, Ordering::Release);
            missed
        });
        assert_eq!(missed, 0, "rounds of {ROUNDS} at most");
    }
}
