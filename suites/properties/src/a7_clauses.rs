//! A7: one channel may stand in several clauses; an impossible alts is refused before it has any effect.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! alts [take a, put b], a holds 1, the put has no value
//! answers (a, 1) instead of MissingValue: it was not refused first
//!
//! alts [put c 0, put c 1], c is full
//! times out; slot 0 holds 1, slot 1 holds 0: a value came back to another slot
//! ```

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{
    AltsError, Buffer, Chosen, Offered, Order, Patience, Polled, Winner,
};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{is_empty, put};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::channels::operations::Port;
use crate::design::{Channels, Clause};

pub(super) const PROPERTY: Property = Property {
    name: "a7-clauses",
    statement: "A channel may appear in several clauses; no clauses and a missing value are errors at once.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        let alts = design.alts();
        alts.map(|channels| cases(design, channels))
            .unwrap_or_default()
    }),
};

pub(super) const MIXED: Property = Property {
    name: "a7-clauses-mixed",
    statement: "A channel may appear in several clauses of any types; an impossible alts is an error at once.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        let channels = design.channels;
        let mut cases = in_turns(channels.mixed(), |mixed| cases(design, mixed));
        if channels.mixes() && channels.is_closable(Buffer::fixed(1)) {
            cases.push(Case::new("clauses that run again", move || {
                run_again(channels)
            }));
        }
        cases
    }),
};

/// `channels` are the design's own, or channels that stand for them.
fn cases(design: &Design, channels: Channels) -> Vec<Case> {
    let mut cases = few_cases(channels);
    // A model checker cannot explore so many clauses.
    let has_rendezvous = channels.having(&[Buffer::Rendezvous]).next().is_some();
    if design.claims(Claim::BoundedWaiters) && has_rendezvous && world::name() == "std" {
        cases.extend(crowded_cases(channels));
    }
    cases
}

fn few_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    if channels.open::<u32>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new("refused", move || refused(channels)));
    }
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(
            format!("two puts to one port in vain, {buffer}"),
            move || two_puts_in_vain(channels, buffer),
        ));
        cases.push(Case::new(
            format!("the same port twice, {buffer}"),
            move || twice(channels, buffer),
        ));
    }
    cases
}

