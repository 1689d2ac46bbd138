//! Tests the harness itself: the properties run on implementations that are broken on purpose, and on equivalent
//! rewrites, which must raise no alarm.

use std::path::Path;
use std::time::Duration;

use flowmeter_harness::registry::Mutant;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Scheduling, World};
use flowmeter_records::{Proof, Verdict};

use crate::descriptions::{Due, Owed};
use crate::properties::{PROPERTIES, Property};
use crate::proving::{Effort, judgement, kept};
use crate::worlds::Worlds;

/// The result of one property on a mutant.
#[derive(Clone, Debug)]
pub struct Attack {
    /// The mutant.
    pub mutant: &'static Mutant,
    /// The property.
    pub property: &'static Property,
    /// From the world that found it, or from the last one that asked where none did.
    pub proof: Proof,
    /// The check that found it. `None` where the world itself did, as with a deadlock, and where none did.
    pub check: Option<String>,
    /// Executions in all worlds together.
    pub executions: u64,
    /// Seconds in all worlds together.
    pub seconds: f64,
}

impl Attack {
    /// Whether it was found, by a violation, a deadlock or a crash. A mutant that hangs, ends silently, or reaches a limit
    /// of the explorer survives.
    pub fn killed(&self) -> bool {
        self.proof.verdict == Verdict::Fail
    }

    /// Whether that is what was expected of the mutant.
    pub fn as_expected(&self) -> bool {
        match self.mutant.equivalent {
            true => !raises_alarm(self.proof.verdict),
            false => self.killed(),
        }
    }
}

/// Whether that verdict is a false alarm on an equivalent rewrite: correct code neither fails nor hangs nor breaks
/// off.
fn raises_alarm(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Fail | Verdict::Hung | Verdict::Error)
}

/// How to attack.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The maximum for a mutant, a property and a world; the default where it is `None`.
    pub time: Option<Duration>,
    /// Seed of random choices.
    pub seed: u64,
    /// The folder for failing executions, if they are kept.
    pub folder: Option<&'a Path>,
    /// The check that is switched off, if one is.
    pub without: Option<&'a str>,
    /// The worlds, if not all.
    pub worlds: Option<&'a [String]>,
    /// Executions of each case in one round, instead of rounds of growing effort.
    pub executions: Option<u64>,
    /// How shuttle chooses schedules.
    pub scheduling: Scheduling,
}

impl Default for Plan<'_> {
    fn default() -> Self {
        Plan {
            time: None,
            seed: Effort::CHECK.seed,
            folder: None,
            without: None,
            worlds: None,
            executions: None,
            scheduling: Effort::CHECK.scheduling,
        }
    }
}

/// How thorough to be. Most faults are found at once by one of the worlds, and should not wait for another that would
/// never find them. So each world runs briefly before any runs longer.
#[derive(Clone, Copy)]
enum Round {
    Brief,
    Longer,
    Full,
    /// For an equivalent rewrite, where no fault is expected: a false alarm shows soon.
    ForAlarms,
}

