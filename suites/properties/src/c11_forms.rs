//! C11: blocking, async and callback forms work together on one channel. Callbacks nest without growing the stack,
//! may use the channel, may wait, and may panic.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! take_async, polled with waker 1, then with waker 2    producer
//! pending
//!                                                       put 8 -> true, wakes waker 1 only
//! the task behind waker 2 sleeps on
//!
//! take_then(callback that panics)                       put 1 panics: the callback's panic reached the producer
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered};
use flowmeter_harness::sync::world;

use super::acts::{put, take};
use super::bell::Bell;
use super::{Case, Cases, Property, Reliance, behind, busy, completions, patient};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c11-forms",
    statement: "Threads, futures and callbacks meet on one channel; callbacks may nest, re-enter, wait and panic, wakers may panic.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = Vec::new();
    if design.meet {
        cases.extend(mixed_cases(channels, design.claims(Claim::PanicSafe)));
        if design.claims(Claim::CallsUnlocked) {
            cases.extend(busy::cases(channels, design.claims(Claim::PanicSafe)));
            if channels.awaits_mixes() {
                cases.extend(patient::cases(channels));
            }
        }
    }
    if channels.calls_back() {
        cases.extend(callback_cases(channels, design.claims(Claim::CancelSafe)));
    }
    cases
}

fn callback_cases(channels: Channels, cancel_safe: bool) -> Vec<Case> {
    let mut cases = vec![
        Case::new("a callback meets a thread", move || {
            meets_a_thread(channels)
        }),
        Case::new("a callback uses the channel", move || reenters(channels)),
    ];
    cases.extend(completions::cases(channels, cancel_safe));
    cases.extend(behind::cases(channels));
    if world::name() == "std" {
        if channels.having(&[Buffer::Unbounded]).next().is_some() {
            let name = "a chain of 1,000 that each wait";
            cases.push(Case::new(name, move || chain_of_waits(channels)));
        }
        cases.push(Case::new("a chain of 1,000", move || chain(channels)));
        cases.push(Case::new("a panicking callback", move || panics(channels)));
        for buffer in channels.having(&[Buffer::fixed(LENGTH as usize), Buffer::Unbounded]) {
            let name = format!("a chain of puts that need not wait, {buffer}");
            cases.push(Case::new(name, move || {
                chain_of_puts(channels, buffer, true);
            }));
            let name = format!("a panicking callback of a put that need not wait, {buffer}");
            cases.push(Case::new(name, move || {
                panics_at_once(channels, buffer, true);
            }));
        }
        for buffer in channels.having(&[Buffer::Rendezvous]) {
            cases.push(Case::new(
                "a chain of puts into a closed channel",
                move || {
                    chain_of_puts(channels, buffer, false);
                },
            ));
            let name = "a panicking callback of a put into a closed channel";
            cases.push(Case::new(name, move || {
                panics_at_once(channels, buffer, false);
            }));
        }
    }
    cases
}

/// Futures beside the other forms. `panic_safe`: whether wakers may panic.
fn mixed_cases(channels: Channels, panic_safe: bool) -> Vec<Case> {
    let mut cases = vec![
        Case::new("a future takes what a thread puts", move || {
            a_future_takes(channels)
        }),
        Case::new("a thread takes what a future puts", move || {
            a_future_puts(channels)
        }),
        Case::new("a take that changes its waker", move || {
            renewed_waker(channels)
        }),
        Case::new("a put that changes its waker", move || {
            renewed_waker_of_a_put(channels)
        }),
    ];
    if panic_safe && world::name() == "std" {
        cases.push(Case::new("a panicking waker", move || {
            panicking_waker(channels)
        }));
        if channels.awaits_close() && channels.is_closable(Buffer::fixed(1)) {
            cases.push(Case::new("a panicking waker at a close", move || {
                panicking_watcher(channels)
            }));
        }
    }
    cases
}

fn a_future_takes(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("a family with futures has a buffer");
    let putter = world::spawn(move || {
        put(&mut tx, 8);
        tx
    });
    world::perturb();
    holds_eq!(
        world::block_on(rx.take_async()),
        Ok(8),
        "C11: a future did not meet a thread"
    );
    drop(world::join(putter));
}

fn a_future_puts(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("a family with futures has a buffer");
    let taker = world::spawn(move || (take(&mut rx), rx));
    world::perturb();
    holds!(
        world::block_on(tx.put_async(8)).is_ok(),
        "C1: a put on an open channel was refused"
    );
    holds_eq!(
        world::join(taker).0,
        8,
        "C11: a thread did not meet a future"
    );
}

