//! Processes that end while something still runs in them.

use std::marker::PhantomData;
use std::time::Duration;

use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_harness::timer::Timers;
use serde::{Deserialize, Serialize};

use super::place_in;
use crate::claims::{ENDS, Leaving, STAYS, Seed, TextVisitor, each};
use crate::process::{self, End, Request};
use crate::worlds::Worlds;

/// Time for a process to start, arm a timer, and end.
const TO_LEAVE: Duration = Duration::from_secs(10);

/// Collects, from every text, what the process of one implementation does before it ends.
struct Leavers<'a, R> {
    of: &'a str,
    registry: R,
    before: usize,
    leaving: Vec<(usize, Leaving)>,
}

impl<R: Registry> TextVisitor for Leavers<'_, R> {
    fn text<S: Seed>(&mut self) {
        let mut visitor = LeavingVisitor::<S> {
            of: self.of,
            leaving: Vec::new(),
            marker: PhantomData,
        };
        self.registry.timers(&mut visitor);
        for leaving in visitor.leaving {
            let place = self.before + place_in::<S>(leaving.claim);
            self.leaving.push((place, leaving));
        }
        self.before += S::CLAIMS.len();
    }
}

struct LeavingVisitor<'a, S> {
    of: &'a str,
    leaving: Vec<Leaving>,
    marker: PhantomData<fn(S)>,
}

impl<S: Seed> Visitor for LeavingVisitor<'_, S> {
    fn only(&self) -> Option<&str> {
        Some(self.of)
    }

    fn timer<T: Timers>(&mut self, _: &Registered) {
        self.leaving.extend(S::leaving::<T>());
    }
}

/// The actions before the end, by the indices of the claims.
pub(crate) fn leaving(registry: impl Registry, of: &str) -> Vec<(usize, Leaving)> {
    let mut leavers = Leavers {
        of,
        registry,
        before: 0,
        leaving: Vec::new(),
    };
    each(&mut leavers);
    leavers.leaving
}

/// The request to a process that should end while something still runs in it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Leave {
    implementation: String,
    /// The index of the claim.
    claim: usize,
}

/// Whether the process ended that left something running.
pub(super) fn seen_to_leave(implementation: &str, claim: usize) -> Result<String, String> {
    let leave = Leave {
        implementation: implementation.to_owned(),
        claim,
    };
    let mut is_ready = false;
    let end = process::listen(&Request::Leave(leave), TO_LEAVE, |(): ()| {
        is_ready = true;
        false
    });
    match end {
        End::Gone(_) if is_ready => Ok(ENDS.to_owned()),
        End::TimeUp if is_ready => Ok(STAYS.to_owned()),
        End::Gone(why) => Err(why.to_string()),
        End::TimeUp | End::Enough => Err("the process has not begun in time".to_owned()),
    }
}

/// The process that leaves something running: it returns from `main` after this answer.
pub(crate) fn serve_leaving(worlds: &Worlds, leave: Leave) {
    let all = worlds.leaving(&leave.implementation);
    for (_, Leaving { before, .. }) in all.iter().filter(|(place, _)| *place == leave.claim) {
        before();
    }
}
