//! What waiting costs on this machine, for those that choose between spinning, yielding and sleeping.

use ::std::sync::OnceLock;
use ::std::thread::yield_now;
use ::std::time::{Duration, Instant};

use super::volley::{Volley, Waits};
use super::{affinity, spinning_pays};
use crate::sync::WaitCosts;

/// Where a machine is too busy to be measured: about those of an AMD EPYC of family 26, as a guest.
const ASSUMED: WaitCosts = WaitCosts {
    round_trip_nanos: 50,
    wake_nanos: 15_000,
    yield_nanos: 400,
};

/// What waiting costs on this machine; `None` on a single core, where looking again does not pay. The first call of a process
/// measures it, for about 1 ms. Where other threads want the cores, it takes some time slices.
pub fn wait_costs() -> Option<WaitCosts> {
    static COSTS: OnceLock<Option<WaitCosts>> = OnceLock::new();
    *COSTS.get_or_init(|| spinning_pays().then(measured))
}

/// Each cost is believed within bounds: a time slice of another thread, or two threads on one core, may be in it.
#[cold]
fn measured() -> WaitCosts {
    let allowed = affinity::allowed();
    let ends = allowed.map(|cores| [cores.first().copied(), cores.last().copied()]);
    let volley = |waits, trips, goes| {
        let volley = Volley {
            waits,
            trips,
            goes,
            patience: Duration::from_millis(2),
            settle: move |index| on_a_core_of_its_own(ends, index),
        };
        volley.round_trip_nanos().map(|nanos| nanos as u32)
    };
    let round_trip = volley(Waits::Spinning, 100, 5).unwrap_or(ASSUMED.round_trip_nanos);
    let wake = volley(Waits::Parked, 1, 9).map_or(ASSUMED.wake_nanos, |trip| trip / 2);
    WaitCosts {
        round_trip_nanos: round_trip.clamp(10, 1_000),
        wake_nanos: wake.clamp(1_000, 100_000),
        yield_nanos: yield_nanos(),
    }
}

/// The first and the last hardware thread of this process: where there are two cores, these are not of the same one.
/// Without it the two threads often share a core for longer than the measurement takes.
fn on_a_core_of_its_own(ends: Option<[Option<usize>; 2]>, index: usize) -> bool {
    ends.is_none_or(|ends| ends[index].is_some_and(|core| affinity::restrict(&[core]).is_ok()))
}

/// The shortest of some. Where it takes longer than the bound, another thread had the core each time.
fn yield_nanos() -> u32 {
    let end = Instant::now() + Duration::from_millis(1);
    let yields = (0..32).map_while(|_| {
        let began = Instant::now();
        yield_now();
        (began < end).then(|| began.elapsed())
    });
    let shortest = yields.min().unwrap_or_default().as_nanos();
    match u32::try_from(shortest) {
        Ok(nanos) if (50..=2_000).contains(&nanos) => nanos,
        _ => ASSUMED.yield_nanos,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waiting_costs_is_measured_once_and_within_its_bounds() {
        let Some(costs) = wait_costs() else {
            return assert!(!spinning_pays());
        };
        assert!((10..=1_000).contains(&costs.round_trip_nanos), "{costs:?}");
        assert!((1_000..=100_000).contains(&costs.wake_nanos), "{costs:?}");
        assert!((50..=2_000).contains(&costs.yield_nanos), "{costs:?}");
        assert_eq!(wait_costs(), Some(costs), "asked again");
    }
}
