//! A6: the default is taken only when each clause was unable, and leaves nothing enqueued.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a6-default",
    statement: "Default only when no clause is able, and nothing stays enqueued.",
    relied_on_by: Reliance::Alts,
};

pub(super) fn cases<C: Alts>() -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1)]
        .into_iter()
        .filter(|buffer| C::open::<u32>(*buffer).is_some())
        .map(|buffer| Case::new(buffer.to_string(), move || default::<C>(buffer)))
        .collect()
}

fn default<C: Alts>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let (mut full, mut rx_full) = C::open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut full, 0), Offered::Done);
    }
    let mut slots = [None, Some(3)];
    let chosen = {
        let clauses = [Clause::Take(&rx), Clause::Put(&full)];
        C::run(
            &mut C::prepare(&clauses, Order::Random),
            &mut slots,
            Patience::Now,
        )
    };
    assert_eq!(
        chosen,
        Ok(Chosen::Default),
        "A6: a clause that was not able won"
    );
    assert_eq!(
        slots,
        [None, Some(3)],
        "A1: a losing clause's value did not come back"
    );
    // Nothing waits on either: an offer finds no take, a poll no put.
    if buffer == Buffer::Rendezvous {
        assert_eq!(
            C::offer(&mut tx, 1),
            Offered::WouldWait(1),
            "A6: the default left a take behind"
        );
    } else {
        assert_eq!(C::poll(&mut rx_full), Polled::Done(0));
        assert_eq!(C::offer(&mut tx, 1), Offered::Done);
        assert_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "A6: the default left a take behind"
        );
    }
    assert_eq!(
        C::poll(&mut rx_full),
        Polled::WouldWait,
        "A6: the default left a put behind"
    );
    if buffer != Buffer::Rendezvous {
        let mut slots = [None, Some(3)];
        let chosen = {
            let clauses = [Clause::Take(&rx), Clause::Put(&full)];
            C::run(
                &mut C::prepare(&clauses, Order::Random),
                &mut slots,
                Patience::Now,
            )
        };
        let put = Chosen::Put {
            clause: 1,
            accepted: true,
        };
        assert_eq!(
            chosen,
            Ok(put),
            "A6: the default although a clause was able"
        );
    }
}
