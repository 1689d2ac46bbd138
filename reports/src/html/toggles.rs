//! What a reader can hide: implementations by origin, scenarios by form.

use flowmeter_harness::caps::Origin;
use flowmeter_records::RunData;

/// The choices; none if there is only one kind.
pub struct Toggles {
    pub origins: Vec<String>,
    pub forms: Vec<String>,
}

/// From all runs.
pub fn of(runs: &[&RunData]) -> Toggles {
    let all = [Origin::Own, Origin::Peer, Origin::Foreign, Origin::Mutant];
    let has = |origin: &Origin| {
        let mut those = runs.iter().flat_map(|run| run.implementations.values());
        those.any(|it| it.origin == *origin)
    };
    let origins = all.into_iter().filter(has).map(|origin| origin.to_string());
    let forms = runs.iter().flat_map(|run| run.scenarios.values());
    let mut forms: Vec<String> = forms.map(|scenario| scenario.form.clone()).collect();
    forms.sort_unstable();
    forms.dedup();
    let choice = |all: Vec<String>| if all.len() > 1 { all } else { Vec::new() };
    Toggles {
        origins: choice(origins.collect()),
        forms: choice(forms),
    }
}
