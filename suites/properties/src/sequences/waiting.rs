//! Futures that own the half they use, and their wakers. A future gives its half back when it ends or is dropped.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::channel::{PutError, ReserveError, TakeError};
use flowmeter_harness::check::Token;
use flowmeter_harness::history::{Called, Recorder};

use super::act::WAKERS;
use crate::design::{Rx, Tx};

type Halves<H> = Arc<Mutex<Vec<H>>>;

/// Halves that no future uses now: those of this thread, then those of threads that were joined. Std locks in every
/// world: only one thread at a time uses them.
pub(super) struct Pool<H>(Vec<Halves<H>>);

impl<H> Pool<H> {
    pub(super) fn of(half: Option<H>) -> Self {
        Pool(vec![Arc::new(Mutex::new(half.into_iter().collect()))])
    }

    /// Those of a thread that was joined. Its futures give their halves back to it.
    pub(super) fn adopt(&mut self, other: Pool<H>) {
        self.0.extend(other.0);
    }

    pub(super) fn push(&self, half: H) {
        unlocked(&self.0[0]).push(half);
    }

    pub(super) fn pop(&self) -> Option<H> {
        self.0.iter().find_map(|halves| unlocked(halves).pop())
    }

    /// What `another` makes of a half that is free.
    pub(super) fn further(&self, another: fn(&H) -> Option<H>) -> Option<H> {
        let mut pools = self.0.iter();
        pools.find_map(|halves| unlocked(halves).last().and_then(another))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|halves| unlocked(halves).is_empty())
    }

    fn lend(&self) -> Option<Lent<H>> {
        let half = self.pop();
        half.is_some().then(|| Lent(half, Arc::clone(&self.0[0])))
    }
}

fn unlocked<H>(halves: &Halves<H>) -> MutexGuard<'_, Vec<H>> {
    halves.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A half in a future.
struct Lent<H>(Option<H>, Halves<H>);

impl<H> Lent<H> {
    fn half(&mut self) -> &mut H {
        self.0.as_mut().expect("it is there until the drop")
    }
}

impl<H> Drop for Lent<H> {
    fn drop(&mut self) {
        unlocked(&self.1).extend(self.0.take());
    }
}

/// The answer of a future.
pub(super) enum Ended {
    Put(Result<(), PutError<Token>>),
    Took(Result<Token, TakeError>),
    NoRoom(ReserveError),
    Filled(Result<(), Token>),
    Closed,
}

type Running = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// A reservation: whether it has its permit, and what the permit is filled with.
#[derive(Default)]
pub(super) struct Room {
    pub(super) granted: bool,
    pub(super) filling: Option<Token>,
}

/// The state of a reservation, shared with its future.
pub(super) type Shared = Arc<Mutex<Room>>;

pub(super) fn put(txs: &Pool<Tx<Token>>, token: Token) -> Result<Running, Token> {
    match txs.lend() {
        Some(mut tx) => Ok(Box::pin(async move {
            Ended::Put(tx.half().put_async(token).await)
        })),
        None => Err(token),
    }
}

pub(super) fn take(rxs: &Pool<Rx<Token>>) -> Option<Running> {
    let mut rx = rxs.lend()?;
    Some(Box::pin(async move {
        Ended::Took(rx.half().take_async().await)
    }))
}

pub(super) fn closed(txs: &Pool<Tx<Token>>) -> Option<Running> {
    let mut tx = txs.lend()?;
    Some(Box::pin(async move {
        tx.half().closed().await;
        Ended::Closed
    }))
}

/// A reservation that goes on to hold its permit until it is filled or dropped. With `waits` it waits for room.
pub(super) fn reserve(txs: &Pool<Tx<Token>>, waits: bool, room: &Shared) -> Option<Running> {
    let (mut tx, room) = (txs.lend()?, Arc::clone(room));
    Some(Box::pin(async move {
        let tx = tx.half();
        let reserved = match waits {
            true => tx.reserve_async().await,
            false => tx.try_reserve(),
        };
        let permit = match reserved {
            Ok(permit) => permit,
            Err(why) => return Ended::NoRoom(why),
        };
        locked(&room).granted = true;
        let token = poll_fn(|_| match locked(&room).filling.take() {
            Some(token) => Poll::Ready(token),
            None => Poll::Pending,
        });
        let token = token.await;
        Ended::Filled(permit.fill(token))
    }))
}

pub(super) fn locked(room: &Shared) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a waker was woken. A std atomic in every world, so that it orders nothing between threads.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a future does for its thread.
pub(super) enum What {
    Put(usize),
    Take,
    Reserve(Shared),
    Closed,
}

/// A future with its wakers.
pub(super) struct Waiting {
    pub(super) what: What,
    /// Its record since the first poll, where it is in the history.
    pub(super) called: Option<(Recorder, Called)>,
    future: Running,
    wakers: [Arc<Woken>; WAKERS as usize],
    /// The waker of the latest poll; `None` before the first.
    latest: Option<usize>,
}

impl Waiting {
    pub(super) fn new(what: What, future: Running) -> Self {
        Waiting {
            what,
            called: None,
            future,
            wakers: Default::default(),
            latest: None,
        }
    }

    pub(super) fn poll(&mut self, waker: u8) -> Poll<Ended> {
        let at = usize::from(waker);
        self.latest = Some(at);
        self.wakers[at].0.store(false, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&self.wakers[at]));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Drops the future; returns whether a waker of it is left somewhere.
    pub(super) fn leaves_a_waker(self) -> bool {
        let Waiting { future, wakers, .. } = self;
        drop(future);
        wakers.iter().any(|waker| Arc::strong_count(waker) > 1)
    }

    /// Whether it was polled and waits since.
    pub(super) fn waits(&self) -> bool {
        self.latest.is_some()
    }

    /// The latest waker, if it was woken since the latest poll.
    pub(super) fn woken(&self) -> Option<u8> {
        let at = self.latest?;
        let woken = self.wakers[at].0.load(Ordering::Relaxed);
        woken.then_some(at as u8)
    }

    /// Another waker than that of the latest poll.
    pub(super) fn other_waker(&self) -> u8 {
        self.latest.map_or(0, |at| (at as u8 + 1) % WAKERS)
    }
}
