//! The types of crossfire's halves. A flavour is a module of the crate (which sides may have many users) and a queue.

use ::crossfire::{
    AsyncRx, AsyncRxTrait, AsyncTx, AsyncTxTrait, BlockingRxTrait, BlockingTxTrait, MAsyncRx,
    MAsyncTx, MRx, MTx, Rx, Tx, WeakTx, mpmc, mpsc, spsc,
};
use flowmeter_harness::channel::{Buffer, Message};

/// A value in a channel of tasks. crossfire's futures require values that are `Unpin`. This wrapper is `Unpin` whatever
/// it holds, because the value in it is never pinned.
#[derive(Debug)]
pub struct Carried<T>(pub(super) T);

impl<T> Unpin for Carried<T> {}

/// One module and one queue of the crate: its halves for threads and for tasks.
pub trait Flavour: Sized + Send + Sync + 'static {
    /// Puts from a thread.
    type Tx<T: Message>: BlockingTxTrait<T> + Send + 'static;
    /// Takes in a thread.
    type Rx<T: Message>: BlockingRxTrait<T> + Send + 'static;
    /// Puts from a task.
    type AsyncTx<T: Message>: AsyncTxTrait<Carried<T>> + Send + 'static;
    /// Takes in a task.
    type AsyncRx<T: Message>: AsyncRxTrait<Carried<T>> + Send + 'static;

    /// A channel of threads, if the queue is of that kind.
    fn of_threads<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)>;
    /// A channel of tasks, if the queue is of that kind.
    fn of_tasks<T: Message>(buffer: Buffer) -> Option<(Self::AsyncTx<T>, Self::AsyncRx<T>)>;

    /// A further producer, if there may be many.
    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>>;
    /// A further consumer, if there may be many.
    fn another_rx<T: Message>(rx: &Self::Rx<T>) -> Option<Self::Rx<T>>;
    /// [`Flavour::another_tx`] of tasks.
    fn another_async_tx<T: Message>(tx: &Self::AsyncTx<T>) -> Option<Self::AsyncTx<T>>;
    /// [`Flavour::another_rx`] of tasks.
    fn another_async_rx<T: Message>(rx: &Self::AsyncRx<T>) -> Option<Self::AsyncRx<T>>;
}

/// A flavour with any number of producers, and with weak ones.
pub trait ManyProducers: Flavour {
    /// A producer of threads that keeps nothing open.
    type WeakTx<T: Message>: Send + 'static;
    /// A producer of tasks that keeps nothing open.
    type WeakAsyncTx<T: Message>: Send + 'static;

    /// A weak producer of the same channel.
    fn downgrade<T: Message>(tx: &Self::Tx<T>) -> Self::WeakTx<T>;
    /// A producer, while there is another.
    fn upgrade<T: Message>(weak: &Self::WeakTx<T>) -> Option<Self::Tx<T>>;
    /// [`ManyProducers::downgrade`] of tasks.
    fn downgrade_async<T: Message>(tx: &Self::AsyncTx<T>) -> Self::WeakAsyncTx<T>;
    /// [`ManyProducers::upgrade`] of tasks.
    fn upgrade_async<T: Message>(weak: &Self::WeakAsyncTx<T>) -> Option<Self::AsyncTx<T>>;
}

/// A further half if the type is `Clone`, otherwise `None`.
macro_rules! another {
    (many, $half:expr) => {
        Some($half.clone())
    };
    (one, $half:expr) => {{
        let _ = $half;
        None
    }};
}

macro_rules! flavour {
    ($(#[$doc:meta])* $name:ident = $module:ident::$queue:ident,
     $tx:ident $async_tx:ident $producers:ident, $rx:ident $async_rx:ident $consumers:ident,
     $buffer:pat => $new:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Flavour for $name {
            type Tx<T: Message> = $tx<$module::$queue<T>>;
            type Rx<T: Message> = $rx<$module::$queue<T>>;
            type AsyncTx<T: Message> = $async_tx<$module::$queue<Carried<T>>>;
            type AsyncRx<T: Message> = $async_rx<$module::$queue<Carried<T>>>;

            #[inline]
            fn of_threads<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
                match buffer {
                    $buffer => Some($module::build($new)),
                    _ => None,
                }
            }

            #[inline]
            fn of_tasks<T: Message>(buffer: Buffer) -> Option<(Self::AsyncTx<T>, Self::AsyncRx<T>)> {
                match buffer {
                    $buffer => Some($module::build($new)),
                    _ => None,
                }
            }

            #[inline]
            fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
                another!($producers, tx)
            }

            #[inline]
            fn another_rx<T: Message>(rx: &Self::Rx<T>) -> Option<Self::Rx<T>> {
                another!($consumers, rx)
            }

            #[inline]
            fn another_async_tx<T: Message>(tx: &Self::AsyncTx<T>) -> Option<Self::AsyncTx<T>> {
                another!($producers, tx)
            }

            #[inline]
            fn another_async_rx<T: Message>(rx: &Self::AsyncRx<T>) -> Option<Self::AsyncRx<T>> {
                another!($consumers, rx)
            }
        }

        flavour!(@weak $producers $name $module::$queue);
    };
    (@weak one $name:ident $module:ident::$queue:ident) => {};
    (@weak many $name:ident $module:ident::$queue:ident) => {
        impl ManyProducers for $name {
            type WeakTx<T: Message> = WeakTx<$module::$queue<T>>;
            type WeakAsyncTx<T: Message> = WeakTx<$module::$queue<Carried<T>>>;

            #[inline]
            fn downgrade<T: Message>(tx: &Self::Tx<T>) -> Self::WeakTx<T> {
                tx.downgrade()
            }

            #[inline]
            fn upgrade<T: Message>(weak: &Self::WeakTx<T>) -> Option<Self::Tx<T>> {
                weak.upgrade()
            }

            #[inline]
            fn downgrade_async<T: Message>(tx: &Self::AsyncTx<T>) -> Self::WeakAsyncTx<T> {
                tx.downgrade()
            }

            #[inline]
            fn upgrade_async<T: Message>(weak: &Self::WeakAsyncTx<T>) -> Option<Self::AsyncTx<T>> {
                weak.upgrade()
            }
        }
    };
}

flavour! {
    /// Many of both, a fixed buffer.
    MpmcArray = mpmc::Array, MTx MAsyncTx many, MRx MAsyncRx many,
    Buffer::Fixed(capacity) => mpmc::Array::new(capacity.get())
}
flavour! {
    /// Many of both, unbounded.
    MpmcList = mpmc::List, MTx MAsyncTx many, MRx MAsyncRx many,
    Buffer::Unbounded => mpmc::List::new()
}
flavour! {
    /// One consumer, a fixed buffer.
    MpscArray = mpsc::Array, MTx MAsyncTx many, Rx AsyncRx one,
    Buffer::Fixed(capacity) => mpsc::Array::new(capacity.get())
}
flavour! {
    /// One consumer, unbounded.
    MpscList = mpsc::List, MTx MAsyncTx many, Rx AsyncRx one,
    Buffer::Unbounded => mpsc::List::new()
}
flavour! {
    /// One of both, a fixed buffer.
    SpscArray = spsc::Array, Tx AsyncTx one, Rx AsyncRx one,
    Buffer::Fixed(capacity) => spsc::Array::new(capacity.get())
}
flavour! {
    /// One of both, unbounded.
    SpscList = spsc::List, Tx AsyncTx one, Rx AsyncRx one,
    Buffer::Unbounded => spsc::List::new()
}
