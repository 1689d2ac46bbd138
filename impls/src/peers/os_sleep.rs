//! The system's own sleep, as reference rows: no other sleep can be more punctual than these.
//!
//! | offered | where it is documented |
//! | --- | --- |
//! | blocking-sleep ([`OsSleep`]) | clock_nanosleep(2), `TIMER_ABSTIME`: "until either at least the time specified by request has elapsed", or a signal, after which it sleeps on |
//! | the same with 1 ns of slack (`OsSleepSharp`) | prctl(2), `PR_SET_TIMERSLACK`: "timer expirations for the thread may be up to the specified number of nanoseconds late (but will never expire early)" |
//!
//! Nothing is claimed. A new thread's slack is "the 'current' value of the creating thread". So [`OsSleep`] sleeps with
//! the system's default only if no ancestor of its thread has changed the slack. `OsSleepSharp` therefore sets 1 ns for
//! the sleep and restores the former value afterwards. It changes no thread for good, and none that its caller creates.
//! Restoring is one short system call after the sleep, where a sleep is late by tens of microseconds. Threads of a
//! real-time class have no slack to set.
//!
//! On other systems than Linux there is only [`OsSleep`], and it is std's `thread::sleep` in a loop.

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::BlockingSleep;

/// The system's sleep, with whatever slack the calling thread has.
#[derive(Clone, Copy, Debug)]
pub struct OsSleep {
    #[cfg(target_os = "linux")]
    clock: linux::Monotonic,
}

/// The version of the implementation: the kernel's release.
#[cfg(target_os = "linux")]
pub fn version() -> String {
    let release = ::std::fs::read_to_string("/proc/sys/kernel/osrelease");
    release.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// The version of the implementation: that of std.
#[cfg(not(target_os = "linux"))]
pub fn version() -> String {
    super::std::VERSION.to_owned()
}

#[cfg(target_os = "linux")]
pub use linux::OsSleepSharp;

#[cfg(target_os = "linux")]
mod linux {
    use ::std::mem::MaybeUninit;

    use super::{BlockingSleep, Deadline, OsSleep};
    use crate::sync::clock;

    /// How far the kernel's monotonic clock is ahead of ours.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Monotonic {
        ahead_nanos: u64,
    }

    impl Monotonic {
        /// Our clock is read first, so the result is too large by the time between the two readings. A sleep ends later
        /// by that, never earlier. The smallest of several results is accurate to tens of nanoseconds.
        fn new() -> Self {
            let tries = (0..32).map(|_| {
                let ours = clock::now_nanos();
                kernel_nanos().saturating_sub(ours)
            });
            Monotonic {
                ahead_nanos: tries.min().unwrap_or(0),
            }
        }

        #[inline]
        fn sleep_until(self, deadline: Deadline) {
            // The last moment of a u64 is centuries away, so a deadline that never comes needs no special case.
            let at = deadline.as_nanos().saturating_add(self.ahead_nanos);
            let at = libc::timespec {
                tv_sec: (at / 1_000_000_000).try_into().unwrap_or(libc::time_t::MAX),
                tv_nsec: (at % 1_000_000_000) as _,
            };
            loop {
                // SAFETY: `at` is a valid time that lives through the call, and an absolute sleep
                // writes no remainder.
                let answer = unsafe {
                    libc::clock_nanosleep(
                        libc::CLOCK_MONOTONIC,
                        libc::TIMER_ABSTIME,
                        &at,
                        ::std::ptr::null_mut(),
                    )
                };
                match answer {
                    0 => return,
                    // Interrupted by a signal. The deadline is unchanged.
                    libc::EINTR => {}
                    error => panic!("clock_nanosleep refused a valid time: error {error}"),
                }
            }
        }
    }

    fn kernel_nanos() -> u64 {
        let mut now = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: the clock exists, and `now` has room for what is written.
        let answer = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) };
        assert_eq!(answer, 0, "every Linux has a monotonic clock");
        // SAFETY: the call succeeded and has written it.
        let now = unsafe { now.assume_init() };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    /// The calling thread's timer slack in nanoseconds.
    fn slack() -> libc::c_ulong {
        // SAFETY: reads a number of the calling thread; the other arguments are unused.
        let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
        // A slack of more than two seconds does not fit the result. Setting 0 restores the thread's default.
        slack.try_into().unwrap_or(0)
    }

    fn set_slack(nanos: libc::c_ulong) {
        // SAFETY: sets a number of the calling thread; the other arguments are unused.
        let answer = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanos, 0, 0, 0) };
        assert_eq!(answer, 0, "every thread may set its own timer slack");
    }

    /// Gives the calling thread 1 ns of slack while `f` runs.
    fn sharply<R>(f: impl FnOnce() -> R) -> R {
        let before = slack();
        set_slack(1);
        let result = f();
        set_slack(before);
        result
    }

    impl BlockingSleep for OsSleep {
        fn start() -> Self {
            OsSleep {
                clock: Monotonic::new(),
            }
        }

        #[inline]
        fn sleep_until(&self, deadline: Deadline) {
            self.clock.sleep_until(deadline);
        }
    }

    /// The system's sleep, with 1 ns of slack while it sleeps.
    #[derive(Clone, Copy, Debug)]
    pub struct OsSleepSharp(OsSleep);

    impl BlockingSleep for OsSleepSharp {
        fn start() -> Self {
            OsSleepSharp(OsSleep::start())
        }

        #[inline]
        fn sleep_until(&self, deadline: Deadline) {
            sharply(|| self.0.sleep_until(deadline));
        }
    }

    #[cfg(test)]
    mod tests {
        use super::{set_slack, sharply, slack};

        #[test]
        fn a_sharp_sleep_has_a_slack_of_1_ns_and_leaves_the_thread_as_it_was() {
            set_slack(70_000);
            assert_eq!(sharply(slack), 1);
            assert_eq!(slack(), 70_000);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl BlockingSleep for OsSleep {
    fn start() -> Self {
        OsSleep {}
    }

    fn sleep_until(&self, deadline: Deadline) {
        use crate::sync::clock;

        while !clock::has_passed(deadline) {
            ::std::thread::sleep(clock::left(deadline).unwrap_or(::std::time::Duration::MAX));
        }
    }
}
