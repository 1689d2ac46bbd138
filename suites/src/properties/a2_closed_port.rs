//! A2: no effect before the claim. core.async answers for a closed put port while an offer hands a value
//! to the same alts on another port: that value is lost.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::World;

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a2-closed-port",
    statement: "An alts that answers for a closed port has taken nothing anywhere else.",
    relied_on_by: Reliance::Alts,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let closable = C::open::<u32>(Buffer::Rendezvous).is_some_and(|(tx, _rx)| C::close(&tx));
    if !closable {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for order in [Order::Priority, Order::Random] {
        let name = format!("offer against a closed port, {order:?}");
        cases.push(Case::new(name, move || offer_race::<C, W>(order)));
        let name = format!("close against a put, {order:?}");
        cases.push(Case::new(name, move || close_race::<C, W>(order)));
    }
    cases
}

/// For channels that are closed by dropping the other half.
pub(super) fn disconnected_cases<C: Alts>() -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded]
        .into_iter()
        .filter(|buffer| C::open::<u32>(*buffer).is_some())
        .map(|buffer| {
            Case::new(format!("half gone, {buffer}"), move || {
                half_gone::<C>(buffer)
            })
        })
        .collect()
}

/// A port whose other half is gone is able, and its value comes back.
fn half_gone<C: Alts>(buffer: Buffer) {
    let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let (gone_tx, orphan_rx) = C::open::<u32>(buffer).expect("asked before");
    drop((gone_tx, rx));
    let clauses = [Clause::Take(&orphan_rx)];
    let mut alts = C::prepare(&clauses, Order::Priority);
    let chosen = C::run(&mut alts, &mut [None], Patience::Forever);
    assert_eq!(
        chosen,
        Ok(Chosen::Took {
            clause: 0,
            value: None
        }),
        "A1: a take without producers"
    );
    let clauses = [Clause::Put(&tx)];
    let mut slots = [Some(3)];
    let chosen = C::run(
        &mut C::prepare(&clauses, Order::Random),
        &mut slots,
        Patience::Now,
    );
    assert_eq!(
        chosen,
        Ok(Chosen::Put {
            clause: 0,
            accepted: false
        }),
        "A1: a put without consumers"
    );
    assert_eq!(
        slots,
        [Some(3)],
        "C1: a put on a closed channel keeps its value"
    );
}

fn offer_race<C: Alts, W: World>(order: Order) {
    let (mut tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closed, _keep) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    C::close(&closed);
    let offering = W::spawn(move || {
        let offered = C::offer(&mut tx, 1);
        (tx, offered)
    });
    let mut slots = [None, Some(2)];
    let chosen = {
        let clauses = [Clause::Take(&rx), Clause::Put(&closed)];
        C::run(
            &mut C::prepare(&clauses, order),
            &mut slots,
            Patience::Forever,
        )
    };
    let (_tx, offered) = W::join(offering);
    match (chosen, offered) {
        (
            Ok(Chosen::Took {
                clause: 0,
                value: Some(1),
            }),
            Offered::Done,
        ) => {
            assert_eq!(
                slots[1],
                Some(2),
                "A1: a losing clause's value did not come back"
            );
        }
        (
            Ok(Chosen::Put {
                clause: 1,
                accepted: false,
            }),
            Offered::WouldWait(1),
        ) => {
            assert_eq!(
                slots[1],
                Some(2),
                "C1: a put on a closed channel keeps its value"
            );
        }
        (chosen, offered) => {
            panic!(
                "A2: the alts answered {chosen:?} while the offer on its open port answered {offered:?}"
            )
        }
    }
}

/// One port is closed while a put arrives at the other.
fn close_race<C: Alts, W: World>(order: Order) {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closing, rx_closing) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let closer = W::spawn(move || C::close(&closing));
    let putter = W::spawn(move || (C::put(&mut tx, 1).is_ok(), tx));
    let chosen = {
        let clauses = [Clause::Take(&rx_closing), Clause::Take(&rx)];
        C::run(
            &mut C::prepare(&clauses, order),
            &mut [None, None],
            Patience::Forever,
        )
    };
    match chosen {
        Ok(Chosen::Took {
            clause: 1,
            value: Some(1),
        }) => {
            assert_eq!(
                C::poll(&mut rx),
                Polled::WouldWait,
                "A1: a value appeared twice"
            );
        }
        Ok(Chosen::Took {
            clause: 0,
            value: None,
        }) => {
            assert_eq!(
                C::take(&mut rx),
                Ok(1),
                "A2: a value was lost to a port that was closed"
            );
        }
        other => panic!("A2: the alts answered {other:?}"),
    }
    assert!(W::join(closer));
    let (accepted, _tx) = W::join(putter);
    assert!(accepted, "C1: a put on an open channel was refused");
}
