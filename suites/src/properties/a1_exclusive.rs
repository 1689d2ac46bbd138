//! A1: exactly one clause commits; a losing clause has no effect.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{alts, having, is_empty, put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a1-exclusive",
    statement: "Of all clauses of an alts exactly one takes effect, and losing values come back to their sender.",
    relied_on_by: Reliance::Alts,
};

const BUFFERS: [Buffer; 3] = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded];

const AROUND: &str = "around an alts";

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(format!("two takes, {buffer}"), move || {
            two_takes::<C, W>(buffer)
        }));
        if buffer == Buffer::Unbounded {
            continue;
        }
        cases.push(Case::new(format!("two puts, {buffer}"), move || {
            two_puts::<C, W>(buffer)
        }));
        cases.push(Case::new(format!("take and put, {buffer}"), move || {
            take_or_put::<C, W>(buffer, false, Order::Random);
        }));
        cases.push(Case::new(
            format!("neither able at first, {buffer}"),
            move || take_or_put::<C, W>(buffer, true, Order::Priority),
        ));
    }
    cases
}

/// A losing put's value, back in its slot.
fn given_back(slot: &mut Option<Token>) -> Token {
    let came_back = slot.take();
    came_back.expect("A1: a losing clause's value did not come back")
}

/// Two producers, one on each channel; the alts takes from whichever. Each run takes one value.
fn two_takes<C: Alts, W: World>(buffer: Buffer) {
    let each = if W::NAME == "std" { 64 } else { 1 };
    let count = 2 * each;
    let mint = Mint::new(count);
    let (tx_a, rx_a) = C::open::<Token>(buffer).expect("asked before");
    let (tx_b, rx_b) = C::open::<Token>(buffer).expect("asked before");
    let putting = [(tx_a, 0), (tx_b, each)].map(|(mut tx, first)| {
        let mint = mint.clone();
        W::spawn(move || {
            for id in first..first + each {
                put::<C, W, _>(&mut tx, mint.token(id));
            }
            tx
        })
    });
    let mut ledger = Ledger::new(count);
    {
        let clauses = [Clause::Take(&rx_a), Clause::Take(&rx_b)];
        let mut prepared = C::prepare(&clauses, Order::Random);
        for _ in 0..count {
            W::perturb();
            match C::run(&mut prepared, &mut [None, None], Patience::Forever) {
                Ok(Chosen::Took {
                    clause,
                    value: Some(token),
                }) => {
                    let from = usize::from(token.id() >= each);
                    assert_eq!(
                        from, clause,
                        "A1: the answer names another clause than the value's"
                    );
                    ledger.taken(token.id());
                }
                other => panic!("A1: an alts over two takes answered {other:?}"),
            }
        }
    }
    let txs = putting.map(W::join);
    (0..count).for_each(|id| ledger.accepted(id));
    for mut rx in [rx_a, rx_b] {
        is_empty::<C, _>(&mut rx, "A1: an alts took two, or none");
    }
    drop(txs);
    ledger.close(&mint, AROUND);
}

/// Two takers, one on each channel; the alts puts to whichever. Losing values come back.
fn two_puts<C: Alts, W: World>(buffer: Buffer) {
    let mint = Mint::new(4);
    let (mut tx_a, rx_a) = C::open::<Token>(buffer).expect("asked before");
    let (mut tx_b, rx_b) = C::open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(4);
    let taking = [rx_a, rx_b].map(|mut rx| {
        W::spawn(move || {
            let id = take::<C, W, Token>(&mut rx).id();
            (rx, id)
        })
    });
    let mut slots = [Some(mint.token(0)), Some(mint.token(1))];
    let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
    let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut slots, Patience::Forever);
    let Ok(Chosen::Put {
        clause: won,
        accepted: true,
    }) = chosen
    else {
        panic!("A1: an alts over two puts answered {chosen:?}");
    };
    assert!(
        slots[won].is_none(),
        "A1: the winner's value stayed in its slot"
    );
    let loser = given_back(&mut slots[1 - won]);
    assert_eq!(loser.id(), 1 - won, "A1: another value came back");
    ledger.accepted(won);
    ledger.refused(loser.id());
    // Lets the other taker end.
    let (tx, id) = [(&mut tx_b, 3), (&mut tx_a, 2)]
        .into_iter()
        .nth(won)
        .expect("one of two");
    put::<C, W, _>(tx, mint.token(id));
    ledger.accepted(id);
    for handle in taking {
        let (mut rx, id) = W::join(handle);
        ledger.taken(id);
        is_empty::<C, _>(&mut rx, "A1: a losing put took effect");
    }
    drop((tx_a, tx_b, loser));
    ledger.close(&mint, AROUND);
}

/// An alts over a take, to which another thread puts, and a put, from which another takes. `full`: the put
/// finds no room at first.
fn take_or_put<C: Alts, W: World>(buffer: Buffer, full: bool, order: Order) {
    let mint = Mint::new(4);
    let mut ledger = Ledger::new(4);
    let (mut tx_in, mut rx_in) = C::open::<Token>(buffer).expect("asked before");
    let (mut tx_out, mut rx_out) = C::open::<Token>(buffer).expect("asked before");
    let stored = full && buffer != Buffer::Rendezvous;
    if stored {
        let offered = C::offer(&mut tx_out, mint.token(3));
        assert!(matches!(offered, Offered::Done));
        ledger.accepted(3);
    }
    let incoming = mint.token(0);
    ledger.accepted(0);
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx_in, incoming);
        tx_in
    });
    let taker = W::spawn(move || {
        let id = take::<C, W, Token>(&mut rx_out).id();
        (rx_out, id)
    });
    let mut slots = [None, Some(mint.token(1))];
    let clauses = [Clause::Take(&rx_in), Clause::Put(&tx_out)];
    match alts::<C, W, _>(&clauses, order, &mut slots, Patience::Forever) {
        Ok(Chosen::Took {
            clause: 0,
            value: Some(token),
        }) => {
            ledger.taken(token.id());
            ledger.refused(given_back(&mut slots[1]).id());
            if !stored {
                // Lets the taker end.
                put::<C, W, _>(&mut tx_out, mint.token(2));
                ledger.accepted(2);
            }
        }
        Ok(Chosen::Put {
            clause: 1,
            accepted: true,
        }) => {
            assert!(
                slots[1].is_none(),
                "A1: the winner's value stayed in its slot"
            );
            ledger.accepted(1);
            ledger.taken(take::<C, W, Token>(&mut rx_in).id());
        }
        other => panic!("A1: an alts over a take and a put answered {other:?}"),
    }
    let tx_in = W::join(putter);
    let (mut rx_out, id) = W::join(taker);
    ledger.taken(id);
    while let Polled::Done(token) = C::poll(&mut rx_out) {
        ledger.taken(token.id());
    }
    is_empty::<C, _>(&mut rx_in, "A1: a value appeared twice");
    drop((tx_in, rx_in, tx_out, rx_out));
    ledger.close(&mint, AROUND);
}
