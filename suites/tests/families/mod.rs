//! Families for the tests of the suites: std's channels, and a queue behind one lock that can be given a fault.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, TryRecvError, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_harness::channel::{
    Alts, AltsError, Async, Blocking, Buffer, Channels, Chosen, Clause, Message, Offered, Order,
    Patience, Polled, PutError, TakeError,
};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor, own, peer};
use flowmeter_harness::sync::std::block_on;

/// std's bounded channel.
pub struct StdBounded;

impl Channels for StdBounded {
    type Tx<T: Message> = mpsc::SyncSender<T>;
    type Rx<T: Message> = mpsc::Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(mpsc::sync_channel(0)),
            Buffer::Fixed(capacity) => Some(mpsc::sync_channel(capacity.get())),
            _ => None,
        }
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl Blocking for StdBounded {
    #[inline]
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(|e| PutError::Closed(Some(e.0)))
    }

    #[inline]
    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

/// std's unbounded channel.
pub struct StdUnbounded;

impl Channels for StdUnbounded {
    type Tx<T: Message> = mpsc::Sender<T>;
    type Rx<T: Message> = mpsc::Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        (buffer == Buffer::Unbounded).then(mpsc::channel)
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx.send(value) {
            Ok(()) => Offered::Done,
            Err(e) => Offered::Closed(e.0),
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        StdBounded::poll(rx)
    }
}

impl Blocking for StdUnbounded {
    #[inline]
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(|e| PutError::Closed(Some(e.0)))
    }

    #[inline]
    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

/// A queue behind one lock. Each channel has the fault that [`FAULT`] holds when it is opened.
pub struct Queue;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    /// Swallows the hundredth value.
    Drops,
    /// Delivers the hundredth value twice.
    Duplicates,
    /// Puts the hundredth value in front of all others.
    Reorders,
    /// Makes another value of the hundredth.
    Exchanges,
    /// Holds one value more than its capacity.
    Overfills,
    /// Does so only in a put that may wait.
    OverfillsPuts,
    /// Panics at the third value.
    Panics,
    /// Takes 100 us for each put.
    IsSlow,
}

thread_local! {
    /// The fault of the channels that this thread opens. As a type parameter it would compile every workload eight times.
    pub static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

const WHEN: u64 = 100;

/// With which a put that may wait exceeds the capacity.
const OVERFILL_A_PUT: &[Fault] = &[Fault::Overfills, Fault::OverfillsPuts];

pub struct Handle<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    values: VecDeque<T>,
    room: usize,
    puts: u64,
    fault: Fault,
    wakers: Vec<Waker>,
}

