//! C11: wakers are code of the user. They may use the channel: as they are woken, as they are dropped, or by polling
//! their task at once. A channel that holds a lock meanwhile waits for itself.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! take polled by a waker that polls its task when it is woken
//! offer 1 wakes it, and holds what the poll needs: a deadlock
//!
//! take polled by a waker that uses the channel when it is dropped, then by another
//! the former waker is dropped under the channel's lock: a deadlock
//! ```

use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::channel::{Buffer, Offered, Order, Polled};
use flowmeter_harness::sync::world;

use super::Case;
use super::acts::fill;
use crate::design::channels::operations::Port;
use crate::design::{Channels, Parcel, Rx, Tx};

const ONE: Buffer = Buffer::fixed(1);

/// For families with halves that can be shared.
pub(super) fn cases(channels: Channels, panic_safe: bool) -> Vec<Case> {
    let is_shared = |(tx, rx): (Tx<u32>, Rx<u32>)| tx.another().is_some() && rx.another().is_some();
    if !channels.open::<u32>(ONE).is_some_and(is_shared) {
        return Vec::new();
    }
    let mut cases = vec![
        Case::new("takes of a task that its waker polls", move || {
            polled_takes(channels);
        }),
        Case::new("puts of a task that its waker polls", move || {
            polled_puts(channels);
        }),
    ];
    cases.push(Case::new(
        "values that use the channel as they are dropped",
        move || {
            values_look(channels);
        },
    ));
    if channels.promises() && channels.awaits_mixes() {
        cases.push(Case::new(
            "copies of a promise that it does not hand out",
            move || {
                spare_copies(channels);
            },
        ));
    }
    // In the other worlds the checkers use panics themselves.
    if panic_safe && channels.awaits_mixes() && world::name() == "std" {
        cases.push(Case::new("an end of patience that panics", move || {
            patience_panics(channels);
        }));
    }
    // Loom has no room for more.
    let most = if world::name() == "loom" { 1 } else { 4 };
    let buffers = [ONE, Buffer::Rendezvous, Buffer::fixed(2), Buffer::Unbounded];
    for buffer in channels.having(&buffers[..most]) {
        for end in [End::Renewed, End::Served, End::Woken, End::Dropped] {
            let name = format!("wakers that use the channel, {end:?}, {buffer}");
            cases.push(Case::new(name, move || uses(channels, buffer, end)));
        }
    }
    cases
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls its task as it is woken. Std locks in every world: only one thread at a time uses it.
struct Inline(Mutex<Option<Task>>);

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        // Taken out, since a poll may wake it.
        let task = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else { return };
        let waker = Waker::from(Arc::clone(&self));
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        }
    }
}

/// Runs the task as far as it goes, and from then on whenever it is woken.
fn run(task: impl Future<Output = ()> + Send + 'static) {
    let task: Task = Box::pin(task);
    Arc::new(Inline(Mutex::new(Some(task)))).wake();
}

fn open(channels: Channels) -> (Tx<u32>, Rx<u32>) {
    channels.open(ONE).expect("asked before")
}

fn polled_takes(channels: Channels) {
    let (mut tx, mut rx) = open(channels);
    let taken = Arc::new(Mutex::new(Vec::new()));
    let book = Arc::clone(&taken);
    run(async move {
        while let Ok(value) = rx.take_async().await {
            book.lock().expect("one thread").push(value);
        }
    });
    for value in 1..=3 {
        holds_eq!(
            tx.offer(value),
            Offered::Done,
            "C11: an offer to a task that its waker polls"
        );
    }
    let taken = taken.lock().expect("one thread").clone();
    holds_eq!(
        taken,
        [1, 2, 3],
        "C11: what a task took that its waker polls"
    );
}

fn polled_puts(channels: Channels) {
    let (mut tx, mut rx) = open(channels);
    run(async move {
        for value in 1..=3 {
            let put = tx.put_async(value).await;
            holds_eq!(put, Ok(()), "C11: a put of a task that its waker polls");
        }
    });
    let taken = [(); 3].map(|()| rx.poll());
    holds_eq!(
        taken,
        [1, 2, 3].map(Polled::Done),
        "C11: what a task put that its waker polls"
    );
}

