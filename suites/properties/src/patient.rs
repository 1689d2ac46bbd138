//! C11, A1 and A9: the future that ends the patience of an alts is code of the user. It may use the channels of the
//! alts as it is polled or dropped, and may serve the alts itself.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! alts [take a, put b 3] until a future is ready, which polls a
//! the future is polled under the locks of a and b: a deadlock
//!
//! alts [take a] until a future is ready, which offers 1 to a
//! offer(a, 1) -> done
//! the alts waits beside the 1
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use flowmeter_harness::channel::{Buffer, Offered, Order, Polled, Winner};
use flowmeter_harness::sync::world;

use super::Case;
use super::acts::fill;
use super::bell::Waits;
use super::busy::{asks, offers};
use crate::design::channels::operations::Port;
use crate::design::{Channels, Parcel, Rx, Tx};

/// For families with alts that are awaited.
pub(super) fn cases(channels: Channels) -> Vec<Case> {
    // Loom has no room for more.
    let most = if world::name() == "loom" { 1 } else { 3 };
    let buffers = [Buffer::fixed(1), Buffer::Rendezvous, Buffer::fixed(2)];
    let mut cases = Vec::new();
    for buffer in channels.having(&buffers[..most]) {
        for serves in [false, true] {
            let does = if serves {
                "serves it"
            } else {
                "uses its channels"
            };
            cases.push(Case::new(
                format!("what ends an alts {does}, {buffer}"),
                move || {
                    for ready_at in 1..=POLLS + 1 {
                        ends(channels, buffer, serves, ready_at);
                    }
                },
            ));
        }
    }
    cases
}

/// How often an alts is polled.
const POLLS: u32 = 2;

/// The value of the put of an alts.
const HELD: u32 = 3;

/// Ends an alts with that poll of it.
struct Until {
    tx: Tx<u32>,
    rx: Rx<u32>,
    /// Where it serves the alts: the channel of the take.
    serves: Option<Tx<u32>>,
    /// Whether that took a value.
    has_served: Arc<AtomicBool>,
    polls: u32,
    ready_at: u32,
}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        match &mut this.serves {
            Some(tx) if !this.has_served.load(Ordering::Relaxed) => {
                let is_done = tx.offer(1) == Offered::Done;
                this.has_served.store(is_done, Ordering::Relaxed);
            }
            Some(_) => {}
            None => {
                asks(&mut this.rx);
                offers(&mut this.tx);
            }
        }
        this.polls += 1;
        match this.polls >= this.ready_at {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        offers(&mut self.tx);
    }
}

/// An alts of a take and a put, neither of them able, is ended by a future at that poll. `serves`: the future puts to
/// the channel of the take, where it finds room or the take.
fn ends(channels: Channels, buffer: Buffer, serves: bool, ready_at: u32) {
    let open = || channels.open::<u32>(buffer).expect("asked before");
    let ((tx_empty, mut empty), (mut full, rx_full)) = (open(), open());
    fill(&mut full, buffer);
    let several = "a channel of alts has several halves";
    let has_served = Arc::new(AtomicBool::new(false));
    let until = Until {
        tx: full.another().expect(several),
        rx: empty.another().expect(several),
        serves: serves.then(|| tx_empty.another().expect(several)),
        has_served: Arc::clone(&has_served),
        polls: 0,
        ready_at,
    };
    let taking = empty.another().expect(several);
    let table = channels.tables().awaits_mixes.expect("asked before");
    let ports = [Port::Take(&taking.half), Port::Put(&full.half)];
    let mut clauses = table.clauses(&ports, &mut [None, Some(Parcel::of(HELD))]);
    let mut alts = Waits::new(clauses.run_async(Order::Priority, Box::pin(until)));
    let mut answer = Poll::Pending;
    for _ in 0..POLLS {
        if answer.is_pending() {
            answer = alts.poll();
        }
    }
    if answer.is_pending() && has_served.load(Ordering::Relaxed) {
        holds!(
            alts.is_woken(),
            "C11: what ends an alts has served it, and the alts was not woken"
        );
        answer = alts.poll();
    }
    drop(alts);
    let taken = clauses.taken(0).flatten().map(Parcel::open::<u32>);
    let left = clauses.left(1).map(Parcel::open::<u32>);
    holds_eq!(
        left,
        Some(HELD),
        "A1: a losing put's value did not come back"
    );
    let is_served = has_served.load(Ordering::Relaxed);
    let in_channel = empty.poll();
    let is_right = match answer {
        Poll::Ready(Ok(Winner::Clause(0))) => {
            is_served && taken == Some(1) && in_channel == Polled::WouldWait
        }
        Poll::Ready(Ok(Winner::TimedOut)) if is_served => in_channel == Polled::Done(1),
        Poll::Ready(Ok(Winner::TimedOut)) => ready_at <= POLLS && in_channel == Polled::WouldWait,
        Poll::Pending => !is_served && ready_at > POLLS && in_channel == Polled::WouldWait,
        _ => false,
    };
    holds!(
        is_right,
        "A1: what ends an alts at poll {ready_at} has served it: {is_served}; it answered {answer:?} with {taken:?}, \
         and its channel has {in_channel:?}"
    );
    drop((rx_full, tx_empty));
}
