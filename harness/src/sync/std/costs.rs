//! What waiting costs on this machine, for those that choose between spinning, yielding and sleeping.

use ::std::fs;
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::thread::{self, yield_now};
use ::std::time::{Duration, Instant};

use super::{barrier, spinning_pays};
use crate::machine::{RoundTrips, Waits, affinity};
use crate::sync::WaitCosts;

/// Until they are measured, which may be never: about those of an AMD EPYC of family 26, as a guest.
const ASSUMED: WaitCosts = WaitCosts {
    round_trip_nanos: 50,
    wake_nanos: 15_000,
    yield_nanos: 400,
};

/// What waiting costs on this machine; `None` on a single core, where looking again does not pay.
///
/// The first call of a process starts a thread that measures it for about a millisecond, and returns what is assumed until
/// then. That thread starts two more at a time and, on Linux, pins them to two cores. Elsewhere the assumption stays.
/// Then the thread asks the system for the memory barrier that makes the release of a [`LightMutex`](super::LightMutex)
/// cheap, and waits some milliseconds for it.
#[inline]
pub fn wait_costs() -> Option<WaitCosts> {
    static COSTS: Costs = Costs::unmeasured();
    match COSTS.measured.get() {
        Some(costs) => Some(*costs),
        None => spinning_pays().then(|| COSTS.assumed(measure)),
    }
}

struct Costs {
    measured: OnceLock<WaitCosts>,
    /// Whether a thread was started that measures them.
    begun: AtomicBool,
}

impl Costs {
    const fn unmeasured() -> Self {
        Costs {
            measured: OnceLock::new(),
            begun: AtomicBool::new(false),
        }
    }

    #[cold]
    fn assumed(&'static self, measure: fn() -> WaitCosts) -> WaitCosts {
        // Relaxed: one thread begins it, and nothing else depends on that.
        if !self.begun.load(Ordering::Relaxed) && !self.begun.swap(true, Ordering::Relaxed) {
            let measuring = thread::Builder::new().name("wait-costs".to_owned());
            // Without the thread the assumption stays.
            let _ = measuring.spawn(move || {
                let _ = self.measured.set(measure());
                barrier::ask();
            });
        }
        ASSUMED
    }
}

fn measure() -> WaitCosts {
    let cores = affinity::of_process().unwrap_or_default();
    // The thread that waited first may be pinned, and this one with it. If it stays so, only a yield takes longer.
    let _ = affinity::restrict(&cores);
    let apart = two_cores(&cores, siblings);
    let round_trip = |waits, trips, samples| {
        let pair = apart?;
        let trips = RoundTrips {
            waits,
            trips,
            samples,
            timeout: Duration::from_millis(2),
            settle: move |index| affinity::restrict(&[pair[index]]).is_ok(),
        };
        trips.nanos()
    };
    believed(
        round_trip(Waits::Spinning, 100, 5),
        round_trip(Waits::Parked, 1, 9),
        yield_time(),
    )
}

/// The first hardware thread, and the next one that is not of the same core. Two threads that are not pinned often share
/// a core for longer than the measurement takes.
fn two_cores(cores: &[usize], siblings: impl Fn(usize) -> Option<String>) -> Option<[usize; 2]> {
    let first = *cores.first()?;
    let of_first = siblings(first)?;
    let is_apart = |core: &usize| siblings(*core).is_some_and(|list| list != of_first);
    Some([first, cores.iter().copied().find(is_apart)?])
}

/// The hardware threads of its core, as Linux lists them.
fn siblings(core: usize) -> Option<String> {
    let topology = format!("/sys/devices/system/cpu/cpu{core}/topology");
    fs::read_to_string(format!("{topology}/thread_siblings_list")).ok()
}

/// The shortest of some yields: in the others another thread ran.
fn yield_time() -> Duration {
    let end = Instant::now() + Duration::from_millis(1);
    let yields = (0..32).map_while(|_| {
        let began = Instant::now();
        yield_now();
        (began < end).then(|| began.elapsed())
    });
    yields.min().unwrap_or(Duration::MAX)
}

/// Within bounds. Another thread's time slice may be in a measurement, and then the assumption says more.
fn believed(
    round_trip_nanos: Option<f64>,
    park_round_trip_nanos: Option<f64>,
    a_yield: Duration,
) -> WaitCosts {
    let within = |nanos: Option<f64>, least: u32, most: u32, assumed| match nanos {
        Some(nanos) if nanos <= f64::from(most) => (nanos as u32).max(least),
        _ => assumed,
    };
    let wake = park_round_trip_nanos.map(|nanos| nanos / 2.0);
    let a_yield = Some(a_yield.as_nanos() as f64);
    WaitCosts {
        round_trip_nanos: within(round_trip_nanos, 10, 1_000, ASSUMED.round_trip_nanos),
        wake_nanos: within(wake, 1_000, 100_000, ASSUMED.wake_nanos),
        yield_nanos: within(a_yield, 50, 2_000, ASSUMED.yield_nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::std::sync::atomic::AtomicUsize;

    #[test]
    fn what_is_measured_is_believed_within_bounds() {
        let costs = |[round_trip, park, a_yield]: [u64; 3]| {
            let as_nanos = |nanos| Some(nanos as f64);
            let costs = believed(
                as_nanos(round_trip),
                as_nanos(park),
                Duration::from_nanos(a_yield),
            );
            [costs.round_trip_nanos, costs.wake_nanos, costs.yield_nanos]
        };
        let assumed = [
            ASSUMED.round_trip_nanos,
            ASSUMED.wake_nanos,
            ASSUMED.yield_nanos,
        ];
        assert_eq!(costs([114, 43_700, 600]), [114, 21_850, 600]);
        assert_eq!(costs([3, 700, 0]), [10, 1_000, 50], "too short");
        let slices = [4_000_000; 3];
        assert_eq!(costs(slices), assumed, "a time slice in each");
    }

    #[test]
    fn it_is_measured_once_and_assumed_until_then() {
        static COSTS: Costs = Costs::unmeasured();
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        const MEASURED: WaitCosts = WaitCosts {
            yield_nanos: 700,
            ..ASSUMED
        };
        let measure = || {
            CALLS.fetch_add(1, Ordering::Relaxed);
            MEASURED
        };
        for _ in 0..3 {
            assert_eq!(COSTS.assumed(measure), ASSUMED);
        }
        while COSTS.measured.get().is_none() {
            yield_now();
        }
        assert_eq!(COSTS.measured.get(), Some(&MEASURED));
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_two_hardware_threads_are_of_two_cores() {
        let neighbours = |core: usize| Some(format!("{}-{}", core / 2 * 2, core / 2 * 2 + 1));
        assert_eq!(two_cores(&[0, 1, 2, 3], neighbours), Some([0, 2]));
        assert_eq!(two_cores(&[1, 2], neighbours), Some([1, 2]));
        assert_eq!(two_cores(&[0, 1], neighbours), None, "of one core");
        let halves = |core: usize| Some(format!("{},{}", core % 4, core % 4 + 4));
        assert_eq!(two_cores(&[0, 4, 5], halves), Some([0, 5]));
        assert_eq!(two_cores(&[0, 1], |_| None), None, "unknown");
        assert_eq!(two_cores(&[], halves), None);
    }
}
