//! The results of runs, machine by machine: `rank` and `cmp` agree with the report.

use flowmeter_records::RunData;
use flowmeter_reports::{Estimates, machines};
use serde::Serialize;

use super::failure::Failure;

/// The results of the latest build on a machine.
pub(super) struct Standing {
    /// The machine, where there are several.
    pub machine: Option<String>,
    pub estimates: Estimates,
}

/// The standings of these runs, one for each machine.
pub(super) fn standings(runs: Vec<RunData>) -> Result<Vec<Standing>, Failure> {
    let machines = machines(runs)?;
    let several = machines.len() > 1;
    let each = machines.iter().map(|machine| Standing {
        machine: several.then(|| machine.name().to_owned()),
        estimates: machine.estimates().clone(),
    });
    Ok(each.collect())
}

/// A line of JSON, with its machine where there are several.
#[derive(Serialize)]
pub(super) struct On<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<&'a str>,
    #[serde(flatten)]
    pub row: T,
}