/// A value that looks at its channel as it is dropped.
struct Looks {
    at: Option<Rx<Looks>>,
    has_looked: Arc<AtomicBool>,
}

impl Drop for Looks {
    fn drop(&mut self) {
        if let Some(mut rx) = self.at.take() {
            let _ = rx.poll();
            self.has_looked.store(true, Ordering::Relaxed);
        }
    }
}

/// Puts that wait are dropped with their values: as futures, as batches, and as clauses.
fn values_look(channels: Channels) {
    let open = || {
        let (mut tx, rx) = channels.open::<Looks>(ONE).expect("asked before");
        let quiet = Looks {
            at: None,
            has_looked: Arc::default(),
        };
        assert!(matches!(tx.offer(quiet), Offered::Done));
        (tx, rx)
    };
    let has_looked = Arc::new(AtomicBool::new(false));
    let looks = |rx: &Rx<Looks>| Looks {
        at: rx.another(),
        has_looked: Arc::clone(&has_looked),
    };
    let waits = |future: Pin<&mut dyn Future<Output = ()>>| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.poll(&mut context).is_pending(), "there is no room");
    };
    let judge = |what: &str| {
        holds!(
            has_looked.swap(false, Ordering::Relaxed),
            "C10: the value of {what} was not dropped with it"
        );
    };
    {
        let (mut tx, rx) = open();
        let value = looks(&rx);
        let mut put = Box::pin(async { drop(tx.put_async(value).await) });
        waits(put.as_mut());
        drop(put);
        judge("a put");
    }
    if channels.awaits_batches() {
        let (mut tx, rx) = open();
        let mut values = VecDeque::from([looks(&rx)]);
        let mut put = Box::pin(async {
            let _ = tx.put_many_async(&mut values).await;
        });
        waits(put.as_mut());
        drop(put);
        drop(values);
        judge("a batch");
    }
    if channels.awaits_mixes() {
        let ((tx, rx), (beside, _rx)) = (open(), open());
        let table = channels.tables().awaits_mixes.expect("asked before");
        let mut slots = [looks(&rx), looks(&rx)].map(|value| Some(Parcel::of(value)));
        let ports = [Port::Put(&tx.half), Port::Put(&beside.half)];
        let mut clauses = table.clauses(&ports, &mut slots);
        let mut alts = clauses.run_async(Order::Priority, Box::pin(pending()));
        let polled = alts.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "there is no room");
        drop(alts);
        drop(clauses);
        judge("an alts");
    }
}

/// A value that closes its channel as it is dropped.
struct Closes(Option<Tx<Closes>>);

impl Clone for Closes {
    fn clone(&self) -> Self {
        Closes(self.0.as_ref().and_then(Tx::another))
    }
}

