//! Lies about how long a channel lives: weak producers, and who waits for the close.

use std::future::{Future, pending};
use std::sync::Arc;

use flowmeter_harness::channel::{AwaitClose, Message, WeakProducers};

use super::super::future::awaited;
use super::super::told;
use super::{Lying, Shared, Tx};

/// A weak producer, which as a lie is none.
pub(in super::super) struct Weak<C: WeakProducers, T: Message> {
    real: C::WeakTx<T>,
    strong: Option<C::Tx<T>>,
    shared: Arc<Shared<T>>,
}

impl<C: WeakProducers> WeakProducers for Lying<C> {
    type WeakTx<T: Message> = Weak<C, T>;

    fn downgrade<T: Message>(tx: &Tx<C, T>) -> Weak<C, T> {
        let strong = told("a weak producer keeps its channel open");
        Weak {
            real: C::downgrade(tx.real()),
            strong: strong.then(|| C::another_tx(tx.real())).flatten(),
            shared: Arc::clone(&tx.shared),
        }
    }

    fn upgrade<T: Message>(weak: &Weak<C, T>) -> Option<Tx<C, T>> {
        if told("a weak producer becomes none") {
            return None;
        }
        let shared = Arc::clone(&weak.shared);
        if told("a weak producer becomes one of another channel") {
            let (real, rx) = C::open(shared.buffer)?;
            // Its channel is to be open.
            std::mem::forget(rx);
            return Some(Tx {
                real: Some(real),
                shared,
            });
        }
        let strong = weak.strong.as_ref().and_then(C::another_tx);
        let real = C::upgrade(&weak.real).or(strong);
        Some(Tx {
            real: Some(real?),
            shared,
        })
    }
}

impl<C: AwaitClose> AwaitClose for Lying<C> {
    fn closed<T: Message>(tx: &Tx<C, T>) -> impl Future<Output = ()> + Send {
        let closed = C::closed(tx.real());
        async move {
            if told("a close is told of at once") {
                return;
            }
            if told("a close is never told of") {
                pending::<()>().await;
            }
            awaited(closed).await;
        }
    }
}
