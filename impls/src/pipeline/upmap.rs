//! `upmap`: a parallel map over any iterator, whose results come as they are done.
//!
//! n workers, each a piece of blocking work of an executor, take turns at the iterator and call the function; what it
//! returns goes through a channel to the consumer, which is an iterator too. So at most n calls run, and inputs are
//! taken as results are: beside the n calls at most n results wait in the channel, and one in each worker's hands
//! for room there. An infinite iterator is as good as any, and asking for more than there was ends.
//!
//! The seed's first form counts its inputs, submits all and then hands everything over; it is kept as
//! [`upmap_eager`].
//!
//! Source: Anders Murphy, "Clojure: managing throughput with virtual threads".

use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Blocking, Buffer, Message};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::limiter::BlockingLimit;
use flowmeter_harness::sync::panic_text;

use crate::sync::{Arc, Mutex, caught};

use super::open;

/// What a call panicked with.
pub struct Panicked(pub Box<dyn Any + Send>);

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panicked")
            .field(&panic_text(&*self.0))
            .finish()
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the function panicked: {}", panic_text(&*self.0))
    }
}

impl std::error::Error for Panicked {}

/// Results in the order in which they are done; an item whose call panicked is an error. Dropping it stops the
/// workers at their next result.
pub struct Upmap<C: Blocking, R: Message> {
    results: C::Rx<Result<R, Panicked>>,
}

impl<C: Blocking, R: Message> Iterator for Upmap<C, R> {
    type Item = Result<R, Panicked>;

    fn next(&mut self) -> Option<Self::Item> {
        // Nobody else waits here, so an error is the end.
        C::take(&mut self.results).ok()
    }
}

impl<C: Blocking, R: Message> Drop for Upmap<C, R> {
    fn drop(&mut self) {
        C::close_rx(&mut self.results);
    }
}

/// Calls `f` for each of `items`, at most n at a time, beginning at once.
///
/// # Panics
/// When the family has no fixed buffer, or one producer only.
pub fn upmap<C: Blocking, T, R: Message>(
    spawner: &impl Spawn,
    parallelism: NonZeroUsize,
    items: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    f: impl Fn(T) -> R + Send + Sync + 'static,
) -> Upmap<C, R> {
    start(spawner, parallelism, items, f, || ())
}

/// [`upmap`], each of whose calls waits for a permit first.
///
/// # Panics
/// As [`upmap`].
pub fn upmap_limited<C: Blocking, L: BlockingLimit, T, R: Message>(
    spawner: &impl Spawn,
    parallelism: NonZeroUsize,
    limiter: L,
    items: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    f: impl Fn(T) -> R + Send + Sync + 'static,
) -> Upmap<C, R> {
    start(spawner, parallelism, items, f, move || limiter.acquire())
}

/// The seed's first form: takes all of `items`, and hands the results over when the last is there. It never ends where
/// they do not.
///
/// # Panics
/// As [`upmap`].
pub fn upmap_eager<C: Blocking, L: BlockingLimit, T: Message, R: Message>(
    spawner: &impl Spawn,
    parallelism: NonZeroUsize,
    limiter: L,
    items: impl IntoIterator<Item = T>,
    f: impl Fn(T) -> R + Send + Sync + 'static,
) -> Vec<Result<R, Panicked>> {
    let items: Vec<T> = items.into_iter().collect();
    upmap_limited::<C, L, T, R>(spawner, parallelism, limiter, items, f).collect()
}

/// The last worker closes the results when it drops its share of this, also where it never ran.
struct Closing<C: Blocking, R: Message>(Mutex<C::Tx<Result<R, Panicked>>>);

impl<C: Blocking, R: Message> Drop for Closing<C, R> {
    fn drop(&mut self) {
        C::close(&*self.0.lock());
    }
}

