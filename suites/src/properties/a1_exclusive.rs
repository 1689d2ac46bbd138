//! A1: exactly one clause commits; a losing clause has no effect.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a1-exclusive",
    statement: "Of all clauses of an alts exactly one takes effect, and losing values come back to their sender.",
    relied_on_by: Reliance::Alts,
};

const BUFFERS: [Buffer; 3] = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded];

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in BUFFERS
        .into_iter()
        .filter(|buffer| C::open::<u32>(*buffer).is_some())
    {
        cases.push(Case::new(format!("two takes, {buffer}"), move || {
            two_takes::<C, W>(buffer)
        }));
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(format!("two puts, {buffer}"), move || {
                two_puts::<C, W>(buffer)
            }));
            cases.push(Case::new(format!("take and put, {buffer}"), move || {
                take_and_put::<C, W>(buffer);
            }));
            cases.push(Case::new(
                format!("neither able at first, {buffer}"),
                move || neither_at_first::<C, W>(buffer),
            ));
        }
    }
    cases
}

fn judge(ledger: &Ledger, mint: &Mint) {
    for judged in [ledger.judge_drained(), ledger.judge_drops(mint)] {
        if let Err(violation) = judged {
            panic!("{violation}, around an alts");
        }
    }
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
                assert!(
                    C::put(&mut tx, mint.token(id)).is_ok(),
                    "C1: refused on an open channel"
                );
            }
            tx
        })
    });
    let mut ledger = Ledger::new(count);
    {
        let clauses = [Clause::Take(&rx_a), Clause::Take(&rx_b)];
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..count {
            match C::run(&mut alts, &mut [None, None], Patience::Forever) {
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
        assert!(
            matches!(C::poll(&mut rx), Polled::WouldWait),
            "A1: an alts took two, or none"
        );
        drop(rx);
    }
    drop(txs);
    judge(&ledger, &mint);
}

/// Two takers, one on each channel; the alts puts to whichever. Losing values come back.
fn two_puts<C: Alts, W: World>(buffer: Buffer) {
    let mint = Mint::new(4);
    let (mut tx_a, rx_a) = C::open::<Token>(buffer).expect("asked before");
    let (mut tx_b, rx_b) = C::open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(4);
    let taking = [rx_a, rx_b].map(|mut rx| {
        W::spawn(move || {
            let id = C::take(&mut rx)
                .expect("C2: an open channel was closed")
                .id();
            (rx, id)
        })
    });
    let mut slots = [Some(mint.token(0)), Some(mint.token(1))];
    let won = {
        let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
        let mut alts = C::prepare(&clauses, Order::Random);
        match C::run(&mut alts, &mut slots, Patience::Forever) {
            Ok(Chosen::Put {
                clause,
                accepted: true,
            }) => clause,
            other => panic!("A1: an alts over two puts answered {other:?}"),
        }
    };
    assert!(
        slots[won].is_none(),
        "A1: the winner's value stayed in its slot"
    );
    let loser = slots[1 - won]
        .take()
        .expect("A1: a losing clause's value did not come back");
    assert_eq!(loser.id(), 1 - won, "A1: another value came back");
    ledger.accepted(won);
    ledger.refused(loser.id());
    // Lets both takers end; the winner's may already have done so.
    for (tx, id) in [(&mut tx_a, 2), (&mut tx_b, 3)] {
        if id - 2 != won {
            assert!(
                C::put(tx, mint.token(id)).is_ok(),
                "C1: refused on an open channel"
            );
            ledger.accepted(id);
        }
    }
    for handle in taking {
        let (mut rx, id) = W::join(handle);
        ledger.taken(id);
        assert!(
            matches!(C::poll(&mut rx), Polled::WouldWait),
            "A1: a losing put took effect"
        );
    }
    drop((tx_a, tx_b, loser));
    judge(&ledger, &mint);
}

/// An alts that may take from one channel or put to another, both with a partner at once.
fn take_and_put<C: Alts, W: World>(buffer: Buffer) {
    let mint = Mint::new(3);
    let (mut tx_in, mut rx_in) = C::open::<Token>(buffer).expect("asked before");
    let (mut tx_out, mut rx_out) = C::open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(3);
    let incoming = mint.token(0);
    let putter = W::spawn(move || {
        assert!(
            C::put(&mut tx_in, incoming).is_ok(),
            "C1: refused on an open channel"
        );
        tx_in
    });
    let taker = W::spawn(move || {
        let id = C::take(&mut rx_out)
            .expect("C2: an open channel was closed")
            .id();
        (rx_out, id)
    });
    let mut slots = [None, Some(mint.token(1))];
    let chosen = {
        let clauses = [Clause::Take(&rx_in), Clause::Put(&tx_out)];
        let mut alts = C::prepare(&clauses, Order::Random);
        C::run(&mut alts, &mut slots, Patience::Forever)
    };
    ledger.accepted(0);
    match chosen {
        Ok(Chosen::Took {
            clause: 0,
            value: Some(token),
        }) => {
            ledger.taken(token.id());
            let given_back = slots[1]
                .take()
                .expect("A1: a losing clause's value did not come back");
            ledger.refused(given_back.id());
            assert!(
                C::put(&mut tx_out, mint.token(2)).is_ok(),
                "C1: refused on an open channel"
            );
            ledger.accepted(2);
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
            let token = C::take(&mut rx_in).expect("A1: a losing take swallowed its value");
            ledger.taken(token.id());
        }
        other => panic!("A1: an alts over a take and a put answered {other:?}"),
    }
    let tx_in = W::join(putter);
    let (mut rx_out, id) = W::join(taker);
    ledger.taken(id);
    assert!(
        matches!(C::poll(&mut rx_out), Polled::WouldWait),
        "A1: both clauses took effect"
    );
    assert!(
        matches!(C::poll(&mut rx_in), Polled::WouldWait),
        "A1: a value appeared twice"
    );
    drop((tx_in, rx_in, tx_out, rx_out, slots));
    judge(&ledger, &mint);
}

/// An alts over a take from an empty channel and a put to a full one, while one thread puts to the empty
/// one and another takes from the full one.
fn neither_at_first<C: Alts, W: World>(buffer: Buffer) {
    let mint = Mint::new(4);
    let mut ledger = Ledger::new(4);
    let (mut tx_in, mut rx_in) = C::open::<Token>(buffer).expect("asked before");
    let (mut full, mut rx_full) = C::open::<Token>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert!(matches!(C::offer(&mut full, mint.token(3)), Offered::Done));
        ledger.accepted(3);
    }
    let incoming = mint.token(0);
    let putter = W::spawn(move || {
        assert!(
            C::put(&mut tx_in, incoming).is_ok(),
            "C1: refused on an open channel"
        );
        tx_in
    });
    let taker = W::spawn(move || {
        let id = C::take(&mut rx_full)
            .expect("C2: an open channel was closed")
            .id();
        (rx_full, id)
    });
    let mut slots = [None, Some(mint.token(1))];
    let chosen = {
        let clauses = [Clause::Take(&rx_in), Clause::Put(&full)];
        C::run(
            &mut C::prepare(&clauses, Order::Priority),
            &mut slots,
            Patience::Forever,
        )
    };
    ledger.accepted(0);
    match chosen {
        Ok(Chosen::Took {
            clause: 0,
            value: Some(token),
        }) => {
            ledger.taken(token.id());
            let given_back = slots[1]
                .take()
                .expect("A1: a losing clause's value did not come back");
            assert_eq!(given_back.id(), 1, "A1: another value came back");
            ledger.refused(1);
            if buffer == Buffer::Rendezvous {
                assert!(
                    C::put(&mut full, mint.token(2)).is_ok(),
                    "C1: refused on an open channel"
                );
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
            let token = C::take(&mut rx_in).expect("A1: a losing take swallowed its value");
            ledger.taken(token.id());
        }
        other => panic!("A1: an alts that waited for either answered {other:?}"),
    }
    let tx_in = W::join(putter);
    let (mut rx_full, id) = W::join(taker);
    ledger.taken(id);
    while let Polled::Done(token) = C::poll(&mut rx_full) {
        ledger.taken(token.id());
    }
    assert!(
        matches!(C::poll(&mut rx_in), Polled::WouldWait),
        "A1: a value appeared twice"
    );
    drop((tx_in, rx_in, full, rx_full, slots));
    judge(&ledger, &mint);
}
