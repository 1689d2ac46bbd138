//! Faults injected into the life of a channel: weak producers, and waiting for the close.

use std::future::pending;
use std::mem::forget;
use std::sync::Arc;

use super::super::future::awaited;
use super::super::told;
use super::{HAD, Handle, Lying, Shared, of};
use crate::design::channels::operations::{AwaitsClose, Half, Pending, Weakens};

/// A weak producer, which a fault makes useless.
struct Weak {
    real: Half,
    strong: Option<Half>,
    shared: Arc<Shared>,
}

impl Weakens for Lying {
    fn downgrade(&self, tx: &Half) -> Half {
        let tx = of(tx);
        let strong = told("a weak producer keeps its channel open");
        let strong = strong.then(|| self.0.base.another_tx(tx.real()));
        Box::new(Weak {
            real: self.0.weakens.expect(HAD).downgrade(tx.real()),
            strong: strong.flatten(),
            shared: Arc::clone(&tx.shared),
        })
    }

    fn upgrade(&self, weak: &Half) -> Option<Half> {
        if told("a weak producer becomes none") {
            return None;
        }
        let base = self.0.base;
        let weak: &Weak = weak.downcast_ref().expect("it was made so");
        if told("a weak producer becomes one of another channel") {
            let (real, rx) = base.open(weak.shared.buffer)?;
            // Keeps its channel open.
            forget(rx);
            return Some(Handle::half(false, &weak.shared, real));
        }
        let strong = weak.strong.as_ref();
        let strong = strong.and_then(|strong| base.another_tx(strong));
        let real = self.0.weakens.expect(HAD).upgrade(&weak.real).or(strong);
        Some(Handle::half(false, &weak.shared, real?))
    }
}

impl AwaitsClose for Lying {
    fn closed<'a>(&self, tx: &'a Half) -> Pending<'a, ()> {
        let closed = self.0.awaits_close.expect(HAD).closed(of(tx).real());
        Box::pin(async move {
            if told("a close is told of at once") {
                return;
            }
            if told("a close is never told of") {
                pending::<()>().await;
            }
            awaited(closed).await;
        })
    }
}