fn start<C: Blocking, T, R: Message>(
    spawner: &impl Spawn,
    parallelism: NonZeroUsize,
    items: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    f: impl Fn(T) -> R + Send + Sync + 'static,
    admit: impl Fn() + Send + Sync + 'static,
) -> Upmap<C, R> {
    let (tx, results) = open::<C, Result<R, Panicked>>(Buffer::Fixed(parallelism));
    // Away while its `next` runs: after a panic in there nobody calls it again.
    let items = Arc::new(Mutex::new(Some(items.into_iter())));
    let calls = Arc::new((f, admit));
    let producers: Vec<_> = (0..parallelism.get())
        .map(|_| C::another_tx(&tx).expect("the family has several producers"))
        .collect();
    let closing = Arc::new(Closing::<C, R>(Mutex::new(tx)));
    for mut results in producers {
        let (items, calls, closing) = (items.clone(), calls.clone(), closing.clone());
        spawner.spawn_blocking(move || {
            let _closing = closing;
            loop {
                let next = {
                    let mut turn = items.lock();
                    let Some(mut items) = turn.take() else { break };
                    let next = items.next();
                    *turn = next.is_some().then_some(items);
                    next
                };
                let Some(item) = next else { break };
                let (f, admit) = &*calls;
                admit();
                let result = caught(|| f(item)).map_err(Panicked);
                if C::put(&mut results, result).is_err() {
                    break;
                }
            }
        });
    }
    Upmap { results }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::panic::resume_unwind;
    use std::time::Duration;

    use flowmeter_harness::executor::Executors;
    use flowmeter_harness::limiter::{Limiters, Quota};

    use super::*;
    use crate::channel::mutex::MutexChannels;
    use crate::executor::fixed_pool::FixedPool;
    use crate::limiter::semaphore::FairSemaphore;
    use crate::sync::atomic::{AtomicUsize, Ordering};

    const N: NonZeroUsize = NonZeroUsize::new(3).unwrap();

    fn pool() -> FixedPool {
        FixedPool::with_threads(NonZeroUsize::MIN)
    }

    fn mapped<T: Message, R: Message>(
        pool: &FixedPool,
        items: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
        f: impl Fn(T) -> R + Send + Sync + 'static,
    ) -> Upmap<MutexChannels, R> {
        upmap(&pool.spawner(), N, items, f)
    }

    #[test]
    fn every_result_comes_once_and_then_it_ends() {
        let pool = pool();
        let mut results = mapped(&pool, 1..=6, |x| x + 1);
        let mut came: Vec<i32> = results
            .by_ref()
            .map(|r| r.expect("no call panics"))
            .collect();
        came.sort_unstable();
        assert_eq!(came, [2, 3, 4, 5, 6, 7]);
        assert!(results.next().is_none(), "more than was submitted");
    }

    #[test]
    fn at_most_n_calls_run() {
        let pool = pool();
        let running = AtomicUsize::new(0);
        let most = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&most);
        let results = mapped(&pool, 0..1_000, move |_| {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            seen.fetch_max(now, Ordering::SeqCst);
            crate::sync::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
        });
        assert_eq!(results.count(), 1_000);
        assert!(most.load(Ordering::SeqCst) <= N.get());
    }

    #[test]
    fn an_infinite_input_is_taken_as_results_are_and_no_further_once_they_are_dropped() {
        let pool = pool();
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let items = (0..).inspect(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let results = mapped(&pool, items, |x: u64| x);
        assert_eq!(results.take(10).count(), 10);
        // Its work has ended once the pool is gone.
        drop(pool);
        // Those that came, those in the channel, and one in each worker's hands.
        assert!(taken.load(Ordering::SeqCst) <= 10 + 2 * N.get());
    }

    #[test]
    fn a_call_that_panics_is_an_error_of_its_item() {
        let pool = pool();
        let results = mapped(&pool, 0..5, |x| {
            if x == 2 {
                resume_unwind(Box::new("two"));
            }
            x
        });
        let (well, ill): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
        assert_eq!((well.len(), ill.len()), (4, 1));
        let why = ill
            .into_iter()
            .next()
            .and_then(Result::err)
            .expect("one panicked");
        assert_eq!(why.to_string(), "the function panicked: two");
    }

    #[test]
    fn an_iterator_that_panics_ends_the_results() {
        let pool = pool();
        let items = (0..5).inspect(|x| {
            if *x == 2 {
                resume_unwind(Box::new("two"));
            }
        });
        assert_eq!(mapped(&pool, items, |x| x).count(), 2);
    }

    #[test]
    fn the_eager_form_hands_everything_over() {
        let pool = pool();
        let permits = NonZeroU32::new(2).unwrap();
        let quota = Quota {
            permits,
            period: Duration::from_millis(1),
            burst: permits,
        };
        let limiter = FairSemaphore::with_quota(quota).expect("it is a rate");
        let came = upmap_eager::<MutexChannels, _, _, _>(&pool.spawner(), N, limiter, 0..9, |x| x);
        let mut came: Vec<i32> = came
            .into_iter()
            .map(|r| r.expect("no call panics"))
            .collect();
        came.sort_unstable();
        assert_eq!(came, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
