//! An error that a callback finds, or that the checker finds in a callback, fails the model. A channel contains the
//! panics of callbacks and wakers (C11), and must not contain these.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{Async, Blocking, Buffer, Callback};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_impls_loom::channel::mutex::MutexChannels as UnderLoom;
use flowmeter_impls_shuttle::channel::mutex::MutexChannels as UnderShuttle;
use flowmeter_suites::isolation::Model;

/// The models.
pub fn models() -> Vec<Model> {
    let mut models = of::<UnderLoom, Loom>();
    models.extend(of::<UnderShuttle, Shuttle>());
    models
}

fn of<C: Callback + Blocking + Async, W: World>() -> Vec<Model> {
    let finds = |name: &str, says: &'static str, model: fn()| {
        let plan = Exploration {
            executions: 1_000,
            time: Duration::from_secs(20),
            ..Exploration::default()
        };
        let name = format!("{}::mutex::{name}", W::NAME);
        Model::finds(name, says, move || W::explore(&plan, model))
    };
    vec![
        finds(
            "a_callback_that_waits_and_finds_another_value",
            "the callback's assertion",
            a_callback_asserts_when_served::<C, W>,
        ),
        finds(
            "a_callback_that_is_served_at_once_and_finds_another_value",
            "the callback's assertion",
            a_callback_asserts_at_once::<C>,
        ),
        finds(
            "a_waker_that_finds_something_wrong",
            "the waker's assertion",
            a_waker_asserts::<C>,
        ),
        finds(
            "a_deadlock_in_a_callback",
            "deadlock",
            a_callback_waits_for_no_thread::<C>,
        ),
    ]
}

fn a_callback_asserts_when_served<C: Callback + Blocking, W: World>() {
    let (mut tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("it has a rendezvous");
    C::take_then(&rx, |answer| {
        assert_eq!(answer, Ok(2), "the callback's assertion");
    });
    W::join(W::spawn(move || {
        let _ = C::put(&mut tx, 1);
    }));
}

fn a_callback_asserts_at_once<C: Callback>() {
    let (mut tx, rx) = C::open::<u32>(Buffer::fixed(1)).expect("it has a buffer");
    let _ = C::offer(&mut tx, 1);
    C::take_then(&rx, |answer| {
        assert_eq!(answer, Ok(2), "the callback's assertion");
    });
}

struct Asserts;

impl Wake for Asserts {
    fn wake(self: Arc<Self>) {
        panic!("the waker's assertion");
    }
}

fn a_waker_asserts<C: Async>() {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("it has a rendezvous");
    let mut take = Box::pin(C::take_async(&mut rx));
    let waker = Waker::from(Arc::new(Asserts));
    let early = take.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(early.is_pending(), "C3: a take of nothing");
    let _ = C::offer(&mut tx, 1);
}

/// Under a checker the last thread that blocks is the one that panics: here, inside the callback.
fn a_callback_waits_for_no_thread<C: Callback + Blocking>() {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::fixed(1)).expect("it has a buffer");
    let further = C::another_rx(&rx).expect("a shared handle");
    let _ = C::offer(&mut tx, 1);
    C::take_then(&further, move |_| {
        let _ = C::take(&mut rx);
    });
}
