//! tokio's broadcast with one receiver, in tasks with wakers that use the channel: a wake first asks for its length,
//! as the waker of an executor that logs may.

use ::std::future::poll_fn;
use ::std::pin::pin;
use ::std::sync::{Arc, Weak};
use ::std::task::{Context, Wake, Waker};

use ::tokio::sync::broadcast::{Receiver, Sender};
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::tokio_broadcast::{Broadcast, Shared};

/// `tokio::sync::broadcast::channel` among wakers that use it.
#[derive(Clone, Copy, Debug)]
pub struct Reentrant;

type Producer<T> = Arc<Sender<Shared<T>>>;

struct Asking<T> {
    channel: Weak<Sender<Shared<T>>>,
    then: Waker,
}

impl<T: Message> Wake for Asking<T> {
    fn wake(self: Arc<Self>) {
        if let Some(channel) = self.channel.upgrade() {
            let _ = channel.len();
        }
        self.then.wake_by_ref();
    }
}

impl Channels for Reentrant {
    type Tx<T: Message> = Producer<T>;
    type Rx<T: Message> = (Receiver<Shared<T>>, Weak<Sender<Shared<T>>>);

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        let (tx, rx) = Broadcast::open(buffer)?;
        let tx = Arc::new(tx);
        let weak = Arc::downgrade(&tx);
        Some((tx, (rx, weak)))
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(Arc::clone(tx))
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        Broadcast::offer(&mut Sender::clone(tx), value)
    }

    fn poll<T: Message>((rx, _): &mut Self::Rx<T>) -> Polled<T> {
        Broadcast::poll(rx)
    }
}

impl Async for Reentrant {
    async fn put_async<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        Broadcast::put_async(&mut Sender::clone(tx), value).await
    }

    async fn take_async<T: Message>((rx, weak): &mut Self::Rx<T>) -> Result<T, TakeError> {
        let mut taking = pin!(Broadcast::take_async(rx));
        poll_fn(|context| {
            let waker = Waker::from(Arc::new(Asking {
                channel: Weak::clone(weak),
                then: context.waker().clone(),
            }));
            taking.as_mut().poll(&mut Context::from_waker(&waker))
        })
        .await
    }
}
