//! Our pipelines, and what they have in common with those of published crates: how inputs are taken as long as their results
//! are wanted, how those are delivered, and how the output ends.

pub mod core_async;
mod ended;
pub mod finishes;
mod item;
mod lead;
mod loops;
mod room;
mod stint;
mod turns;
pub mod unordered;
pub mod upmap;
pub mod windowed;
pub mod workers;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, PutError, TakeError};
use flowmeter_harness::pipeline::AtEnd;

use crate::sync::{Arc, Mutex};

pub use core_async::{CoreAsync, Swapped};
pub use finishes::Finishes;
pub use flowmeter_harness::transform_pipeline::TransformPipelines;
pub use unordered::Unordered;
pub use upmap::{EagerUpmap, Upmap, upmap};
pub use windowed::Windowed;
#[cfg(feature = "peers")]
pub(crate) use workers::emitted;
pub use workers::{Computing, HoldingUp, Workers, each_by};

/// core.async's `(chan 1)` for the results of an item.
pub(crate) const ONE: Buffer = Buffer::fixed(1);

/// A channel that a pipeline needs for itself.
pub(crate) fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("the family has the buffers that the pipeline was made with")
}

/// A pipeline waits with one put and one take for each of its channels.
pub(crate) const TOO_MANY: &str = "others leave room for a pipeline to wait at its ports";

/// The next value; `None` once the channel is closed and empty.
///
/// # Panics
/// Where too many others wait already.
pub(crate) async fn next<C: Async, T: Message>(rx: &mut C::Rx<T>) -> Option<T> {
    match C::take_async(rx).await {
        Ok(value) => Some(value),
        Err(TakeError::Closed) => None,
        Err(TakeError::TooManyWaiters) => panic!("{TOO_MANY}"),
    }
}

/// Puts; `false` when the channel is closed.
///
/// # Panics
/// As [`next`].
pub(crate) async fn put<C: Async, T: Message>(tx: &mut C::Tx<T>, value: T) -> bool {
    match C::put_async(tx, value).await {
        Ok(()) => true,
        Err(PutError::Closed(_)) => false,
        Err(PutError::TooManyWaiters(_)) => panic!("{TOO_MANY}"),
    }
}

/// A channel between two loops, with that buffer. Its end is told by a message (`None`) instead of a close, which in some
/// families loses what is buffered.
fn between<C: Async, T: Message>(buffer: Buffer) -> (Outbox<C, T>, Inbox<C, T>) {
    let (tx, rx) = open::<C, Option<T>>(buffer);
    (Outbox { tx, ended: false }, Inbox(rx))
}

/// The putting half of a channel [`between`] two loops. Dropped before its end, by a panic of the loop that has it, it
/// closes the channel all the same: whoever takes from it would wait for ever.
struct Outbox<C: Async, T: Message> {
    tx: C::Tx<Option<T>>,
    ended: bool,
}

impl<C: Async, T: Message> Outbox<C, T> {
    /// As [`put`].
    async fn put(&mut self, value: T) -> bool {
        put::<C, _>(&mut self.tx, Some(value)).await
    }

    /// The only value: nobody asks what follows, and no close may lose it.
    async fn fill(mut self, value: T) {
        self.put(value).await;
        self.ended = true;
    }

    /// Nothing follows.
    async fn end(mut self) {
        put::<C, _>(&mut self.tx, None).await;
        self.ended = true;
    }
}

impl<C: Async, T: Message> Drop for Outbox<C, T> {
    fn drop(&mut self) {
        if !self.ended {
            C::close(&self.tx);
        }
    }
}

/// The taking half of a channel [`between`] two loops. Dropping it closes the channel, as some families do not notice
/// dropped halves: whoever puts is refused then, and does not wait for room that nobody will make.
struct Inbox<C: Async, T: Message>(C::Rx<Option<T>>);

impl<C: Async, T: Message> Inbox<C, T> {
    /// As [`next`]; nothing once the end was told.
    async fn next(&mut self) -> Option<T> {
        next::<C, _>(&mut self.0).await.flatten()
    }
}

