//! B1 with C10: a promise copies its value for each take. If a copy panics, the value and the copies made before are
//! dropped once, with the channel unlocked, and the panic reaches the call that delivered. No take has a copy then.
//!
//! The smallest history that violates it:
//!
//! ```text
//! producer, promise           takes wait for the value
//! put: the second copy panics
//! drops the first copy, whose drop uses the promise: waits for the lock that its own put holds
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::sync::world;

use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "b1-copies",
    statement: "A promise whose value's clone panics drops the value and its copies once, with nothing locked.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// How many takes wait.
const TAKES: usize = 3;

/// How long a use of the channel may take: only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(1);

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    // In the other worlds the checkers use panics themselves.
    let owes = design.claims(Claim::PanicSafe) && channels.promises() && channels.awaits();
    if !owes || world::name() != "std" {
        return Vec::new();
    }
    let case = |nth| {
        Case::new(format!("clone {nth} panics"), move || {
            panics(channels, nth);
        })
    };
    (0..=TAKES).map(case).collect()
}

/// What all copies of a value share.
struct Shared {
    mint: Mint,
    copies: AtomicUsize,
    panics_at: usize,
    was_locked: AtomicBool,
}

/// A value that uses its channel when it is dropped.
struct Copied {
    _token: Token,
    tx: Option<Tx<Copied>>,
    shared: Arc<Shared>,
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        let nth = self.shared.copies.fetch_add(1, Ordering::Relaxed);
        if nth == self.shared.panics_at {
            resume_unwind(Box::new("a user's own fault"));
        }
        Copied {
            _token: self.shared.mint.token(nth + 1),
            tx: self.tx.as_ref().and_then(Tx::another),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl PartialEq for Copied {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let Some(tx) = self.tx.take() else { return };
        let (answered, answer) = mpsc::channel();
        // On a thread of its own: the lock may be held for as long as this drop lasts.
        let uses = world::spawn(move || {
            tx.close();
            let _ = answered.send(());
        });
        match answer.recv_timeout(PATIENCE) {
            Ok(()) => world::join(uses),
            Err(_) => self.shared.was_locked.store(true, Ordering::Relaxed),
        }
    }
}

fn panics(channels: Channels, panics_at: usize) {
    let shared = Arc::new(Shared {
        mint: Mint::new(TAKES + 2),
        copies: AtomicUsize::new(0),
        panics_at,
        was_locked: AtomicBool::new(false),
    });
    let (mut tx, rx) = channels.open_promise::<Copied>();
    let mut rxs = vec![rx];
    while rxs.len() < TAKES
        && let Some(another) = rxs[0].another()
    {
        rxs.push(another);
    }
    {
        let mut takes: Vec<Pin<Box<_>>> =
            rxs.iter_mut().map(|rx| Box::pin(rx.take_async())).collect();
        for take in &mut takes {
            let polled = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "there is no value yet");
        }
        let value = Copied {
            _token: shared.mint.token(0),
            tx: tx.another(),
            shared: Arc::clone(&shared),
        };
        let put = catch_unwind(AssertUnwindSafe(|| drop(tx.offer(value))));
        let copied = shared.copies.load(Ordering::Relaxed);
        holds!(
            put.is_err() == (copied > panics_at),
            "B1: the panic of copy {panics_at} of {copied} was swallowed"
        );
        // The drop of the value has closed the channel.
        let answered = takes.iter_mut().filter_map(|take| {
            let polled = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            matches!(polled, Poll::Ready(Ok(_))).then_some(())
        });
        holds!(
            put.is_ok() || answered.count() == 0,
            "B1: takes were answered by a put that panicked at copy {panics_at}"
        );
    }
    drop((tx, rxs));
    let copied = shared.copies.load(Ordering::Relaxed);
    for id in 0..=copied {
        // The copy that panicked never was.
        let made = u32::from(id != panics_at + 1);
        holds_eq!(
            shared.mint.drops(id),
            made,
            "C10: drops of copy {id} of a promise's value"
        );
    }
    holds!(
        !shared.was_locked.load(Ordering::Relaxed),
        "B1: a copy of a promise's value was dropped while the channel was locked"
    );
}
