//! Programs: a few channels, and for each thread its operations in order. A program does not depend on how or where
//! it is run.

use std::fmt;
use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Order, Patience};
use flowmeter_harness::history::{Call, Clause, Value, channel_name};
use flowmeter_harness::sync::Deadline;
use serde::{Deserialize, Serialize};

use super::family::Generated;

/// Channels, and the operations of each thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Program {
    pub(super) channels: Vec<Buffer>,
    pub(super) threads: Vec<Vec<Operation>>,
}

/// An operation of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Operation {
    Close(usize),
    /// An alts; with one port a put, a take, an offer or a poll.
    Alts {
        ports: Vec<Port>,
        order: Order,
        wait: Wait,
    },
}

/// One clause, with the index of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Port {
    Put(usize),
    Take(usize),
}

/// How long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Wait {
    Not,
    Forever,
    /// Until so many microseconds after the call.
    Micros(u32),
    /// Its future is dropped after so many polls.
    Polls(u32),
}

impl Port {
    pub(super) fn channel(self) -> usize {
        match self {
            Port::Put(channel) | Port::Take(channel) => channel,
        }
    }

    pub(super) fn is_put(self) -> bool {
        matches!(self, Port::Put(_))
    }
}

impl Operation {
    pub(super) fn ports(&self) -> &[Port] {
        match self {
            Operation::Close(_) => &[],
            Operation::Alts { ports, .. } => ports,
        }
    }

    /// How many values it offers.
    pub(super) fn puts(&self) -> usize {
        self.ports().iter().filter(|port| port.is_put()).count()
    }

    /// Whether it may wait for other threads for ever.
    pub(super) fn may_rest(&self) -> bool {
        matches!(
            self,
            Operation::Alts {
                wait: Wait::Forever,
                ..
            }
        )
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = usize> + '_ {
        let closed = match self {
            Operation::Close(channel) => Some(*channel),
            Operation::Alts { .. } => None,
        };
        closed
            .into_iter()
            .chain(self.ports().iter().map(|port| port.channel()))
    }

    /// The call in a history: with its values, numbered from `first`, and the time of the call.
    pub(super) fn call(&self, first: usize, now_nanos: u64) -> Call {
        let (ports, order, wait) = match self {
            Operation::Close(channel) => return Call::Close(*channel),
            Operation::Alts { ports, order, wait } => (ports, *order, *wait),
        };
        let mut value = first;
        let clause = |port: &Port| match *port {
            Port::Put(channel) => {
                value += 1;
                Clause::put(channel, (value - 1) as Value)
            }
            Port::Take(channel) => Clause::take(channel),
        };
        let clauses: Vec<Clause> = ports.iter().map(clause).collect();
        let patience = match wait {
            Wait::Not => Patience::Now,
            Wait::Micros(micros) => {
                let delay = Duration::from_micros(micros.into());
                Patience::Until(Deadline::after(now_nanos, delay))
            }
            Wait::Forever | Wait::Polls(_) => Patience::Forever,
        };
        Call::alts(clauses, order, patience)
    }
}

impl Generated for Program {
    fn size(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }
}

impl Program {
    /// How many values its puts offer.
    pub(super) fn puts(&self) -> usize {
        self.threads.iter().flatten().map(Operation::puts).sum()
    }

    /// Whether some operation may wait for other threads for ever.
    pub(super) fn may_rest(&self) -> bool {
        self.threads.iter().flatten().any(Operation::may_rest)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ports, order, wait) = match self {
            Operation::Close(channel) => return write!(f, "close({})", channel_name(*channel)),
            Operation::Alts { ports, order, wait } => (ports, *order, *wait),
        };
        let names: Vec<String> = ports.iter().map(|port| port.named(wait)).collect();
        if let [one] = names.as_slice() {
            f.write_str(one)?;
        } else {
            write!(f, "alts[{}]", names.join(", "))?;
            if order == Order::Priority {
                f.write_str(" by priority")?;
            }
        }
        match wait {
            Wait::Not if names.len() > 1 => f.write_str(" or default"),
            Wait::Not | Wait::Forever => Ok(()),
            Wait::Micros(micros) => write!(f, " for {micros} µs"),
            Wait::Polls(polls) => write!(f, " dropped after {polls} polls"),
        }
    }
}

impl Port {
    fn named(self, wait: Wait) -> String {
        let verb = match (self.is_put(), wait) {
            (true, Wait::Not) => "offer",
            (true, _) => "put",
            (false, Wait::Not) => "poll",
            (false, _) => "take",
        };
        format!("{verb}({})", channel_name(self.channel()))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (channel, buffer) in self.channels.iter().enumerate() {
            writeln!(f, "  channel {}: {buffer}", channel_name(channel))?;
        }
        for (thread, operations) in self.threads.iter().enumerate() {
            let operations: Vec<String> = operations.iter().map(Operation::to_string).collect();
            writeln!(f, "  thread {}: {}", thread + 1, operations.join("; "))?;
        }
        Ok(())
    }
}
