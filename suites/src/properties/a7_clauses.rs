//! A7: one channel in several clauses; impossible alts are refused before anything has an effect.

use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, AltsError, Buffer, Chosen, Clause, Offered, Order, Patience, Polled,
};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::{Deadline, World};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a7-clauses",
    statement: "A channel may stand in several clauses; an alts of nothing and missing values are errors at once.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    if C::open::<u32>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new("refused", refused::<C>));
    }
    for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
        if C::open::<u32>(buffer).is_some() {
            cases.push(Case::new(
                format!("two puts to one port in vain, {buffer}"),
                move || two_puts_in_vain::<C, W>(buffer),
            ));
            cases.push(Case::new(
                format!("the same port twice, {buffer}"),
                move || twice::<C, W>(buffer),
            ));
        }
    }
    cases
}

fn refused<C: Alts>() {
    let mut nothing = C::prepare::<u32>(&[], Order::Random);
    let answer = C::run(&mut nothing, &mut [], Patience::Forever);
    assert_eq!(
        answer,
        Err(AltsError::NoClauses),
        "A7: an alts of nothing would wait for ever"
    );
    assert_eq!(
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
    assert_eq!(
        missing,
        Err(AltsError::MissingValue { clause: 1 }),
        "A7: a put without a value"
    );
    let short = C::run(&mut alts, &mut [None], Patience::Now);
    assert_eq!(
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
    assert_eq!(chosen, Ok(took), "A7: a refused alts had an effect");
}

fn twice<C: Alts, W: World>(buffer: Buffer) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let putter = W::spawn(move || (1..=2).all(|value| C::put(&mut tx, value).is_ok()));
    {
        let clauses = [Clause::Take(&rx), Clause::Take(&rx)];
        let mut alts = C::prepare(&clauses, Order::Random);
        for expected in 1..=2 {
            match C::run(&mut alts, &mut [None, None], Patience::Forever) {
                Ok(Chosen::Took {
                    value: Some(value), ..
                }) => {
                    assert_eq!(
                        value, expected,
                        "C2: out of order through duplicate clauses"
                    );
                }
                other => panic!("A7: duplicate clauses answered {other:?}"),
            }
        }
    }
    assert!(W::join(putter), "C1: a put on an open channel was refused");
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
            assert!(
                matches!(chosen, Ok(Chosen::TimedOut)),
                "A9: two puts without room answered {chosen:?}"
            );
            let ids = [0, 1].map(|slot: usize| slots[slot].as_ref().map(Token::id));
            assert_eq!(
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
    for judged in [ledger.judge_drained(), ledger.judge_drops(&mint)] {
        if let Err(violation) = judged {
            panic!("{violation}, around two puts to one port");
        }
    }
}
