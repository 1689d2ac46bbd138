//! A8: losing clauses do not pile up: after thousands of lost clauses a channel still works, and nothing
//! that lost is ever served.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, World};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a8-cleanup",
    statement: "Clauses that lost are gone: none is served, and none counts against the bound on waiters.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    if C::open::<u32>(Buffer::Rendezvous).is_none() {
        return Vec::new();
    }
    let times = if W::NAME == "std" { 10_000 } else { 3 };
    [1, 2, 8, 128]
        .into_iter()
        .filter(|width| W::NAME == "std" || *width <= 2)
        .map(|width| {
            Case::new(format!("{width} clauses abandoned"), move || {
                abandoned::<C>(width, times)
            })
        })
        .collect()
}

fn abandoned<C: Alts>(width: usize, times: usize) {
    let mut channels: Vec<_> = (0..width)
        .map(|_| C::open::<u32>(Buffer::Rendezvous).expect("asked before"))
        .collect();
    {
        let clauses: Vec<Clause<'_, C, u32>> =
            channels.iter().map(|(_, rx)| Clause::Take(rx)).collect();
        let mut slots: Vec<Option<u32>> = vec![None; width];
        let mut alts = C::prepare(&clauses, Order::Random);
        let past = Patience::Until(Deadline::from_nanos(0));
        for _ in 0..times.div_ceil(width) {
            let chosen = C::run(&mut alts, &mut slots, past);
            assert_eq!(
                chosen,
                Ok(Chosen::TimedOut),
                "A9: an alts of nothing ready, with a past deadline"
            );
        }
    }
    for (tx, rx) in &mut channels {
        assert_eq!(
            C::offer(tx, 1),
            Offered::WouldWait(1),
            "A8: a clause that lost was served"
        );
        assert_eq!(
            C::poll(rx),
            Polled::WouldWait,
            "A8: a value that was refused stayed"
        );
    }
}
