//! A4: an alts never pairs with itself, in whichever order its put and its take stand.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Order, Patience};
use flowmeter_harness::sync::World;

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a4-no-self-pairing",
    statement: "alts [put c v, take c] on a rendezvous channel waits for somebody else.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    if C::open::<u32>(Buffer::Rendezvous).is_none() {
        return Vec::new();
    }
    vec![
        Case::new("default", alone::<C>),
        Case::new("a put comes", somebody_comes::<C, W>),
    ]
}

fn alone<C: Alts>() {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    for (clauses, mut slots) in [
        ([Clause::Put(&tx), Clause::Take(&rx)], [Some(1), None]),
        ([Clause::Take(&rx), Clause::Put(&tx)], [None, Some(1)]),
    ] {
        let chosen = C::run(
            &mut C::prepare(&clauses, Order::Priority),
            &mut slots,
            Patience::Now,
        );
        assert_eq!(
            chosen,
            Ok(Chosen::Default),
            "A4: an alts paired with itself"
        );
        assert!(
            slots.contains(&Some(1)),
            "A1: a losing clause's value did not come back"
        );
    }
}

/// Waiting on both sides of one channel, it is met by another thread's put, and only by that.
fn somebody_comes<C: Alts, W: World>() {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let Some(mut other) = C::another_tx(&tx) else {
        return;
    };
    let putter = W::spawn(move || C::put(&mut other, 5).is_ok());
    let mut slots = [Some(1), None];
    let chosen = {
        let clauses = [Clause::Put(&tx), Clause::Take(&rx)];
        C::run(
            &mut C::prepare(&clauses, Order::Priority),
            &mut slots,
            Patience::Forever,
        )
    };
    assert_eq!(
        chosen,
        Ok(Chosen::Took {
            clause: 1,
            value: Some(5)
        }),
        "A4: an alts paired with itself"
    );
    assert_eq!(
        slots,
        [Some(1), None],
        "A1: a losing clause's value did not come back"
    );
    assert!(W::join(putter), "C1: a put on an open channel was refused");
}
