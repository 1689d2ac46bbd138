//! Puts and takes as awaited alts of one such clause and another that is never served. The properties of futures then
//! hold a dropped alts to what they ask of a put and a take.

use std::future::pending;

use flowmeter_harness::channel::{AltsError, Buffer, Order, PutError, TakeError, Winner};

use crate::design::channels::Tables;
use crate::design::channels::operations::{Awaits, Half, Mixture, Pair, Pending, Port, Put, Taken};
use crate::design::{Channels, Parcel};

/// The same channels with each future an alts, if the channels have awaited alts.
pub(super) fn by_alts(channels: Channels) -> Option<Channels> {
    let tables = channels.tables();
    channels.awaits_mixes().then(|| {
        Channels::of(Tables {
            awaits: Some(Box::leak(Box::new(ByAlts(channels)))),
            ..Tables::of(tables.base)
        })
    })
}

struct ByAlts(Channels);

impl Awaits for ByAlts {
    fn put<'a>(&self, tx: &'a mut Half, value: Parcel) -> Pending<'a, Put> {
        let channels = self.0;
        Box::pin(async move {
            let (_silent, idle) = silence(channels);
            let mut clauses = clauses(channels, &idle, Port::Put(tx), Some(value));
            let until = Box::pin(pending());
            let winner = clauses.run_async(Order::Priority, until).await;
            match (winner, clauses.left(1)) {
                (Ok(Winner::Clause(1)), None) => Ok(()),
                (Ok(Winner::Clause(1)), left) => Err(PutError::Closed(left)),
                (Err(AltsError::TooManyWaiters { clause: 1 }), Some(value)) => {
                    Err(PutError::TooManyWaiters(value))
                }
                (winner, _) => {
                    violated!("A1: an alts with one put, which a take meets, answered {winner:?}")
                }
            }
        })
    }

    fn take<'a>(&self, rx: &'a mut Half) -> Pending<'a, Taken> {
        let channels = self.0;
        Box::pin(async move {
            let (_silent, idle) = silence(channels);
            let mut clauses = clauses(channels, &idle, Port::Take(rx), None);
            let until = Box::pin(pending());
            match clauses.run_async(Order::Priority, until).await {
                Ok(Winner::Clause(1)) => clauses.taken(1).flatten().ok_or(TakeError::Closed),
                Err(AltsError::TooManyWaiters { clause: 1 }) => Err(TakeError::TooManyWaiters),
                winner => {
                    violated!("A1: an alts with one take, which a put meets, answered {winner:?}")
                }
            }
        })
    }
}

/// That port, behind one that is never served.
fn clauses<'a>(
    channels: Channels,
    idle: &'a Half,
    port: Port<'a>,
    value: Option<Parcel>,
) -> Box<dyn Mixture + 'a> {
    let table = channels.tables().awaits_mixes.expect("asked before");
    table.clauses(&[Port::Take(idle), port], &mut [None, value])
}

/// A channel of another type that stays empty.
fn silence(channels: Channels) -> Pair {
    let framed = channels.tables().framed.expect("there are alts over both");
    let buffers = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded];
    let opened = buffers
        .into_iter()
        .find_map(|buffer| framed.tables().base.open(buffer));
    opened.expect("a family of channels opens one")
}
