//! The modelled cost of a channel: what a message costs in shared accesses and allocations under fixed
//! schedules.
//!
//! Producers put a number of messages and consumers take them, then twice as many. The difference is the cost of that
//! number without start and end. What is added beside the channel is one lookup of the erased design an operation, and
//! no shared access. Its parcels are allocated outside of the calls that count (`design/channels/family.rs`).

use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::registry::Registry;
use flowmeter_harness::sync::cost::{Counts, Pace};
use flowmeter_harness::sync::{Exploration, World, world};
use serde::{Deserialize, Serialize};

use crate::design::{Channels, Designs, Rx, Tx};
use crate::form::Way;

/// The tasks of a cost, and the channel between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Tasks that put.
    pub producers: usize,
    /// Tasks that take.
    pub consumers: usize,
    /// The buffer of the channel.
    pub buffer: Buffer,
    /// Whether operations are awaited; otherwise they block.
    pub awaits: bool,
}

/// What that many messages cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The messages.
    pub messages: u64,
    /// Their cost.
    pub counts: Counts,
}

/// The costs of a shape, in the order of [`Pace::ALL`]: why an execution failed where one did. `None` where the
/// implementation has no such channel, or the world counts nothing.
pub type OfShape = [Option<Result<Cost, String>>; Pace::ALL.len()];

/// A half for each task.
type Halves = (Vec<Tx<u64>>, Vec<Rx<u64>>);

/// Messages of the shorter execution, at least. Many designs repeat themselves after 3, 64 or 65 messages.
const MESSAGES: usize = 960;

impl Shape {
    fn way(self) -> Way {
        match self.awaits {
            true => Way::Async,
            false => Way::Blocking,
        }
    }

    /// Messages of the shorter execution: the buffer is filled twice, and each task has as many as the others.
    fn messages(self) -> usize {
        let room = match self.buffer {
            Buffer::Fixed(room) => room.get(),
            _ => 0,
        };
        let least = MESSAGES.max(2 * room);
        least.next_multiple_of(self.producers * self.consumers)
    }

    /// Halves for all tasks; `None` where those channels have no such.
    fn open(self, channels: Channels) -> Option<Halves> {
        if !self.way().is_of(channels) {
            return None;
        }
        let (tx, rx) = channels.open(self.buffer)?;
        let (mut txs, mut rxs) = (vec![tx], vec![rx]);
        for _ in 1..self.producers {
            txs.push(txs[0].another()?);
        }
        for _ in 1..self.consumers {
            rxs.push(rxs[0].another()?);
        }
        Some((txs, rxs))
    }
}

/// The costs of an implementation in each shape.
///
/// # Panics
/// With the panic of the implementation while it was asked for its channels.
pub fn costs<W: World>(
    registry: impl Registry,
    implementation: &str,
    shapes: &[Shape],
) -> Vec<OfShape> {
    let found = channels::<W>(registry, implementation, shapes.to_vec());
    let with_shapes = found.into_iter().zip(shapes);
    with_shapes
        .map(|(channels, shape)| {
            Pace::ALL.map(|pace| channels.and_then(|channels| cost::<W>(channels, *shape, pace)))
        })
        .collect()
}

/// The first channels of the implementation with halves for each shape. Asking opens some, so it happens inside an
/// execution.
fn channels<W: World>(
    registry: impl Registry,
    implementation: &str,
    shapes: Vec<Shape>,
) -> Vec<Option<Channels>> {
    let only = implementation.to_owned();
    let answer = Arc::new(Mutex::new(Vec::new()));
    let answered = Arc::clone(&answer);
    let ask = move || {
        let mut designs = Designs::of(Some(only.clone()));
        registry.show_all(&mut designs);
        let designs = std::mem::take(&mut designs.channels);
        let all: Vec<Channels> = designs.all().map(|design| design.channels).collect();
        let first = |shape: &Shape| {
            let mut all = all.iter().copied();
            all.find(|channels| shape.open(*channels).is_some())
        };
        *answered.lock().expect("asked once") = shapes.iter().map(first).collect();
    };
    let once = Exploration {
        executions: 1,
        ..Exploration::default()
    };
    let explored = W::explore(&once, ask);
    if let Some(failure) = explored.failure {
        panic!("{failure}");
    }
    std::mem::take(&mut *answer.lock().expect("the asking thread has ended"))
}

fn cost<W: World>(channels: Channels, shape: Shape, pace: Pace) -> Option<Result<Cost, String>> {
    let messages = shape.messages();
    let of = |messages| W::count(pace, move || run(channels, shape, messages));
    let (shorter, longer) = (of(messages)?, of(2 * messages)?);
    Some(shorter.and_then(|shorter| {
        Ok(Cost {
            messages: messages as u64,
            counts: (longer?.since(shorter)).ok_or("more messages cost less in all")?,
        })
    }))
}

/// One execution.
fn run(channels: Channels, shape: Shape, messages: usize) {
    let (txs, rxs) = shape.open(channels).expect("it was opened before");
    let (each, of_each) = (messages / txs.len(), messages / rxs.len());
    let producers = txs.into_iter().map(|tx| {
        world::spawn(move || match shape.way() {
            Way::Blocking => put(tx, each),
            Way::Async => world::block_on(put_async(tx, each)),
        })
    });
    let producers: Vec<_> = producers.collect();
    let consumers = rxs.into_iter().map(|rx| {
        world::spawn(move || match shape.way() {
            Way::Blocking => take(rx, of_each),
            Way::Async => world::block_on(take_async(rx, of_each)),
        })
    });
    let consumers: Vec<_> = consumers.collect();
    producers.into_iter().chain(consumers).for_each(world::join);
}

const OPEN: &str = "the channel is open";

fn put(mut tx: Tx<u64>, messages: usize) {
    for message in 0..messages {
        assert!(tx.put(message as u64).is_ok(), "{OPEN}");
    }
}

async fn put_async(mut tx: Tx<u64>, messages: usize) {
    for message in 0..messages {
        assert!(tx.put_async(message as u64).await.is_ok(), "{OPEN}");
    }
}

fn take(mut rx: Rx<u64>, messages: usize) {
    for _ in 0..messages {
        assert!(rx.take().is_ok(), "{OPEN}");
    }
}

async fn take_async(mut rx: Rx<u64>, messages: usize) {
    for _ in 0..messages {
        assert!(rx.take_async().await.is_ok(), "{OPEN}");
    }
}

#[cfg(test)]
mod tests;
