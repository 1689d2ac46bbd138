//! C11: blocking, async and callback forms meet on one channel; callbacks nest without stack, may use the
//! channel, may wait, and may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};

use flowmeter_harness::channel::{Async, Blocking, Buffer, Callback, Offered};
use flowmeter_harness::sync::World;

use super::acts::{put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c11-forms",
    statement: "Threads, futures and callbacks meet on one channel; callbacks may nest, re-enter, wait and panic, wakers may panic.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Callback + Blocking, W: World>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("a callback meets a thread", meets_a_thread::<C, W>),
        Case::new("a callback uses the channel", reenters::<C>),
        Case::new(
            "a callback waits for one behind it",
            waits_for_one_behind::<C>,
        ),
    ];
    if W::name() == "std" {
        cases.push(Case::new("a chain of 1,000", chain::<C>));
        cases.push(Case::new("a panicking callback", panics::<C>));
    }
    cases
}

/// Cases with futures beside the other forms; `panic_safe`: whether wakers may panic.
pub(super) fn mixed_cases<C: Async + Blocking, W: World>(panic_safe: bool) -> Vec<Case> {
    let mut cases = vec![
        Case::new("a future takes what a thread puts", || {
            a_future_takes::<C, W>()
        }),
        Case::new("a thread takes what a future puts", || {
            a_future_puts::<C, W>()
        }),
        Case::new("a take that changes its waker", renewed_waker::<C, W>),
        Case::new(
            "a put that changes its waker",
            renewed_waker_of_a_put::<C, W>,
        ),
    ];
    if panic_safe && W::name() == "std" {
        cases.push(Case::new("a panicking waker", panicking_waker::<C>));
    }
    cases
}

fn a_future_takes<C: Async + Blocking, W: World>() {
    let (mut tx, mut rx) =
        C::open::<u32>(Buffer::fixed(1)).expect("a family with futures has a buffer");
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, 8);
        tx
    });
    W::perturb();
    holds_eq!(
        W::block_on(C::take_async(&mut rx)),
        Ok(8),
        "C11: a future did not meet a thread"
    );
    drop(W::join(putter));
}

fn a_future_puts<C: Async + Blocking, W: World>() {
    let (mut tx, mut rx) =
        C::open::<u32>(Buffer::fixed(1)).expect("a family with futures has a buffer");
    let taker = W::spawn(move || (take::<C, W, _>(&mut rx), rx));
    W::perturb();
    holds!(
        W::block_on(C::put_async(&mut tx, 8)).is_ok(),
        "C1: a put on an open channel was refused"
    );
    holds_eq!(W::join(taker).0, 8, "C11: a thread did not meet a future");
}

/// The waker of the latest poll is the one that counts: the first wakes nobody.
fn renewed_waker<C: Async + Blocking, W: World>() {
    let (mut tx, mut rx) =
        C::open::<u32>(Buffer::fixed(1)).expect("a family with futures has a buffer");
    let mut take = Box::pin(C::take_async(&mut rx));
    let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    holds!(early.is_pending(), "C3: a take of nothing");
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, 8);
        tx
    });
    W::perturb();
    holds_eq!(
        W::block_on(take),
        Ok(8),
        "C11: a future did not meet a thread"
    );
    drop(W::join(putter));
}

