//! A2: no effect before the claim. core.async answers for a closed put port while an offer hands a value
//! to the same alts on another port: that value is lost.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::World;

use super::{Case, Property};

pub(super) const PROPERTY: Property = Property {
    name: "a2-closed-port",
    statement: "An alts that answers for a closed port has taken nothing anywhere else.",
    quick: true,
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
    let putter = W::spawn(move || C::put(&mut tx, 1).is_ok());
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
    assert!(W::join(putter), "C1: a put on an open channel was refused");
}
