//! A guarantee beyond the properties: on a work-stealing executor, one blocked thread does not block other tasks.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_impls_shuttle::channel::mutex::MutexChannels;
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool;
use flowmeter_impls_shuttle::executor::thread_per_task::ThreadPerTask;
use flowmeter_impls_shuttle::executor::work_stealing::WorkStealing;
use flowmeter_suites::isolation::Model;

/// The models.
pub fn models() -> Vec<Model> {
    vec![
        holds::<FixedPool>("fixed_pool"),
        holds::<ThreadPerTask>("thread_per_task"),
        holds::<WorkStealing>("work_stealing"),
    ]
}

fn holds<E: Executors>(name: &str) -> Model {
    let plan = Exploration {
        executions: 20_000,
        ..Exploration::default()
    };
    Model::holds(
        format!("shuttle::{name}::what_a_thread_carries_off_is_run_while_it_is_held_up"),
        move || Shuttle::explore(&plan, held_up::<E>),
    )
}

/// One of two threads waits in the first task until the other tasks have run; it may have stolen some of them.
fn held_up<E: Executors>() {
    const OTHERS: usize = 2;
    let executor = E::with_threads(NonZeroUsize::MIN.saturating_add(1));
    let open = || MutexChannels::open::<()>(Buffer::fixed(1)).expect("it has a buffer");
    let (puts, mut waits): (Vec<_>, Vec<_>) = (0..OTHERS).map(|_| open()).unzip();
    let (mut end, mut ended) = open();
    executor.spawn(async move {
        for rx in &mut waits {
            let _ = MutexChannels::take(rx);
        }
        let _ = MutexChannels::put_async(&mut end, ()).await;
    });
    for mut tx in puts {
        executor.spawn(async move {
            let _ = MutexChannels::put_async(&mut tx, ()).await;
        });
    }
    let all = Shuttle::block_on(MutexChannels::take_async(&mut ended));
    drop(executor);
    assert_eq!(all, Ok(()));
}
