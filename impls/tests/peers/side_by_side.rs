//! Items that block their threads run in parallel, also on an executor that keeps a woken task for the thread that
//! woke it. On tokio a loop that is woken before such an item begins would otherwise wait until the item returns.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published executor on this machine: no checker watches"
)]

use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use flowmeter_harness::channel::{Async, Buffer, Channels, Offered};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::std::block_on;
use flowmeter_impls::channel::mutex::MutexChannels as C;
use flowmeter_impls::peers::tokio_executor::Tokio;
use flowmeter_impls::pipeline::{Finishes, Unordered, Windowed};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// Two items come at once to a pipeline with loops that all wait. Each item blocks its thread until the other has
/// begun.
fn side_by_side<P: Pipelines<C, Tokio> + Default>() {
    let executor = Tokio::with_threads(TWO);
    let (mut inputs, from) = C::open::<u32>(Buffer::Fixed(TWO)).expect("it has buffers");
    let (to, mut results) = C::open::<bool>(Buffer::Fixed(TWO)).expect("it has buffers");
    let begun = Arc::new((Mutex::new(0), Condvar::new()));
    let af = move |_, mut port: ResultPort<C, bool, P::Permit>| {
        let begun = Arc::clone(&begun);
        async move {
            let met = {
                let (count, changed) = &*begun;
                let mut count = count
                    .lock()
                    .expect("no thread panics while it holds the lock");
                *count += 1;
                changed.notify_all();
                let patience = Duration::from_secs(10);
                let waited = changed.wait_timeout_while(count, patience, |count| *count < 2);
                *waited.expect("no thread panics while it holds the lock").0 == 2
            };
            let _ = port.put(met).await;
        }
    };
    let end = P::default().start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
    come_to_rest(&executor);
    for input in 0..2 {
        assert_eq!(C::offer(&mut inputs, input), Offered::Done);
    }
    C::close(&inputs);
    block_on(end);
    for _ in 0..2 {
        let met = block_on(C::take_async(&mut results));
        assert_eq!(met, Ok(true), "an item waited behind the other");
    }
}

/// Yields more often than the loops have steps to take until they wait.
fn come_to_rest(executor: &Tokio) {
    let (mut over, mut rest) = C::open::<()>(Buffer::fixed(1)).expect("it has buffers");
    executor.spawn(async move {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        let _ = C::put_async(&mut over, ()).await;
    });
    assert_eq!(block_on(C::take_async(&mut rest)), Ok(()));
}

#[test]
fn items_of_finishes_run_side_by_side() {
    side_by_side::<Finishes>();
}

#[test]
fn items_of_unordered_run_side_by_side() {
    side_by_side::<Unordered>();
}

#[test]
fn items_of_windowed_run_side_by_side() {
    side_by_side::<Windowed>();
}
