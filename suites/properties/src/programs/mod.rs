//! Generated programs with histories that are checked against the specification: every answer has to be one that it
//! allows. Other properties test one situation each; here proptest generates the situations.
//!
//! The smallest histories that violate such a property:
//!
//! ```text
//! thread 1             thread 2
//!                                           c2-histories: c is fixed(1) and empty
//! put(c, 0) -> true
//! poll(c) -> would wait                     the value is in c, and no other operation took it
//!
//!                                           a1-histories: a and b are fixed(1) and empty
//! put(a, 0) -> true
//!                      alts [take a, take b] -> (a, 0)
//!                      poll(a) -> 0         the 0 was taken twice
//!
//!                                           c9-histories: c is a rendezvous
//! take(c), polled once, then dropped
//!                      offer(c, 0) -> done  no take was waiting
//! ```
//!
//! `c2-outcomes` and `a1-outcomes` compare only the answers of all threads: in the first history the pair (true,
//! would wait) is not in the set that the specification allows.

pub(crate) mod family;
mod generate;
pub(crate) mod judge;
mod outcomes;
mod program;
mod run;
mod scenarios;
mod squad;
mod style;

use std::sync::Arc;

use flowmeter_harness::caps::{Claim, Origin};
use flowmeter_harness::channel::Buffer;
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::{Explored, world};

use super::{Case, Cases, Model, Property, Reliance};
use crate::design::channels::Design;
use generate::{Menu, Waits};
use judge::{Judge, Undecided};
use program::Program;
use style::Style;

pub(super) const CHANNELS: Property = Property {
    name: "c2-histories",
    statement: "Generated programs of puts, takes and closes get only answers that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

pub(super) const AWAITED: Property = Property {
    name: "c2-histories-async",
    statement: "Generated programs of awaited puts and takes get only answers that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(awaited_cases),
};

pub(super) const CANCELLED: Property = Property {
    name: "c9-histories",
    statement: "Generated programs that drop futures get only answers that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cancelled_cases),
};

pub(super) const ALTS: Property = Property {
    name: "a1-histories",
    statement: "Generated programs of alts get only answers that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(alts_cases),
};

pub(super) const OUTCOMES: Property = Property {
    name: "c2-outcomes",
    statement: "Small programs at full speed have only outcomes that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        outcomes::cases(design, Style::Blocks, "C2", scenarios::puts_and_takes())
    }),
};

pub(super) const ALTS_OUTCOMES: Property = Property {
    name: "a1-outcomes",
    statement: "Small programs of alts at full speed have only outcomes that the specification allows.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        outcomes::cases(design, Style::Chooses, "A1", scenarios::alts())
    }),
};

const NO_WAITS: Waits = Waits {
    until: false,
    dropped: false,
};
const UNTIL: Waits = Waits {
    until: true,
    dropped: false,
};
const DROPPED: Waits = Waits {
    until: false,
    dropped: true,
};

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = family(design, Style::Blocks, "puts and takes", |_| {});
    if world::name() == "std" {
        // Too long for the whole specification: the books and the queue judge them.
        cases.extend(family(design, Style::Blocks, "long, one channel", |menu| {
            menu.channels = 1;
            // A channel that may forget its values at a close is no queue then.
            menu.closes &= design.claims(Claim::KeepsBuffered);
            menu.operations = 64;
        }));
    }
    // Armed timers are more than loom can explore.
    if world::name() != "loom" {
        cases.extend(family(
            design,
            Style::PutsUntil,
            "puts with deadlines",
            |menu| {
                fewer(menu);
                menu.puts = UNTIL;
            },
        ));
        cases.extend(family(
            design,
            Style::TakesUntil,
            "takes with deadlines",
            |menu| {
                fewer(menu);
                menu.takes = UNTIL;
            },
        ));
    }
    cases
}

fn alts_cases(design: &Design) -> Vec<Case> {
    let mut cases = family(design, Style::Chooses, "few alts", |menu| {
        fewer(menu);
        (menu.channels, menu.clauses) = (2, 2);
    });
    // With deadlines or a third clause the space is too large for loom to exhaust.
    if world::name() != "loom" {
        cases.extend(family(design, Style::Chooses, "alts", |menu| {
            (menu.channels, menu.clauses) = (3, 3);
            (menu.puts, menu.takes) = (UNTIL, UNTIL);
        }));
    }
    cases
}

