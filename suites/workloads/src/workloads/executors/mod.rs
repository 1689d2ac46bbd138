//! Workloads of executors, with tasks that wait on the channels that the registry names.

pub mod go_blocks;
pub mod parked;
pub mod spawn_join;

use flowmeter_records::Axes;
use serde::{Deserialize, Serialize};

use super::ping_pong;
use crate::scenario::{Capacity, Facts, Form, Room};

/// Two tasks and a value between them: [`ping_pong`], as a test of the executor instead of the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PingPong {
    /// Room in both channels.
    pub capacity: Capacity,
}

impl From<PingPong> for ping_pong::Params {
    fn from(params: PingPong) -> ping_pong::Params {
        ping_pong::Params {
            buffer: Room::Fixed(params.capacity),
            form: Form::Async,
        }
    }
}

impl PingPong {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let facts = ping_pong::Params::from(*self).facts();
        Facts {
            axes: Axes {
                family: "go-ping-pong".to_owned(),
                ..facts.axes
            },
            ..facts
        }
    }
}
