//! Faults injected into channels: the answers and effects of puts, takes, closes and handles.

mod alts;
mod batches;
mod forms;
mod lives;
mod mixed;
mod permits;
mod put;
mod take;
mod transforms;

use std::any::TypeId;
use std::collections::VecDeque;
use std::mem::forget;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeError};

use super::told;
use super::values::number;
use crate::design::channels::operations::{Base, Half, Pair, Promises};
use crate::design::channels::{Design, Tables};
use crate::design::{Channels, Parcel};

/// The design with channels that may have faults.
pub(crate) fn lying(design: Design) -> Design {
    Design {
        channels: channels(design.channels),
        ..design
    }
}

/// Channels that behave like the real ones, except for one fault.
pub(super) fn channels(real: Channels) -> Channels {
    let real = real.tables();
    Channels::of(Tables {
        framed: real.framed.map(channels),
        ..real.replaced(Box::leak(Box::new(Lying(real))))
    })
}

/// Tables with faults, in front of the real ones.
#[derive(Clone, Copy)]
struct Lying(&'static Tables);

const HAD: &str = "a design that lies has what the other has";

/// A half, with further state of its channel.
struct Handle {
    /// `None` only while it is dropped.
    real: Option<Half>,
    takes: bool,
    shared: Arc<Shared>,
}

/// The further state of a channel.
struct Shared {
    buffer: Buffer,
    /// The type of its values.
    carried: OnceLock<TypeId>,
    /// Values that exist only because of a fault: the next takes return them.
    extra: Mutex<VecDeque<Parcel>>,
    /// Whether a close has lost the values in the channel.
    lost: AtomicBool,
}

impl Shared {
    fn of(buffer: Buffer) -> Arc<Shared> {
        Arc::new(Shared {
            buffer,
            carried: OnceLock::new(),
            extra: Mutex::default(),
            lost: AtomicBool::new(false),
        })
    }

    /// Lets the next take return that value.
    fn add(&self, value: Option<Parcel>) {
        self.extra
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(value);
    }

    fn next(&self) -> Option<Parcel> {
        self.extra
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    /// A value that was never put.
    fn number(&self) -> Option<Parcel> {
        number(*self.carried.get()?)
    }
}

const HERE: &str = "a handle has its channel until it is dropped";

impl Handle {
    /// A half that takes or puts.
    fn half(takes: bool, shared: &Arc<Shared>, real: Half) -> Half {
        Box::new(Handle {
            real: Some(real),
            takes,
            shared: Arc::clone(shared),
        })
    }

    fn real(&self) -> &Half {
        self.real.as_ref().expect(HERE)
    }
}

/// The handle behind such a half.
fn of(half: &Half) -> &Handle {
    half.downcast_ref().expect(HERE)
}

/// The real half, and the further state of its channel.
fn parts(half: &mut Half) -> (&mut Half, &Arc<Shared>) {
    let handle: &mut Handle = half.downcast_mut().expect(HERE);
    (handle.real.as_mut().expect(HERE), &handle.shared)
}

impl Drop for Handle {
    fn drop(&mut self) {
        let real = self.real.take();
        if !self.takes {
            if told("a producer is not dropped") {
                forget(real);
            }
        } else if told("a consumer is not dropped") {
            forget(real);
        } else if told("a panic in a drop is swallowed") {
            // The panic of the value is the purpose of the fault.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(real)));
        }
    }
}

/// Both halves of a channel that was opened instead of one with that buffer.
fn halves(buffer: Buffer, (tx, rx): Pair) -> Pair {
    let shared = Shared::of(buffer);
    (
        Handle::half(false, &shared, tx),
        Handle::half(true, &shared, rx),
    )
}

/// The taking half of a channel that was opened elsewhere.
pub(super) fn taker(rx: Half) -> Half {
    Handle::half(true, &Shared::of(Buffer::Rendezvous), rx)
}

/// The buffer that is opened instead of that one.
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

impl Base for Lying {
    fn open(&self, buffer: Buffer) -> Option<Pair> {
        let base = self.0.base;
        // Where the design lacks the other buffer, no fault is injected.
        let real = base
            .open(instead_of(buffer))
            .or_else(|| base.open(buffer))?;
        Some(halves(buffer, real))
    }

    fn another_tx(&self, tx: &Half) -> Option<Half> {
        let (base, tx) = (self.0.base, of(tx));
        let real = if told("a further producer is of another channel") {
            base.open(tx.shared.buffer)?.0
        } else {
            base.another_tx(tx.real())?
        };
        Some(Handle::half(false, &tx.shared, real))
    }

    fn another_rx(&self, rx: &Half) -> Option<Half> {
        let (base, rx) = (self.0.base, of(rx));
        let real = if told("a further consumer is of another channel") {
            base.open(rx.shared.buffer)?.1
        } else {
            base.another_rx(rx.real())?
        };
        Some(Handle::half(true, &rx.shared, real))
    }

    fn close(&self, tx: &Half) -> bool {
        if told("a close does nothing") {
            return true;
        }
        let tx = of(tx);
        if told("a close loses what is there") {
            tx.shared.lost.store(true, Ordering::Relaxed);
        }
        self.0.base.close(tx.real()) ^ told("a close is answered otherwise")
    }

    fn close_rx(&self, rx: &mut Half) -> bool {
        if told("a taker's close does nothing") {
            return true;
        }
        self.0.base.close_rx(parts(rx).0)
    }

    fn same_tx(&self, one: &Half, other: &Half) -> Option<bool> {
        let same = self.0.base.same_tx(of(one).real(), of(other).real())?;
        Some(same ^ told("producers are compared wrongly"))
    }

    fn same_rx(&self, one: &Half, other: &Half) -> Option<bool> {
        let same = self.0.base.same_rx(of(one).real(), of(other).real())?;
        Some(same ^ told("consumers are compared wrongly"))
    }

    fn offer(&self, tx: &mut Half, value: Parcel) -> Offered<Parcel> {
        let (real, shared) = parts(tx);
        let put = put::answered(shared, value, |value| {
            match self.0.base.offer(real, value) {
                Offered::Done => Ok(()),
                Offered::WouldWait(value) => Err(PutError::TooManyWaiters(value)),
                Offered::Closed(value) => Err(PutError::Closed(Some(value))),
            }
        });
        match put {
            Err(PutError::TooManyWaiters(value)) => Offered::WouldWait(value),
            Err(PutError::Closed(Some(value))) => Offered::Closed(value),
            // An offer has no answer that swallows its value.
            Ok(()) | Err(PutError::Closed(None)) => Offered::Done,
        }
    }

    fn poll(&self, rx: &mut Half) -> Polled<Parcel> {
        let base = self.0.base;
        let nothing = "closed and nothing are confused";
        let taken = take::overtaking(base, rx, nothing, |real| match base.poll(real) {
            Polled::Done(value) => Ok(value),
            Polled::WouldWait => Err(TakeError::TooManyWaiters),
            Polled::Closed => Err(TakeError::Closed),
        });
        match taken {
            Ok(value) => Polled::Done(value),
            Err(TakeError::TooManyWaiters) => Polled::WouldWait,
            Err(TakeError::Closed) => Polled::Closed,
        }
    }

    fn carries(&self, rx: &Half, carried: TypeId) {
        let _ = of(rx).shared.carried.set(carried);
    }
}

impl Promises for Lying {
    fn open(&self) -> Pair {
        let buffer = Buffer::fixed(1);
        let instead = if told("a promise slides") {
            Some(Buffer::Sliding(NonZeroUsize::MIN))
        } else if told("a promise is kept for one taker") {
            Some(Buffer::Dropping(NonZeroUsize::MIN))
        } else if told("a promise has room for one put") {
            Some(buffer)
        } else {
            None
        };
        let promise = || self.0.promises.expect(HAD).open();
        let real = instead.and_then(|buffer| self.0.base.open(buffer));
        halves(buffer, real.unwrap_or_else(promise))
    }
}
