//! How quiet the machine is.
//!
//! Sources: `/proc/loadavg`, `/proc/stat` over an interval in which this process is idle, and a fixed piece of work
//! timed repeatedly.
//!
//! The score is the worst of three shares, each relative to the share at which results are worthless: steal 10 %
//! ([`UNUSABLE_STEAL`]), other processes 50 % of the cores ([`UNUSABLE_BUSY`]), spread of the fixed work 25 %
//! ([`UNUSABLE_SPREAD`]). A score up to [`QUIET_SCORE`] is quiet: at most 2 % steal, 10 % other processes, 5 % spread.
//!
//! The load average is recorded but not scored, because it includes the work of this run itself. Values that the system
//! does not provide are absent and not scored.

use std::time::{Duration, Instant};

use super::{clock, usage};
use flowmeter_records::Noise;

/// Share of stolen time at which results are worthless.
pub const UNUSABLE_STEAL: f64 = 0.10;
/// Share of the cores used by other processes at which results are worthless.
pub const UNUSABLE_BUSY: f64 = 0.50;
/// Spread of a fixed piece of work, (p90 - p10) / p50, at which results are worthless.
pub const UNUSABLE_SPREAD: f64 = 0.25;
/// The highest score that is still quiet.
pub const QUIET_SCORE: u32 = 20;
/// The default duration of the watch.
pub const DEFAULT_WATCH: Duration = Duration::from_millis(600);

/// Steps of the fixed piece of work: some tens of microseconds.
const FIXED_WORK: u64 = 20_000;
/// The least number of timings.
const FEWEST_TIMINGS: usize = 50;
/// Timings of a probe.
const PROBE_TIMINGS: usize = 9;

/// Time of all cores since the machine started, in ticks of the system: `/proc/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// All ticks.
    pub total: u64,
    /// Idle, or waiting for a disk.
    pub idle: u64,
    /// Given to other guests by the hypervisor.
    pub steal: u64,
}

impl Ticks {
    /// As they stand; `None` where the system does not say.
    pub fn read() -> Option<Ticks> {
        Ticks::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Ticks> {
        let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
        let fields: Vec<u64> = line
            .split_whitespace()
            .map(|f| f.parse().ok())
            .collect::<Option<_>>()?;
        // user nice system idle iowait irq softirq steal; guest time is part of user.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *fields.first_chunk()?;
        Some(Ticks {
            total: user + nice + system + idle + iowait + irq + softirq + steal,
            idle: idle + iowait,
            steal,
        })
    }

    /// Shares since `earlier`: stolen, and used by all processes; `None` before a tick has passed.
    fn shares_since(self, earlier: Ticks) -> Option<(f64, f64)> {
        let total = self.total.saturating_sub(earlier.total) as f64;
        let idle = self.idle.saturating_sub(earlier.idle) as f64;
        let steal = self.steal.saturating_sub(earlier.steal) as f64;
        let used = (total - idle - steal).max(0.0);
        (total > 0.0).then(|| (steal / total, used / total))
    }
}

/// Watches the machine for about `interval`: half of it idle, half of it with the fixed work.
pub fn watch(interval: Duration) -> Noise {
    let before = Ticks::read();
    // Sleeping is part of the measurement: the machine is observed while this process is idle.
    std::thread::sleep(interval / 2);
    let shares = before.zip(Ticks::read());
    let shares = shares.and_then(|(before, after)| after.shares_since(before));
    let spread = spread_of_fixed_work(interval / 2);
    scored(Noise {
        load_1m: load(),
        steal: shares.map(|(steal, _)| steal),
        busy: shares.map(|(_, busy)| busy),
        spread: Some(spread),
        ..Noise::default()
    })
}

/// An interval in which this process and its children work, observed at both ends.
///
/// The work of other processes is the work of all cores, less that of this process and of the children that it has
/// waited for. Children that are alive at either end count as other processes.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    ticks: Ticks,
    own_nanos: u64,
}

impl Stretch {
    /// Begins now; `None` where the system does not say.
    pub fn begin() -> Option<Stretch> {
        Some(Stretch {
            ticks: Ticks::read()?,
            own_nanos: usage::now()?.cpu_nanos + usage::ended_children()?.cpu_nanos,
        })
    }

    /// Load, steal and other processes' work since it began; `None` before a tick has passed.
    pub fn end(self) -> Option<Noise> {
        let now = Stretch::begin()?;
        let (steal, used) = now.ticks.shares_since(self.ticks)?;
        let all = now.ticks.total.saturating_sub(self.ticks.total) as f64 / ticks_per_second()?;
        let own = now.own_nanos.saturating_sub(self.own_nanos) as f64 / 1e9;
        Some(scored(Noise {
            load_1m: load(),
            steal: Some(steal),
            busy: Some(others(used, own / all)),
            ..Noise::default()
        }))
    }
}

