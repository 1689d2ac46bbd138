//! Resource usage of this process so far: CPU time, context switches, peak memory.
//!
//! Sources: `getrusage(2)` and `VmHWM` of `/proc/self/status`. Values that the system does not provide are `None`.

/// CPU time and context switches of this process, all its threads together, since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// User and system time, nanoseconds (counted by the system in microseconds).
    pub cpu_nanos: u64,
    /// Times a thread gave up its core to wait.
    pub voluntary_switches: u64,
    /// Times a thread was preempted.
    pub involuntary_switches: u64,
}

impl Usage {
    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu_nanos: self.cpu_nanos.saturating_sub(earlier.cpu_nanos),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            cpu_nanos: self.cpu_nanos + other.cpu_nanos,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
        }
    }

    /// Scaled to an interval `factor` times as long.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Usage {
        let scaled = |number: u64| (number as f64 * factor).round() as u64;
        Usage {
            cpu_nanos: scaled(self.cpu_nanos),
            voluntary_switches: scaled(self.voluntary_switches),
            involuntary_switches: scaled(self.involuntary_switches),
        }
    }
}

/// The usage of this process until now; `None` where the system does not say.
pub fn now() -> Option<Usage> {
    system::of_process()
}

/// The usage of the processes that this one started and has waited for; `None` where the system does not say.
pub fn ended_children() -> Option<Usage> {
    system::of_ended_children()
}

#[cfg(unix)]
mod system {
    use super::Usage;

    pub(super) fn of_process() -> Option<Usage> {
        usage_of(libc::RUSAGE_SELF)
    }

    pub(super) fn of_ended_children() -> Option<Usage> {
        usage_of(libc::RUSAGE_CHILDREN)
    }

    fn usage_of(whom: libc::c_int) -> Option<Usage> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to writable memory of the size of an rusage.
        if unsafe { libc::getrusage(whom, usage.as_mut_ptr()) } != 0 {
            return None;
        }
        // SAFETY: zeroed, which is a valid rusage, and filled by the call that succeeded.
        let usage = unsafe { usage.assume_init() };
        Some(Usage {
            cpu_nanos: nanos(usage.ru_utime) + nanos(usage.ru_stime),
            voluntary_switches: u64::try_from(usage.ru_nvcsw).ok()?,
            involuntary_switches: u64::try_from(usage.ru_nivcsw).ok()?,
        })
    }

    fn nanos(time: libc::timeval) -> u64 {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let micros = u64::try_from(time.tv_usec).unwrap_or(0);
        seconds * 1_000_000_000 + micros * 1_000
    }
}

#[cfg(not(unix))]
mod system {
    use super::Usage;

    pub(super) fn of_process() -> Option<Usage> {
        None
    }

    pub(super) fn of_ended_children() -> Option<Usage> {
        None
    }
}

/// The most memory this process has had resident so far, bytes; `None` where the system does not say.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_bytes_of(&status)
}

fn peak_bytes_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_read_from_the_status_file() {
        let status = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t    1536 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(peak_bytes_of(status), Some(1536 * 1024));
        assert_eq!(peak_bytes_of("Name:\tx\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn work_shows_as_cpu_time_and_memory() {
        let before = now().expect("Linux says");
        while now().expect("Linux says").since(before).cpu_nanos < 2_000_000 {
            std::hint::spin_loop();
        }
        assert!(peak_bytes().expect("Linux says") > 100_000);
    }
}
