//! What operations cost beside time, and uncontended costs: CPU, switches, memory, allocations, criterion.

use std::collections::BTreeMap;

use flowmeter_harness::sync::cost::Pace;
use flowmeter_records::{ModelledCost, Scenario};

use super::heading;
use crate::chart::Data;
use crate::number;
use crate::statistics::{Allocated, Measured};

/// The scenarios of a group.
pub struct Group {
    pub name: String,
    pub tables: Vec<Table>,
}

/// The implementations of a scenario.
pub struct Table {
    pub scenario: String,
    pub form: String,
    /// Whether allocations were counted here.
    pub counted: bool,
    /// Whether several threads shared the work of one side.
    pub shared: bool,
    /// Whether costs were modelled here.
    pub modelled: bool,
    /// Whether the processor counted.
    pub processor: bool,
    /// Whether each was offered a share of its own capacity.
    pub offered: bool,
    /// What the workload's own loop takes of each operation; empty where that was not timed.
    pub bare: String,
    pub rows: Vec<Row>,
}

/// An implementation: its name, then what its operations cost.
pub struct Row {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A number as shown, and its sort key where that differs.
pub struct Field {
    pub text: String,
    pub sort: String,
}

/// Criterion's estimates: scenario x implementation.
pub struct Uncontended {
    pub implementations: Vec<(u16, String)>,
    pub rows: Vec<(String, Vec<Estimate>)>,
}

/// One of them.
pub struct Estimate {
    pub nanos: String,
    pub interval: String,
    /// Whether its whole interval lies below those of all others of the row.
    pub lowest: bool,
    /// Whether it is the lowest, or its interval overlaps that of the lowest.
    pub indistinguishable: bool,
    pub sort: String,
}

/// All groups in the order of the page.
pub fn groups(data: &Data) -> Vec<Group> {
    data.scenarios
        .chunk_by(|a, b| a.group == b.group)
        .map(|scenarios| Group {
            name: heading(&scenarios[0].group),
            tables: scenarios.iter().filter_map(|s| table(data, s)).collect(),
        })
        .filter(|group| !group.tables.is_empty())
        .collect()
}

fn table(data: &Data, of: &Scenario) -> Option<Table> {
    let scenario = &*of.name;
    let measured = |name: &str| data.cell(scenario, name)?.measured();
    let allocated = |name: &str| data.estimates.allocated(scenario, name);
    let keys = data.those(|name| measured(name).is_some());
    let counted = keys.iter().any(|key| allocated(&key.name).is_some());
    let all = || keys.iter().filter_map(|key| measured(&key.name));
    let shared = all().any(|of| of.cost.fairness.is_some());
    let processor = all().any(|of| of.cost.instructions.is_some());
    let offered = all().any(|of| of.cost.offered.is_some());
    let mut bare: Vec<f64> = all().filter_map(|of| of.cost.bare_nanos).collect();
    bare.sort_unstable_by(f64::total_cmp);
    let bare = bare.get(bare.len() / 2).copied().map(number::nanos);
    let modelled = keys
        .iter()
        .any(|key| cost_in(data, scenario, &key.name, Pace::Bursts).is_some());
    let rows: Vec<Row> = keys
        .into_iter()
        .filter_map(|key| {
            let of = measured(&key.name)?;
            let mut fields = Vec::from(costs(of));
            if processor {
                fields.push(field(of.cost.instructions, plain));
                fields.push(field(of.cost.cache_misses, plain));
            }
            if offered {
                fields.push(field(of.cost.offered, plain));
            }
            if shared {
                fields.push(field(of.cost.fairness, |index| format!("{index:.2}")));
            }
            if counted {
                fields.extend(allocations(allocated(&key.name)));
            }
            if modelled {
                let costs = Pace::ALL.map(|pace| cost_in(data, scenario, &key.name, pace));
                fields.extend(counts(costs));
            }
            Some(Row {
                name: key.name,
                fields,
            })
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        scenario: scenario.to_owned(),
        form: of.form.clone(),
        counted,
        shared,
        modelled,
        processor,
        offered,
        bare: bare.unwrap_or_default(),
        rows,
    })
}

fn costs(of: &Measured) -> [Field; 4] {
    let cost = &of.cost;
    [
        field(cost.cpu_nanos_per_op, number::nanos),
        field(cost.voluntary_switches, plain),
        field(cost.involuntary_switches, plain),
        field(cost.peak_bytes.map(|b| b as f64), |b| {
            number::bytes(b as u64)
        }),
    ]
}

fn allocations(of: Option<&Allocated>) -> [Field; 3] {
    [
        field(of.map(|a| a.allocations_per_op), plain),
        field(of.map(|a| a.bytes_per_op), |b| format!("{} B", plain(b))),
        field(of.map(|a| a.peak_live_bytes as f64), |b| {
            number::bytes(b as u64)
        }),
    ]
}

/// What a message costs there in shared memory and allocations: the latest count.
fn cost_in<'a>(
    data: &Data<'a>,
    scenario: &str,
    name: &str,
    pace: Pace,
) -> Option<&'a ModelledCost> {
    let mut all = data.runs.iter().flat_map(|run| &run.modelled_costs).rev();
    all.find(|it| (&*it.scenario, &*it.implementation, it.pace) == (scenario, name, pace))
}

