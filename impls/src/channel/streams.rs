//! Halves as `Stream` and `Sink` of the futures crates (feature `futures`).
//!
//! A value that is there, and room that is there, cost no allocation; whoever has to wait does so in a future on the
//! heap. Dropping a stream or a sink while it waits is as safe as dropping that future (C9).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use flowmeter_harness::channel::{Offered, Polled, PutError, TakeError};
use futures_core::Stream;
use futures_core::stream::FusedStream;
use futures_sink::Sink;

use super::halves::{Consumer, Handle, Producer};

type Waiting<A> = Pin<Box<dyn Future<Output = A> + Send>>;

/// A consumer as a stream: values until the channel is closed and empty. It panics where a take would be refused because
/// too many wait already (C7).
pub struct Values<H: Handle> {
    // Dropped before the consumer: while a consumer is left, the value of a dropped take goes to the next take.
    waiting: Option<Waiting<Result<H::Value, TakeError>>>,
    consumer: Consumer<H>,
    over: bool,
}

/// A producer as a sink. It is ready while no value of its own waits for room; closing it closes the channel.
pub struct Puts<H: Handle> {
    producer: Producer<H>,
    waiting: Option<Waiting<Result<(), PutError<H::Value>>>>,
}

impl<H: Handle> Consumer<H> {
    /// This consumer as a `Stream`.
    pub fn into_stream(self) -> Values<H> {
        Values {
            consumer: self,
            waiting: None,
            over: false,
        }
    }
}

impl<H: Handle> Producer<H> {
    /// This producer as a `Sink`, whose errors give the value back.
    pub fn into_sink(self) -> Puts<H> {
        Puts {
            producer: self,
            waiting: None,
        }
    }
}

impl<H: Handle> Unpin for Values<H> {}
impl<H: Handle> Unpin for Puts<H> {}

impl<H: Handle> Stream for Values<H> {
    type Item = H::Value;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<H::Value>> {
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

impl<H: Handle> FusedStream for Values<H> {
    fn is_terminated(&self) -> bool {
        self.over
    }
}

impl<H: Handle> Puts<H> {
    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<Result<(), PutError<H::Value>>> {
        let Some(waiting) = &mut self.waiting else {
            return Poll::Ready(Ok(()));
        };
        let answer = ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        Poll::Ready(answer)
    }
}

impl<H: Handle> Sink<H::Value> for Puts<H> {
    type Error = PutError<H::Value>;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll_waiting(context)
    }

    /// # Panics
    /// When a value waits still: `poll_ready` has not said that it is ready.
    fn start_send(mut self: Pin<&mut Self>, value: H::Value) -> Result<(), Self::Error> {
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

impl<H: Handle> fmt::Debug for Values<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values of {:?}", self.consumer)
    }
}

impl<H: Handle> fmt::Debug for Puts<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Puts to {:?}", self.producer)
    }
}
