//! Generated programs, whose histories are held against the specification: what callers were answered is what it
//! allows. Where other properties think up a situation each, these have proptest think.

mod family;
mod generate;
mod judge;
mod outcomes;
mod program;
mod run;
mod scenarios;
mod squad;
mod style;

use std::sync::Arc;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::channel::{
    Alts, Async, Blocking, Buffer, Channels, PutDeadline, TakeDeadline,
};
use flowmeter_harness::check::Token;
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::World;

pub(super) use judge::undecided;

use super::acts::{having, is_closable};
use super::{Case, Model, Property, Reliance};
use generate::{Menu, Waits};
use judge::Judge;
use program::Program;
use style::{Awaits, Blocks, BlocksAndAwaits, Chooses, PutsUntil, Style, TakesUntil};

pub(super) const CHANNELS: Property = Property {
    name: "c2-histories",
    statement: "What generated programs of puts, takes and closes are answered is what the specification allows.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const AWAITED: Property = Property {
    name: "c2-histories-async",
    statement: "What generated programs of awaited puts and takes are answered is what the specification allows.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const CANCELLED: Property = Property {
    name: "c9-histories",
    statement: "Generated programs whose futures are dropped are answered what the specification allows.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const ALTS: Property = Property {
    name: "a1-histories",
    statement: "What generated programs of alts are answered is what the specification allows.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const OUTCOMES: Property = Property {
    name: "c2-outcomes",
    statement: "Small programs at full speed come to no outcome that the specification does not allow.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const ALTS_OUTCOMES: Property = Property {
    name: "a1-outcomes",
    statement: "Small programs of alts at full speed come to no outcome that the specification does not allow.",
    relied_on_by: Reliance::Nobody,
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

pub(super) fn cases<C: Blocking, W: World>(who: &Contestant) -> Vec<Case> {
    let mut cases = family::<C, Blocks, W>(who, "puts and takes", |_| {});
    if W::name() == "std" {
        // Too long for the whole specification: the books and the queue judge it.
        cases.extend(family::<C, Blocks, W>(who, "long, one channel", |menu| {
            menu.channels = 1;
            menu.operations = 64;
        }));
    }
    cases
}

/// Armed timers are more than loom can look through.
pub(super) fn put_deadline_cases<C: PutDeadline, W: World>(who: &Contestant) -> Vec<Case> {
    if W::name() == "loom" {
        return Vec::new();
    }
    family::<C, PutsUntil, W>(who, "puts with deadlines", |menu| {
        fewer::<W>(menu);
        menu.puts = UNTIL;
    })
}

/// As [`put_deadline_cases`].
pub(super) fn take_deadline_cases<C: TakeDeadline, W: World>(who: &Contestant) -> Vec<Case> {
    if W::name() == "loom" {
        return Vec::new();
    }
    family::<C, TakesUntil, W>(who, "takes with deadlines", |menu| {
        fewer::<W>(menu);
        menu.takes = UNTIL;
    })
}

pub(super) fn alts_cases<C: Alts, W: World>(who: &Contestant) -> Vec<Case> {
    let mut cases = family::<C, Chooses, W>(who, "few alts", |menu| {
        fewer::<W>(menu);
        (menu.channels, menu.clauses) = (2, 2);
    });
    // Neither deadlines nor a third clause leave loom a space to exhaust.
    if W::name() != "loom" {
        cases.extend(family::<C, Chooses, W>(who, "alts", |menu| {
            (menu.channels, menu.clauses) = (3, 3);
            (menu.puts, menu.takes) = (UNTIL, UNTIL);
        }));
    }
    cases
}

/// Where few threads do little, a schedule is more likely to be the one that matters.
fn fewer<W: World>(menu: &mut Menu) {
    menu.threads = menu.threads.min(3);
    menu.operations = menu.operations.min(if W::name() == "std" { 4 } else { 2 });
}

pub(super) fn async_cases<C: Async, W: World>(who: &Contestant) -> Vec<Case> {
    family::<C, Awaits, W>(who, "awaited", |_| {})
}

pub(super) fn mixed_cases<C: Blocking + Async, W: World>(who: &Contestant) -> Vec<Case> {
    family::<C, BlocksAndAwaits, W>(who, "puts by threads, takes awaited", |_| {})
}

pub(super) fn cancelled_cases<C: Async, W: World>(who: &Contestant) -> Vec<Case> {
    family::<C, Awaits, W>(who, "dropped", |menu| {
        (menu.puts, menu.takes) = (DROPPED, DROPPED);
    })
}

/// Real threads only: where schedules are explored, histories say more.
pub(super) fn outcome_cases<C: Blocking>(who: &Contestant) -> Vec<Case> {
    outcomes::cases::<C, Blocks>(who, "C2", scenarios::puts_and_takes())
}

/// As [`outcome_cases`].
pub(super) fn alts_outcome_cases<C: Alts>(who: &Contestant) -> Vec<Case> {
    outcomes::cases::<C, Chooses>(who, "A1", scenarios::alts())
}

/// The case of one style, if the family has what its programs need: as large as the world can explore.
fn family<C: Channels, S: Style<C, Token, W>, W: World>(
    who: &Contestant,
    name: &str,
    adapt: impl FnOnce(&mut Menu),
) -> Vec<Case> {
    let buffers: Vec<Buffer> = having::<C>(&BUFFERS).collect();
    let Some((tx, rx)) = buffers.first().and_then(|buffer| C::open::<u32>(*buffer)) else {
        return Vec::new();
    };
    let closes = buffers.iter().all(|buffer| is_closable::<C>(*buffer));
    let one_consumer = C::another_rx(&rx).is_none();
    // Every program's threads put on every channel; where schedules are explored a close ends what waits.
    let several = C::another_tx(&tx).is_some();
    if !several || (W::name() != "std" && (one_consumer || !closes)) {
        return Vec::new();
    }
    let (channels, threads, operations) = match W::name() {
        "loom" => (1, 2, 2),
        "std" => (2, 4, 8),
        _ => (2, 4, 4),
    };
    let mut menu = Menu {
        buffers,
        channels,
        threads,
        operations,
        clauses: 1,
        puts: NO_WAITS,
        takes: NO_WAITS,
        closes,
        one_consumer,
    };
    adapt(&mut menu);
    let rules = Rules::of(&who.capabilities.claims);
    let holds_room = who.origin == Origin::Peer;
    let model = move |program: &Arc<Program>| -> Model {
        let program = Arc::clone(program);
        let judge = Judge::new(&program.channels, rules, holds_room, W::name());
        Arc::new(move || run::run::<C, S, W>(&program, &judge))
    };
    vec![Case::generated(
        name,
        move |plan| family::explore::<W>(menu.programs(), plan, model),
        move |key| family::member(key, model),
    )]
}

const BUFFERS: [Buffer; 6] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Unbounded,
    Buffer::Dropping(std::num::NonZeroUsize::MIN),
    Buffer::Sliding(std::num::NonZeroUsize::MIN),
];
