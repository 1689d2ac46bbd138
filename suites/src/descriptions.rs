//! The implementations and their scenarios, determined safely: each describes itself in a process of its own, since
//! that opens channels. One that panics, aborts or hangs becomes an entry that says so.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use flowmeter_harness::caps::{Capability, Origin};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{World, panic_text};
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::foreign::{ForeignError, Foreigners};
use crate::process::{self, Request};
use crate::properties::{PROPERTIES, Property};
use crate::scenario::{Form, ScenarioSpec};
use crate::twins;
use crate::workloads::Needs;
use crate::worlds::{Prover, Worlds};

/// Those that were asked, in the order of the registry.
#[derive(Clone, Debug)]
pub struct Descriptions(Vec<Description>);

#[derive(Clone, Debug)]
struct Description {
    /// With all capabilities; without an answer, with those of its registration.
    implementation: Registered,
    answer: Result<Answer, String>,
}

/// An implementation and a property in a world.
#[derive(Clone, Debug)]
pub struct Owed {
    /// The implementation.
    pub implementation: &'static str,
    /// The property.
    pub property: &'static Property,
    /// The world.
    pub world: &'static str,
    /// Whether it is owed there.
    pub due: Due,
}

/// Whether a property is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// It is claimed, and the world has models of it.
    Owed,
    /// It is not claimed, and the implementation has what its models need.
    NotPromised,
    /// It is not claimed, and the implementation has not what its models need.
    Unclaimed,
    /// That world has no models of it: why.
    NotInstrumentable(String),
    /// The implementation could not be asked: why.
    Unknown(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    implementation: String,
    scenarios: Vec<ScenarioSpec>,
}

impl Question {
    /// Whether the answer takes the code of workloads.
    pub(crate) fn is_of_workloads(&self) -> bool {
        !self.scenarios.is_empty()
    }
}

/// The question to an implementation about a world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Dues {
    world: String,
    implementation: String,
}

impl Dues {
    /// The world and the implementation.
    pub(crate) fn cell(&self) -> (&str, &str) {
        (&self.world, &self.implementation)
    }
}

/// The names of properties with models of an implementation in a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Modelled {
    /// It owes these.
    owed: BTreeSet<String>,
    /// It does not owe these, or not all of them.
    not_promised: BTreeSet<String>,
}

impl Modelled {
    /// Whether and how a property is due; both if it is owed in part. Empty if it has no model.
    fn dues(&self, property: &Property) -> Vec<Due> {
        let owed = self.owed.contains(property.name);
        let not_promised = self.not_promised.contains(property.name);
        let dues = [(owed, Due::Owed), (not_promised, Due::NotPromised)];
        let dues = dues.into_iter().filter(|(is_due, _)| *is_due);
        dues.map(|(_, due)| due).collect()
    }
}

/// The names of its capabilities.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    capabilities: BTreeSet<String>,
    properties: Modelled,
    scenarios: BTreeSet<String>,
}

/// To open a few channels, on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

impl Descriptions {
    /// Asks the implementations of a catalogue with names in `wanted` about their capabilities, and which of these
    /// scenarios they can run.
    pub fn ask(
        catalogue: &Catalogue,
        wanted: impl Fn(&str) -> bool,
        scenarios: &[ScenarioSpec],
    ) -> Descriptions {
        let ask = |implementation: &Registered| {
            let question = Question {
                implementation: implementation.name.to_owned(),
                scenarios: scenarios.to_vec(),
            };
            // In parallel: one that hangs does not delay the others.
            thread::spawn(move || {
                process::ask::<Result<Answer, String>>(&Request::Introduce(question), LIMIT)
            })
        };
        let implementations = catalogue.implementations().iter();
        let asking: Vec<_> = implementations
            .filter(|implementation| wanted(implementation.name))
            .map(|implementation| (implementation.clone(), ask(implementation)))
            .collect();
        let asked = asking.into_iter().map(|(mut implementation, asking)| {
            let answer = asking.join().expect("asking does not panic").flatten();
            if let Ok(answer) = &answer {
                let all = Capability::ALL.iter().copied();
                implementation.capabilities.derived = all
                    .filter(|capability| answer.capabilities.contains(capability.name()))
                    .collect();
            }
            let answer = answer.map_err(|why| cannot_be_asked(&why));
            Description {
                implementation,
                answer,
            }
        });
        Descriptions(asked.collect())
    }