/// With few threads and operations, a schedule is more likely to be the critical one.
fn fewer(menu: &mut Menu) {
    menu.threads = menu.threads.min(3);
    menu.operations = menu
        .operations
        .min(if world::name() == "std" { 4 } else { 2 });
}

fn awaited_cases(design: &Design) -> Vec<Case> {
    let mut cases = family(design, Style::Awaits, "awaited", |_| {});
    cases.extend(family(
        design,
        Style::BlocksAndAwaits,
        "puts by threads, takes awaited",
        |_| {},
    ));
    cases
}

fn cancelled_cases(design: &Design) -> Vec<Case> {
    if !design.claims(Claim::CancelSafe) {
        return Vec::new();
    }
    family(design, Style::Awaits, "dropped", |menu| {
        (menu.puts, menu.takes) = (DROPPED, DROPPED);
    })
}

/// The case of one style, as large as the world can explore, if the family has what its programs need.
fn family(design: &Design, style: Style, name: &str, adapt: impl FnOnce(&mut Menu)) -> Vec<Case> {
    if !style.is_of(design) {
        return Vec::new();
    }
    let (implementation, channels) = (&design.implementation, design.channels);
    let buffers: Vec<Buffer> = channels.having(&BUFFERS).collect();
    let Some((tx, rx)) = buffers
        .first()
        .and_then(|buffer| channels.open::<u32>(*buffer))
    else {
        return Vec::new();
    };
    let closes = buffers.iter().all(|buffer| channels.is_closable(*buffer));
    let one_consumer = rx.another().is_none();
    // The threads of a program put on every channel. Where schedules are explored, a close ends what waits.
    let several = tx.another().is_some();
    if !several || (world::name() != "std" && (one_consumer || !closes)) {
        return Vec::new();
    }
    let (number, threads, operations) = match world::name() {
        "loom" => (1, 2, 2),
        "std" => (2, 4, 8),
        _ => (2, 4, 4),
    };
    let mut menu = Menu {
        buffers,
        channels: number,
        threads,
        operations,
        clauses: 1,
        puts: NO_WAITS,
        takes: NO_WAITS,
        closes,
        one_consumer,
    };
    adapt(&mut menu);
    let rules = Rules::of(&implementation.capabilities.claims);
    let holds_room = implementation.origin == Origin::Peer;
    let world = world::name();
    let undecided = Undecided::default();
    let shared = undecided.clone();
    let model = move |program: &Arc<Program>| -> Model {
        let program = Arc::clone(program);
        let judge = Judge::new(&program.channels, rules, holds_room, world, &shared);
        Arc::new(move || run::run(channels, style, &program, &judge))
    };
    let again = model.clone();
    vec![Case::generated(
        name,
        move |explorer, plan| {
            let explored = family::explore(explorer, menu.programs(), plan, &model);
            counted(explored, &undecided)
        },
        move |key| family::member(key, &again),
    )]
}

/// With the histories that its judges could not decide.
pub(crate) fn counted(mut explored: Explored, undecided: &Undecided) -> Explored {
    explored.undecided += undecided.take();
    explored
}

const BUFFERS: [Buffer; 6] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Unbounded,
    Buffer::Dropping(std::num::NonZeroUsize::MIN),
    Buffer::Sliding(std::num::NonZeroUsize::MIN),
];

/// A case with a history that no search can decide in its number of states.
#[cfg(test)]
pub(super) fn undecidable(world: &'static str) -> Case {
    let undecided = Undecided::default();
    let judge = Judge::without_states(Buffer::fixed(1), world, &undecided);
    let model: Model = Arc::new(move || judge.judge_one_put());
    let explore = move |explorer: &super::Explorer, plan: &_| {
        counted(explorer.explore(plan, Arc::clone(&model)), &undecided)
    };
    Case::generated("undecidable", explore, |_| None)
}
