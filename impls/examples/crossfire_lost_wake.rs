//! crossfire 3.1.22 loses a wake-up: a receive future is dropped while a send wakes it, and another receive future
//! sleeps before the value.
//!
//! `ChannelWaker::wake` reads the state "waiting" and then stores "woken". The drop exchanges "waiting" for "closed" in
//! between, and takes that for a success, so it passes the wake-up on to no other. The store overwrites "closed", and
//! the send counts the receiver as woken.
//!
//! ```text
//! cargo run -p flowmeter-impls --features peers --example crossfire_lost_wake
//! ```
//!
//! It ends with the attempt at which that happened. The window is a few instructions wide.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use crossfire::mpmc;

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn main() {
    let (tx, rx) = mpmc::bounded_async::<u64>(1);
    let other = rx.clone();
    // The sender puts one value for each attempt that has begun.
    let begun = Arc::new(AtomicU64::new(0));
    let sent = Arc::new(AtomicU64::new(0));
    let (its_begun, its_sent) = (Arc::clone(&begun), Arc::clone(&sent));
    let sender = std::thread::spawn(move || {
        for attempt in 1.. {
            while its_begun.load(Ordering::SeqCst) < attempt {
                std::hint::spin_loop();
            }
            if its_begun.load(Ordering::SeqCst) == u64::MAX || tx.try_send(attempt).is_err() {
                return;
            }
            its_sent.store(attempt, Ordering::SeqCst);
        }
    });
    let end = Instant::now() + Duration::from_secs(60);
    let mut noop = Context::from_waker(Waker::noop());
    let mut lost = None;
    for attempt in 1_u64.. {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut first = Box::pin(rx.recv());
        let mut second = pin!(other.recv());
        assert_eq!(first.as_mut().poll(&mut noop), Poll::Pending);
        let context = &mut Context::from_waker(&waker);
        assert_eq!(second.as_mut().poll(context), Poll::Pending);
        begun.store(attempt, Ordering::SeqCst);
        for _ in 0..attempt % 200 {
            std::hint::spin_loop();
        }
        drop(first);
        while sent.load(Ordering::SeqCst) < attempt {
            std::hint::spin_loop();
        }
        // The send and the drop are over, and a value lies in the channel: the second receiver has to be woken.
        if !flag.0.load(Ordering::SeqCst) {
            lost = Some(attempt);
            break;
        }
        assert_eq!(second.as_mut().poll(context), Poll::Ready(Ok(attempt)));
        if Instant::now() > end {
            break;
        }
    }
    begun.store(u64::MAX, Ordering::SeqCst);
    let _ = sender.join();
    match lost {
        Some(attempt) => println!("attempt {attempt}: the receiver sleeps before a value"),
        None => println!("it did not happen within a minute"),
    }
}
