//! What was checked of an implementation, in the form of a number. Decided here for every table and for the page.
//!
//! A crate's blocking and async forms are different code, and hold and fail independently. The name of a property tells
//! to which form it applies:
//!
//! | name | applies to |
//! | --- | --- |
//! | `c1-conservation-async`: it ends in `-async` | tasks that await |
//! | `c1-conservation`: a checked property has the same name with `-async` behind it | threads that block |
//! | `c3-capacity`, `t2-once`, `l1-window`: all others | every form |
//!
//! A scenario in which threads meet tasks (`mixed`) belongs to both forms. All properties of timers, limiters,
//! pipelines and executors apply to every form.
//!
//! Properties run in Rust, so they cannot check an implementation in another language. Its numbers rest on a proof by
//! the timed process itself. That process writes down every value of an untimed pass, and compares count and checksum
//! after each window. Such an implementation is *self-checked*: less than a property, and more than nothing.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_harness::caps::Origin;
use flowmeter_records::{FailureKind, Proof, RunData, Verdict};
use serde::{Deserialize, Serialize};

use crate::origin;

/// The meaning of self-checked, in a sentence that fits a line.
pub const SELF_CHECKED: &str =
    "self-checked: its own process proved what it timed, and no property can be asked of it";

/// What was checked of an implementation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The form of the numbers that this is about; empty for all forms.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub form: String,
    /// Properties that held in a world, and failed in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// Properties that did not hold, and scenarios in which its own process reported an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Properties with a check that was aborted in a world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broke_off: Vec<String>,
    /// Properties with a check that hung in a world, also when it was repeated alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hung: Vec<String>,
    /// Properties that stayed undecided in a world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// In another language: its own process proved what it timed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub itself: bool,
}

impl Checked {
    /// From these runs together, over all forms.
    pub fn of(runs: &[RunData], implementation: &str) -> Checked {
        Proofs::of(runs).checked(implementation, None)
    }

    /// From these runs together, for a scenario's form.
    pub fn in_form(runs: &[RunData], implementation: &str, form: &str) -> Checked {
        Proofs::of(runs).checked(implementation, Some(form))
    }

    /// Whether any proof supports its numbers: without, they are in no ranking.
    pub fn is_proved(&self) -> bool {
        self.itself || !self.held.is_empty()
    }

    /// Whether only the proof of its own process supports its numbers, and that did not fail.
    pub fn is_self_checked(&self) -> bool {
        self.itself && self.held.is_empty() && self.failed.is_empty()
    }

    /// How many checks gave no verdict.
    pub fn undecided(&self) -> usize {
        self.unfinished.len()
    }

