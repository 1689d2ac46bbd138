//! Lies about channels: what a put, a take, a close or a handle is answered, and what it does.

mod alts;
mod batches;
mod forms;
mod lives;
mod mixed;
mod permits;
mod put;
mod take;
mod transforms;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flowmeter_harness::channel::{Buffer, Channels, Message, Offered, Polled, Promises};

use super::told;
use put::Put;
use take::Take;

/// A family that does and answers what `C` does, but for one lie.
pub(super) struct Lying<C>(PhantomData<C>);

/// A half that puts.
pub(super) struct Tx<C: Channels, T: Message> {
    /// Gone only while it is dropped.
    real: Option<C::Tx<T>>,
    shared: Arc<Shared<T>>,
}

/// A half that takes.
pub(super) struct Rx<C: Channels, T: Message> {
    real: Option<C::Rx<T>>,
    shared: Arc<Shared<T>>,
}

/// What the handles of a channel know beside it.
pub(super) struct Shared<T> {
    buffer: Buffer,
    /// Values that are there only because of a lie: the next takes have them.
    extra: Mutex<VecDeque<T>>,
    /// Whether a close has lost what was in the channel.
    lost: AtomicBool,
}

impl<T> Shared<T> {
    fn new(buffer: Buffer) -> Arc<Shared<T>> {
        Arc::new(Shared {
            buffer,
            extra: Mutex::default(),
            lost: AtomicBool::new(false),
        })
    }

    /// Has the next take answer it.
    fn add(&self, value: Option<T>) {
        self.extra
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(value);
    }

    fn next(&self) -> Option<T> {
        self.extra
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }
}

const HERE: &str = "a handle has its channel until it is dropped";

impl<C: Channels, T: Message> Tx<C, T> {
    fn real(&self) -> &C::Tx<T> {
        self.real.as_ref().expect(HERE)
    }
    fn real_mut(&mut self) -> &mut C::Tx<T> {
        self.real.as_mut().expect(HERE)
    }
}

impl<C: Channels, T: Message> Rx<C, T> {
    /// The taking half of a channel of which there is no other.
    pub(super) fn of(real: C::Rx<T>) -> Rx<C, T> {
        Rx {
            real: Some(real),
            shared: Shared::new(Buffer::Rendezvous),
        }
    }

    fn real(&self) -> &C::Rx<T> {
        self.real.as_ref().expect(HERE)
    }
    fn real_mut(&mut self) -> &mut C::Rx<T> {
        self.real.as_mut().expect(HERE)
    }
}

impl<C: Channels, T: Message> Drop for Tx<C, T> {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("a producer is not dropped") {
            forget(real);
        }
    }
}

impl<C: Channels, T: Message> Drop for Rx<C, T> {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("a consumer is not dropped") {
            forget(real);
        } else if told("a panic in a drop is swallowed") {
            // The value's own panic is what the lie is about.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(real)));
        }
    }
}

/// Both halves of a channel that was opened instead of one with that buffer.
fn halves<C: Channels, T: Message>(
    buffer: Buffer,
    (tx, rx): (C::Tx<T>, C::Rx<T>),
) -> (Tx<C, T>, Rx<C, T>) {
    let shared = Shared::new(buffer);
    let tx = Tx {
        real: Some(tx),
        shared: Arc::clone(&shared),
    };
    let real = Some(rx);
    (tx, Rx { real, shared })
}

/// What is opened where that buffer is asked for.
fn instead_of(buffer: Buffer) -> Buffer {
    if told("one more fits") {
        return match buffer {
            Buffer::Rendezvous => Buffer::fixed(1),
            Buffer::Fixed(room) => Buffer::fixed(room.get() + 1),
            Buffer::Dropping(room) => Buffer::Dropping(room.saturating_add(1)),
            Buffer::Sliding(room) => Buffer::Sliding(room.saturating_add(1)),
            Buffer::Unbounded => buffer,
        };
    }
    if told("one fewer fits") {
        return match buffer {
            Buffer::Fixed(room) if room.get() > 1 => Buffer::fixed(room.get() - 1),
            Buffer::Fixed(_) => Buffer::Rendezvous,
            Buffer::Unbounded => Buffer::fixed(1),
            _ => buffer,
        };
    }
    if told("another kind of buffer") {
        return match buffer {
            Buffer::Fixed(room) | Buffer::Dropping(room) => Buffer::Sliding(room),
            Buffer::Sliding(room) => Buffer::Dropping(room),
            Buffer::Rendezvous | Buffer::Unbounded => buffer,
        };
    }
    buffer
}