/// As [`renewed_waker`], from the other side.
fn renewed_waker_of_a_put<C: Async + Blocking, W: World>() {
    let (mut tx, mut rx) =
        C::open::<u32>(Buffer::fixed(1)).expect("a family with futures has a buffer");
    assert_eq!(C::offer(&mut tx, 7), Offered::Done);
    let mut put = Box::pin(C::put_async(&mut tx, 8));
    let early = put.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    holds!(early.is_pending(), "C3: a put without room");
    let taker = W::spawn(move || ([(); 2].map(|()| take::<C, W, _>(&mut rx)), rx));
    W::perturb();
    holds_eq!(
        W::block_on(put),
        Ok(()),
        "C11: a future did not meet a thread"
    );
    holds_eq!(
        W::join(taker).0,
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

fn panicking_waker<C: Async + Blocking>() {
    let (mut tx, mut rx) =
        C::open::<u32>(Buffer::fixed(1)).expect("a family with futures has a buffer");
    let waker = Waker::from(Arc::new(Faulty));
    {
        let mut take = pin!(C::take_async(&mut rx));
        assert!(
            take.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        // Whether the fault reaches the thread that wakes is the crate's affair; the value is not.
        let put = catch_unwind(AssertUnwindSafe(|| C::put(&mut tx, 1)));
        holds!(
            !matches!(put, Ok(Err(_))),
            "C11: a put met a panicking waker, and was refused"
        );
    }
    holds_eq!(
        C::take(&mut rx),
        Ok(1),
        "C11: a value was lost to a panicking waker"
    );
    holds!(
        C::put(&mut tx, 2).is_ok(),
        "C11: the channel is not usable after a waker's panic"
    );
    holds_eq!(
        C::take(&mut rx),
        Ok(2),
        "C11: the channel is not usable after a waker's panic"
    );
}

fn open<C: Callback>() -> (C::Tx<u32>, C::Rx<u32>) {
    C::open(Buffer::Rendezvous).expect("a family with callbacks has a rendezvous")
}

fn meets_a_thread<C: Callback + Blocking, W: World>() {
    let (mut tx, rx) = open::<C>();
    let (answers, seen) = mpsc::channel();
    C::take_then(&rx, move |answer| {
        answers.send(answer).expect("it is being watched")
    });
    let putter = W::spawn(move || C::put(&mut tx, 4).is_ok());
    holds!(
        W::join(putter),
        "C11: a put did not meet a callback that waits"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(4)),
        "C11: the callback had not run when its put was answered"
    );
}

fn reenters<C: Callback>() {
    let (tx, rx) = open::<C>();
    let further = C::another_tx(&tx).expect("a shared handle");
    let (answers, seen) = mpsc::channel();
    C::take_then(&rx, move |answer| {
        let answers = answers.clone();
        C::put_then(&further, answer.unwrap_or(0) + 1, move |put| {
            answers.send(put.is_ok()).expect("it is being watched")
        });
    });
    C::put_then(&tx, 1, |_| {});
    let (value, taken) = mpsc::channel();
    C::take_then(&rx, move |answer| {
        value.send(answer).expect("it is being watched")
    });
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

/// A callback that completes another, and waits for what that does.
fn waits_for_one_behind<C: Callback + Blocking>() {
    let [(first, one), (second, behind), (tx, mut rx)] = [(); 3].map(|()| open::<C>());
    let (answers, seen) = mpsc::channel();
    C::take_then(&behind, move |answer| {
        C::put_then(&tx, answer.unwrap_or(0) + 1, |_| {});
    });
    C::take_then(&one, move |answer| {
        C::put_then(&second, answer.unwrap_or(0) + 1, |_| {});
        answers.send(C::take(&mut rx)).expect("it is being watched");
    });
    C::put_then(&first, 1, |_| {});
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(3)),
        "C11: a callback that waited has not heard of the one behind it"
    );
}

/// A callback that has the next one run inside it: a frame of stack each would show.
fn chain<C: Callback>() {
    const LENGTH: u32 = 1_000;
    let (answers, seen) = mpsc::channel();
    let links: Vec<_> = (0..LENGTH).map(|_| open::<C>()).collect();
    let mut starts: Vec<_> = links
        .iter()
        .map(|(tx, _)| C::another_tx(tx).expect("shared"))
        .collect();
    starts.remove(0);
    let mut following = starts.into_iter();
    for (_, rx) in &links {
        let next = following.next();
        let answers = answers.clone();
        C::take_then(rx, move |answer| {
            // Half a page a frame: 1,000 nested ones would need more than the thread has.
            let frame = std::hint::black_box([0u8; 4096]);
            let value = answer.expect("open") + 1 + u32::from(frame[0]);
            match next {
                Some(next) => C::put_then(&next, value, |_| {}),
                None => answers.send(value).expect("it is being watched"),
            }
        });
    }
    let first = C::another_tx(&links[0].0).expect("shared");
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    small
        .spawn(move || C::put_then(&first, 0, |_| {}))
        .expect("a thread")
        .join()
        .expect("no overflow");
    holds_eq!(
        seen.try_recv(),
        Ok(LENGTH),
        "C11: the chain did not come to its end"
    );
}

fn panics<C: Callback + Blocking>() {
    let (mut tx, rx) = open::<C>();
    C::take_then(&rx, |_| {
        std::panic::resume_unwind(Box::new("a callback's own fault"))
    });
    holds!(
        C::put(&mut tx, 1).is_ok(),
        "C11: a callback's panic reached the thread that served it"
    );
    let (answers, seen) = mpsc::channel();
    C::take_then(&rx, move |answer| {
        answers.send(answer).expect("it is being watched")
    });
    holds!(
        C::put(&mut tx, 2).is_ok(),
        "C11: the channel is not usable after a callback's panic"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(2)),
        "C11: the channel is not usable after a callback's panic"
    );
}