    /// Asks all implementations in this process, where all can be trusted.
    pub fn ask_here(worlds: &Worlds, scenarios: &[ScenarioSpec]) -> Descriptions {
        let asked = worlds
            .catalogue()
            .implementations()
            .iter()
            .map(|implementation| {
                let question = Question {
                    implementation: implementation.name.to_owned(),
                    scenarios: scenarios.to_vec(),
                };
                let answer = serve(worlds, question);
                let implementation = implementation.clone();
                Description {
                    implementation,
                    answer,
                }
            });
        Descriptions(asked.collect())
    }

    /// Adds those in other languages. They claim no property, and their manifest lists the scenarios that they run.
    ///
    /// # Errors
    /// [`ForeignError::Taken`].
    pub fn join(
        &mut self,
        foreigners: &Foreigners,
        scenarios: &[ScenarioSpec],
    ) -> Result<(), ForeignError> {
        for implementation in foreigners.implementations() {
            if self.iter().any(|other| other.name == implementation.name) {
                return Err(ForeignError::Taken(implementation.name));
            }
            let capabilities = implementation.capabilities.derived.iter();
            let answer = Answer {
                capabilities: capabilities.map(|it| it.name().to_owned()).collect(),
                properties: Modelled::default(),
                scenarios: foreigners.scenarios_of(implementation.name, scenarios),
            };
            self.0.push(Description {
                implementation: implementation.clone(),
                answer: Ok(answer),
            });
        }
        Ok(())
    }

    /// The implementations that were asked.
    pub fn iter(&self) -> impl Iterator<Item = &Registered> {
        self.0.iter().map(|asked| &asked.implementation)
    }

    /// Keeps those for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Registered) -> bool) {
        self.0.retain(|asked| keep(&asked.implementation));
    }

    /// Whether an implementation can run one of the scenarios that it was asked about. Without an answer its
    /// registration counts, so that it has a row that shows the error.
    pub fn supports(&self, implementation: &str, scenario: &ScenarioSpec) -> bool {
        let asked = self
            .0
            .iter()
            .find(|asked| asked.implementation.name == implementation);
        asked.is_some_and(|asked| match &asked.answer {
            Ok(answer) => answer.scenarios.contains(&scenario.name),
            Err(_) => {
                let needed = match scenario.work.needs() {
                    Needs::Other(kind) => return asked.implementation.kind == kind,
                    Needs::Channel(needs) if needs.alts => Capability::Alts,
                    Needs::Channel(needs) if needs.form == Form::Async => Capability::Async,
                    Needs::Channel(needs) if needs.form == Form::Mixed => Capability::Mixed,
                    Needs::Channel(_) => Capability::Blocking,
                };
                asked.implementation.capabilities.derived.contains(&needed)
            }
        })
    }

    /// Each of them with each property of its kind, in the std world. A property that is owed in part is there twice: as
    /// owed and as not promised.
    pub fn owed(&self) -> impl Iterator<Item = Owed> + '_ {
        self.cells(Std::NAME, |asked, property| match &asked.answer {
            Ok(answer) => match answer.properties.dues(property) {
                none if none.is_empty() => vec![Due::Unclaimed],
                dues => dues,
            },
            Err(why) => vec![Due::Unknown(why.clone())],
        })
    }

    /// Each of them with each property of its kind in another world, where it is asked again.
    pub(crate) fn owed_in(&self, prover: &dyn Prover) -> Vec<Owed> {
        let world = prover.world();
        let there = prover.implementations();
        let takes_part = |implementation: &&Registered| {
            let ours = there.iter().any(|other| other.name == implementation.name);
            ours || twins::program_of(world, implementation.name).is_some()
        };
        let there = self.iter().filter(takes_part);
        let asking: Vec<_> = there
            .map(|implementation| (implementation.name, dues(implementation.name, world)))
            .collect();
        let answers: BTreeMap<&str, Result<Modelled, String>> = asking
            .into_iter()
            .map(|(name, asking)| (name, asking.join().expect("asking does not panic")))
            .collect();
        let due = |asked: &Description, property: &Property| {
            let in_std = asked.answer.as_ref();
            let claimed = in_std.is_ok_and(|answer| answer.properties.owed.contains(property.name));
            let dues = match answers.get(asked.implementation.name) {
                None => {
                    return vec![Due::NotInstrumentable(absent(&asked.implementation, world))];
                }
                Some(Err(why)) => return vec![Due::Unknown(cannot_be_asked(why))],
                Some(Ok(modelled)) => modelled.dues(property),
            };
            match (dues.is_empty(), claimed) {
                (false, _) => dues,
                (true, true) => {
                    let why = format!("the {world} world has no model of it");
                    vec![Due::NotInstrumentable(why)]
                }
                (true, false) => vec![Due::Unclaimed],
            }
        };
        self.cells(world, due).collect()
    }

    fn cells(
        &self,
        world: &'static str,
        dues: impl Fn(&Description, &Property) -> Vec<Due>,
    ) -> impl Iterator<Item = Owed> {
        self.0.iter().flat_map(move |asked| {
            let kind = asked.implementation.kind;
            let of_its_kind = PROPERTIES
                .iter()
                .filter(move |property| property.kind() == kind);
            let dues = &dues;
            let cells: Vec<Owed> = of_its_kind
                .flat_map(|property| {
                    let dues = dues(asked, property).into_iter();
                    dues.map(move |due| Owed {
                        implementation: asked.implementation.name,
                        property,
                        world,
                        due,
                    })
                })
                .collect();
            cells
        })
    }
}

