//! What waiting costs on this machine, for those that choose between spinning, yielding and sleeping.

use ::std::fs;
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::thread::{self, yield_now};
use ::std::time::{Duration, Instant};

use super::spinning_pays;
use crate::machine::{RoundTrips, Waits, affinity};
use crate::sync::WaitCosts;

/// Until they are measured, and where they cannot be: about those of an AMD EPYC of family 26, as a guest.
const ASSUMED: WaitCosts = WaitCosts {
    round_trip_nanos: 50,
    wake_nanos: 15_000,
    yield_nanos: 400,
};

/// What waiting costs on this machine; `None` on a single core, where looking again does not pay.
///
/// The first call of a process starts a thread that measures it for about a millisecond, and returns what is assumed until
/// then. That thread pins two more to two cores, on Linux alone. Elsewhere the assumption stays.
#[inline]
pub fn wait_costs() -> Option<WaitCosts> {
    static MEASURED: OnceLock<WaitCosts> = OnceLock::new();
    spinning_pays().then(|| match MEASURED.get() {
        Some(costs) => *costs,
        None => assumed_until(&MEASURED),
    })
}

#[cold]
fn assumed_until(measured: &'static OnceLock<WaitCosts>) -> WaitCosts {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    // Relaxed: one thread begins it, and nothing else depends on that.
    if !BEGUN.swap(true, Ordering::Relaxed) {
        let measuring = thread::Builder::new().name("wait-costs".to_owned());
        // Without the thread the assumption stays.
        let _ = measuring.spawn(|| measured.set(measure()));
    }
    ASSUMED
}

fn measure() -> WaitCosts {
    let cores = affinity::of_process().unwrap_or_default();
    // The thread that waited first may be pinned, and this one with it. If it stays so, only a yield takes longer.
    let _ = affinity::restrict(&cores);
    let apart = two_cores(&cores);
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
fn two_cores(cores: &[usize]) -> Option<[usize; 2]> {
    let siblings = |core: &usize| {
        let topology = format!("/sys/devices/system/cpu/cpu{core}/topology");
        fs::read_to_string(format!("{topology}/thread_siblings_list")).ok()
    };
    let first = cores.first()?;
    let of_first = siblings(first)?;
    let is_apart = |core: &&usize| siblings(core).is_some_and(|list| list != of_first);
    Some([*first, *cores.iter().find(is_apart)?])
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
    fn it_is_assumed_first_and_then_measured_for_good() {
        if !spinning_pays() {
            return assert_eq!(wait_costs(), None);
        }
        static MEASURED: OnceLock<WaitCosts> = OnceLock::new();
        assert_eq!(assumed_until(&MEASURED), ASSUMED);
        while MEASURED.get().is_none() {
            yield_now();
        }
        assert_eq!(assumed_until(&MEASURED), ASSUMED, "it does not ask again");
    }

    /// On a machine with two cores.
    #[test]
    fn the_two_hardware_threads_are_of_two_cores() {
        let cores = affinity::of_process().unwrap_or_default();
        if let Some([one, other]) = two_cores(&cores) {
            assert!(one != other && cores.contains(&one) && cores.contains(&other));
        }
        assert_eq!(two_cores(&cores[..cores.len().min(1)]), None);
    }
}
