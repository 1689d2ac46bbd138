//! core.async's combinators: functions over channels, each a go block that takes from some and puts to others.
//!
//! They work over any channels with futures, and on any executor. Combinators that wait on several channels at once
//! need channels with an async alts. The first argument spawns the go block. Here the numbers of two channels are
//! merged, and the squares of the first three are added up:
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use std::ops::ControlFlow::Continue;
//!
//! use flowmeter_impls::channel::Buffer;
//! use flowmeter_impls::channel::mutex::MutexChannels as C;
//! use flowmeter_impls::combinator::{map, merge, reduce, take, to_chan};
//! use flowmeter_impls::executor::Executors;
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//!
//! let pool = FixedPool::new();
//! let go = pool.spawner();
//! let room = Buffer::fixed(1);
//!
//! let numbers = merge::<C, _>(&go, vec![to_chan::<C, _>(&go, [2, 2]), to_chan::<C, _>(&go, [2])], room);
//! let squares = map::<C, _, u32>(&go, vec![numbers], room, |n| n[0] * n[0]);
//! let first = take::<C, _>(&go, 3, squares, room);
//! let sum = reduce::<C, _, u32>(&go, first, 0, |sum, square| Continue(sum + square));
//! assert_eq!(sum.take(), Ok(12));
//! # }
//! ```
//!
//! | what | closes its output | once its output is closed |
//! | --- | --- | --- |
//! | [`pipe`], [`onto_chan`] | when the source has ended, unless asked not to | end, with one value lost |
//! | [`to_chan`] | when the source has ended | ends |
//! | [`split`] | both, when the source has ended | ends, with one value lost, and closes the other |
//! | [`merge`], [`map`], [`take`], [`unique`], [`partition`], [`partition_by`] | when the source has ended (of [`map`]: any; [`take`]: or enough was taken) | go on taking, and drop the values |
//! | [`Mult`], [`Publication`] | all of them, unless asked not to | go on for the others |
//! | [`Mix`] | never | ends, with one value lost |
//! | [`reduce`], [`transduce`], [`into`] | after the one result | |
//!
//! The go blocks of core.async do the same; the documentation of each function says where ours differ. A go block owns
//! the channel halves that it was given. When it ends and holds the last of them, the other side of that channel is
//! told, which core.async's channels cannot do. Nor does it leave its output open if a user's function has panicked.
//!
//! Source: core.async 1.5.648, `clojure.core.async`, as documented and as seen running.

mod branch;
mod copy;
mod family;
mod fold;
mod map;
mod mix;
mod mult;
mod publish;
mod sequence;

use flowmeter_harness::channel::{Async, Channels, Message};

use crate::pipeline::put;

pub use branch::{merge, split};
pub use copy::{onto_chan, pipe, to_chan};
pub use family::OverChannels;
pub use flowmeter_harness::combinator::{Attribute, SoloMode, Topic};
pub use flowmeter_harness::pipeline::AtEnd;
pub use fold::{into, reduce, transduce};
pub use map::map;
pub use mix::{Input, Mix, mix};
pub use mult::{Mult, Tap, mult};
pub use publish::{Publication, Subscription, publish};
pub use sequence::{partition, partition_by, take, unique};

/// Where a go block puts. Dropping it ends the channel, unless that is to stay open: also if the block panics, or its
/// executor drops it.
struct Outlet<C: Channels, T: Message> {
    to: C::Tx<T>,
    at_end: AtEnd,
}

impl<C: Channels, T: Message> Outlet<C, T> {
    fn new(to: C::Tx<T>, at_end: AtEnd) -> Self {
        Outlet { to, at_end }
    }

    /// The outlet to a channel that the go block has made.
    fn closing(to: C::Tx<T>) -> Self {
        Outlet::new(to, AtEnd::Close)
    }

    /// Drops the producer without closing the channel.
    fn leave(mut self) {
        self.at_end = AtEnd::LeaveOpen;
    }
}

impl<C: Async, T: Message> Outlet<C, T> {
    /// Puts; `false` when the channel is closed.
    async fn put(&mut self, value: T) -> bool {
        put::<C, T>(&mut self.to, value).await
    }
}

impl<C: Channels, T: Message> Drop for Outlet<C, T> {
    fn drop(&mut self) {
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
    }
}