impl PartialEq for Closes {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Drop for Closes {
    fn drop(&mut self) {
        if let Some(tx) = self.0.take() {
            tx.close();
        }
    }
}

/// A promise may make a copy for an alts that another channel has served.
fn spare_copies(channels: Channels) {
    let (mut tx, rx) = channels.open_promise::<Closes>();
    let (mut elsewhere, beside) = open(channels);
    let mut behind = rx.another().expect("a promise has several takes");
    let table = channels.tables().awaits_mixes.expect("asked before");
    let ports = [Port::Take(&rx.half), Port::Take(&beside.half)];
    let mut clauses = table.clauses(&ports, &mut [None, None]);
    let mut alts = clauses.run_async(Order::Priority, Box::pin(pending()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(alts.as_mut().poll(&mut context).is_pending());
    let mut take = Box::pin(behind.take_async());
    assert!(take.as_mut().poll(&mut context).is_pending());
    assert_eq!(elsewhere.offer(1), Offered::Done, "the alts waits");
    let value = Closes(tx.another());
    assert!(matches!(tx.offer(value), Offered::Done));
    holds!(
        take.as_mut().poll(&mut context).is_ready(),
        "A8: the take behind an alts that is over was not answered"
    );
    drop(alts);
}

/// The future that ends an alts panics. The alts is over as it is dropped: no clause of it waits on.
fn patience_panics(channels: Channels) {
    let ((mut tx, mut rx), (mut tx_full, mut rx_full)) = (open(channels), open(channels));
    assert_eq!(tx_full.offer(1), Offered::Done);
    let table = channels.tables().awaits_mixes.expect("asked before");
    {
        let mut slots = [None, Some(Parcel::of(2_u32))];
        let ports = [Port::Take(&rx.half), Port::Put(&tx_full.half)];
        let mut clauses = table.clauses(&ports, &mut slots);
        let panics = Arc::new(AtomicBool::new(false));
        let begins = Arc::clone(&panics);
        let until = poll_fn(move |_| match panics.load(Ordering::Relaxed) {
            true => resume_unwind(Box::new("a fault of what ends it")),
            false => Poll::Pending,
        });
        let mut alts = clauses.run_async(Order::Priority, Box::pin(until));
        let mut context = Context::from_waker(Waker::noop());
        assert!(alts.as_mut().poll(&mut context).is_pending());
        begins.store(true, Ordering::Relaxed);
        // The panic may reach the task, or not.
        let _ = catch_unwind(AssertUnwindSafe(|| alts.as_mut().poll(&mut context)));
    }
    assert_eq!(tx.offer(3), Offered::Done, "there is room");
    holds_eq!(
        rx.poll(),
        Polled::Done(3),
        "C9: an alts that is gone took a value"
    );
    assert_eq!(rx_full.poll(), Polled::Done(1));
    holds_eq!(
        rx_full.poll(),
        Polled::WouldWait,
        "C9: an alts that is gone put its value"
    );
}

/// How a future is done with a waker.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It is polled under another.
    Renewed,
    /// The same, and the former waker serves the future as it is dropped.
    Served,
    Woken,
    /// The future is dropped.
    Dropped,
}

type Act = Box<dyn FnOnce() + Send>;

/// Uses a channel when it is woken or dropped, whichever comes first.
struct Busy {
    act: Mutex<Option<Act>>,
    has_acted: Arc<AtomicBool>,
}

impl Busy {
    fn act(&self) {
        let act = self
            .act
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(act) = act {
            act();
            self.has_acted.store(true, Ordering::Relaxed);
        }
    }
}

impl Wake for Busy {
    fn wake(self: Arc<Self>) {
        self.act();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.act();
    }
}

/// A future that waits under a waker which only the channel has. `act` is what the waker does, and `serve` ends the
/// wait.
fn done_with<T>(
    future: impl Future<Output = T>,
    end: End,
    act: impl FnOnce() + Send + 'static,
    serve: impl FnOnce() + Send + 'static,
) {
    let has_acted = Arc::new(AtomicBool::new(false));
    let (act, serve): (Act, Act) = (Box::new(act), Box::new(serve));
    let (act, serve) = match end {
        End::Served => (serve, act),
        _ => (act, serve),
    };
    let waker = Waker::from(Arc::new(Busy {
        act: Mutex::new(Some(act)),
        has_acted: Arc::clone(&has_acted),
    }));
    let mut future = Box::pin(future);
    let waits = future
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending();
    assert!(waits, "what it waits for is not there");
    drop(waker);
    let mut another = Context::from_waker(Waker::noop());
    match end {
        End::Renewed => {
            let polled = future.as_mut().poll(&mut another);
            assert!(polled.is_pending(), "nothing has come");
        }
        End::Served | End::Woken => {
            if let End::Woken = end {
                serve();
            }
            // One that is served half way may not see it.
            let mut polled = future.as_mut().poll(&mut another);
            if polled.is_pending() {
                polled = future.as_mut().poll(&mut another);
            }
            holds!(
                polled.is_ready(),
                "C11: what was served waits on, since its waker used the channel"
            );
        }
        End::Dropped => drop(future),
    }
    holds!(
        has_acted.load(Ordering::Relaxed),
        "C11: a waker was not woken, or was kept ({end:?})"
    );
}

fn several<T: Send + 'static>((tx, rx): &(Tx<T>, Rx<T>)) -> (Tx<T>, Rx<T>) {
    let several = "asked before";
    (tx.another().expect(several), rx.another().expect(several))
}

/// Begins to wait, which needs the lock also where a try needs none, and gives up.
fn begin<T>(future: impl Future<Output = T>) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

/// Asks for a value, and waits for one.
pub(super) fn asks(rx: &mut Rx<u32>) {
    let _ = rx.poll();
    begin(rx.take_async());
}

/// Offers a value, and waits for room.
pub(super) fn offers(tx: &mut Tx<u32>) {
    let _ = tx.offer(9);
    begin(tx.put_async(9));
}

/// What each waker does is answered as if it stood elsewhere, and disturbs nothing.
fn uses(channels: Channels, buffer: Buffer, end: End) {
    uses_empty(channels, buffer, end);
    if buffer != Buffer::Unbounded {
        uses_full(channels, buffer, end);
    }
}

/// Futures that wait for a value, or for the close.
fn uses_empty(channels: Channels, buffer: Buffer, end: End) {
    let open = || channels.open::<u32>(buffer).expect("asked before");
    let serves = |mut tx: Tx<u32>| move || assert_eq!(tx.offer(1), Offered::Done);
    let act = |here: &(Tx<u32>, Rx<u32>)| {
        let mut rx = several(here).1;
        move || asks(&mut rx)
    };

    let here = open();
    let (tx, mut taking) = several(&here);
    done_with(taking.take_async(), end, act(&here), serves(tx));

    if channels.awaits_batches() {
        let here = open();
        let (tx, mut taking) = several(&here);
        let mut values = Vec::new();
        let take = taking.take_many_async(NonZeroUsize::MIN, &mut values);
        done_with(take, end, act(&here), serves(tx));
    }
    if channels.awaits_mixes() {
        let (here, beside) = (open(), open());
        let ports = [&here, &beside].map(|(_, rx)| Port::Take(&rx.half));
        let table = channels.tables().awaits_mixes.expect("asked before");
        let mut clauses = table.clauses(&ports, &mut [None, None]);
        let alts = clauses.run_async(Order::Priority, Box::pin(pending()));
        done_with(alts, end, act(&here), serves(several(&beside).0));
    }
    if channels.awaits_close() && channels.is_closable(buffer) {
        let here = open();
        let (tx, mut rx) = several(&here);
        let serve = move || assert!(tx.close() || rx.close(), "asked before");
        done_with(here.0.closed(), end, act(&here), serve);
    }
}

/// Futures that wait for room.
fn uses_full(channels: Channels, buffer: Buffer, end: End) {
    let open = || {
        let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
        fill(&mut tx, buffer);
        (tx, rx)
    };
    let serves = |mut rx: Rx<u32>| move || assert!(matches!(rx.poll(), Polled::Done(_)));
    let act = |here: &(Tx<u32>, Rx<u32>)| {
        let mut tx = several(here).0;
        move || offers(&mut tx)
    };

    let here = open();
    let (mut putting, rx) = several(&here);
    done_with(putting.put_async(8), end, act(&here), serves(rx));

    if channels.awaits_batches() {
        let here = open();
        let (mut putting, rx) = several(&here);
        let mut values = VecDeque::from([8]);
        let put = putting.put_many_async(&mut values);
        done_with(put, end, act(&here), serves(rx));
    }
    if channels.awaits_mixes() {
        let (here, beside) = (open(), open());
        let ports = [&here, &beside].map(|(tx, _)| Port::Put(&tx.half));
        let table = channels.tables().awaits_mixes.expect("asked before");
        let mut slots = [Some(Parcel::of(7_u32)), Some(Parcel::of(8_u32))];
        let mut clauses = table.clauses(&ports, &mut slots);
        let alts = clauses.run_async(Order::Priority, Box::pin(pending()));
        done_with(alts, end, act(&here), serves(several(&beside).1));
    }
    if channels.awaits_room() && buffer != Buffer::Rendezvous {
        let here = open();
        let (reserving, rx) = several(&here);
        done_with(reserving.reserve_async(), end, act(&here), serves(rx));
    }
}