/// Clauses of a run may run again, also if what the first run brought was not fetched: the second run brings its own.
fn run_again(channels: Channels) {
    let (mut tx, rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("asked before");
    let table = channels.tables().mixes.expect("asked before");
    let mut clauses = table.clauses(&[Port::Take(&rx.half)], &mut [None]);
    assert_eq!(tx.offer(1), Offered::Done, "there is room");
    let ran = [(); 2].map(|()| {
        let winner = clauses.run(Order::Priority, Patience::Now);
        tx.close();
        winner
    });
    let won = Ok(Winner::Clause(0));
    holds_eq!(ran, [won; 2], "A7: clauses that run again");
    holds!(
        matches!(clauses.taken(0), Some(None)),
        "A2: a closed port brought what an earlier run had taken"
    );
}

/// How many takes, and how many puts, may wait in one channel.
const LIMIT: usize = 1024;

/// For `BoundedWaiters`: one channel in more clauses than may wait on it.
fn crowded_cases(channels: Channels) -> Vec<Case> {
    vec![
        Case::new("1,025 takes of one channel", move || {
            crowded_by_takes(channels)
        }),
        Case::new("1,025 puts to one channel", move || {
            crowded_by_puts(channels)
        }),
    ]
}

fn crowded_by_takes(channels: Channels) {
    let open = || {
        channels
            .open::<u32>(Buffer::Rendezvous)
            .expect("a channel that claims a bound has one")
    };
    let ((mut tx_first, rx_first), (mut tx, rx)) = (open(), open());
    {
        let clauses: Vec<Clause<'_, u32>> = std::iter::once(Clause::Take(&rx_first))
            .chain((0..=LIMIT).map(|_| Clause::Take(&rx)))
            .collect();
        let mut slots = vec![None; clauses.len()];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(Order::Priority);
        // Twice: the clauses of the first run are gone and must not count.
        for _ in 0..2 {
            holds_eq!(
                alts.run(&mut slots, Patience::Forever),
                Err(AltsError::TooManyWaiters { clause: LIMIT + 1 }),
                "C7: the bound on takes that wait"
            );
        }
    }
    for tx in [&mut tx_first, &mut tx] {
        holds_eq!(
            tx.offer(1),
            Offered::WouldWait(1),
            "A7: an alts that was refused left a take behind"
        );
    }
}

fn crowded_by_puts(channels: Channels) {
    let open = || {
        channels
            .open::<usize>(Buffer::Rendezvous)
            .expect("a channel that claims a bound has one")
    };
    let ((mut tx_first, rx_first), (tx, mut rx)) = (open(), open());
    {
        let clauses: Vec<Clause<'_, usize>> = std::iter::once(Clause::Take(&rx_first))
            .chain((0..=LIMIT).map(|_| Clause::Put(&tx)))
            .collect();
        let full: Vec<_> = (0..clauses.len()).map(|i| (i > 0).then_some(i)).collect();
        let mut slots = full.clone();
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(Order::Priority);
        for _ in 0..2 {
            holds_eq!(
                alts.run(&mut slots, Patience::Forever),
                Err(AltsError::TooManyWaiters { clause: LIMIT + 1 }),
                "C7: the bound on puts that wait"
            );
            holds!(
                slots == full,
                "A7: the values of an alts that was refused did not come back"
            );
        }
    }
    holds_eq!(
        tx_first.offer(1),
        Offered::WouldWait(1),
        "A7: an alts that was refused left a take behind"
    );
    is_empty(&mut rx, "A7: an alts that was refused left a put behind");
}

fn refused(channels: Channels) {
    let stated = channels.clauses::<u32>(&[]);
    let mut nothing = stated.prepare(Order::Random);
    let answer = nothing.run(&mut [], Patience::Forever);
    holds_eq!(
        answer,
        Err(AltsError::NoClauses),
        "A7: an alts of nothing would wait for ever"
    );
    holds_eq!(
        nothing.run(&mut [], Patience::Until(Deadline::NEVER)),
        Err(AltsError::NoClauses),
        "A7: an alts of nothing has a deadline that never comes"
    );
    holds_eq!(
        nothing.run(&mut [], Patience::Now),
        Ok(Chosen::Default),
        "A6: only a default"
    );

    let (mut tx, rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("asked before");
    assert_eq!(tx.offer(1), Offered::Done);
    let (out, _keep) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("asked before");
    let clauses = [Clause::Take(&rx), Clause::Put(&out)];
    let stated = channels.clauses(&clauses);
    let mut alts = stated.prepare(Order::Priority);
    let missing = alts.run(&mut [None, None], Patience::Now);
    holds_eq!(
        missing,
        Err(AltsError::MissingValue { clause: 1 }),
        "A7: a put without a value"
    );
    let short = alts.run(&mut [None], Patience::Now);
    holds_eq!(
        short,
        Err(AltsError::SlotCount {
            slots: 1,
            clauses: 2
        }),
        "A7: too few slots"
    );
    let chosen = alts.run(&mut [None, Some(2)], Patience::Now);
    let took = Chosen::Took {
        clause: 0,
        value: Some(1),
    };
    holds_eq!(chosen, Ok(took), "A7: a refused alts had an effect");
}

fn twice(channels: Channels, buffer: Buffer) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let putter = world::spawn(move || (1..=2).for_each(|value| put(&mut tx, value)));
    {
        let clauses = [Clause::Take(&rx), Clause::Take(&rx)];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(Order::Random);
        for expected in 1..=2 {
            world::perturb();
            match alts.run(&mut [None, None], Patience::Forever) {
                Ok(Chosen::Took {
                    value: Some(value), ..
                }) => {
                    holds_eq!(
                        value,
                        expected,
                        "C2: out of order through duplicate clauses"
                    );
                }
                other => violated!("A7: duplicate clauses answered {other:?}"),
            }
        }
    }
    world::join(putter);
}

/// Two puts to one channel without room: both values come back, each to its own slot.
fn two_puts_in_vain(channels: Channels, buffer: Buffer) {
    let mint = Mint::new(3);
    let mut ledger = Ledger::new(3);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert!(matches!(tx.offer(mint.token(2)), Offered::Done));
        ledger.accepted(2);
    }
    let mut slots = [Some(mint.token(0)), Some(mint.token(1))];
    {
        let clauses = [Clause::Put(&tx), Clause::Put(&tx)];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(Order::Random);
        // Twice: clauses that are left of the first run must not disturb the second.
        for _ in 0..2 {
            let deadline = Deadline::after(world::now_nanos(), Duration::from_micros(50));
            let chosen = alts.run(&mut slots, Patience::Until(deadline));
            holds!(
                matches!(chosen, Ok(Chosen::TimedOut)),
                "A9: two puts without room answered {chosen:?}"
            );
            let ids = [0, 1].map(|slot: usize| slots[slot].as_ref().map(Token::id));
            holds_eq!(
                ids,
                [Some(0), Some(1)],
                "A1: the values of losing clauses did not come back to their slots"
            );
        }
    }
    ledger.refused(0);
    ledger.refused(1);
    while let Polled::Done(token) = rx.poll() {
        ledger.taken(token.id());
    }
    drop((tx, rx, slots));
    ledger.close(&mint, "around two puts to one port");
}
