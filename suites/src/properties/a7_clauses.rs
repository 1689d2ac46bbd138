//! A7: one channel in several clauses; impossible alts are refused before anything has an effect.

use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, AltsError, Buffer, Chosen, Clause, Offered, Order, Patience, Polled,
};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{having, is_empty, put};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a7-clauses",
    statement: "A channel may stand in several clauses; an alts of nothing and missing values are errors at once.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const MIXED: Property = Property {
    name: "a7-clauses-mixed",
    statement: "A channel may stand in several clauses of any types; what cannot be is an error at once.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    if C::open::<u32>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new("refused", refused::<C>));
    }
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(
            format!("two puts to one port in vain, {buffer}"),
            move || two_puts_in_vain::<C, W>(buffer),
        ));
        cases.push(Case::new(
            format!("the same port twice, {buffer}"),
            move || twice::<C, W>(buffer),
        ));
    }
    cases
}

/// How many takes, and how many puts, may wait in one channel.
const LIMIT: usize = 1024;

/// Cases of `BoundedWaiters`: one channel that stands in more clauses than may wait.
pub(super) fn crowded_cases<C: Alts>() -> Vec<Case> {
    vec![
        Case::new("1,025 takes of one channel", crowded_by_takes::<C>),
        Case::new("1,025 puts to one channel", crowded_by_puts::<C>),
    ]
}

fn crowded_by_takes<C: Alts>() {
    let open = || C::open::<u32>(Buffer::Rendezvous).expect("whoever claims a bound has one");
    let ((mut tx_first, rx_first), (mut tx, rx)) = (open(), open());
    {
        let clauses: Vec<Clause<'_, C, u32>> = std::iter::once(Clause::Take(&rx_first))
            .chain((0..=LIMIT).map(|_| Clause::Take(&rx)))
            .collect();
        let mut slots = vec![None; clauses.len()];
        let mut alts = C::prepare(&clauses, Order::Priority);
        // Twice: those of the first, which are gone, do not count.
        for _ in 0..2 {
            holds_eq!(
                C::run(&mut alts, &mut slots, Patience::Forever),
                Err(AltsError::TooManyWaiters { clause: LIMIT + 1 }),
                "C7: the bound on takes that wait"
            );
        }
    }
    for tx in [&mut tx_first, &mut tx] {
        holds_eq!(
            C::offer(tx, 1),
            Offered::WouldWait(1),
            "A7: an alts that was refused left a take behind"
        );
    }
}

fn crowded_by_puts<C: Alts>() {
    let open = || C::open::<usize>(Buffer::Rendezvous).expect("whoever claims a bound has one");
    let ((mut tx_first, rx_first), (tx, mut rx)) = (open(), open());
    {
        let clauses: Vec<Clause<'_, C, usize>> = std::iter::once(Clause::Take(&rx_first))
            .chain((0..=LIMIT).map(|_| Clause::Put(&tx)))
            .collect();
        let full: Vec<_> = (0..clauses.len()).map(|i| (i > 0).then_some(i)).collect();
        let mut slots = full.clone();
        let mut alts = C::prepare(&clauses, Order::Priority);
        for _ in 0..2 {
            holds_eq!(
                C::run(&mut alts, &mut slots, Patience::Forever),
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
        C::offer(&mut tx_first, 1),
        Offered::WouldWait(1),
        "A7: an alts that was refused left a take behind"
    );
    is_empty::<C, _>(&mut rx, "A7: an alts that was refused left a put behind");
}

fn refused<C: Alts>() {
    let mut nothing = C::prepare::<u32>(&[], Order::Random);
    let answer = C::run(&mut nothing, &mut [], Patience::Forever);
    holds_eq!(
        answer,
        Err(AltsError::NoClauses),
        "A7: an alts of nothing would wait for ever"
    );
    holds_eq!(
        C::run(&mut nothing, &mut [], Patience::Now),
        Ok(Chosen::Default),
        "A6: only a default"
    );

    let (mut tx, rx) = C::open::<u32>(Buffer::fixed(1)).expect("asked before");
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    let (out, _keep) = C::open::<u32>(Buffer::fixed(1)).expect("asked before");
    let clauses = [Clause::Take(&rx), Clause::Put(&out)];
    let mut alts = C::prepare(&clauses, Order::Priority);
    let missing = C::run(&mut alts, &mut [None, None], Patience::Now);
    holds_eq!(
        missing,
        Err(AltsError::MissingValue { clause: 1 }),
        "A7: a put without a value"
    );
    let short = C::run(&mut alts, &mut [None], Patience::Now);
    holds_eq!(
        short,
        Err(AltsError::SlotCount {
            slots: 1,
            clauses: 2
        }),
        "A7: too few slots"
    );
    let chosen = C::run(&mut alts, &mut [None, Some(2)], Patience::Now);
    let took = Chosen::Took {
        clause: 0,
        value: Some(1),
    };
    holds_eq!(chosen, Ok(took), "A7: a refused alts had an effect");
}

fn twice<C: Alts, W: World>(buffer: Buffer) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let putter = W::spawn(move || (1..=2).for_each(|value| put::<C, W, _>(&mut tx, value)));
    {
        let clauses = [Clause::Take(&rx), Clause::Take(&rx)];
        let mut alts = C::prepare(&clauses, Order::Random);
        for expected in 1..=2 {
            W::perturb();
            match C::run(&mut alts, &mut [None, None], Patience::Forever) {
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
    W::join(putter);
}

/// Two puts to one channel without room: both values come back, each to its own slot.
fn two_puts_in_vain<C: Alts, W: World>(buffer: Buffer) {
    let mint = Mint::new(3);
    let mut ledger = Ledger::new(3);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert!(matches!(C::offer(&mut tx, mint.token(2)), Offered::Done));
        ledger.accepted(2);
    }
    let mut slots = [Some(mint.token(0)), Some(mint.token(1))];
    {
        let clauses = [Clause::Put(&tx), Clause::Put(&tx)];
        let mut alts = C::prepare(&clauses, Order::Random);
        // Twice: what is left of the first must not disturb the second.
        for _ in 0..2 {
            let deadline = Deadline::after(W::now_nanos(), Duration::from_micros(50));
            let chosen = C::run(&mut alts, &mut slots, Patience::Until(deadline));
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
    while let Polled::Done(token) = C::poll(&mut rx) {
        ledger.taken(token.id());
    }
    drop((tx, rx, slots));
    ledger.close(&mint, "around two puts to one port");
}
