//! Closing, and halves that go away (C6, C10, C14).

use std::sync::Arc;
use std::thread;

use flowmeter_harness::channel::{Blocking, Buffer, Close, Offered, Polled, PutError, TakeError};

use crate::{KEEPING, statement};

/// Whether a put was answered "closed", with its value unless the crate swallows it.
fn refused(answer: Result<(), PutError<u64>>, value: u64) -> bool {
    matches!(answer, Err(PutError::Closed(back)) if back.is_none_or(|back| back == value))
}

statement!(
    c14_the_last_producer_dropped_closes_and_leaves_what_is_buffered<C: Blocking>, visited by blocking, given Disconnect, {
        for buffer in [Buffer::fixed(3), Buffer::Unbounded] {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let another = C::another_tx(&tx);
            assert_eq!(C::put(&mut tx, 1), Ok(()));
            drop(tx);
            if let Some(mut tx) = another {
                assert_eq!(C::put(&mut tx, 2), Ok(()), "{buffer}: one producer is left");
                assert_eq!(C::take(&mut rx), Ok(1));
                assert_eq!(C::take(&mut rx), Ok(2));
                assert_eq!(C::poll(&mut rx), Polled::WouldWait, "{buffer}");
                assert_eq!(C::put(&mut tx, 1), Ok(()));
            }
            assert_eq!(C::take(&mut rx), Ok(1), "{buffer}");
            assert_eq!(C::take(&mut rx), Err(TakeError::Closed), "{buffer}");
            assert_eq!(C::poll(&mut rx), Polled::Closed, "{buffer}");
        }
    }
);

statement!(
    c14_the_last_producer_dropped_answers_a_take<C: Blocking>, visited by blocking, given Disconnect, {
        for buffer in KEEPING {
            let Some((tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let taker = thread::spawn(move || C::take(&mut rx));
            drop(tx);
            let taken = taker.join().expect("the taker ends well");
            assert_eq!(taken, Err(TakeError::Closed), "{buffer}");
        }
    }
);

statement!(
    c14_the_last_consumer_dropped_answers_puts_with_their_values<C: Blocking>, visited by blocking, given Disconnect, {
        for buffer in KEEPING {
            let Some((mut tx, rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let another = C::another_rx(&rx);
            drop(rx);
            if let Some(rx) = another {
                if buffer != Buffer::Rendezvous {
                    assert_eq!(C::put(&mut tx, 0), Ok(()), "{buffer}: one consumer is left");
                }
                drop(rx);
            }
            assert!(refused(C::put(&mut tx, 5), 5), "{buffer}");
            assert_eq!(C::offer(&mut tx, 6), Offered::Closed(6), "{buffer}");
        }
    }
);

statement!(
    c14_the_last_consumer_dropped_answers_a_put_that_has_no_room<C: Blocking>, visited by blocking, given Disconnect, {
        for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
            let Some((mut tx, rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            if buffer != Buffer::Rendezvous {
                assert_eq!(C::put(&mut tx, 0), Ok(()));
            }
            let producer = thread::spawn(move || C::put(&mut tx, 1));
            drop(rx);
            let answer = producer.join().expect("the producer ends well");
            assert!(refused(answer, 1), "{buffer}");
        }
    }
);

statement!(
    c10_every_value_is_dropped_exactly_once<C: Blocking>, visited by blocking, {
        for buffer in [Buffer::fixed(3), Buffer::Unbounded] {
            for producer_goes_first in [true, false] {
                let Some((mut tx, mut rx)) = C::open::<Arc<()>>(buffer) else {
                    continue;
                };
                let value = Arc::new(());
                for _ in 0..3 {
                    assert!(C::put(&mut tx, Arc::clone(&value)).is_ok());
                }
                drop(C::take(&mut rx));
                assert_eq!(Arc::strong_count(&value), 3, "{buffer}");
                if producer_goes_first {
                    drop(tx);
                    drop(rx);
                } else {
                    drop(rx);
                    drop(C::put(&mut tx, Arc::clone(&value)));
                    drop(tx);
                }
                assert_eq!(Arc::strong_count(&value), 1, "{buffer}");
            }
        }
    }
);

statement!(
    c6_close_is_idempotent_and_refuses_later_puts<C: Close + Blocking>, visited by close, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            C::close(&tx);
            C::close(&tx);
            assert!(refused(C::put(&mut tx, 1), 1), "{buffer}");
            assert_eq!(C::offer(&mut tx, 2), Offered::Closed(2), "{buffer}");
            assert_eq!(C::take(&mut rx), Err(TakeError::Closed), "{buffer}");
            assert_eq!(C::poll(&mut rx), Polled::Closed, "{buffer}");
        }
    }
);

statement!(
    c6_close_answers_a_take<C: Close + Blocking>, visited by close, {
        for buffer in KEEPING {
            let Some((tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let taker = thread::spawn(move || C::take(&mut rx));
            C::close(&tx);
            let taken = taker.join().expect("the taker ends well");
            assert_eq!(taken, Err(TakeError::Closed), "{buffer}");
        }
    }
);

statement!(
    c6_what_is_buffered_survives_a_close<C: Close + Blocking>, visited by close, given KeepsBuffered, {
        for buffer in [Buffer::fixed(3), Buffer::Unbounded] {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert_eq!(C::put(&mut tx, 1), Ok(()));
            assert_eq!(C::put(&mut tx, 2), Ok(()));
            C::close(&tx);
            assert_eq!(C::take(&mut rx), Ok(1), "{buffer}");
            assert_eq!(C::poll(&mut rx), Polled::Done(2), "{buffer}");
            assert_eq!(C::take(&mut rx), Err(TakeError::Closed), "{buffer}");
        }
    }
);
