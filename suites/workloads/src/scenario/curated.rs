//! The scenarios that are compiled in: all files below `suites/scenarios`, which a test compares with this list.

use std::path::Path;

use super::{ScenarioSpec, in_order, parse};

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each scenario file that is compiled in.
        pub const BUILT_IN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../scenarios/", $name, ".toml"))),)*
        ];
    };
}

built_in![
    "alts/eight-all-ready",
    "alts/eight-default",
    "alts/eight-one-hot",
    "alts/many-one-hot",
    "alts/most-one-hot",
    "alts/two-contended",
    "alts/two-mixed",
    "alts/two-one-hot",
    "channels-async-held-out/mpmc-2x2-100",
    "channels-async-held-out/mpsc-5x1-12",
    "channels-async-held-out/spsc-4096",
    "channels-async-held-out/spsc-5",
    "channels-async/close-1000",
    "channels-async/mpmc-1",
    "channels-async/mpmc-1024",
    "channels-async/mpmc-64",
    "channels-async/mpsc-3x1-7",
    "channels-async/mpsc-64",
    "channels-async/mpsc-6x1-10",
    "channels-async/ping-pong",
    "channels-async/spsc-1",
    "channels-async/spsc-1024",
    "channels-async/spsc-64",
    "channels-async/spsc-7",
    "channels-async/spsc-rendezvous",
    "channels-async/spsc-unbounded",
    "channels-held-out/mpmc-2x2-100",
    "channels-held-out/mpmc-2x2-64-1us",
    "channels-held-out/mpmc-8x8-64",
    "channels-held-out/mpsc-3x1-7",
    "channels-held-out/spmc-1x2-12",
    "channels-held-out/spsc-100",
    "channels-held-out/spsc-2",
    "channels-held-out/spsc-4096",
    "channels-held-out/spsc-64-100ns",
    "channels-held-out/spsc-64-1us",
    "channels-held-out/spsc-7",
    "channels-mixed/mpmc-1",
    "channels-mixed/mpsc-64",
    "channels-mixed/spsc-64",
    "channels/burst-64",
    "channels/chain-16",
    "channels/create",
    "channels/latency-100k",
    "channels/latency-10k",
    "channels/latency-25pc",
    "channels/latency-50pc",
    "channels/latency-75pc",
    "channels/mpmc-1",
    "channels/mpmc-1024",
    "channels/mpmc-2x2-64",
    "channels/mpmc-64",
    "channels/mpmc-64-cores",
    "channels/mpmc-64-oversubscribed",
    "channels/mpmc-rendezvous",
    "channels/mpmc-unbounded",
    "channels/mpsc-1",
    "channels/mpsc-1024",
    "channels/mpsc-64",
    "channels/mpsc-rendezvous",
    "channels/mpsc-unbounded",
    "channels/one-shot",
    "channels/ping-pong",
    "channels/spmc-1",
    "channels/spmc-1024",
    "channels/spmc-64",
    "channels/spmc-rendezvous",
    "channels/spmc-unbounded",
    "channels/spsc-1",
    "channels/spsc-1024",
    "channels/spsc-64",
    "channels/spsc-64-32kib",
    "channels/spsc-64-512b",
    "channels/spsc-64-64b",
    "channels/spsc-64-box",
    "channels/spsc-rendezvous",
    "channels/spsc-unbounded",
    "channels/uncontended-64",
    "executors/go-blocks",
    "executors/go-ping-pong",
    "executors/parked-10k",
    "executors/parked-1k",
    "executors/spawn-join",
    "executors/spawn-join-1",
    "executors/spawn-join-cores",
    "limiters/burst-100",
    "limiters/burst-100-threads",
    "limiters/late",
    "limiters/late-async",
    "limiters/steady-10k",
    "limiters/steady-10k-1000",
    "limiters/steady-1k-1",
    "limiters/steady-1k-64",
    "limiters/steady-1k-64-threads",
    "limiters/steady-1m",
    "limiters/steady-2",
    "limiters/try-granted",
    "limiters/try-refused",
    "limiters/wakes-1000",
    "limiters/weighted-4",
    "limiters/weighted-4-async",
    "pipelines/exponential-4",
    "pipelines/flow-1",
    "pipelines/flow-8",
    "pipelines/slow-head-4",
    "pipelines/uniform-4",
    "pipelines/uniform-64",
    "timers-async/arm-100k",
    "timers-async/brought-forward-1k",
    "timers-async/bystander-100k",
    "timers-async/cancel-elsewhere-1k",
    "timers-async/churn-0",
    "timers-async/churn-100k",
    "timers-async/churn-1k",
    "timers-async/churn-1m",
    "timers-async/churn-soonest-100k",
    "timers-async/expiry-10k",
    "timers-async/expiry-1k",
    "timers-async/keep-alive-100k",
    "timers-async/keep-alive-1k",
    "timers-async/lateness-16",
    "timers-async/lateness-16-slow",
    "timers-async/storm-100k",
    "timers-async/storm-10k",
    "timers-async/storm-1m",
    "timers-async/turnover-500",
    "timers-async/turnover-999",
    "timers-async/turnover-log-uniform",
    "timers-idle-async/1k",
    "timers-idle-async/1m",
    "timers-idle/1k",
    "timers-idle/1m",
    "timers/arm-100k",
    "timers/brought-forward-1k",
    "timers/bystander-100k",
    "timers/cancel-elsewhere-1k",
    "timers/churn-0",
    "timers/churn-100k",
    "timers/churn-1k",
    "timers/churn-1m",
    "timers/churn-soonest-100k",
    "timers/expiry-10k",
    "timers/expiry-1k",
    "timers/keep-alive-100k",
    "timers/keep-alive-1k",
    "timers/lateness-16",
    "timers/lateness-16-busy",
    "timers/lateness-16-slow",
    "timers/storm-100k",
    "timers/storm-10k",
    "timers/storm-1m",
    "timers/turnover-0",
    "timers/turnover-500",
    "timers/turnover-990",
    "timers/turnover-999",
    "timers/turnover-log-uniform",
    "timers/turnover-two-humped",
    "timers/turnover-uniform",
];

/// The scenarios that are compiled in: the curated ones in their order, then the others by name. One with as many threads
/// as there are cores is left out where another of its group has that number.
///
/// # Panics
/// When one of the files is broken; a test loads them all.
pub fn built_in() -> Vec<ScenarioSpec> {
    let read = |(name, text): &(&str, &str)| {
        let path = format!("suites/scenarios/{name}.toml");
        parse(name, Path::new(&path), text)
    };
    let (relative, absolute): (Vec<_>, Vec<_>) = BUILT_IN
        .iter()
        .partition(|(_, text)| text.contains("cores\""));
    let scenarios: Result<Vec<_>, _> = absolute.into_iter().map(read).collect();
    let scenarios = scenarios.and_then(|mut all| {
        for of_cores in relative {
            let of_cores = read(of_cores)?;
            let (one, axes) = (of_cores.record().group, of_cores.work.facts().axes);
            let is_same =
                |it: &ScenarioSpec| it.record().group == one && it.work.facts().axes == axes;
            if !all.iter().any(is_same) {
                all.push(of_cores);
            }
        }
        in_order(all)
    });
    match scenarios {
        Ok(scenarios) => scenarios,
        Err(error) => panic!("{error}"),
    }
}
