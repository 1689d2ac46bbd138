//! Which implementation owes which property: collects the cases of every implementation in a registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use flowmeter_harness::caps::{Claim, Origin};
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_harness::sync::{Exploration, World};

use super::{Case, Cases, PROPERTIES, Property};
use crate::design::Designs;
use crate::lies;

/// One implementation and one property, in one world.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The implementation.
    pub implementation: Registered,
    /// The property.
    pub property: &'static Property,
    /// Its models; none where the implementation does not claim it.
    pub cases: Vec<Case>,
    /// The models that it would owe besides, if it claimed all that its kind can claim.
    pub not_promised: Vec<Case>,
}

impl Cell {
    /// The same with the models that it does not owe.
    #[must_use]
    pub fn not_promised(self) -> Cell {
        Cell {
            cases: self.not_promised,
            not_promised: Vec::new(),
            ..self
        }
    }
}

/// What every implementation of a registry owes in a world.
#[derive(Debug)]
pub struct Checks {
    asked: Asked,
    implementations: Vec<Registered>,
    cases: Owing,
    not_promised: Owing,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
struct Asked {
    /// The one implementation; `None` asks all.
    implementation: Option<String>,
    /// The one property; `None` asks for all.
    property: Option<String>,
    /// Whether faults may be injected.
    lies: bool,
}

/// The cases of an implementation and a property.
type Owing = BTreeMap<(&'static str, &'static str), Vec<Case>>;

impl Checks {
    /// Asks every implementation what it owes, and not what it does not promise. Asking opens channels, so it happens
    /// inside an execution of the world.
    ///
    /// # Panics
    /// With the panic of an implementation that was asked.
    pub fn of<W: World>(registry: impl Registry) -> Self {
        Checks::asking::<W>(registry, Asked::default())
    }

    /// As [`Checks::of`], for one implementation only, and with what it does not promise. Of one property, if that is
    /// given: the cases of all properties take longer than a short exploration of one.
    ///
    /// # Panics
    /// With its panic while it was asked.
    pub fn of_one<W: World>(
        registry: impl Registry,
        implementation: &str,
        property: Option<&str>,
    ) -> Self {
        Checks::asking::<W>(registry, Asked::of(implementation, property))
    }

    /// As [`Checks::of_one`], for an implementation of ours into which faults may be injected.
    ///
    /// # Panics
    /// With its panic while it was asked.
    pub fn of_one_that_lies<W: World>(
        registry: impl Registry,
        implementation: &str,
        property: Option<&str>,
    ) -> Self {
        let lies = true;
        let asked = Asked::of(implementation, property);
        Checks::asking::<W>(registry, Asked { lies, ..asked })
    }

    fn asking<W: World>(registry: impl Registry, asked: Asked) -> Self {
        let found = Arc::new(Mutex::new(Checks::empty(Asked::default())));
        let answers = Arc::clone(&found);
        let once = Exploration {
            executions: 1,
            // Asking opens many channels, and some implementations work in `open`.
            steps: None,
            ..Exploration::default()
        };
        let ask = move || {
            let mut checks = Checks::empty(asked.clone());
            registry.show_all(&mut checks);
            let lies = asked.lies;
            let mut designs = Designs::of(asked.implementation.clone());
            registry.show_all(&mut designs);
            macro_rules! owe {
                ($($kind:ident: $cases:ident, $lying:path;)+) => {$(
                    let all: Vec<_> = designs.$kind.all().collect();
                    let families = all.iter().map(|design| (design.implementation.name, design.implementation.family));
                    let families: BTreeSet<_> = families.collect();
                    for design in all {
                        if lies && design.implementation.origin != Origin::Own {
                            continue;
                        }
                        let mut design = if lies { $lying(design) } else { design };
                        let of_it = families.iter().filter(|(name, _)| *name == design.implementation.name);
                        let family = (of_it.count() > 1).then(|| short(design.implementation.family));
                        for property in PROPERTIES.iter().filter(|property| asked.is_for(property)) {
                            if let Cases::$cases(cases) = property.cases {
                                let owed = cases(&design);
                                // Loom's models are too short for so many channels, and a brief look exhausts no
                                // space there.
                                let is_asked = !lies && asked.implementation.is_some() && W::NAME != "loom";
                                let besides = if !is_asked {
                                    Vec::new()
                                } else {
                                    besides(&mut design, &owed, |design| &mut design.implementation.capabilities.claims, cases)
                                };
                                let (implementation, family) = (&design.implementation, family.as_deref());
                                owe(&mut checks.cases, implementation, family, property, owed);
                                owe(&mut checks.not_promised, implementation, family, property, besides);
                            }
                        }
                    }
                )+};
            }
            owe!(
                channels: Channels, lies::channels::lying;
                timers: Timers, lies::timers::lying;
                limiters: Limiters, lies::limiters::lying;
                pipelines: Pipelines, lies::pipelines::lying;
                executors: Executors, lies::executors::lying;
                combinators: Combinators, lies::combinators::lying;
            );
            *answers.lock().expect("asked once at a time") = checks;
        };
        // The first thread of a model has a small stack under loom.
        let explored = W::explore(&once, move || W::join(W::spawn(ask.clone())));
        if let Some(failure) = explored.failure {
            panic!("{failure}");
        }
        std::mem::replace(
            &mut *found.lock().expect("the asking thread has ended"),
            Checks::empty(Asked::default()),
        )
    }