impl<C: Channels> Channels for Lying<C> {
    type Tx<T: Message> = Tx<C, T>;
    type Rx<T: Message> = Rx<C, T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<C, T>, Rx<C, T>)> {
        // Where the other one is not had, nothing is lied about.
        let real = C::open(instead_of(buffer)).or_else(|| C::open(buffer))?;
        Some(halves::<C, T>(buffer, real))
    }

    fn another_tx<T: Message>(tx: &Tx<C, T>) -> Option<Tx<C, T>> {
        let shared = Arc::clone(&tx.shared);
        if told("a further producer is of another channel") {
            let (real, _) = C::open(shared.buffer)?;
            return Some(Tx {
                real: Some(real),
                shared,
            });
        }
        let real = Some(C::another_tx(tx.real())?);
        Some(Tx { real, shared })
    }

    fn another_rx<T: Message>(rx: &Rx<C, T>) -> Option<Rx<C, T>> {
        let shared = Arc::clone(&rx.shared);
        if told("a further consumer is of another channel") {
            let (_, real) = C::open(shared.buffer)?;
            return Some(Rx {
                real: Some(real),
                shared,
            });
        }
        let real = Some(C::another_rx(rx.real())?);
        Some(Rx { real, shared })
    }

    fn close<T: Message>(tx: &Tx<C, T>) -> bool {
        if told("a close does nothing") {
            return true;
        }
        if told("a close loses what is there") {
            tx.shared.lost.store(true, Ordering::Relaxed);
        }
        C::close(tx.real()) ^ told("a close is answered otherwise")
    }

    fn close_rx<T: Message>(rx: &mut Rx<C, T>) -> bool {
        if told("a taker's close does nothing") {
            return true;
        }
        C::close_rx(rx.real_mut())
    }

    fn same_tx<T: Message>(one: &Tx<C, T>, other: &Tx<C, T>) -> Option<bool> {
        let same = C::same_tx(one.real(), other.real())?;
        Some(same ^ told("producers are compared wrongly"))
    }

    fn same_rx<T: Message>(one: &Rx<C, T>, other: &Rx<C, T>) -> Option<bool> {
        let same = C::same_rx(one.real(), other.real())?;
        Some(same ^ told("consumers are compared wrongly"))
    }

    fn offer<T: Message>(tx: &mut Tx<C, T>, value: T) -> Offered<T> {
        let shared = Arc::clone(&tx.shared);
        Put::begin(&shared, value).offered(|value| C::offer(tx.real_mut(), value))
    }

    fn poll<T: Message>(rx: &mut Rx<C, T>) -> Polled<T> {
        let Some(take) = Take::begin::<C>(rx) else {
            return Polled::WouldWait;
        };
        take.polled::<C>(rx)
    }
}

impl<C: Promises> Promises for Lying<C> {
    fn open_promise<T: Message + Clone>() -> (Tx<C, T>, Rx<C, T>) {
        let buffer = Buffer::fixed(1);
        let instead = if told("a promise slides") {
            Some(Buffer::Sliding(std::num::NonZeroUsize::MIN))
        } else if told("a promise is kept for one taker") {
            Some(Buffer::Dropping(std::num::NonZeroUsize::MIN))
        } else if told("a promise has room for one put") {
            Some(buffer)
        } else {
            None
        };
        let real = instead.and_then(C::open).unwrap_or_else(C::open_promise);
        halves::<C, T>(buffer, real)
    }
}
