//! Which operations of this crate are which of Flowmeter's. `super::my_channel` is the crate, or its explored twin.

use std::num::NonZeroUsize;
use std::time::Duration;

use flowmeter::Deadline;
use flowmeter::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter::executor::{Executors, Spawn};
use flowmeter::timer::{Fired, Timers};

use super::my_channel::{Crew, Receiver, Refused, Sender, Spawner, Ticker, bounded};

pub struct Bounded;
pub struct Ticks {
    began: Duration,
    ticker: Ticker,
}
pub struct Tasks(Crew);
#[derive(Clone)]
pub struct Spawns(Spawner);

impl Channels for Bounded {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(bounded(capacity.get())),
            _ => None,
        }
    }
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        tx.close();
        true
    }
    #[inline(always)]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(Refused::Full(value)) => Offered::WouldWait(value),
            Err(Refused::Closed(value)) => Offered::Closed(value),
        }
    }
    #[inline(always)]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(true) => Polled::WouldWait,
            Err(false) => Polled::Closed,
        }
    }
}

impl Blocking for Bounded {
    #[inline(always)]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        let sent = tx.send(value);
        sent.map_err(|value| PutError::Closed(Some(value)))
    }
    #[inline(always)]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().ok_or(TakeError::Closed)
    }
}

impl Timers for Ticks {
    /// No call can be cancelled.
    type Handle = ();

    fn start() -> Self {
        // The ticker begins later, so no call comes early.
        Ticks {
            began: flowmeter::now(),
            ticker: Ticker::new(),
        }
    }
    fn schedule(&self, due: Deadline, then: impl FnOnce(Fired) + Send + 'static) {
        let moment = match due {
            Deadline::NEVER => Duration::MAX,
            _ => Duration::from_nanos(due.as_nanos()).saturating_sub(self.began),
        };
        let fired = Fired {
            due,
            claimed_nanos: None,
        };
        self.ticker.at(moment, move || then(fired));
    }
}

impl Executors for Tasks {
    type Spawner = Spawns;

    fn with_threads(_: NonZeroUsize) -> Self {
        Tasks(Crew::default())
    }
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawner().spawn(task);
    }
    fn spawner(&self) -> Spawns {
        Spawns(self.0.spawner().clone())
    }
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawner().run(work);
    }
    fn panics(&self) -> u64 {
        self.0.panics()
    }
}

impl Spawn for Spawns {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.run(work);
    }
}
