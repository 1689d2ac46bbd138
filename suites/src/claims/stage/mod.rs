//! The stage on which claims are re-enacted: the families of one implementation in virtual time, and real processes
//! for claims about their end. Each implementation has a process of its own, since foreign code runs (`asking`). The
//! process announces in advance what it will do. If it hangs or breaks off, the rest become rows that say so.

mod asking;
mod leaving;
mod rows;
mod visitor;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::registry::Registry;
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_records::Holds;

use super::{Act, Claim, Enactment, Seed, TextVisitor, each, judge, statements};
use visitor::ActVisitor;

pub(crate) use asking::{Question, reenact, serve};
pub(crate) use leaving::{Leave, leaving, serve_leaving};

/// For all claims of one implementation: they take a second or two on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// How many schedules are searched for one that meets the situation of a claim.
const SCHEDULES: u64 = 200;

/// A registry in a world with virtual time.
pub(crate) trait Stage: Send + Sync {
    /// The enactments of an implementation, by the index of their claim.
    fn enactments(&self, implementation: &str) -> Vec<(usize, Enactment)>;
    /// The observation, or why there was none.
    fn seen(&self, act: Act) -> Result<String, String>;
}

/// A registry in that world.
pub(crate) struct In<W, R>(R, PhantomData<W>);

impl<W, R> In<W, R> {
    pub(crate) const fn new(registry: R) -> Self {
        In(registry, PhantomData)
    }
}

impl<W: World, R: Registry> Stage for In<W, R> {
    fn enactments(&self, implementation: &str) -> Vec<(usize, Enactment)> {
        let (registry, of) = (self.0, implementation.to_owned());
        // Asking opens channels.
        let asked = in_world::<W, _>(1, move || {
            let mut asked = Asked::<W::Models, R> {
                of: of.clone(),
                registry,
                before: 0,
                enactments: Vec::new(),
                world: PhantomData,
            };
            each(&mut asked);
            Some(asked.enactments)
        });
        asked.unwrap_or_else(|why| panic!("{why}"))
    }

    fn seen(&self, act: Act) -> Result<String, String> {
        match act {
            Act::InTurns(model) => in_world::<W, _>(1, move || Some(model())),
            Act::UnderSomeSchedule(model) => in_world::<W::Models, _>(SCHEDULES, model),
        }
    }
}

/// Runs a model so often; returns its first answer.
fn in_world<W: World, A: Send + 'static>(
    executions: u64,
    model: impl Fn() -> Option<A> + Send + Sync + 'static,
) -> Result<A, String> {
    let plan = Exploration {
        executions,
        time: LIMIT,
        ..Exploration::default()
    };
    let answer = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&answer);
    // A failing execution may leave the exploring thread counted as panicking.
    let exploring = thread::spawn(move || {
        W::explore(&plan, move || {
            if let Some(seen) = model() {
                keeping
                    .lock()
                    .expect("no thread panics while it holds the lock")
                    .get_or_insert(seen);
            }
        })
    });
    let explored = exploring.join().expect("an exploration does not panic");
    if let Some(failure) = explored.failure {
        return Err(failure.to_string());
    }
    let seen = answer
        .lock()
        .expect("no thread panics while it holds the lock")
        .take();
    seen.ok_or_else(|| format!("not seen in {} executions", explored.executions))
}

/// Collects the enactments of every text for one implementation.
struct Asked<W, R> {
    of: String,
    registry: R,
    /// The number of claims in the texts before this one.
    before: usize,
    enactments: Vec<(usize, Enactment)>,
    world: PhantomData<W>,
}

impl<W: World, R: Registry> TextVisitor for Asked<W, R> {
    fn text<S: Seed>(&mut self) {
        let mut visitor = ActVisitor::<S, W, R> {
            of: &self.of,
            registry: self.registry,
            enactments: Vec::new(),
            marker: PhantomData,
        };
        self.registry.show_all(&mut visitor);
        for enactment in visitor.enactments {
            let place = self.before + place_in::<S>(enactment.claim);
            self.enactments.push((place, enactment));
        }
        self.before += S::CLAIMS.len();
    }
}

/// The index of a claim in its text.
fn place_in<S: Seed>(claim: &Claim) -> usize {
    let mut claims = S::CLAIMS.iter();
    let place = claims.position(|listed| listed.says == claim.says);
    place.expect("a text lists what it has re-enacted")
}

/// The claims of the texts about an implementation, and whether they hold, without a process of its own: for tests
/// that substitute one implementation for another.
pub fn holding<W: World>(registry: impl Registry, implementation: &str) -> Vec<(String, Holds)> {
    let stage = In::<W, _>::new(registry);
    let all = statements();
    let enactments = stage.enactments(implementation).into_iter();
    let judged = enactments.map(|(place, enactment)| {
        let seen = stage.seen(enactment.act).unwrap_or_else(|why| why);
        let holds = judge(all[place].claim.seen, &seen, Origin::Own);
        (all[place].name(), holds)
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::sync::std::Std;

    use super::super::Statement;
    use super::*;

    #[test]
    fn what_some_schedule_shows_is_answered_and_what_none_does_is_told() {
        let seen = in_world::<Std, _>(3, || Some("seen"));
        assert_eq!(seen, Ok("seen"));
        let unseen = in_world::<Std, ()>(3, || None);
        assert_eq!(unseen, Err("not seen in 3 executions".to_owned()));
        let broken = in_world::<Std, ()>(3, || panic!("broken")).unwrap_err();
        assert!(broken.contains("broken"), "{broken}");
    }

    #[test]
    fn places_of_a_text_come_after_those_of_the_texts_before() {
        struct Places(usize, Vec<Statement>);
        impl TextVisitor for Places {
            fn text<S: Seed>(&mut self) {
                for claim in S::CLAIMS {
                    let found = self.1[self.0 + place_in::<S>(claim)];
                    assert_eq!((found.seed, found.claim.says), (S::FILE, claim.says));
                }
                self.0 += S::CLAIMS.len();
            }
        }
        each(&mut Places(0, statements()));
    }
}
