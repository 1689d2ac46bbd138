//! `windowed`: exactly n items in flight, results in the order of inputs, and a slow item holds up nobody while the
//! window lasts.
//!
//! Two things are counted apart. A *run permit*, of n, is an item's from its beginning to the moment when its port
//! has closed the result channel: the port holds it, so that results which fit there need not be taken first. A place
//! in the *window*, of W items, is its own until all its results are delivered. One loop takes an input once both
//! are free, starts it, and puts the item's result channel into a ring in the order of inputs; the other delivers
//! channel after channel. So what lies behind a slow head and has ended keeps no permit, and the loop goes on until
//! the window is full.
//!
//! An item ends once its result channel has taken all its results: one that has more than fit there (one, unless said
//! otherwise) waits with the next, and keeps its permit until its turn. So what is kept is W items at most, each with
//! what its result channel holds and one put that waits, and one result in the collector's hands at `to`. Between an
//! item and its delivery a `Rendezvous` makes the window useless: no item that has a result ends before its turn.
//!
//! # How wide
//!
//! While the head runs the other n - 1 permits go through an item each in its mean duration, so a window of W is
//! full, and they stand idle, once the head takes W / (n - 1) times the mean. By default W is 16 n: of exponential
//! durations one in e^16, or nine million, is that long, and permits do not stand idle. What has a heavier tail, or
//! an item that is known to be slow, wants a window of its length over the mean, times n; what has results that
//! are large has the memory of W of them to think of. W = n is what `finishes` does.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::sync::Arc;

use super::room::Room;
use super::{ONE, Output, begin, between};

pub use super::room::Permit;

/// How many items there may be of which not all is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many for each that may be in flight.
    Times(NonZeroUsize),
    /// So many in all.
    Items(NonZeroUsize),
}

impl Window {
    /// 16 for each that may be in flight; why is told above.
    pub const RECOMMENDED: Window = Window::Times(NonZeroUsize::new(16).unwrap());

    /// How many those are.
    ///
    /// # Errors
    /// Where they are fewer than may be in flight.
    pub fn items(self, parallelism: NonZeroUsize) -> Result<NonZeroUsize, NarrowWindow> {
        match self {
            Window::Times(times) => Ok(parallelism.saturating_mul(times)),
            Window::Items(items) if items >= parallelism => Ok(items),
            Window::Items(window) => Err(NarrowWindow {
                window,
                parallelism,
            }),
        }
    }
}

/// A window in which there is no place for all items that may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowWindow {
    window: NonZeroUsize,
    parallelism: NonZeroUsize,
}

impl fmt::Display for NarrowWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NarrowWindow {
            window,
            parallelism,
        } = self;
        write!(
            f,
            "a window of {window} items has no place for {parallelism} in flight: widen it, or ask for less parallelism"
        )
    }
}

impl std::error::Error for NarrowWindow {}

/// n in flight, in the order of inputs, with a window apart.
#[derive(Clone, Copy, Debug)]
pub struct Windowed {
    window: Window,
    results: Buffer,
}

impl Windowed {
    /// With such a window; by default [`Window::RECOMMENDED`].
    pub const fn with_window(window: Window) -> Self {
        Windowed {
            window,
            results: ONE,
        }
    }

    /// The same, with such a buffer between an item and its delivery; by default one that holds one result.
    /// An item of more results than it holds keeps its permit until its turn: with a `Rendezvous` the window is
    /// useless.
    pub const fn with_results(self, results: Buffer) -> Self {
        Windowed { results, ..self }
    }
}

impl Default for Windowed {
    fn default() -> Self {
        Windowed::with_window(if cfg!(feature = "loom") {
            // The narrowest that is not n for every n.
            Window::Times(NonZeroUsize::new(2).unwrap())
        } else {
            Window::RECOMMENDED
        })
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for Windowed {
    const ORDERED: bool = true;
    type Permit = Permit;

    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        Some(self.window.items(parallelism).unwrap_or(parallelism))
    }

    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        mut from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O, Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let results = self.results;
        let window = self.window.items(parallelism);
        let window = window.unwrap_or_else(|narrow| panic!("{narrow}"));
        let room = Arc::new(Room::new(parallelism, window));
        // `Room` bounds it: a buffer of W would count the same again, and families that allocate one at once cannot have
        // any W.
        let (mut ring, mut to_collect) = between::<C, C::Rx<O>>(Buffer::Unbounded);

        let (mut output, end) = Output::<C, O>::only(to, at_end);
        let demand = output.demand();
        let (begins, places) = (spawner.clone(), Arc::clone(&room));
        spawner.spawn(async move {
            let af = Arc::new(af);
            loop {
                let Some(permit) = demand.unless_ended(Room::enter(&places)).await else {
                    break;
                };
                let Some(input) = demand.next::<C, I>(&mut from).await else {
                    break;
                };
                let results = begin::<C, I, O, Permit, F>(&begins, results, &af, input, permit);
                if !ring.put(results).await {
                    break;
                }
            }
            ring.end().await;
        });
        spawner.spawn(async move {
            while let Some(mut results) = to_collect.next().await {
                output.deliver(&mut results).await;
                room.delivered();
            }
        });
        end
    }
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
    use crate::channel::mutex::MutexChannels;
    use crate::executor::fixed_pool::FixedPool;

    const fn count(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    #[test]
    fn a_window_is_at_least_as_wide_as_the_parallelism() {
        assert_eq!(Window::RECOMMENDED.items(count(4)), Ok(count(64)));
        assert_eq!(Window::Items(count(4)).items(count(4)), Ok(count(4)));
        let narrow = Window::Items(count(3)).items(count(4));
        assert!(narrow.is_err());
        let huge = Window::Times(count(2)).items(NonZeroUsize::MAX);
        assert_eq!(huge, Ok(NonZeroUsize::MAX));
    }

    #[test]
    #[should_panic(expected = "a window of 3 items has no place for 4 in flight: widen it")]
    fn a_narrower_one_is_refused_at_the_start() {
        let executor = FixedPool::with_threads(NonZeroUsize::MIN);
        let (_inputs, from) = open::<MutexChannels, u8>(ONE);
        let (to, _results) = open::<MutexChannels, u8>(ONE);
        let af = |_, port: ResultPort<MutexChannels, u8, Permit>| async move { drop(port) };
        let windowed = Windowed::with_window(Window::Items(count(3)));
        let spawner = executor.spawner();
        drop(Pipelines::<MutexChannels, FixedPool>::start(
            &windowed,
            spawner,
            count(4),
            from,
            to,
            af,
            AtEnd::Close,
        ));
    }
}