    /// In a word or two: `✓ 11, ? 1`.
    pub fn word(&self) -> String {
        let counts = [
            ("✗", self.failed.len()),
            ("hung", self.hung.len()),
            ("error", self.broke_off.len()),
            ("✓", self.held.len()),
            ("?", self.undecided()),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let mut words: Vec<String> = counts.map(|(mark, n)| format!("{mark} {n}")).collect();
        if !self.is_proved() {
            words.insert(0, "unproved".to_owned());
        } else if words.is_empty() {
            words.push("self-checked".to_owned());
        }
        let words = words.join(", ");
        match &*self.form {
            "" => words,
            form => format!("{form}: {words}"),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        let mut said = Vec::new();
        if !self.failed.is_empty() {
            said.push(format!("failed: {}", self.failed.join(", ")));
        }
        if !self.broke_off.is_empty() {
            said.push(format!(
                "the check broke off: {}",
                self.broke_off.join(", ")
            ));
        }
        match &*self.held {
            [] => {}
            [only] => said.push(format!("1 property held: {only}")),
            all => said.push(format!("{} properties held: {}", all.len(), all.join(", "))),
        }
        if !self.hung.is_empty() {
            let hung = self.hung.join(", ");
            said.push(format!("hung twice alone: {hung}"));
        }
        if !self.unfinished.is_empty() {
            said.push(format!("undecided: {}", self.unfinished.join(", ")));
        }
        match (said.is_empty(), self.itself) {
            (false, _) => said.join("; "),
            (true, true) => SELF_CHECKED.to_owned(),
            (true, false) => "no property was checked".to_owned(),
        }
    }

    /// Sets its form.
    fn told(self, form: &str) -> Checked {
        Checked {
            form: form.to_owned(),
            ..self
        }
    }
}

/// All proofs of some runs.
pub struct Proofs<'a> {
    runs: &'a [RunData],
    by_implementation: BTreeMap<&'a str, Vec<&'a Proof>>,
    /// Properties that were also checked with `-async` behind their names.
    paired: BTreeSet<&'a str>,
    /// Implementations and the scenarios in which a window of theirs was timed.
    timed: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Proofs<'a> {
    /// From these runs together.
    pub fn of(runs: &'a [RunData]) -> Proofs<'a> {
        let mut by_implementation: BTreeMap<&str, Vec<&Proof>> = BTreeMap::new();
        let mut paired = BTreeSet::new();
        for proof in runs.iter().flat_map(|run| &run.proofs) {
            paired.extend(proof.property.strip_suffix("-async"));
            let of = by_implementation.entry(&proof.implementation);
            of.or_default().push(proof);
        }
        let windows = runs.iter().flat_map(|run| &run.windows);
        let timed = windows.map(|w| (&*w.implementation, &*w.scenario));
        Proofs {
            runs,
            by_implementation,
            paired,
            timed: timed.collect(),
        }
    }

    /// For an implementation in a form, or in all forms.
    pub fn checked(&self, implementation: &str, form: Option<&str>) -> Checked {
        let proofs = self.by_implementation.get(implementation);
        let proofs = proofs.into_iter().flatten().copied();
        let proofs: Vec<&Proof> = proofs
            .filter(|proof| form.is_none_or(|form| self.speaks_of(&proof.property, form)))
            .collect();
        let with = |verdict: Verdict| {
            let names = proofs.iter().filter(|proof| proof.verdict == verdict);
            let names: BTreeSet<&str> = names.map(|proof| &*proof.property).collect();
            names
        };
        let listed = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let failed = with(Verdict::Fail);
        let held = with(Verdict::Pass);
        let mut checked = Checked {
            form: String::new(),
            held: listed(held.difference(&failed).copied().collect()),
            failed: listed(failed),
            broke_off: listed(with(Verdict::Error)),
            hung: listed(with(Verdict::Hung)),
            unfinished: listed(with(Verdict::Inconclusive)),
            itself: false,
        };
        if origin(self.runs, implementation) == Origin::Foreign {
            checked.failed.extend(self.disproved(implementation, form));
            let after = (implementation, "");
            let mut timed = self.timed.range(after..);
            checked.itself = timed
                .next()
                .is_some_and(|(name, _)| *name == implementation);
        }
        checked
    }

    /// For an implementation in each of these forms; once, and without a form, if they do not differ.
    pub fn in_forms<'f>(
        &self,
        implementation: &str,
        forms: impl IntoIterator<Item = &'f str>,
    ) -> Vec<Checked> {
        let forms: BTreeSet<&str> = forms.into_iter().collect();
        let each = forms.into_iter();
        let each: Vec<(&str, Checked)> = each
            .map(|form| (form, self.checked(implementation, Some(form))))
            .collect();
        if each.iter().all(|(_, checked)| *checked == each[0].1) {
            return each
                .into_iter()
                .map(|(_, checked)| checked)
                .take(1)
                .collect();
        }
        let told = each.into_iter().map(|(form, checked)| checked.told(form));
        told.collect()
    }

    /// Whether a property applies to a form, by its name.
    fn speaks_of(&self, property: &str, form: &str) -> bool {
        match property.ends_with("-async") {
            true => matches!(form, "async" | "mixed"),
            false => form != "async" || !self.paired.contains(property),
        }
    }

    /// Scenarios in which its own process reported an error.
    fn disproved(&self, implementation: &str, form: Option<&str>) -> Vec<String> {
        let failures = self.runs.iter().flat_map(|run| {
            let of_form = move |name: &str| {
                let scenario = run.scenarios.get(name);
                form.is_none() || scenario.is_none_or(|s| form == Some(&*s.form))
            };
            let failures = run.failures.iter();
            failures.filter(move |failure| of_form(&failure.scenario))
        });
        let wrong = failures.filter(|failure| {
            failure.implementation == implementation
                && matches!(failure.kind, FailureKind::Proof | FailureKind::Count)
        });
        let scenarios: BTreeSet<&str> = wrong.map(|failure| &*failure.scenario).collect();
        let said = scenarios.into_iter();
        said.map(|scenario| format!("its own proof in {scenario}"))
            .collect()
    }
}