impl Round {
    fn of(mutant: &Mutant, plan: &Plan<'_>) -> &'static [Round] {
        match (mutant.equivalent, plan.executions) {
            (true, _) => &[Round::ForAlarms],
            (false, Some(_)) => &[Round::Full],
            (false, None) => &[Round::Brief, Round::Longer, Round::Full],
        }
    }

    /// The effort under a world. It looks for an existing fault, which takes far less than a proof.
    fn effort(self, world: &str, plan: &Plan<'_>) -> Effort {
        let enough = if world == "std" { 15 } else { 30 };
        let (executions, seconds) = match (self, world) {
            (Round::Brief, _) | (Round::ForAlarms, "std") => (200, 1),
            (Round::Longer, "std" | "loom") => (4_000, 8),
            (Round::Longer, _) => (1_000, 8),
            (Round::Full, "std") => (20_000, enough),
            (Round::Full, "loom") => (100_000, enough),
            // A generated program takes a fraction of a millisecond there.
            (Round::Full, "sim") => (30_000, enough),
            (Round::Full, _) => (Effort::EXPLORE.executions, enough),
            (Round::ForAlarms, _) => (200, 4),
        };
        let usual = Duration::from_secs(seconds);
        let time = match (self, plan.time) {
            (_, None) => usual,
            (Round::Brief | Round::Longer, Some(asked)) => asked.min(usual),
            (Round::Full | Round::ForAlarms, Some(asked)) => asked,
        };
        // An explored mutant that hangs is waited for as long as the longest execution takes on a busy machine. A rewrite
        // must not seem to hang there.
        let grace = match (self, world) {
            (Round::ForAlarms, _) => Effort::EXPLORE.grace,
            (_, "std") => Effort::CHECK.grace,
            _ => Duration::from_secs(6),
        };
        Effort {
            executions: plan.executions.unwrap_or(executions),
            time,
            grace,
            scheduling: plan.scheduling,
            // No round repeats the executions of the one before.
            seed: plan.seed.wrapping_add(self as u64),
            ..Effort::under(world)
        }
    }
}

/// Runs a property on a mutant, in one world after the other, until one of them finds it.
///
/// # Panics
/// When there are no worlds with mutants.
pub fn attack(
    worlds: &Worlds,
    mutant: &'static Mutant,
    property: &'static Property,
    plan: &Plan<'_>,
) -> Attack {
    let (mut executions, mut seconds, mut last, mut check) = (0, 0.0, None, None);
    // Explored worlds in which it hangs: it would again.
    let mut hung = Vec::new();
    let is_asked = |world: &&str| {
        let asked = plan.worlds;
        asked.is_none_or(|asked| asked.iter().any(|asked| asked == world))
    };
    let looks = Round::of(mutant, plan).iter().flat_map(|round| {
        let worlds = worlds.of_mutants().filter(is_asked);
        worlds.map(|world| (*round, world))
    });
    for (round, world) in looks {
        if hung.contains(&world) {
            continue;
        }
        let cell = Owed {
            implementation: mutant.name,
            property,
            world,
            due: Due::Owed,
        };
        let effort = round.effort(world, plan);
        // Once: a mutant that hangs survives, however often it does.
        let judged = judgement(&cell, effort, plan.without);
        let (proof, spoke) = match plan.folder {
            Some(folder) => (kept(judged, effort.seed, folder), Vec::new()),
            None => (judged.proof, judged.spoke),
        };
        executions += proof.executions;
        seconds += proof.seconds;
        let found = match proof.verdict {
            Verdict::Fail => true,
            verdict => mutant.equivalent && raises_alarm(verdict),
        };
        if proof.verdict == Verdict::Hung && world != Std::NAME {
            hung.push(world);
        }
        // A world that does not ask the property says nothing about the mutant.
        if last.is_none() || proof.verdict != Verdict::Unclaimed {
            last = Some(proof);
        }
        if found {
            check = spoke.into_iter().last();
            break;
        }
    }
    Attack {
        mutant,
        property,
        proof: last.expect("mutants are looked at somewhere"),
        check,
        executions,
        seconds,
    }
}

/// The properties that attack a mutant: those that have to find it. For an equivalent rewrite, every property of its
/// kind, none of which may.
///
/// # Panics
/// When it names a property that does not exist.
pub fn attackers(worlds: &Worlds, mutant: &'static Mutant) -> Vec<&'static Property> {
    let named = |name: &&str| {
        let property = PROPERTIES.iter().find(|property| property.name == *name);
        *property.unwrap_or_else(|| panic!("{}: there is no property {name}", mutant.name))
    };
    if mutant.equivalent {
        let kind = worlds.kind_of(mutant);
        let all = PROPERTIES.iter().copied();
        return all.filter(|property| property.kind() == kind).collect();
    }
    mutant.killed_by.iter().map(named).collect()
}
