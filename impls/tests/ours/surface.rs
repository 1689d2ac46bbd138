//! The rest of the library's surface, beside puts and takes: iterators, what a channel reports about itself, awaiting
//! its close, error messages, and, with feature `futures`, streams and sinks. Written once for every design with the
//! handle.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what users have beside the library is std's"
)]

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_impls::channel::callback::Calls;
use flowmeter_impls::channel::design::Design;
use flowmeter_impls::channel::halves::{Consumer, Producer};
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::channel::{Buffer, Offered, Polled, PutError, TakeError};
use flowmeter_impls::sync::block_on;

/// The tests of one design.
macro_rules! surface {
    ($design:ident) => {
        mod $design {
            use flowmeter_impls::channel::Buffer;
            use flowmeter_impls::channel::$design::{Channel, MAX_WAITERS};

            #[test]
            fn large_values_need_no_large_stack() {
                super::large_values_need_no_large_stack(Channel::split);
            }

            #[test]
            fn a_panic_leaves_a_channel_usable() {
                fn survives_unwinding<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
                survives_unwinding::<Channel<u32>>();
            }

            #[test]
            fn values_are_iterated_until_the_end() {
                super::values_are_iterated_until_the_end(Channel::split);
            }

            #[test]
            fn ready_values_are_iterated_without_waiting() {
                super::ready_values_are_iterated_without_waiting(Channel::split);
            }

            #[test]
            fn an_iterator_beyond_the_limit_panics() {
                super::an_iterator_beyond_the_limit_panics(Channel::split, MAX_WAITERS);
            }

            #[cfg(feature = "futures")]
            #[test]
            fn a_stream_beyond_the_limit_panics() {
                super::a_stream_beyond_the_limit_panics(Channel::split, MAX_WAITERS);
            }

            #[test]
            fn a_channel_says_how_full_it_is() {
                super::a_channel_says_how_full_it_is(Channel::split);
            }

            #[test]
            fn a_close_is_awaited() {
                super::a_close_is_awaited(Channel::split);
            }

            #[test]
            fn a_future_dropped_before_the_close_leaves_no_waker() {
                super::a_future_dropped_before_the_close_leaves_no_waker(Channel::split);
            }

            #[test]
            fn many_await_a_close_without_delaying_each_other() {
                super::many_await_a_close_without_delaying_each_other(Channel::split);
            }

            #[test]
            fn a_take_dropped_after_the_last_consumer_drops_its_value() {
                super::a_take_dropped_after_the_last_consumer_drops_its_value(Channel::split);
            }

            #[cfg(feature = "futures")]
            #[test]
            fn a_stream_dropped_with_a_value_on_its_way_drops_the_value() {
                super::a_stream_dropped_with_a_value_on_its_way_drops_the_value(Channel::split);
            }

            #[test]
            fn a_name_is_shown() {
                let jobs = Channel::<u32>::named("jobs", Buffer::fixed(2));
                jobs.put(1).unwrap();
                assert_eq!(format!("{jobs:?}"), r#"Channel "jobs" (1 of 2)"#);
                jobs.close();
                assert_eq!(format!("{jobs:?}"), r#"Channel "jobs" (1 of 2, closed)"#);
                let promise = Channel::<u32>::promise();
                assert_eq!(format!("{promise:?}"), "Channel (0 of 1)");
            }

            #[cfg(feature = "futures")]
            #[test]
            fn halves_are_streams_and_sinks() {
                super::halves_are_streams_and_sinks(Channel::split);
            }
        }
    };
}

surface!(mutex);
surface!(ordered_locks);
surface!(lock_free);

type Halves<D> = (Producer<D>, Consumer<D>);

/// Many are stored, on a stack of the default size.
fn large_values_need_no_large_stack<D: Design<Value = [u8; LARGE]> + 'static>(
    split: fn(Buffer) -> Halves<D>,
) {
    let puts_and_takes = move || {
        for buffer in [Buffer::Unbounded, Buffer::fixed(40)] {
            let (tx, rx) = split(buffer);
            for _ in 0..40 {
                assert!(matches!(tx.offer([7; LARGE]), Offered::Done));
            }
            assert!(matches!(rx.poll(), Polled::Done(_)));
        }
    };
    let thread = thread::Builder::new().stack_size(2 << 20);
    let done = thread
        .spawn(puts_and_takes)
        .expect("a thread begins")
        .join();
    assert!(done.is_ok());
}

/// Bytes of a large value. Sixty of them do not fit on a stack; the copies that an unoptimised call makes do.
const LARGE: usize = 32 << 10;

fn values_are_iterated_until_the_end<D: Design<Value = u32> + 'static>(
    split: fn(Buffer) -> Halves<D>,
) {
    let (tx, rx) = split(Buffer::Rendezvous);
    let putting = thread::spawn(move || (0..100).try_for_each(|value| tx.put(value)));
    assert!((&rx).into_iter().eq(0..100));
    assert_eq!(rx.into_iter().next(), None, "it has ended");
    assert_eq!(putting.join().unwrap(), Ok(()));
}