impl<T: Message> Handle<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.state.lock().expect("a test panics outside the lock")
    }

    fn tell(&self, mut state: MutexGuard<'_, State<T>>) {
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.0.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// `value` as a word, if it is one.
fn word<T: Message>(value: &T) -> Option<u64> {
    (value as &dyn Any).downcast_ref::<u64>().copied()
}

fn from_word<T: Message>(word: u64) -> T {
    let value: Box<dyn Any> = Box::new(word);
    *value.downcast::<T>().expect("only asked for words")
}

impl Queue {
    fn try_put<T: Message>(handle: &Handle<T>, value: T, faults: &[Fault]) -> Result<(), T> {
        if handle.lock().fault == Fault::IsSlow {
            let began = Instant::now();
            while began.elapsed() < Duration::from_micros(100) {
                std::hint::spin_loop();
            }
        }
        let mut state = handle.lock();
        let excess = usize::from(faults.contains(&state.fault));
        if state.values.len() >= state.room.saturating_add(excess) {
            return Err(value);
        }
        state.puts += 1;
        match (state.fault, state.puts == WHEN, word(&value)) {
            (Fault::Drops, true, _) => {}
            (Fault::Duplicates, true, Some(word)) => {
                state.values.push_back(from_word(word));
                state.values.push_back(value);
            }
            // The greatest word marks an end, so it stays what it is.
            (Fault::Exchanges, true, Some(word)) => {
                let other = word.checked_add(1_000).unwrap_or(word);
                state.values.push_back(from_word(other));
            }
            // In front of the value before it, if that is still here.
            (Fault::Reorders, seen, _) if seen || (state.puts > WHEN && state.puts < WHEN * 30) => {
                state.values.push_front(value);
            }
            (Fault::Panics, ..) if state.puts == 3 => {
                drop(state);
                panic!("the third value");
            }
            _ => state.values.push_back(value),
        }
        handle.tell(state);
        Ok(())
    }

    fn try_take<T: Message>(handle: &Handle<T>) -> Option<T> {
        let mut state = handle.lock();
        let value = state.values.pop_front()?;
        handle.tell(state);
        Some(value)
    }

    /// Repeats `attempt` until it succeeds, sleeping on the condition in between.
    fn wait_for<T: Message, R>(handle: &Handle<T>, mut attempt: impl FnMut() -> Option<R>) -> R {
        loop {
            let puts_and_length = |s: &State<T>| (s.puts, s.values.len());
            let before = puts_and_length(&handle.lock());
            if let Some(result) = attempt() {
                return result;
            }
            let state = handle.lock();
            let same = |s: &mut State<T>| puts_and_length(s) == before;
            drop(
                handle
                    .0
                    .changed
                    .wait_while(state, same)
                    .expect("not poisoned"),
            );
        }
    }

    async fn wait_async<T: Message, R>(
        handle: &Handle<T>,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> R {
        poll_fn(|context| {
            // Registered first, so that no change in between is missed.
            handle.lock().wakers.push(context.waker().clone());
            attempt().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// What a put does each time that it tries.
    fn putting<T: Message>(handle: &Handle<T>, value: T) -> impl FnMut() -> Option<()> + '_ {
        let mut value = Some(value);
        move || match Self::try_put(handle, value.take()?, OVERFILL_A_PUT) {
            Ok(()) => Some(()),
            Err(back) => {
                value = Some(back);
                None
            }
        }
    }
}

impl Channels for Queue {
    type Tx<T: Message> = Handle<T>;
    type Rx<T: Message> = Handle<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Handle<T>, Handle<T>)> {
        let room = match buffer {
            Buffer::Fixed(capacity) => capacity.get(),
            Buffer::Unbounded => usize::MAX,
            _ => return None,
        };
        let state = State {
            values: VecDeque::new(),
            room,
            puts: 0,
            fault: FAULT.get(),
            wakers: Vec::new(),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        Some((Handle(shared.clone()), Handle(shared)))
    }

    fn another_tx<T: Message>(tx: &Handle<T>) -> Option<Handle<T>> {
        Some(Handle(tx.0.clone()))
    }

    fn another_rx<T: Message>(rx: &Handle<T>) -> Option<Handle<T>> {
        Some(Handle(rx.0.clone()))
    }

    fn offer<T: Message>(tx: &mut Handle<T>, value: T) -> Offered<T> {
        match Self::try_put(tx, value, &[Fault::Overfills]) {
            Ok(()) => Offered::Done,
            Err(value) => Offered::WouldWait(value),
        }
    }

    fn poll<T: Message>(rx: &mut Handle<T>) -> Polled<T> {
        Self::try_take(rx).map_or(Polled::WouldWait, Polled::Done)
    }
}

impl Blocking for Queue {
    fn put<T: Message>(tx: &mut Handle<T>, value: T) -> Result<(), PutError<T>> {
        Self::wait_for(tx, Self::putting(tx, value));
        Ok(())
    }

    fn take<T: Message>(rx: &mut Handle<T>) -> Result<T, TakeError> {
        Ok(Self::wait_for(rx, || Self::try_take(rx)))
    }
}

impl Async for Queue {
    async fn put_async<T: Message>(tx: &mut Handle<T>, value: T) -> Result<(), PutError<T>> {
        Self::wait_async(tx, Self::putting(tx, value)).await;
        Ok(())
    }

    async fn take_async<T: Message>(rx: &mut Handle<T>) -> Result<T, TakeError> {
        Ok(Self::wait_async(rx, || Self::try_take(rx)).await)
    }
}

impl Alts for Queue {
    type Prepared<'a, T: Message> = (&'a [Clause<'a, Self, T>], usize);

    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        _order: Order,
    ) -> Self::Prepared<'a, T> {
        (clauses, 0)
    }

    /// Tries each clause in turn, starting one later each time.
    fn run<T: Message>(
        (clauses, begin): &mut Self::Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        *begin += 1;
        loop {
            for place in 0..clauses.len() {
                let clause = (*begin + place) % clauses.len();
                match &clauses[clause] {
                    Clause::Take(rx) => {
                        if let Some(value) = Self::try_take(rx) {
                            let value = Some(value);
                            return Ok(Chosen::Took { clause, value });
                        }
                    }
                    Clause::Put(tx) => {
                        let missing = AltsError::MissingValue { clause };
                        let value = slots[clause].take().ok_or(missing)?;
                        match Self::try_put(tx, value, &[]) {
                            Ok(()) => {
                                let accepted = true;
                                return Ok(Chosen::Put { clause, accepted });
                            }
                            Err(back) => slots[clause] = Some(back),
                        }
                    }
                }
            }
            if patience == Patience::Now {
                return Ok(Chosen::Default);
            }
            thread::yield_now();
        }
    }
}

/// A thread for each task. It owns none of them, so its spawner is another handle to it.
#[derive(Clone)]
pub struct ThreadPerTask(Arc<AtomicU64>);

impl ThreadPerTask {
    fn run(&self, work: impl FnOnce() + Send + 'static) {
        let panics = self.0.clone();
        thread::spawn(move || {
            if thread::spawn(work).join().is_err() {
                panics.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
}

impl Spawn for ThreadPerTask {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.run(|| block_on(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.run(work);
    }
}

impl Executors for ThreadPerTask {
    type Spawner = ThreadPerTask;

    fn with_threads(_threads: NonZeroUsize) -> Self {
        ThreadPerTask(Arc::new(AtomicU64::new(0)))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        Spawn::spawn(self, task);
    }

    fn spawner(&self) -> ThreadPerTask {
        self.clone()
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.run(work);
    }

    fn panics(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The implementations of the tests.
#[derive(Clone, Copy)]
pub struct Tested;

impl Registry for Tested {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        own::<Queue, _>(visitor, "queue")
            .channel()
            .blocking()
            .asynchronous()
            .alts()
            .enter();
        peer::<StdBounded, _>(visitor, "std", "1")
            .channel()
            .blocking()
            .family::<StdUnbounded>()
            .blocking()
            .enter();
    }
}

impl AsyncRegistry for Tested {
    type Sleep = flowmeter_impls::timer::heap::Heap;
    type Executor = ThreadPerTask;
}
