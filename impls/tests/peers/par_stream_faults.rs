//! A stand-alone reproduction, through par-stream's own API, of why `par_then_unordered` fails `p4-faults`. It asserts
//! the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on tokio's threads: no checker watches"
)]

use std::panic::resume_unwind;

use futures_util::stream::{self, StreamExt};
use par_stream::{BufSize, NumWorkers, ParParamsConfig, ParStreamExt};
use tokio::runtime::Builder;

/// What so many workers deliver of four items, of which the first panics.
fn delivered(workers: usize) -> Vec<u32> {
    let runtime = Builder::new_multi_thread().worker_threads(2).build();
    runtime
        .expect("the system has threads")
        .block_on(async move {
            let workers = ParParamsConfig::Manual {
                num_workers: NumWorkers::Fixed(workers),
                buf_size: BufSize::Fixed(1),
            };
            let items = stream::iter(0..4).par_then_unordered(workers, |input| async move {
                if input == 0 {
                    resume_unwind(Box::new("an item's own fault"));
                }
                input
            });
            let mut results: Vec<u32> = items.collect().await;
            results.sort_unstable();
            results
        })
}

/// P4 says that the other three are delivered. The only worker is gone, and the stream reports its end.
#[test]
fn an_item_that_panics_ends_its_worker_for_good() {
    assert_eq!(delivered(1), [0; 0]);
    assert_eq!(delivered(2), [1, 2, 3]);
}
