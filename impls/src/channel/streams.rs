//! Halves as `Stream` and `Sink` of the futures crates (feature `futures`).
//!
//! Taking a value that is there, and putting where there is room, allocate nothing. An operation that has to wait does
//! so in a future on the heap. Dropping a stream or a sink while it waits is as safe as dropping that future (C9).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use flowmeter_harness::channel::{Offered, Polled, PutError, TakeError};
use futures_core::Stream;
use futures_core::stream::FusedStream;
use futures_sink::Sink;

use super::design::Design;
use super::halves::{Consumer, Producer};

type Waiting<A> = Pin<Box<dyn Future<Output = A> + Send>>;

/// A consumer as a stream: values until the channel is closed and empty. It panics if a take would be refused because
/// too many wait already (C7).
pub struct Values<D: Design> {
    // Dropped before the consumer. While a consumer is left, the value of a dropped take goes to the next take.
    waiting: Option<Waiting<Result<D::Value, TakeError>>>,
    consumer: Consumer<D>,
    over: bool,
}

/// A producer as a sink. It is ready while none of its own values waits for room. Closing it closes the channel.
pub struct Puts<D: Design> {
    producer: Producer<D>,
    waiting: Option<Waiting<Result<(), PutError<D::Value>>>>,
}

impl<D: Design> Consumer<D> {
    /// This consumer as a `Stream`.
    pub fn into_stream(self) -> Values<D> {
        Values {
            consumer: self,
            waiting: None,
            over: false,
        }
    }
}

impl<D: Design> Producer<D> {
    /// This producer as a `Sink`. Its errors give the value back.
    pub fn into_sink(self) -> Puts<D> {
        Puts {
            producer: self,
            waiting: None,
        }
    }
}

impl<D: Design> Unpin for Values<D> {}
impl<D: Design> Unpin for Puts<D> {}

impl<D: Design + 'static> Stream for Values<D> {
    type Item = D::Value;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<D::Value>> {
        if self.over {
            return Poll::Ready(None);
        }
        let this = &mut *self;
        let waiting = match &mut this.waiting {
            Some(waiting) => waiting,
            waiting @ None => match this.consumer.poll() {
                Polled::Done(value) => return Poll::Ready(Some(value)),
                Polled::Closed => {
                    this.over = true;
                    return Poll::Ready(None);
                }
                Polled::WouldWait => {
                    let handle = this.consumer.handle().clone();
                    waiting.insert(Box::pin(async move { handle.take_async().await }))
                }
            },
        };
        let taken = ready!(waiting.as_mut().poll(context));
        this.waiting = None;
        Poll::Ready(match taken {
            Ok(value) => Some(value),
            Err(TakeError::Closed) => {
                this.over = true;
                None
            }
            Err(TakeError::TooManyWaiters) => panic!(
                "as many takes wait on {:?} as it admits: a stream cannot say so",
                this.consumer
            ),
        })
    }
}

impl<D: Design + 'static> FusedStream for Values<D> {
    fn is_terminated(&self) -> bool {
        self.over
    }
}

impl<D: Design> Puts<D> {
    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<Result<(), PutError<D::Value>>> {
        let Some(waiting) = &mut self.waiting else {
            return Poll::Ready(Ok(()));
        };
        let answer = ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        Poll::Ready(answer)
    }
}

impl<D: Design + 'static> Sink<D::Value> for Puts<D> {
    type Error = PutError<D::Value>;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll_waiting(context)
    }

    /// # Panics
    /// When a value still waits, because `poll_ready` has not returned ready.
    fn start_send(mut self: Pin<&mut Self>, value: D::Value) -> Result<(), Self::Error> {
        assert!(
            self.waiting.is_none(),
            "a sink was given a value before it was ready"
        );
        match self.producer.offer(value) {
            Offered::Done => Ok(()),
            Offered::Closed(value) => Err(PutError::Closed(Some(value))),
            Offered::WouldWait(value) => {
                let handle = self.producer.handle().clone();
                self.waiting = Some(Box::pin(async move { handle.put_async(value).await }));
                Ok(())
            }
        }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll_waiting(context)
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        let flushed = ready!(self.poll_waiting(context));
        self.producer.close();
        Poll::Ready(flushed)
    }
}

impl<D: Design> fmt::Debug for Values<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values of {:?}", self.consumer)
    }
}

impl<D: Design> fmt::Debug for Puts<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Puts to {:?}", self.producer)
    }
}
