//! Describes the machine of a run, and what its clock, caches and scheduler cost.
//!
//! Sources: `/proc`, `/sys`, and three small timings. Values that the system does not provide are `unknown` or absent.

use std::fs;
use std::thread;
use std::time::Duration;

use flowmeter_harness::machine::{RoundTrips, Waits};

use super::pin::{self, Pinned, Pinning};
use super::topology::Places;
use super::{clock, counters};
use flowmeter_records::Machine;

const UNKNOWN: &str = "unknown";
/// Clock reads per timing.
const READS: u32 = 10_000;
/// Round trips of a cache line per timing; the result is the median of [`SAMPLES`] timings.
const LINE_TRIPS: u32 = 1_000;
/// Round trips of park and unpark per timing.
const PARK_TRIPS: u32 = 20;
const SAMPLES: u32 = 15;

/// Describes this machine; the timings take some tens of milliseconds, and more on a busy one.
pub fn describe() -> Machine {
    clock::calibrate();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Machine {
        cpu: cpu_of(&cpuinfo).unwrap_or_else(unknown),
        cores: thread::available_parallelism().map_or(1, usize::from),
        topology: Places::of_process().map(Places::counted),
        memory_bytes: memory_bytes(),
        os: os(),
        governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .unwrap_or_else(unknown),
        hypervisor: hypervisor(&cpuinfo),
        counters: counters::described(),
        rustc: option_env!("FLOWMETER_RUSTC").unwrap_or(UNKNOWN).to_owned(),
        clock_read_nanos: Some(clock_read_nanos()),
        core_round_trip_nanos: core_round_trip_nanos(),
        park_round_trip_nanos: park_round_trip_nanos(),
    }
}

fn unknown() -> String {
    UNKNOWN.to_owned()
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn cpu_of(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").map(str::to_owned)
}

fn memory_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = field(&meminfo, "MemTotal")?.strip_suffix("kB")?;
    Some(kib.trim().parse::<u64>().ok()? * 1024)
}

fn os() -> String {
    match first_line("/proc/sys/kernel/osrelease") {
        Some(release) => format!("{} {release}", std::env::consts::OS),
        None => std::env::consts::OS.to_owned(),
    }
}

fn hypervisor(cpuinfo: &str) -> String {
    if let Some(kind) = first_line("/sys/hypervisor/type") {
        return kind;
    }
    match field(cpuinfo, "flags") {
        None => unknown(),
        Some(flags) if flags.split_whitespace().any(|f| f == "hypervisor") => {
            first_line("/sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "present".to_owned())
        }
        Some(_) => "none".to_owned(),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The cost of one read of [`clock::now_nanos`].
pub fn clock_read_nanos() -> f64 {
    median(
        (0..SAMPLES)
            .map(|_| {
                let began = clock::now_nanos();
                for _ in 0..READS {
                    std::hint::black_box(clock::now_nanos());
                }
                (clock::now_nanos() - began) as f64 / f64::from(READS)
            })
            .collect(),
    )
}

/// For how long samples are taken, on a machine that is busy with others.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The time of a cache line to another core and back; `None` where two threads cannot be pinned apart, or where no sample
/// was complete in time.
pub fn core_round_trip_nanos() -> Option<f64> {
    if pin::cores()?.len() < 2 {
        return None;
    }
    let trips = RoundTrips {
        waits: Waits::Spinning,
        trips: LINE_TRIPS,
        samples: SAMPLES,
        timeout: TIMEOUT,
        settle: |index| pin::pin(Pinning::CorePerThread, index) == Pinned::Done,
    };
    trips.nanos()
}

/// The time to wake a parked thread and to be woken by it; `None` where the system does not start two threads, or where no
/// sample was complete in time.
pub fn park_round_trip_nanos() -> Option<f64> {
    let trips = RoundTrips {
        waits: Waits::Parked,
        trips: PARK_TRIPS,
        samples: SAMPLES,
        timeout: TIMEOUT,
        settle: |_| true,
    };
    trips.nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_what_the_system_prints() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU: fast\nflags\t\t: fpu hypervisor\n";
        assert_eq!(cpu_of(cpuinfo).as_deref(), Some("Some CPU: fast"));
        assert_ne!(hypervisor(cpuinfo), "none");
        assert_eq!(hypervisor(""), hypervisor("nothing"));
    }

    #[test]
    fn a_machine_is_described_whatever_it_is() {
        let machine = describe();
        assert!(machine.cores >= 1);
        for text in [
            &machine.cpu,
            &machine.os,
            &machine.governor,
            &machine.hypervisor,
        ] {
            assert!(!text.is_empty(), "{machine:?}");
        }
        assert!(machine.rustc.starts_with("rustc "), "{}", machine.rustc);
        assert!(machine.clock_read_nanos.is_some_and(|n| n > 0.0));
        assert!(machine.park_round_trip_nanos.is_some_and(|n| n > 0.0));
        #[cfg(target_os = "linux")]
        assert!(machine.memory_bytes.is_some());
    }
}