/// Only the waker of the latest poll counts; the first one is a no-op.
fn renewed_waker(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("a family with futures has a buffer");
    let mut take = Box::pin(rx.take_async());
    let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    holds!(early.is_pending(), "C3: a take of nothing");
    let putter = world::spawn(move || {
        put(&mut tx, 8);
        tx
    });
    world::perturb();
    holds_eq!(
        world::block_on(take),
        Ok(8),
        "C11: a future did not meet a thread"
    );
    drop(world::join(putter));
}

/// As [`renewed_waker`], from the other side.
fn renewed_waker_of_a_put(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("a family with futures has a buffer");
    assert_eq!(tx.offer(7), Offered::Done);
    let mut put = Box::pin(tx.put_async(8));
    let early = put.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    holds!(early.is_pending(), "C3: a put without room");
    let taker = world::spawn(move || ([(); 2].map(|()| take(&mut rx)), rx));
    world::perturb();
    holds_eq!(
        world::block_on(put),
        Ok(()),
        "C11: a future did not meet a thread"
    );
    holds_eq!(
        world::join(taker).0,
        [7, 8],
        "C11: a thread did not meet a future"
    );
}

struct Faulty;

impl Wake for Faulty {
    fn wake(self: Arc<Self>) {
        std::panic::resume_unwind(Box::new("a waker's own fault"));
    }
}

fn panicking_waker(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("a family with futures has a buffer");
    let waker = Waker::from(Arc::new(Faulty));
    {
        let mut take = pin!(rx.take_async());
        assert!(
            take.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        // The crate decides whether the panic reaches the waking thread. The value must survive either way.
        let put = catch_unwind(AssertUnwindSafe(|| tx.put(1)));
        holds!(
            !matches!(put, Ok(Err(_))),
            "C11: a put met a panicking waker, and was refused"
        );
    }
    holds_eq!(
        rx.take(),
        Ok(1),
        "C11: a value was lost to a panicking waker"
    );
    holds!(
        tx.put(2).is_ok(),
        "C11: the channel is not usable after a waker's panic"
    );
    holds_eq!(
        rx.take(),
        Ok(2),
        "C11: the channel is not usable after a waker's panic"
    );
}

/// Closes it by one half or the other.
fn shut(tx: &Tx<u32>, rx: &mut Rx<u32>) -> bool {
    tx.close() || rx.close()
}

fn open(channels: Channels) -> (Tx<u32>, Rx<u32>) {
    channels
        .open(Buffer::Rendezvous)
        .expect("a family with callbacks has a rendezvous")
}

fn meets_a_thread(channels: Channels) {
    let (mut tx, rx) = open(channels);
    let (answers, seen) = mpsc::channel();
    rx.take_then(move |answer| answers.send(answer).expect("it is being watched"));
    let putter = world::spawn(move || tx.put(4).is_ok());
    holds!(
        world::join(putter),
        "C11: a put did not meet a callback that waits"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(4)),
        "C11: the callback had not run when its put was answered"
    );
}

fn reenters(channels: Channels) {
    let (tx, rx) = open(channels);
    let further = tx.another().expect("a shared handle");
    let (answers, seen) = mpsc::channel();
    rx.take_then(move |answer| {
        let answers = answers.clone();
        further.put_then(answer.unwrap_or(0) + 1, move |put| {
            answers.send(put.is_ok()).expect("it is being watched")
        });
    });
    tx.put_then(1, |_| {});
    let (value, taken) = mpsc::channel();
    rx.take_then(move |answer| value.send(answer).expect("it is being watched"));
    holds_eq!(
        taken.try_recv(),
        Ok(Ok(2)),
        "C11: a callback could not use its channel"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(true),
        "C11: the put of a callback was not answered"
    );
}

/// Links of a chain of callbacks.
const LENGTH: u32 = 1_000;

/// Each callback starts the next one. Nesting them would use one stack frame each and overflow.
fn chain(channels: Channels) {
    let (answers, seen) = mpsc::channel();
    let links: Vec<_> = (0..LENGTH).map(|_| open(channels)).collect();
    let mut starts: Vec<_> = links
        .iter()
        .map(|(tx, _)| tx.another().expect("shared"))
        .collect();
    starts.remove(0);
    let mut following = starts.into_iter();
    for (_, rx) in &links {
        let next = following.next();
        let answers = answers.clone();
        rx.take_then(move |answer| {
            // A page per frame: 1,000 nested frames would need more stack than the thread has.
            let frame = std::hint::black_box([0u8; 4096]);
            let value = answer.expect("open") + 1 + u32::from(frame[0]);
            match next {
                Some(next) => next.put_then(value, |_| {}),
                None => answers.send(value).expect("it is being watched"),
            }
        });
    }
    let first = links[0].0.another().expect("shared");
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    small
        .spawn(move || first.put_then(0, |_| {}))
        .expect("a thread")
        .join()
        .expect("no overflow");
    holds_eq!(
        seen.try_recv(),
        Ok(LENGTH),
        "C11: the chain did not come to its end"
    );
}

