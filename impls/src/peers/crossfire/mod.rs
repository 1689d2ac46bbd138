//! crossfire: crossbeam's queues, simplified where a side has one user, with wakers registered beside them.
//!
//! Each of its modules `mpmc`, `mpsc` and `spsc` is an implementation with four families. Threads ([`Threads`]) and
//! tasks ([`Tasks`]), and bounded and unbounded queues, have halves of different types.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed, unbounded | README, "Flavors": `Array`, `List`; one slot is the queue `One` |
//! | many producers and consumers, as the module has it | README, "Concurrency Modules"; `mpmc`: halves "are `Clone` and implement `Sync`" |
//! | blocking, with deadlines ([`Threads`]) | `Tx::send_timeout`, `Rx::recv_timeout`: "the behavior is atomic" |
//! | async ([`Tasks`]) | `AsyncTx::send`, `AsyncRx::recv` |
//! | cancel-safe | README, "Async compatibility": "`AsyncTx::send()` and `AsyncRx::recv()` operations are cancellation-safe"; what becomes of a dropped send cannot be known |
//! | weak producers (`mpmc`, `mpsc`) | `WeakTx`: "when the number of valid sender is non-zero, can try upgrade" |
//! | disconnect, keeps-buffered | `send`: an error "if the receiver has been dropped"; `try_recv`: disconnected "if the sender has been dropped and the channel is empty" |
//!
//! Not claimed: there is no rendezvous ("a 0 size case is not supported yet"), nothing closes a channel while both its
//! halves live, and halves cannot be compared. Threads and tasks can share a channel, but their halves have different
//! types and have to be converted. So no half is for both (`mixed`). `Select` and `Multiplex` take from several
//! channels and put into none, so there are no alts. Waiter order is not documented.
//!
//! A program may call `detect_backoff_cfg` once, which the crate recommends for machines with one core. The adapter
//! does, as a careful user would. On more cores the call changes nothing.

mod flavours;

use ::std::marker::PhantomData;

use ::crossfire::{
    AsyncRxTrait, AsyncTxTrait, BlockingRxTrait, BlockingTxTrait, RecvTimeoutError, SendError,
    SendTimeoutError, TryRecvError, TrySendError, detect_backoff_cfg,
};
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError,
    PutUntilError, TakeDeadline, TakeError, TakeUntilError, WeakProducers,
};
use flowmeter_harness::sync::Deadline;

use super::answered::Answered;
use crate::sync::clock;
pub use flavours::{
    Carried, Flavour, ManyProducers, MpmcArray, MpmcList, MpscArray, MpscList, SpscArray, SpscList,
};

/// A flavour between threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads<F>(PhantomData<F>);

/// A flavour between tasks.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<F>(PhantomData<F>);

impl<F: Flavour> Channels for Threads<F> {
    type Tx<T: Message> = F::Tx<T>;
    type Rx<T: Message> = F::Rx<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(F::Tx<T>, F::Rx<T>)> {
        detect_backoff_cfg();
        F::of_threads(buffer)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &F::Tx<T>) -> Option<F::Tx<T>> {
        F::another_tx(tx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_rx<T: Message>(rx: &F::Rx<T>) -> Option<F::Rx<T>> {
        F::another_rx(rx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut F::Tx<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut F::Rx<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl<F: Flavour> Blocking for Threads<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut F::Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value)
            .map_err(|SendError(value)| PutError::Closed(Some(value)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut F::Rx<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

impl<F: Flavour> PutDeadline for Threads<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_until<T: Message>(
        tx: &mut F::Tx<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Some(left) = clock::left(deadline) else {
            return Self::put(tx, value).map_err(PutUntilError::Put);
        };
        tx.send_timeout(value, left).map_err(|e| match e {
            SendTimeoutError::Timeout(value) => PutUntilError::TimedOut(value),
            SendTimeoutError::Disconnected(value) => {
                PutUntilError::Put(PutError::Closed(Some(value)))
            }
        })
    }
}

impl<F: Flavour> TakeDeadline for Threads<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(rx: &mut F::Rx<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        let Some(left) = clock::left(deadline) else {
            return Self::take(rx).map_err(TakeUntilError::Take);
        };
        rx.recv_timeout(left).map_err(|e| match e {
            RecvTimeoutError::Timeout => TakeUntilError::TimedOut,
            RecvTimeoutError::Disconnected => TakeUntilError::Take(TakeError::Closed),
        })
    }
}

impl<F: ManyProducers> WeakProducers for Threads<F> {
    type WeakTx<T: Message> = F::WeakTx<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &F::Tx<T>) -> F::WeakTx<T> {
        F::downgrade(tx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &F::WeakTx<T>) -> Option<F::Tx<T>> {
        F::upgrade(weak)
    }
}

impl<F: Flavour> Channels for Tasks<F> {
    type Tx<T: Message> = F::AsyncTx<T>;
    type Rx<T: Message> = F::AsyncRx<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(F::AsyncTx<T>, F::AsyncRx<T>)> {
        detect_backoff_cfg();
        F::of_tasks(buffer)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &F::AsyncTx<T>) -> Option<F::AsyncTx<T>> {
        F::another_async_tx(tx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_rx<T: Message>(rx: &F::AsyncRx<T>) -> Option<F::AsyncRx<T>> {
        F::another_async_rx(rx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut F::AsyncTx<T>, value: T) -> Offered<T> {
        match tx.try_send(Carried(value)) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(Carried(value))) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(Carried(value))) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut F::AsyncRx<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(Carried(value)) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl<F: Flavour> Async for Tasks<F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut F::AsyncTx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send(Carried(value)), |sent: Result<_, _>| {
            sent.map_err(|SendError(Carried(value))| PutError::Closed(Some(value)))
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut F::AsyncRx<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), |taken: Result<_, _>| match taken {
            Ok(Carried(value)) => Ok(value),
            Err(_) => Err(TakeError::Closed),
        })
    }
}

impl<F: ManyProducers> WeakProducers for Tasks<F> {
    type WeakTx<T: Message> = F::WeakAsyncTx<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &F::AsyncTx<T>) -> F::WeakAsyncTx<T> {
        F::downgrade_async(tx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &F::WeakAsyncTx<T>) -> Option<F::AsyncTx<T>> {
        F::upgrade_async(weak)
    }
}