fn ready_values_are_iterated_without_waiting<D: Design<Value = u32>>(
    split: fn(Buffer) -> Halves<D>,
) {
    let (tx, rx) = split(Buffer::Unbounded);
    (0..3).for_each(|value| tx.put(value).unwrap());
    assert!(rx.ready().eq(0..3));
    tx.put(3).unwrap();
    assert_eq!(rx.ready().next(), Some(3), "and goes on");
}

fn a_channel_says_how_full_it_is<D: Design<Value = u32>>(split: fn(Buffer) -> Halves<D>) {
    let (tx, rx) = split(Buffer::fixed(2));
    assert_eq!((tx.len(), tx.capacity(), tx.is_empty()), (0, Some(2), true));
    tx.put(1).unwrap();
    assert_eq!(
        (rx.len(), rx.capacity(), rx.is_empty()),
        (1, Some(2), false)
    );
    assert!(!rx.is_closed());
    drop(tx);
    assert!(rx.is_closed());
    assert_eq!(rx.len(), 1, "what is stored is there still");
    assert_eq!(format!("{rx:?}"), "Consumer (1 of 2, closed)");
    assert_eq!(split(Buffer::Rendezvous).0.capacity(), Some(0));
    assert_eq!(split(Buffer::Unbounded).0.capacity(), None);
    assert_eq!(format!("{:?}", split(Buffer::Unbounded).0), "Producer (0)");
}

/// A rendezvous with as many waiting takes as it admits (C7).
fn crowded<D: Calls<Value = u32>>(split: fn(Buffer) -> Halves<D>, limit: usize) -> Halves<D> {
    let (tx, rx) = split(Buffer::Rendezvous);
    for _ in 0..limit {
        rx.take_then(|_| {});
    }
    (tx, rx)
}

/// The message of its panic.
fn panic_of<T>(act: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(act)).err();
    let panic = panic.expect("one more may not wait");
    *panic.downcast().expect("it says which channel")
}

/// The channel still works, and the refused take does not wait: every put meets one of the others, and the last put
/// meets none.
fn goes_on<D: Design<Value = u32>>(tx: &Producer<D>, rx: &Consumer<D>, limit: usize) {
    for value in 0..limit {
        let value = u32::try_from(value).expect("a small number");
        assert_eq!(tx.offer(value), Offered::Done);
    }
    assert_eq!(tx.offer(0), Offered::WouldWait(0));
    assert_eq!(rx.poll(), Polled::WouldWait);
}

fn an_iterator_beyond_the_limit_panics<D: Calls<Value = u32>>(
    split: fn(Buffer) -> Halves<D>,
    limit: usize,
) {
    let (tx, rx) = crowded(split, limit);
    let said = panic_of(|| rx.iter().next());
    assert_eq!(
        said,
        "as many takes wait on Consumer (0 of 0) as it admits: an iterator cannot say so"
    );
    goes_on(&tx, &rx, limit);
}

#[cfg(feature = "futures")]
fn a_stream_beyond_the_limit_panics<D: Calls<Value = u32>>(
    split: fn(Buffer) -> Halves<D>,
    limit: usize,
) {
    use std::pin::Pin;

    use futures_core::Stream;

    let (tx, rx) = crowded(split, limit);
    let further = rx.clone();
    let mut stream = rx.into_stream();
    let mut context = Context::from_waker(Waker::noop());
    let said = panic_of(|| Pin::new(&mut stream).poll_next(&mut context));
    assert_eq!(
        said,
        "as many takes wait on Consumer (0 of 0) as it admits: a stream cannot say so"
    );
    goes_on(&tx, &further, limit);
}

fn a_close_is_awaited<D: Design<Value = u32> + 'static>(split: fn(Buffer) -> Halves<D>) {
    let (tx, rx) = split(Buffer::fixed(1));
    let further = tx.clone();
    let waiting = thread::spawn(move || block_on(further.closed()));
    drop(rx);
    waiting.join().unwrap();
    block_on(tx.closed());
}

fn a_future_dropped_before_the_close_leaves_no_waker<D: Design<Value = u32>>(
    split: fn(Buffer) -> Halves<D>,
) {
    let (tx, _rx) = split(Buffer::fixed(1));
    let counted = Arc::new(Quiet);
    let waker = Waker::from(Arc::clone(&counted));
    for _ in 0..3 {
        let mut closed = Box::pin(tx.closed());
        let mut context = Context::from_waker(&waker);
        assert!(closed.as_mut().poll(&mut context).is_pending());
        assert!(closed.as_mut().poll(&mut context).is_pending());
        assert_eq!(Arc::strong_count(&counted), 3, "one beside ours");
    }
    assert_eq!(Arc::strong_count(&counted), 2, "none but ours");
}