impl<C: Async, T: Message> Drop for Inbox<C, T> {
    fn drop(&mut self) {
        C::close_rx(&mut self.0);
    }
}

/// The producer of a pipeline's output. Dropping it ends the output, stops whoever takes from the input, and tells
/// whoever waits for the end; so do a panic of the loop that has it, and an executor that drops its tasks.
pub(crate) struct Output<C: Async, O: Message> {
    to: C::Tx<O>,
    at_end: AtEnd,
    demand: Demand,
    /// Somebody is putting, or has died of it: whatever follows then would leave a gap.
    putting: bool,
    /// Closed at the end, and never put into.
    ended: C::Tx<()>,
}

impl<C: Async, O: Message> Output<C, O> {
    /// The only producer of `to`, and a future that is ready when it is dropped.
    pub(crate) fn only(
        to: C::Tx<O>,
        at_end: AtEnd,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (ended, mut end) = open::<C, ()>(ONE);
        let output = Output {
            to,
            at_end,
            demand: Demand::default(),
            putting: false,
            ended,
        };
        (output, async move {
            next::<C, ()>(&mut end).await;
        })
    }

    /// What tells others whether the output is still wanted.
    pub(crate) fn demand(&self) -> Demand {
        self.demand.clone()
    }

    /// Delivers everything that comes out of `results`. Where that is not wanted any more the rest is taken all the
    /// same, so that the item ends and counts until then.
    pub(crate) async fn deliver(&mut self, results: &mut C::Rx<O>) {
        while let Some(result) = next::<C, O>(results).await {
            self.put(result).await;
        }
    }

    /// Delivers one result, unless the output is closed, or whoever put before has died of it.
    ///
    /// # Panics
    /// As [`next`].
    pub(crate) async fn put(&mut self, result: O) {
        if std::mem::replace(&mut self.putting, true) {
            return self.demand.end();
        }
        match C::put_async(&mut self.to, result).await {
            Ok(()) => {}
            Err(PutError::Closed(refused)) => {
                // First: the drop of what is refused may panic.
                self.demand.end();
                drop(refused);
            }
            Err(PutError::TooManyWaiters(_)) => panic!("{TOO_MANY}"),
        }
        self.putting = false;
    }
}

impl<C: Async, O: Message> Drop for Output<C, O> {
    fn drop(&mut self) {
        // Where the loop that had it has died nobody delivers any more, so nothing more is to be begun.
        self.demand.end();
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
        C::close(&self.ended);
    }
}

/// Whether an output is still wanted, for the one who takes from the input. It is not once it was seen closed, or
/// nobody is left to deliver.
#[derive(Clone, Default)]
pub(crate) struct Demand(Arc<Mutex<Wanted>>);

#[derive(Default)]
struct Wanted {
    /// Somebody has seen that the output is closed (P3), or it has nobody who delivers.
    ended: bool,
    /// Who waits for an item, or for leave to take one.
    taker: Option<Waker>,
}

impl Demand {
    /// The next item, unless the output is not wanted: then nothing further is taken (P3), and a take that waits is
    /// dropped. One taker may wait at a time.
    pub(crate) async fn next<C: Async, I: Message>(&self, from: &mut C::Rx<I>) -> Option<I> {
        self.unless_ended(next::<C, I>(from)).await.flatten()
    }

