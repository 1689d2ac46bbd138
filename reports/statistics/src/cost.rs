//! What operations cost beside time (CPU, context switches, memory), the fairness among threads, and criterion's
//! uncontended costs.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_records::{RunData, Uncontended, Window};

use super::estimates::{Allocated, Cell, Cost};
use super::forks::median;
use super::samples::{Entry, ScenarioSamples};

/// The cost of the implementation itself, over complete rounds.
pub fn of(samples: &ScenarioSamples, name: &str) -> Cost {
    let rounds = samples.windows.get(&(name, Entry::Original));
    let windows: Vec<&Window> = rounds
        .into_iter()
        .flat_map(BTreeMap::values)
        .map(|timed| timed.window)
        .collect();
    let per_operation = |of: fn(&Window) -> Option<u64>| {
        let worked = windows.iter().filter(|w| w.operations > 0);
        let costs: Vec<f64> = worked
            .filter_map(|w| Some(of(w)? as f64 / w.operations as f64))
            .collect();
        (!costs.is_empty()).then(|| median(&costs))
    };
    let per_million = |of| per_operation(of).map(|switches| switches * 1e6);
    let shares = windows.iter().filter_map(|w| w.findings.fairness);
    let middle = |values: Vec<f64>| (!values.is_empty()).then(|| median(&values));
    let found =
        |of: fn(&Window) -> Option<f64>| middle(windows.iter().filter_map(|w| of(w)).collect());
    Cost {
        cpu_nanos_per_op: per_operation(|w| w.cpu_nanos),
        voluntary_switches: per_million(|w| w.voluntary_switches),
        involuntary_switches: per_million(|w| w.involuntary_switches),
        instructions: per_operation(|w| w.findings.counters.map(|it| it.instructions)),
        cache_misses: per_operation(|w| w.findings.counters.map(|it| it.cache_misses)),
        peak_bytes: windows.iter().filter_map(|w| w.peak_bytes).max(),
        bare_nanos: found(|w| w.findings.bare_nanos),
        offered: found(|w| w.findings.offered),
        fairness: middle(
            shares
                .map(|index| index.producers.min(index.consumers))
                .collect(),
        ),
    }
}

/// Allocations in cells with a number; of several passes the last.
pub fn allocations(runs: &[RunData], cells: &[Cell]) -> Vec<Allocated> {
    let with_number: BTreeSet<(&str, &str)> = cells
        .iter()
        .filter(|cell| cell.measured().is_some())
        .map(|cell| (&*cell.scenario, &*cell.implementation))
        .collect();
    let passes = runs.iter().flat_map(|run| &run.allocations);
    let last: BTreeMap<_, _> = passes
        .filter(|pass| pass.operations > 0)
        .map(|pass| ((&*pass.scenario, &*pass.implementation), pass))
        .filter(|(cell, _)| with_number.contains(cell))
        .collect();
    let per = |count: u64, operations: u64| count as f64 / operations as f64;
    last.into_values()
        .map(|pass| Allocated {
            scenario: pass.scenario.clone(),
            implementation: pass.implementation.clone(),
            allocations_per_op: per(pass.allocations, pass.operations),
            bytes_per_op: per(pass.bytes, pass.operations),
            peak_live_bytes: pass.peak_live_bytes,
        })
        .collect()
}

/// Criterion's estimates, by scenario and implementation; of several runs the last. A cell that failed has no
/// number here either.
pub fn uncontended(runs: &[RunData], cells: &[Cell]) -> Vec<Uncontended> {
    let failed: BTreeSet<(&str, &str)> = cells
        .iter()
        .filter(|cell| cell.measured().is_none())
        .map(|cell| (&*cell.scenario, &*cell.implementation))
        .collect();
    let all = runs.iter().flat_map(|run| &run.uncontended);
    let last: BTreeMap<_, _> = all
        .map(|it| ((&*it.scenario, &*it.implementation), it))
        .filter(|(cell, _)| !failed.contains(cell))
        .collect();
    last.into_values().cloned().collect()
}
