//! `windowed`: exactly n items in flight, and results in the order of inputs. A slow item blocks no other item until
//! the window is full.
//!
//! Two resources are counted separately. An item holds one of n *run permits* from its beginning until its port has
//! closed the result channel. There are n loops, each with one item at a time, and the port tells its loop; results
//! that fit into the result channel need not be taken first. An item holds one of W places in the *window* until all
//! its results are delivered.
//!
//! One loop at a time waits for a place, takes an input, and puts the item's result channel into a ring in the order of
//! inputs. Then another loop may do the same, and this one works on the item in its own task (`loops` explains why).
//! The collector delivers channel after channel. So an item that has ended behind a slow head keeps no permit, and the
//! loops go on until the window is full.
//!
//! An item ends once its result channel has taken all its results. An item with more results than fit there (one, by
//! default) waits to put the next one, and keeps its permit until its turn. So at most W items are buffered, each with
//! the contents of its result channel and one waiting put, and the collector holds one result for `to`. With a
//! `Rendezvous` between an item and its delivery the window is useless: no item that has a result ends before its turn.
//!
//! # How wide
//!
//! While the head runs, the other n - 1 permits each complete one item in its mean duration. So a window of W is full,
//! and the permits stand idle, once the head takes W / (n - 1) times the mean. By default W is 16 n. Of exponential
//! durations one in e^16, or nine million, is that long, so permits do not stand idle. For durations with a heavier
//! tail, or an item known to be slow, choose W as that item's duration over the mean, times n. Where results are large,
//! W of them have to fit in memory. W = n is what `finishes` does.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::sync::Arc;

use super::between::{Inbox, Outbox, between};
use super::ended::Ended;
use super::item::work_until;
use super::lead::Lead;
use super::room::Room;
use super::stint::Stint;
use super::{Demand, ONE, Output, open};

pub use super::ended::Permit;

/// How many items may be unfinished or undelivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many for each item that may be in flight.
    Times(NonZeroUsize),
    /// So many in all.
    Items(NonZeroUsize),
}

impl Window {
    /// 16 for each item that may be in flight; the module explains why.
    pub const RECOMMENDED: Window = Window::Times(NonZeroUsize::new(16).unwrap());

    /// The number of items for that parallelism.
    ///
    /// # Errors
    /// Where it is less than the parallelism.
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

/// A window with too few places for all items that may be in flight.
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

/// n in flight, in the order of inputs, with a separate window.
#[derive(Clone, Copy, Debug)]
pub struct Windowed {
    window: Window,
    results: Buffer,
}

impl Windowed {
    /// With that window; by default [`Window::RECOMMENDED`].
    pub const fn with_window(window: Window) -> Self {
        Windowed {
            window,
            results: ONE,
        }
    }

    /// The same, with that buffer between an item and its delivery; by default one that holds one result. An item with
    /// more results than it holds keeps its permit until its turn: with a `Rendezvous` the window is useless.
    pub const fn with_results(self, results: Buffer) -> Self {
        Windowed { results, ..self }
    }
}

impl Default for Windowed {
    fn default() -> Self {
        Windowed::with_window(if cfg!(feature = "loom") {
            // The narrowest window that is not n for every n.
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
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O, Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let window = self.window.items(parallelism);
        let window = window.unwrap_or_else(|narrow| panic!("{narrow}"));
        // `Room` bounds it. A buffer of W would count the items a second time, and families that allocate a buffer at
        // once cannot have an arbitrary W.
        let (ring, to_collect) = between::<C, C::Rx<O>>(Buffer::Unbounded);
        let (output, end) = Output::<C, O>::only(to, at_end);
        let (af, window) = (Arc::new(af), Arc::new(Room::new(window)));
        let shared = Arc::new(Shared {
            source: Lead::new(Some(Source { from, ring })),
            demand: output.demand(),
            window: Arc::clone(&window),
            results: self.results,
        });
        for _ in 0..parallelism.get() {
            go_on::<C, E::Spawner, I, O, A, F>(Loop {
                spawner: spawner.clone(),
                af: Arc::clone(&af),
                shared: Arc::clone(&shared),
            });
        }
        spawner.spawn(collect::<C, O>(to_collect, output, window));
        end
    }
}

/// The state of one loop.
struct Loop<C: Async, S, I: Message, O: Message, A> {
    spawner: S,
    af: Arc<A>,
    shared: Arc<Shared<C, I, O>>,
}

/// What the loops share. When the last of them dies the ring is dropped too, which ends the collector.
struct Shared<C: Async, I: Message, O: Message> {
    /// `None` once no input follows.
    source: Lead<Option<Source<C, I, O>>>,
    demand: Demand,
    window: Arc<Room>,
    results: Buffer,
}

/// Where items come from, and where their result channels go in the order of inputs.
struct Source<C: Async, I: Message, O: Message> {
    from: C::Rx<I>,
    ring: Outbox<C, C::Rx<O>>,
}

/// Continues the loop in a task of its own.
fn go_on<C: Async, S, I: Message, O: Message, A, F>(this: Loop<C, S, I, O, A>)
where
    S: Spawn + Clone + Send + 'static,
    A: Fn(I, ResultPort<C, O, Permit>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let spawner = this.spawner.clone();
    spawner.spawn(run::<C, S, I, O, A, F>(this));
}

async fn run<C: Async, S, I: Message, O: Message, A, F>(mut this: Loop<C, S, I, O, A>)
where
    S: Spawn + Clone + Send + 'static,
    A: Fn(I, ResultPort<C, O, Permit>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let af = Arc::clone(&this.af);
    let ended = Arc::new(Ended::default());
    let mut stint = Stint::default();
    while let Some((input, port)) = this.shared.next(&ended, &mut stint).await {
        let mut work = pin!(Some(async { af(input, port).await }));
        work_until(work.as_mut(), ended.wait(), &mut this.spawner).await;
        if let Some(rest) = work.as_pin_mut() {
            go_on::<C, S, I, O, A, F>(this);
            rest.await;
            break;
        }
    }
}

impl<C: Async, I: Message, O: Message> Shared<C, I, O> {
    /// The next input and the port for its results; `None` once there is no input, or none is wanted.
    async fn next(
        &self,
        ended: &Arc<Ended>,
        stint: &mut Stint,
    ) -> Option<(I, ResultPort<C, O, Permit>)> {
        let mut lead = self.source.take().await;
        let source = lead.as_mut()?;
        let wanted = self.demand.unless_ended(self.window.enter()).await;
        let input = match wanted {
            Some(()) => self.demand.next::<C, I>(&mut source.from).await,
            None => None,
        };
        if let Some(input) = input {
            let (results, delivered) = open::<C, O>(self.results);
            let port = ResultPort::holding(results, Permit::of(ended));
            if source.ring.put(delivered).await {
                stint.goes_on(lead.give_back()).await;
                return Some((input, port));
            }
        }
        // The other loops see it in `source`, the collector on the ring.
        if let Some(source) = lead.take() {
            source.ring.end().await;
        }
        None
    }
}

/// Delivers item after item.
async fn collect<C: Async, O: Message>(
    mut to_collect: Inbox<C, C::Rx<O>>,
    mut output: Output<C, O>,
    window: Arc<Room>,
) {
    let mut stint = Stint::default();
    while let Some(mut results) = to_collect.next().await {
        output.deliver(&mut results).await;
        window.leave();
        stint.goes_on(false).await;
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
            windowed,
            spawner,
            count(4),
            from,
            to,
            af,
            AtEnd::Close,
        ));
    }
}