    fn empty(asked: Asked) -> Self {
        Checks {
            asked,
            implementations: Vec::new(),
            cases: Owing::new(),
            not_promised: Owing::new(),
        }
    }

    /// Every implementation that was asked, with every property of its kind that was asked for, claimed or not, in the
    /// registry's order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.implementations.iter().flat_map(move |implementation| {
            let of_its_kind = PROPERTIES
                .iter()
                .filter(|property| property.kind() == implementation.kind)
                .filter(|property| self.asked.is_for(property));
            of_its_kind.map(move |property| {
                let of = |all: &Owing| {
                    let cases = all.get(&(implementation.name, property.name));
                    cases.cloned().unwrap_or_default()
                };
                Cell {
                    implementation: implementation.clone(),
                    property,
                    cases: of(&self.cases),
                    not_promised: of(&self.not_promised),
                }
            })
        })
    }
}

impl Asked {
    fn of(implementation: &str, property: Option<&str>) -> Asked {
        Asked {
            implementation: Some(implementation.to_owned()),
            property: property.map(str::to_owned),
            lies: false,
        }
    }

    fn is_for(&self, property: &Property) -> bool {
        (self.property.as_deref()).is_none_or(|name| name == property.name)
    }
}

/// `family`: which one, if the implementation has several.
///
/// # Panics
/// When two cases have the same name. A counterexample is found by the name of its case, so names are not numbered.
fn owe(
    owing: &mut Owing,
    implementation: &Registered,
    family: Option<&str>,
    property: &Property,
    cases: Vec<Case>,
) {
    let all = owing
        .entry((implementation.name, property.name))
        .or_default();
    for mut case in cases {
        if let Some(family) = family {
            case.name = format!("{}, of {family}", case.name);
        }
        let is_new = all.iter().all(|other| other.name != case.name);
        assert!(
            is_new,
            "{} of {} has two cases '{}'",
            property.name, implementation.name, case.name
        );
        all.push(case);
    }
}

/// The cases that a design would owe besides, with one more claim at a time. `owed` are those that it owes.
fn besides<D>(
    design: &mut D,
    owed: &[Case],
    claims: impl Fn(&mut D) -> &mut BTreeSet<Claim>,
    cases: fn(&D) -> Vec<Case>,
) -> Vec<Case> {
    let made = claims(design).clone();
    claims(design).extend(Claim::ALL);
    let is_new = |case: &Case, known: &[Case]| known.iter().all(|other| other.name != case.name);
    let has_more = cases(design).iter().any(|case| is_new(case, owed));
    let mut all: Vec<Case> = Vec::new();
    for claim in Claim::ALL
        .iter()
        .filter(|claim| has_more && !made.contains(claim))
    {
        claims(design).clone_from(&made);
        claims(design).insert(*claim);
        for case in cases(design) {
            if is_new(&case, owed) && is_new(&case, &all) {
                all.push(case);
            }
        }
    }
    *claims(design) = made;
    all
}

/// A type without the paths of its modules, which differ between the twins of a package.
fn short(family: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut rest = family;
    let mut short = String::new();
    while !rest.is_empty() {
        let (path, after) = rest.split_at(rest.find(|c| !is_path(c)).unwrap_or(rest.len()));
        short.push_str(path.rsplit("::").next().unwrap_or_default());
        let (between, next) = after.split_at(after.find(is_path).unwrap_or(after.len()));
        short.push_str(between);
        rest = next;
    }
    short
}

impl Visitor for Checks {
    fn only(&self) -> Option<&str> {
        self.asked.implementation.as_deref()
    }

    fn implementation(&mut self, implementation: &Registered) {
        self.implementations.push(implementation.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_family_is_named_without_its_modules() {
        for (family, named) in [
            ("a::peers::Threads<a::peers::Array>", "Threads<Array>"),
            ("Heap", "Heap"),
            ("a::b::C<3, (d::E, [f::G; 2])>", "C<3, (E, [G; 2])>"),
        ] {
            assert_eq!(short(family), named);
        }
    }
}
