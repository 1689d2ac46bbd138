//! Castings of executors.

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;

use super::Casting;
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
                    Work::SpawnJoin(_) | Work::Parked(_) | Work::GoPingPong(_)
                )
            },
            stage: |work, _| match work {
                Work::SpawnJoin(params) => Ok(Box::new(Alone(SpawnJoin::<E>::new(*params)?))),
                Work::Parked(params) => parked::stage::<E, C>(*params),
                Work::GoPingPong(params) => ping_pong::stage_async::<C, E>((*params).into()),
                _ => Err(refused("to run that workload on an executor")),
            },
            // Not of a single thread.
            timing: |_| None,
        }
    }
}