/// Every cell that these implementations claim in these worlds. Each is asked in a process of its own, a world at a
/// time.
///
/// # Errors
/// When one of them gives no answer: the implementation, the world and the reason.
pub fn claimed(
    implementations: &[Registered],
    worlds: &[&'static str],
) -> Result<Vec<Owed>, String> {
    let mut claimed = Vec::new();
    for &world in worlds {
        let asking: Vec<_> = implementations
            .iter()
            .map(|implementation| dues(implementation.name, world))
            .collect();
        for (implementation, asking) in implementations.iter().zip(asking) {
            let owed = asking.join().expect("asking does not panic");
            let owed =
                owed.map_err(|why| format!("{} under {world}: {why}", implementation.name))?;
            let owed = PROPERTIES
                .iter()
                .filter(|property| owed.owed.contains(property.name));
            claimed.extend(owed.map(|property| Owed {
                implementation: implementation.name,
                property,
                world,
                due: Due::Owed,
            }));
        }
    }
    Ok(claimed)
}

/// Asks on another thread for the names of the properties that it owes there.
fn dues(name: &str, world: &str) -> thread::JoinHandle<Result<Modelled, String>> {
    let question = Dues {
        world: world.to_owned(),
        implementation: name.to_owned(),
    };
    thread::spawn(move || {
        process::ask::<Result<Modelled, String>>(&Request::Owes(question), LIMIT).flatten()
    })
}

fn absent(implementation: &Registered, world: &str) -> String {
    let absent = format!("it does not take part in the {world} world");
    match implementation.origin == Origin::Peer && twins::are_missing(world) {
        true => format!("{absent}, unless it has a twin: scripts/twins builds them"),
        false => absent,
    }
}

fn cannot_be_asked(why: &str) -> String {
    format!("it cannot be asked what it has: {why}")
}

/// The process of one implementation: its capabilities, or its panic.
pub(crate) fn serve(worlds: &Worlds, question: Question) -> Result<Answer, String> {
    let name = question.implementation.as_str();
    let catalogue = worlds.catalogue();
    let has = || {
        let scenarios = question.scenarios.iter();
        Answer {
            capabilities: catalogue.capabilities(name),
            properties: modelled(worlds, Std::NAME, name),
            scenarios: scenarios
                .filter(|scenario| catalogue.supports(name, scenario))
                .map(|scenario| scenario.name.clone())
                .collect(),
        }
    };
    catch_unwind(AssertUnwindSafe(has)).map_err(|panic| panic_text(&*panic))
}

/// The process of one implementation for a world: the properties that it owes there, or its panic.
pub(crate) fn serve_dues(worlds: &Worlds, question: Dues) -> Result<Modelled, String> {
    let modelled = || modelled(worlds, &question.world, &question.implementation);
    catch_unwind(AssertUnwindSafe(modelled)).map_err(|panic| panic_text(&*panic))
}

fn modelled(worlds: &Worlds, world: &str, implementation: &str) -> Modelled {
    let prover = worlds.find(world);
    let prover = prover.expect("the process that asks is the same program");
    let mut modelled = Modelled::default();
    for cell in prover.cells(implementation, None) {
        let name = || cell.property.name.to_owned();
        if !cell.cases.is_empty() {
            modelled.owed.insert(name());
        }
        if !cell.not_promised.is_empty() {
            modelled.not_promised.insert(name());
        }
    }
    modelled
}