/// Each is polled twice and dropped, once in order and once in reverse. A linear search among all waiters would take a
/// minute.
fn many_await_a_close_without_delaying_each_other<D: Design<Value = u32>>(
    split: fn(Buffer) -> Halves<D>,
) {
    const MANY: usize = if cfg!(miri) { 80 } else { 80_000 };
    let (tx, _rx) = split(Buffer::fixed(1));
    let began = Instant::now();
    for backwards in [false, true] {
        let mut waiting: Vec<_> = (0..MANY).map(|_| Box::pin(tx.closed())).collect();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            for closed in &mut waiting {
                assert!(closed.as_mut().poll(&mut context).is_pending());
            }
        }
        if backwards {
            waiting.reverse();
        }
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "it took {took:?}");
}

fn a_take_dropped_after_the_last_consumer_drops_its_value<D: Design<Value = Arc<()>>>(
    split: fn(Buffer) -> Halves<D>,
) {
    for buffer in [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded] {
        let (tx, rx) = split(buffer);
        let value = Arc::new(());
        let handle = rx.handle().clone();
        let mut take = Box::pin(handle.take_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(take.as_mut().poll(&mut context).is_pending());
        assert_eq!(tx.offer(Arc::clone(&value)), Offered::Done);
        drop(rx);
        drop(take);
        assert_eq!(
            Arc::strong_count(&value),
            1,
            "it is in the channel, {buffer}"
        );
        drop((tx, handle));
    }
}

#[cfg(feature = "futures")]
fn a_stream_dropped_with_a_value_on_its_way_drops_the_value<
    D: Design<Value = Arc<()>> + 'static,
>(
    split: fn(Buffer) -> Halves<D>,
) {
    use std::pin::Pin;

    use futures_core::Stream;

    for buffer in [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded] {
        let (tx, rx) = split(buffer);
        let value = Arc::new(());
        let mut stream = rx.into_stream();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut stream).poll_next(&mut context).is_pending());
        assert_eq!(tx.offer(Arc::clone(&value)), Offered::Done);
        drop(stream);
        assert_eq!(
            Arc::strong_count(&value),
            1,
            "it is in the channel, {buffer}"
        );
        drop(tx);
    }
}

struct Quiet;

impl std::task::Wake for Quiet {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn errors_are_words() {
    fn fails() -> Result<(), Box<dyn Error>> {
        let (tx, rx) = Channel::<u32>::split(Buffer::fixed(1));
        drop(rx);
        tx.put(1)?;
        Ok(())
    }
    let error = fails().unwrap_err();
    assert_eq!(error.to_string(), "the channel is closed");
    let error = error.downcast::<PutError<u32>>().unwrap();
    assert_eq!(*error, PutError::Closed(Some(1)), "with the value in it");
    let empty = TakeError::Closed.to_string();
    assert_eq!(empty, "the channel is closed and empty");
}

#[cfg(feature = "futures")]
fn halves_are_streams_and_sinks<D: Design<Value = u32> + 'static>(split: fn(Buffer) -> Halves<D>) {
    use std::future::poll_fn;
    use std::pin::Pin;

    use futures_core::Stream;
    use futures_core::stream::FusedStream;
    use futures_sink::Sink;

    let (tx, rx) = split(Buffer::fixed(1));
    let putting = thread::spawn(move || {
        block_on(async {
            let mut sink = tx.into_sink();
            for value in 0..100 {
                poll_fn(|context| Pin::new(&mut sink).poll_ready(context)).await?;
                Pin::new(&mut sink).start_send(value)?;
            }
            poll_fn(|context| Pin::new(&mut sink).poll_close(context)).await
        })
    });
    block_on(async {
        let mut stream = rx.into_stream();
        for value in 0..100 {
            let next = poll_fn(|context| Pin::new(&mut stream).poll_next(context));
            assert_eq!(next.await, Some(value));
        }
        let next = poll_fn(|context| Pin::new(&mut stream).poll_next(context));
        assert_eq!(next.await, None);
        assert!(stream.is_terminated());
    });
    assert_eq!(putting.join().unwrap(), Ok(()));
}

/// The programs in the documentation are the ones that compile, and have the stated lengths without empty lines.
#[test]
fn the_search_in_the_docs_is_the_example() {
    let page = include_str!("../../../docs/fan_out.md");
    for example in [
        include_str!("../../examples/fan_out.rs"),
        include_str!("../../examples/fan_out_crossbeam.rs"),
    ] {
        let (_, program) = example
            .split_once("\n\n")
            .expect("after the first paragraph");
        assert!(page.contains(program));
    }
    let mut programs = 0;
    for section in page.split("\n## ").skip(1) {
        let title = section.lines().next();
        let said = section.split_once(" lines").map(|(before, _)| before);
        let said = said.and_then(|before| before.split_whitespace().last());
        let program = section.split("```").nth(1).expect("a program");
        let is_filled = |line: &&str| !line.trim().is_empty();
        // The first line names the language.
        let counted = program.lines().skip(1).filter(is_filled).count();
        assert_eq!(said, Some(counted.to_string().as_str()), "{title:?}");
        programs += 1;
    }
    assert_eq!(programs, 3);
}
