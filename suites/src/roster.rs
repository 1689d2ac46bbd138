//! Who takes part and in what, without trusting anybody: each contestant says what it has in a process of its
//! own, since saying it opens channels. One that panics, aborts or hangs then is an entry that says so.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use flowmeter_harness::caps::Capability;
use flowmeter_harness::registry::{AsyncRegistry, Contestant, Enrol};
use flowmeter_harness::sync::panic_text;
use flowmeter_harness::sync::std::Std;
use serde::{Deserialize, Serialize};

use crate::contest::Contest;
use crate::process;
use crate::properties::{Checks, PROPERTIES, Property};
use crate::scenario::{Form, ScenarioSpec};
use crate::workloads::Needs;

/// Those who were asked, in the registry's order.
#[derive(Clone, Debug)]
pub struct Roster(Vec<Asked>);

#[derive(Clone, Debug)]
struct Asked {
    /// With all it has; where it gave no answer, with what its registration says.
    who: Contestant,
    answer: Result<Answer, String>,
}

/// An implementation and a property.
#[derive(Clone, Debug)]
pub struct Owed {
    /// Who.
    pub implementation: &'static str,
    /// What.
    pub property: &'static Property,
    /// Whether it is owed; why nobody knows, where the implementation could not be asked.
    pub claim: Result<bool, String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    implementation: String,
    scenarios: Vec<ScenarioSpec>,
}

/// Names of what it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    capabilities: BTreeSet<String>,
    properties: BTreeSet<String>,
    scenarios: BTreeSet<String>,
}

/// To open a few channels, on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

impl Roster {
    /// Asks those of a contest whose names are `wanted` what they have, and which of these scenarios they can
    /// run.
    pub fn ask<R: AsyncRegistry>(
        contest: &Contest<R>,
        wanted: impl Fn(&str) -> bool,
        scenarios: &[ScenarioSpec],
    ) -> Roster {
        let ask = |who: &Contestant| {
            let question = Question {
                implementation: who.name.to_owned(),
                scenarios: scenarios.to_vec(),
            };
            // Together: one that hangs keeps nobody waiting for longer than another.
            thread::spawn(move || {
                process::ask::<Result<Answer, String>>(process::ANSWER, &question, LIMIT)
            })
        };
        let contestants = contest.implementations().iter();
        let asking: Vec<_> = contestants
            .filter(|who| wanted(who.name))
            .map(|who| (who.clone(), ask(who)))
            .collect();
        let asked = asking.into_iter().map(|(mut who, asking)| {
            let answer = asking.join().expect("asking does not panic").flatten();
            if let Ok(answer) = &answer {
                let all = Capability::ALL.iter().copied();
                who.capabilities.derived = all
                    .filter(|capability| answer.capabilities.contains(capability.name()))
                    .collect();
            }
            let answer = answer.map_err(|why| format!("it cannot be asked what it has: {why}"));
            Asked { who, answer }
        });
        Roster(asked.collect())
    }

    /// Asks everybody in this process, where all can be trusted.
    #[cfg(test)]
    pub(crate) fn ask_here<R: AsyncRegistry>(
        registry: R,
        contest: &Contest<R>,
        scenarios: &[ScenarioSpec],
    ) -> Roster {
        let asked = contest.implementations().iter().map(|who| {
            let question = Question {
                implementation: who.name.to_owned(),
                scenarios: scenarios.to_vec(),
            };
            let answer = serve(registry, question);
            let who = who.clone();
            Asked { who, answer }
        });
        Roster(asked.collect())
    }

    /// Who was asked.
    pub fn contestants(&self) -> impl Iterator<Item = &Contestant> {
        self.0.iter().map(|asked| &asked.who)
    }

    /// Keeps those for whom `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&Contestant) -> bool) {
        self.0.retain(|asked| keep(&asked.who));
    }

    /// Whether a contestant can run one of the scenarios that it was asked about. One that gave no answer is
    /// taken at its registration's word, and so has a row that says what became of it.
    pub fn supports(&self, implementation: &str, scenario: &ScenarioSpec) -> bool {
        let asked = self.0.iter().find(|asked| asked.who.name == implementation);
        asked.is_some_and(|asked| match &asked.answer {
            Ok(answer) => answer.scenarios.contains(&scenario.name),
            Err(_) => {
                let needed = match scenario.work.needs() {
                    Needs::Other(kind) => return asked.who.kind == kind,
                    Needs::Channel(needs) if needs.alts => Capability::Alts,
                    Needs::Channel(needs) if needs.form == Form::Async => Capability::Async,
                    Needs::Channel(_) => Capability::Blocking,
                };
                asked.who.capabilities.derived.contains(&needed)
            }
        })
    }

    /// Each of them with each property.
    pub fn owed(&self) -> impl Iterator<Item = Owed> + '_ {
        self.0.iter().flat_map(|Asked { who, answer }| {
            let of_its_kind = PROPERTIES
                .iter()
                .filter(|property| property.kind() == who.kind);
            of_its_kind.map(|property| Owed {
                implementation: who.name,
                property,
                claim: match answer {
                    Ok(answer) => Ok(answer.properties.contains(property.name)),
                    Err(why) => Err(why.clone()),
                },
            })
        })
    }
}

/// Hears what one contestant has.
struct Capabilities<'a> {
    of: &'a str,
    names: BTreeSet<String>,
}

impl Enrol for Capabilities<'_> {
    fn asks(&self, name: &str) -> bool {
        name == self.of
    }

    fn contestant(&mut self, who: &Contestant) {
        if who.name == self.of {
            let derived = who.capabilities.derived.iter();
            self.names.extend(derived.map(|c| c.name().to_owned()));
        }
    }
}

/// The process of one contestant that is asked: what it has, or what it panicked with.
pub(crate) fn serve<R: AsyncRegistry>(registry: R, question: Question) -> Result<Answer, String> {
    let name = question.implementation.as_str();
    let has = || {
        let mut capabilities = Capabilities {
            of: name,
            names: BTreeSet::new(),
        };
        registry.everybody(&mut capabilities);
        let checks = Checks::<Std>::of_one(registry, name);
        let claimed = checks.cells().filter(|cell| !cell.cases.is_empty());
        let contest = Contest::of(registry);
        let scenarios = question.scenarios.iter();
        Answer {
            capabilities: capabilities.names,
            properties: claimed.map(|cell| cell.property.name.to_owned()).collect(),
            scenarios: scenarios
                .filter(|scenario| contest.supports(name, scenario))
                .map(|scenario| scenario.name.clone())
                .collect(),
        }
    };
    catch_unwind(AssertUnwindSafe(has)).map_err(|panic| panic_text(&*panic))
}