    /// What that comes to, unless the output is not wanted: then it is dropped. As with [`next`](Self::next),
    /// one may wait at a time.
    pub(crate) async fn unless_ended<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        if self.0.lock().ended {
            return None;
        }
        let mut wait = pin!(wait);
        poll_fn(|context| {
            let polled = wait.as_mut().poll(context).map(Some);
            if polled.is_pending() && self.has_ended(context.waker()) {
                return Poll::Ready(None);
            }
            polled
        })
        .await
    }

    /// Whether nothing more is wanted; if not, that waker will be told.
    fn has_ended(&self, waker: &Waker) -> bool {
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = waker.clone();
        let mut wanted = self.0.lock();
        let old = wanted.taker.replace(waker);
        let ended = wanted.ended;
        drop(wanted);
        drop(old);
        ended
    }

    fn end(&self) {
        let mut wanted = self.0.lock();
        wanted.ended = true;
        let taker = wanted.taker.take();
        drop(wanted);
        if let Some(taker) = taker {
            taker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::num::NonZeroUsize;
    use std::panic::resume_unwind;

    use flowmeter_harness::channel::{Callback, Offered, Polled};
    use flowmeter_harness::executor::{Executors, Spawn};
    use flowmeter_harness::pipeline::{Pipelines, ResultPort};

    use super::windowed::Window;
    use super::*;
    use crate::channel::mutex::MutexChannels as C;
    use crate::executor::fixed_pool::FixedPool as E;
    use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use crate::sync::{block_on, yield_now};

    const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    fn one_thread() -> E {
        E::with_threads(NonZeroUsize::MIN)
    }

    /// A channel that holds those, and has room for no more.
    fn holding<T: Message>(
        values: impl ExactSizeIterator<Item = T>,
    ) -> (<C as Channels>::Tx<T>, <C as Channels>::Rx<T>) {
        let (mut tx, rx) = open::<C, T>(Buffer::fixed(values.len()));
        for value in values {
            assert!(matches!(C::offer(&mut tx, value), Offered::Done));
        }
        (tx, rx)
    }

    /// Closes a channel when the last input is gone.
    struct Inputs(<C as Channels>::Tx<()>);

    impl Drop for Inputs {
        fn drop(&mut self) {
            C::close(&self.0);
        }
    }

    /// A result whose drop panics where no other's has.
    struct Explosive(Arc<AtomicBool>);

    impl Drop for Explosive {
        fn drop(&mut self) {
            if !self.0.swap(true, Ordering::SeqCst) {
                resume_unwind(Box::new("a refused result"));
            }
        }
    }

    /// Whoever delivers dies of a refused result: then the input, which stays open, is let go with what is in it, and the end
    /// is told.
    fn stops<P: Pipelines<C, E>>(pipeline: &P) {
        for items in [1, 100] {
            let executor = one_thread();
            let (gone, mut all_gone) = open::<C, ()>(ONE);
            let inputs = Arc::new(Inputs(gone));
            let (_open, from) = holding((0..items).map(|_| Arc::clone(&inputs)));
            drop(inputs);
            let (to, _results) = open::<C, Explosive>(ONE);
            C::close(&to);
            let exploded = Arc::new(AtomicBool::new(false));
            let seen = Arc::clone(&exploded);
            let af = move |_: Arc<Inputs>, mut port: ResultPort<C, Explosive, P::Permit>| {
                let result = Explosive(Arc::clone(&exploded));
                async move {
                    let _ = port.put(result).await;
                }
            };
            let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
            block_on(end);
            block_on(next::<C, ()>(&mut all_gone));
            assert!(seen.load(Ordering::SeqCst), "nothing was refused");
        }
    }

    /// Room for no more than is in flight: whoever begins items waits for it.
    fn narrow() -> Windowed {
        Windowed::with_window(Window::Items(TWO))
    }

    #[test]
    fn a_death_at_the_output_stops_core_async() {
        stops(&CoreAsync::default());
    }

    #[test]
    fn a_death_at_the_output_stops_swapped() {
        stops(&Swapped::default());
    }

    #[test]
    fn a_death_at_the_output_stops_finishes() {
        stops(&Finishes::default());
    }

    #[test]
    fn a_death_at_the_output_stops_unordered() {
        stops(&Unordered::default());
    }

    #[test]
    fn a_death_at_the_output_stops_windowed() {
        stops(&narrow());
    }

    /// As many puts as a channel admits wait at the output, so whoever delivers the first result dies there. The one behind it
    /// would follow a gap.
    fn leaves_no_gap<P: Pipelines<C, E>>(pipeline: &P) {
        const ADMITTED: usize = 1_024;
        let executor = one_thread();
        let (to, mut results) = open::<C, usize>(ONE);
        for _ in 0..=ADMITTED {
            C::put_then(&to, usize::MAX, |_| ());
        }
        let (dead, is_dead) = open::<C, ()>(ONE);
        let is_dead = Mutex::new(Some(is_dead));
        let af = move |input, mut port: ResultPort<C, usize, P::Permit>| {
            let waits = is_dead.lock().take_if(|_| input == 1);
            async move {
                if let Some(mut waits) = waits {
                    next::<C, ()>(&mut waits).await;
                }
                let _ = port.put(input).await;
            }
        };
        let (inputs, from) = holding(0..2);
        C::close(&inputs);
        let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
        while executor.panics() == 0 {
            yield_now();
        }
        for _ in 0..=ADMITTED {
            assert_eq!(C::poll(&mut results), Polled::Done(usize::MAX));
        }
        C::close(&dead);
        block_on(end);
        assert_eq!(C::poll(&mut results), Polled::Closed);
    }

    #[test]
    fn nothing_follows_a_death_at_the_output_of_finishes() {
        leaves_no_gap(&Finishes::default());
    }

    #[test]
    fn nothing_follows_a_death_at_the_output_of_unordered() {
        leaves_no_gap(&Unordered::default());
    }

    /// The first result is refused, and the second item never ends: whoever waits to put a further input is refused.
    fn lets_go_of_its_input<P: Pipelines<C, E>>(pipeline: &P) {
        let executor = one_thread();
        let (to, results) = open::<C, ()>(ONE);
        drop(results);
        let (second, second_begins) = open::<C, ()>(ONE);
        let second_begins = Mutex::new(Some(second_begins));
        let af = move |input, mut port: ResultPort<C, (), P::Permit>| {
            let waits = second_begins.lock().take_if(|_| input == 0);
            if input == 1 {
                C::close(&second);
            }
            async move {
                if let Some(mut waits) = waits {
                    next::<C, ()>(&mut waits).await;
                } else if input == 1 {
                    pending::<()>().await;
                }
                let _ = port.put(()).await;
            }
        };
        let (mut inputs, from) = holding(0..100);
        let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
        while block_on(put::<C, _>(&mut inputs, 100)) {}
        drop(end);
    }

    #[test]
    fn finishes_lets_go_of_its_input_beside_an_item_that_never_ends() {
        lets_go_of_its_input(&Finishes::default());
    }

    #[test]
    fn unordered_lets_go_of_its_input_beside_an_item_that_never_ends() {
        lets_go_of_its_input(&Unordered::default());
    }

    #[test]
    fn windowed_lets_go_of_its_input_beside_an_item_that_never_ends() {
        lets_go_of_its_input(&narrow());
    }

    /// No item waits for anything: a task that the first of them spawns runs before the last begins.
    fn gives_way<P: Pipelines<C, E>>(pipeline: &P) {
        const ITEMS: usize = 1_000;
        let executor = one_thread();
        let begun = Arc::new(AtomicUsize::new(0));
        let (tells, mut told) = open::<C, usize>(ONE);
        let bystander = Mutex::new(Some((executor.spawner(), tells)));
        let af = move |_: usize, mut port: ResultPort<C, (), P::Permit>| {
            begun.fetch_add(1, Ordering::SeqCst);
            if let Some((spawner, mut tells)) = bystander.lock().take() {
                let begun = Arc::clone(&begun);
                spawner.spawn(async move {
                    put::<C, _>(&mut tells, begun.load(Ordering::SeqCst)).await;
                });
            }
            async move {
                let _ = port.put(()).await;
            }
        };
        let (inputs, from) = holding(0..ITEMS);
        C::close(&inputs);
        let (to, _results) = open::<C, ()>(Buffer::fixed(ITEMS));
        let spawner = executor.spawner();
        block_on(pipeline.start(spawner, NonZeroUsize::MIN, from, to, af, AtEnd::Close));
        let before = block_on(next::<C, usize>(&mut told)).expect("it tells");
        assert!(
            before < ITEMS,
            "all items had begun before another task ran"
        );
    }

    #[test]
    fn finishes_gives_way() {
        gives_way(&Finishes::default());
    }

    #[test]
    fn unordered_gives_way() {
        gives_way(&Unordered::default());
    }

    #[test]
    fn windowed_gives_way() {
        let wide = Window::Items(NonZeroUsize::new(2_000).unwrap());
        gives_way(&Windowed::with_window(wide));
    }
}
