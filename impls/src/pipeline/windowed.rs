//! `windowed`: exactly n items in flight, results in the order of inputs, and a slow item holds up nobody while the
//! window lasts.
//!
//! Two things are counted apart. A *run permit*, of n, is an item's from its beginning to the moment when its port
//! has closed the result channel: there are n loops, each with one item at a time, and the port tells its loop, so that
//! results which fit there need not be taken first. A place in the *window*, of W items, is its own until all its results are
//! delivered. One loop at a time waits for a place, takes an input, and puts the item's result channel into a ring in the
//! order of inputs; it works on the item once another loop may do the same, in its own task (`loops` tells why).
//! Whoever collects delivers channel after channel. So what lies behind a slow head and has ended keeps no permit, and the
//! loops go on until the window is full.
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
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O, Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let window = self.window.items(parallelism);
        let window = window.unwrap_or_else(|narrow| panic!("{narrow}"));
        // `Room` bounds it: a buffer of W would count the same again, and families that allocate one at once cannot have
        // any W.
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

/// What a loop has.
struct Loop<C: Async, S, I: Message, O: Message, A> {
    spawner: S,
    af: Arc<A>,
    shared: Arc<Shared<C, I, O>>,
}

/// What the loops share. Where the last of them dies the ring does, too, and whoever collects learns of it.
struct Shared<C: Async, I: Message, O: Message> {
    /// Gone once no input follows.
    source: Lead<Option<Source<C, I, O>>>,
    demand: Demand,
    window: Arc<Room>,
    results: Buffer,
}

/// Where items come from, and where their results go in the order of inputs.
struct Source<C: Async, I: Message, O: Message> {
    from: C::Rx<I>,
    ring: Outbox<C, C::Rx<O>>,
}

/// Has the loop go on in a task of its own.
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
    /// The next input, and where its results go; nothing once there is none, or it is not wanted.
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
        // The others learn of it here, whoever collects from the ring.
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
