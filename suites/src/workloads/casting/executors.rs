//! Castings of executors.

use flowmeter_harness::channel::{Async, AwaitAlts, Callback};
use flowmeter_harness::executor::{Executors, GoBlocks};

use super::Casting;
use crate::workloads::executors::go_blocks::{AsFuture, AsStates, Blocks};
use crate::workloads::executors::parked;
use crate::workloads::executors::spawn_join::SpawnJoin;
use crate::workloads::solo::Alone;
use crate::workloads::{Work, ping_pong, refused};

impl Casting {
    /// An executor whose tasks wait on those channels.
    pub fn executor<E: Executors, C: Async>() -> Casting {
        Casting {
            takes_part: |work| {
                matches!(
                    work,
                    Work::SpawnJoin(_) | Work::Parked(_) | Work::GoPingPong(_) | Work::GoBlocks(_)
                )
            },
            stage: |work, _| match work {
                Work::SpawnJoin(params) => Ok(Box::new(Alone(SpawnJoin::<E>::new(*params)?))),
                Work::Parked(params) => parked::stage::<E, C>(*params),
                Work::GoBlocks(params) => {
                    Ok(Box::new(Alone(Blocks::<AsFuture, C, E>::new(*params)?)))
                }
                Work::GoPingPong(params) => ping_pong::stage_async::<C, E>((*params).into()),
                _ => Err(refused("to run that workload on an executor")),
            },
            // Not of a single thread.
            timing: |_| None,
        }
    }
    /// Go blocks that are state machines, over those channels and on that executor.
    pub fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| matches!(work, Work::GoBlocks(_)),
            stage: |work, _| match work {
                Work::GoBlocks(params) => {
                    Ok(Box::new(Alone(Blocks::<AsStates<G>, C, E>::new(*params)?)))
                }
                _ => Err(refused("to run that workload with state machines")),
            },
            // Not of a single thread.
            timing: |_| None,
        }
    }
}
