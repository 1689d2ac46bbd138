//! Castings of executors.

use flowmeter_harness::channel::{Async, AwaitAlts, Callback};
use flowmeter_harness::executor::{Executors, GoBlocks};

use super::Part;
use crate::workloads::executors::go_blocks::{AsFuture, AsStates, Blocks};
use crate::workloads::executors::parked;
use crate::workloads::executors::spawn_join::SpawnJoin;
use crate::workloads::{Work, ping_pong};

/// An executor with tasks that wait on those channels.
pub fn executor<E: Executors, C: Async>(work: &Work) -> Option<Part> {
    Some(match *work {
        Work::SpawnJoin(params) => Part::counted(move || SpawnJoin::<E>::new(params)),
        Work::Parked(params) => Part::new(move |_| parked::stage::<E, C>(params)),
        Work::GoBlocks(params) => Part::counted(move || Blocks::<AsFuture, C, E>::new(params)),
        Work::GoPingPong(params) => {
            Part::new(move |_| ping_pong::stage_async::<C, E>(params.into()))
        }
        _ => return None,
    })
}

/// Go blocks as state machines, over those channels and on that executor.
pub fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
    work: &Work,
) -> Option<Part> {
    match *work {
        Work::GoBlocks(params) => Some(Part::counted(move || {
            Blocks::<AsStates<G>, C, E>::new(params)
        })),
        _ => None,
    }
}
