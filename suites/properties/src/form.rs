//! The same operations by thread or by future, so that a property is written once for both.

use flowmeter_harness::channel::{Message, PutError, TakeError};
use flowmeter_harness::sync::world;

use crate::design::{Channels, Rx, Tx};

/// How a thread of a model puts and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It blocks its thread.
    Blocking,
    /// It awaits on its thread.
    Async,
}

impl Way {
    /// Whether those channels have it.
    pub(super) fn is_of(self, channels: Channels) -> bool {
        match self {
            Way::Blocking => channels.blocks(),
            Way::Async => channels.awaits(),
        }
    }

    /// Puts.
    pub(super) fn put<T: Message>(self, tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
        match self {
            Way::Blocking => tx.put(value),
            Way::Async => world::block_on(tx.put_async(value)),
        }
    }

    /// Takes.
    pub(super) fn take<T: Message>(self, rx: &mut Rx<T>) -> Result<T, TakeError> {
        match self {
            Way::Blocking => rx.take(),
            Way::Async => world::block_on(rx.take_async()),
        }
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Way::Blocking => "blocking",
            Way::Async => "async",
        })
    }
}