/// The used share of the cores, less what this process used itself.
fn others(used: f64, own: f64) -> f64 {
    (used - own).clamp(0.0, 1.0)
}

#[cfg(unix)]
fn ticks_per_second() -> Option<f64> {
    // SAFETY: sysconf takes any number and answers -1 for what it does not know.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

#[cfg(not(unix))]
fn ticks_per_second() -> Option<f64> {
    None
}

/// Fills in the score and the verdict.
fn scored(noise: Noise) -> Noise {
    let shares = [
        noise.steal.map(|share| share / UNUSABLE_STEAL),
        noise.busy.map(|share| share / UNUSABLE_BUSY),
        noise.spread.map(|share| share / UNUSABLE_SPREAD),
    ];
    let worst = shares.into_iter().flatten().fold(0.0, f64::max);
    let score = (worst * 100.0).round().min(100.0) as u32;
    Noise {
        score,
        quiet: score <= QUIET_SCORE,
        ..noise
    }
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn spread_of_fixed_work(time: Duration) -> f64 {
    let end = Instant::now() + time;
    let mut timings = Vec::new();
    while timings.len() < FEWEST_TIMINGS || Instant::now() < end {
        timings.push(one_fixed_work());
    }
    spread(&mut timings)
}

/// The time of the fixed piece of work now, nanoseconds: the median of a few timings.
pub(super) fn fixed_work_nanos() -> u64 {
    let mut timings = [(); PROBE_TIMINGS].map(|()| one_fixed_work());
    timings.sort_unstable();
    timings[PROBE_TIMINGS / 2]
}

fn one_fixed_work() -> u64 {
    let began = clock::now_nanos();
    let mut state = began;
    for _ in 0..FIXED_WORK {
        // A chain of dependent multiplications depends only on the speed of one core.
        state = std::hint::black_box(state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    }
    clock::now_nanos() - began
}

/// (p90 - p10) / p50.
fn spread(timings: &mut [u64]) -> f64 {
    timings.sort_unstable();
    let at = |percent: usize| timings[(timings.len() - 1) * percent / 100] as f64;
    (at(90) - at(10)) / at(50).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_between_two_readings() {
        let before = Ticks::parse("cpu  100 0 100 1000 0 0 0 10 0 0\ncpu0 1 2 3\n").unwrap();
        let after = Ticks::parse("cpu  130 0 110 1050 5 0 0 15 7 0\n").unwrap();
        let (steal, used) = after.shares_since(before).unwrap();
        assert!((steal - 0.05).abs() < 1e-9, "{steal}");
        assert!((used - 0.40).abs() < 1e-9, "{used}");
        assert_eq!(before.shares_since(before), None);
        assert_eq!(Ticks::parse("nothing"), None);
    }

    #[test]
    fn the_worst_share_makes_the_score() {
        let noise = |steal, busy, spread| {
            let noise = scored(Noise {
                steal,
                busy,
                spread,
                ..Noise::default()
            });
            (noise.score, noise.quiet)
        };
        assert_eq!(noise(None, None, None), (0, true));
        assert_eq!(noise(Some(0.02), Some(0.0), Some(0.0)), (20, true));
        assert_eq!(noise(Some(0.0), Some(0.105), Some(0.0)), (21, false));
        assert_eq!(noise(Some(0.0), Some(0.1), Some(0.125)), (50, false));
        assert_eq!(noise(Some(1.0), None, None), (100, false));
    }

    #[test]
    fn others_work_is_what_is_not_our_own() {
        assert!((others(0.75, 0.5) - 0.25).abs() < 1e-9);
        assert_eq!(others(0.49, 0.5), 0.0, "ticks are coarse");
    }

    #[test]
    fn spread_ignores_the_outer_tenths() {
        let mut timings: Vec<u64> = (0..=100).map(|i| 1_000 + i).collect();
        timings[100] = 1_000_000;
        let spread = spread(&mut timings);
        assert!((spread - 80.0 / 1_050.0).abs() < 1e-9, "{spread}");
    }

    #[test]
    fn watching_fills_in_what_the_system_says() {
        let noise = watch(Duration::from_millis(40));
        assert!(noise.spread.is_some_and(|s| s >= 0.0));
        assert!(noise.score <= 100);
        assert_eq!(noise.quiet, noise.score <= QUIET_SCORE);
        #[cfg(target_os = "linux")]
        assert!(noise.load_1m.is_some());
    }
}
