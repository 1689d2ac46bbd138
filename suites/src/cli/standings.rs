//! What runs come to, machine by machine: `rank` and `cmp` say what the report says.

use flowmeter_harness::record::RunData;
use flowmeter_reports::{Estimates, machines};
use serde::Serialize;

use super::failure::Failure;

/// What the latest build on a machine comes to.
pub(super) struct Standing {
    /// The machine, where there are several.
    pub machine: Option<String>,
    pub estimates: Estimates,
}

/// Of these runs, a machine at a time.
pub(super) fn standings(runs: Vec<RunData>) -> Result<Vec<Standing>, Failure> {
    let machines = machines(runs)?;
    let several = machines.len() > 1;
    let each = machines.iter().map(|machine| Standing {
        machine: several.then(|| machine.name().to_owned()),
        estimates: machine.estimates().clone(),
    });
    Ok(each.collect())
}

/// A line of JSON, and of which machine it speaks where there are several.
#[derive(Serialize)]
pub(super) struct On<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<&'a str>,
    #[serde(flatten)]
    pub row: T,
}
