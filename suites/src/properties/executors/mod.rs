//! What is checked on executors: a file for each property. Tasks wait on the channels that the registry names.

#[cfg(test)]
#[path = "../../cli/new/executor/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
pub(super) mod g1_go;
pub(super) mod g1_shutdown;
pub(super) mod g2_parking;
pub(super) mod g3_state_machines;
pub(super) mod g5_bindings;

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels, Message};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::sync::World;

use super::{Case, Owed, Property, Reliance};

/// How many threads a model's executor has, unless it says otherwise.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// What an executor owes.
pub(super) fn owed<E, C, W>() -> Owed
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    vec![
        (&g1_go::PROPERTY, g1_go::cases::<E, C, W>()),
        (&g1_shutdown::PROPERTY, g1_shutdown::cases::<E, C, W>()),
        (&g2_parking::PROPERTY, g2_parking::cases::<E, C, W>()),
    ]
}

fn open<C: Channels, T: Message>() -> (C::Tx<T>, C::Rx<T>) {
    C::open(Buffer::fixed(1)).expect("a family with futures has a buffer")
}
