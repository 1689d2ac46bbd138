//! Puts and takes that are futures (C1, C2, C9, C14), driven by tokio's runtime and by a parked thread.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Async, Buffer, Offered, Polled, PutError, TakeError};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::sync::std::block_on;
use flowmeter_impls::peers::tokio_executor::Tokio;

use crate::{KEEPING, statement};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

statement!(
    c2_async_values_leave_in_the_order_of_their_puts<C: Async>, visited by asynchronous, {
        let executor = Tokio::with_threads(TWO);
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let (done, all) = mpsc::channel();
            executor.spawn(async move {
                for value in 0..1_000 {
                    assert_eq!(C::put_async(&mut tx, value).await, Ok(()));
                }
            });
            executor.spawn(async move {
                let mut taken = Vec::new();
                for _ in 0..1_000 {
                    taken.push(C::take_async(&mut rx).await.expect("nobody closes it"));
                }
                done.send(taken).expect("the test waits");
            });
            let taken = all.recv().expect("the consumer ends well");
            assert_eq!(taken, (0..1_000).collect::<Vec<_>>(), "{buffer}");
        }
        assert_eq!(executor.panics(), 0);
    }
);

statement!(
    c5_offers_and_polls_meet_futures_on_one_channel<C: Async>, visited by asynchronous, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert_eq!(C::poll(&mut rx), Polled::WouldWait, "{buffer}");
            if buffer != Buffer::Rendezvous {
                assert_eq!(block_on(C::put_async(&mut tx, 1)), Ok(()));
                assert_eq!(C::offer(&mut tx, 2) == Offered::Done, buffer != Buffer::fixed(1));
                assert_eq!(C::poll(&mut rx), Polled::Done(1), "{buffer}");
            }
        }
    }
);

statement!(
    c14_async_halves_that_go_away_answer_the_others<C: Async>, visited by asynchronous, given Disconnect, {
        for buffer in KEEPING {
            let Some((tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            drop(tx);
            assert_eq!(block_on(C::take_async(&mut rx)), Err(TakeError::Closed), "{buffer}");

            let (mut tx, rx) = C::open::<u64>(buffer).expect("opened before");
            drop(rx);
            let answer = block_on(C::put_async(&mut tx, 4));
            let refused = matches!(answer, Err(PutError::Closed(None | Some(4))));
            assert!(refused, "{buffer}: {answer:?}");
            assert_eq!(C::offer(&mut tx, 3), Offered::Closed(3), "{buffer}");
        }
    }
);

statement!(
    c9_a_dropped_future_loses_nothing<C: Async>, visited by asynchronous, given CancelSafe, {
        let mut context = Context::from_waker(Waker::noop());
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert!(pin!(C::take_async(&mut rx)).poll(&mut context).is_pending());
            if C::offer(&mut tx, 1) == Offered::Done {
                assert_eq!(block_on(C::take_async(&mut rx)), Ok(1), "{buffer}");
            }
        }
        if let Some((mut tx, mut rx)) = C::open::<Arc<u64>>(Buffer::fixed(1)) {
            assert_eq!(C::offer(&mut tx, Arc::new(1)), Offered::Done);
            let late = Arc::new(2);
            // The future is dropped at the end of the statement, and its value with it.
            assert!(pin!(C::put_async(&mut tx, Arc::clone(&late))).poll(&mut context).is_pending());
            assert_eq!(Arc::strong_count(&late), 1);
            assert_eq!(block_on(C::take_async(&mut rx)), Ok(Arc::new(1)));
            assert_eq!(C::poll(&mut rx), Polled::WouldWait);
        }
    }
);