/// As [`chain`], where each callback waits in a blocking call before it starts the next one.
fn chain_of_waits(channels: Channels) {
    fn link(tx: Tx<u32>, mut fed: Rx<u32>, left: u32, ends: mpsc::Sender<()>) {
        let next = tx.another().expect("shared");
        tx.put_then(left, move |answer| {
            let frame = std::hint::black_box([0u8; 4096]);
            let fed_to = fed.take().is_ok().then_some(fed);
            match fed_to.filter(|_| answer.is_ok() && left > u32::from(frame[0])) {
                Some(fed) => link(next, fed, left - 1, ends),
                None => ends.send(()).expect("it is being watched"),
            }
        });
    }
    let (tx, _rx) = (channels.open::<u32>(Buffer::Unbounded)).expect("asked before");
    let (mut feeds, fed) = open(channels);
    let (ends, seen) = mpsc::channel();
    let feeder = std::thread::spawn(move || (0..LENGTH).all(|n| feeds.put(n).is_ok()));
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    small
        .spawn(move || link(tx, fed, LENGTH - 1, ends))
        .expect("a thread")
        .join()
        .expect("no overflow");
    // The rest of a chain may run on another thread.
    holds!(
        seen.recv().is_ok(),
        "C11: the chain did not come to its end"
    );
    holds!(
        feeder.join().expect("it only puts"),
        "C11: the chain was shorter than it was to be"
    );
}

/// As [`chain`], where each put has room, or is refused by a closed channel, and is answered at once.
fn chain_of_puts(channels: Channels, buffer: Buffer, open: bool) {
    fn link(tx: Tx<u32>, left: u32, open: bool, ends: mpsc::Sender<()>) {
        let next = tx.another().expect("shared");
        tx.put_then(left, move |answer| {
            let frame = std::hint::black_box([0u8; 4096]);
            match answer.is_ok() == open && left > u32::from(frame[0]) {
                true => link(next, left - 1, open, ends),
                false => ends.send(()).expect("it is being watched"),
            }
        });
    }
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    if !open && !shut(&tx, &mut rx) {
        return;
    }
    let (ends, seen) = mpsc::channel();
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    small
        .spawn(move || link(tx, LENGTH - 1, open, ends))
        .expect("a thread")
        .join()
        .expect("no overflow");
    holds_eq!(
        seen.try_recv(),
        Ok(()),
        "C11: the chain did not come to its end"
    );
}

fn panics_at_once(channels: Channels, buffer: Buffer, open: bool) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    if !open && !shut(&tx, &mut rx) {
        return;
    }
    let fault = |_| std::panic::resume_unwind(Box::new("a callback's own fault"));
    let put = catch_unwind(AssertUnwindSafe(|| tx.put_then(1, fault)));
    holds!(
        put.is_ok(),
        "C11: the panic of its callback reached a put that need not wait"
    );
    holds!(
        tx.put(2).is_ok() == open,
        "C11: the channel is not usable after a callback's panic"
    );
}

/// Each that awaits the close hears of it, whatever the waker of another does.
fn panicking_watcher(channels: Channels) {
    let (tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(1))
        .expect("asked before");
    let bells = [(); 2].map(|()| Arc::<Bell>::default());
    let [before, behind] = bells.each_ref().map(|bell| Waker::from(Arc::clone(bell)));
    let wakers = [before, Waker::from(Arc::new(Faulty)), behind];
    let mut watching = wakers.each_ref().map(|_| Box::pin(tx.closed()));
    for (closed, waker) in watching.iter_mut().zip(&wakers) {
        let polled = closed.as_mut().poll(&mut Context::from_waker(waker));
        assert!(polled.is_pending(), "it is open");
    }
    // The crate decides whether the panic reaches the closing thread.
    let _ = catch_unwind(AssertUnwindSafe(|| tx.close() || rx.close()));
    for bell in bells {
        holds!(
            bell.is_rung(),
            "C6: the panic of a waker kept a close from another"
        );
    }
}

fn panics(channels: Channels) {
    let (mut tx, rx) = open(channels);
    rx.take_then(|_| std::panic::resume_unwind(Box::new("a callback's own fault")));
    holds!(
        tx.put(1).is_ok(),
        "C11: a callback's panic reached the thread that served it"
    );
    let (answers, seen) = mpsc::channel();
    rx.take_then(move |answer| answers.send(answer).expect("it is being watched"));
    holds!(
        tx.put(2).is_ok(),
        "C11: the channel is not usable after a callback's panic"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(2)),
        "C11: the channel is not usable after a callback's panic"
    );
}