/// Read-modify-writes, locks, wake-ups, moves and allocations a message under both schedules, sorted by their sum.
fn counts(costs: [Option<&ModelledCost>; 2]) -> [Field; 5] {
    let [bursts, steps] = costs.map(|cost| cost.and_then(ModelledCost::per_message));
    std::array::from_fn(|at| {
        let of = |costs: Option<[(_, Option<f64>); 7]>| costs?[at].1;
        let Some((bursts, steps)) = of(bursts).zip(of(steps)) else {
            return field(None, plain);
        };
        field(Some(bursts + steps), |_| {
            format!("{bursts:.2} / {steps:.2}")
        })
    })
}

/// A count without a unit; zero is `0`.
fn plain(count: f64) -> String {
    number::tick(count, "")
}

fn field(value: Option<f64>, text: impl Fn(f64) -> String) -> Field {
    let text = value.map_or("unknown".to_owned(), text);
    // A text that is a plain number is its own sort key.
    let sort = value.filter(|_| text.parse::<f64>().is_err());
    Field {
        sort: sort.map_or(String::new(), |v| format!("{v:.2e}")),
        text,
    }
}

/// Criterion's estimates, if there are any.
pub fn uncontended(data: &Data) -> Option<Uncontended> {
    let all = &data.estimates.uncontended;
    let keys = data.those(|name| all.iter().any(|it| it.implementation == name));
    let mut by_scenario: BTreeMap<&str, BTreeMap<&str, _>> = BTreeMap::new();
    for it in all {
        let row = by_scenario.entry(&it.scenario).or_default();
        row.insert(&*it.implementation, it);
    }
    let rows = by_scenario.into_iter().map(|(scenario, row)| {
        let least = row.values().min_by(|a, b| a.nanos.total_cmp(&b.nanos));
        let top = least.map_or(0.0, |least| least.hi);
        let leading = row.values().filter(|it| it.lo <= top).count();
        let estimates = keys.iter().map(|key| match row.get(&*key.name) {
            Some(it) => Estimate {
                nanos: number::nanos(it.nanos),
                interval: number::interval(it.lo, it.hi, "ns"),
                lowest: leading == 1 && it.lo <= top,
                indistinguishable: leading > 1 && it.lo <= top,
                sort: format!("{:.3}", it.nanos),
            },
            None => Estimate {
                nanos: "–".to_owned(),
                interval: String::new(),
                lowest: false,
                indistinguishable: false,
                sort: String::new(),
            },
        });
        (scenario.to_owned(), estimates.collect())
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Uncontended {
        rows,
        implementations: keys.into_iter().map(|k| (k.place, k.name)).collect(),
    })
}
