//! The death of a loop of a pipeline is noticed, also over channels that do not notice dropped halves.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "these tests run against std alone"
)]

use std::future::Future;
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::{
    Async, Buffer, Callback, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::std::block_on;
use flowmeter_impls::channel::mutex::MutexChannels as C;
use flowmeter_impls::executor::fixed_pool::FixedPool as E;
use flowmeter_impls::pipeline::{CoreAsync, Finishes, Swapped, Windowed};

/// core.async's channels, where dropping a producer has no effect.
struct Deaf;

impl Channels for Deaf {
    type Tx<T: Message> = ManuallyDrop<<C as Channels>::Tx<T>>;
    type Rx<T: Message> = <C as Channels>::Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        C::open(buffer).map(|(tx, rx)| (ManuallyDrop::new(tx), rx))
    }

    fn close<T: Message>(tx: &Self::Tx<T>) -> bool {
        C::close(tx)
    }

    fn close_rx<T: Message>(rx: &mut Self::Rx<T>) -> bool {
        C::close_rx(rx)
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        C::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        C::poll(rx)
    }
}

impl Async for Deaf {
    fn put_async<T: Message>(
        tx: &mut Self::Tx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        C::put_async(tx, value)
    }

    fn take_async<T: Message>(
        rx: &mut Self::Rx<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        C::take_async(rx)
    }
}

/// As many takes as a channel admits wait at the input, so the loop that takes from it panics.
fn ends_without_its_feeder<P: Pipelines<Deaf, E> + Default>() {
    const ADMITTED: usize = 1_024;
    let executor = E::with_threads(NonZeroUsize::MIN);
    let (_inputs, from) = Deaf::open::<u32>(Buffer::fixed(1)).expect("it has buffers");
    for _ in 0..ADMITTED {
        C::take_then(&from, |_| ());
    }
    let (to, mut results) = Deaf::open::<u32>(Buffer::fixed(1)).expect("it has buffers");
    let af = |_, port: ResultPort<Deaf, u32, P::Permit>| async move { drop(port) };
    let n = NonZeroUsize::MIN;
    let end = P::default().start(executor.spawner(), n, from, to, af, AtEnd::Close);
    let (tells, told) = mpsc::channel();
    thread::spawn(move || {
        block_on(end);
        let _ = tells.send(());
    });
    let ended = told.recv_timeout(Duration::from_secs(10));
    assert_eq!(
        ended,
        Ok(()),
        "the consumer did not learn that the loop is dead"
    );
    assert_eq!(Deaf::poll(&mut results), Polled::Closed);
}

#[test]
fn core_async_ends_without_its_feeder() {
    ends_without_its_feeder::<CoreAsync>();
}

#[test]
fn swapped_ends_without_its_feeder() {
    ends_without_its_feeder::<Swapped>();
}

#[test]
fn finishes_ends_without_its_feeder() {
    ends_without_its_feeder::<Finishes>();
}

#[test]
fn windowed_ends_without_its_feeder() {
    ends_without_its_feeder::<Windowed>();
}
