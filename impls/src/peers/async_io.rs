//! async-io's `Timer`: timers that only futures can wait for.
//!
//! | offered | where the crate documents it |
//! | --- | --- |
//! | sleep | `Timer::at`: "emits an event once at the given time instant"; `Timer::never`; `Timer`, "Precision": "It will never sleep for less" |
//!
//! Nothing is claimed. All services are one: the crate has a single reactor for the process. At its first use "a thread
//! named 'async-io' will be spawned", which never ends (crate docs, "Implementation"). Futures that are polled by the
//! crate's own `block_on` need no such thread; ours are polled elsewhere.

use ::async_io::Timer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use super::answered::Answered;
use crate::sync::clock;

/// The process's reactor.
#[derive(Clone, Copy, Debug)]
pub struct AsyncIo;

impl Sleep for AsyncIo {
    fn start() -> Self {
        AsyncIo
    }

    #[inline]
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        let timer = clock::instant(deadline).map_or_else(Timer::never, Timer::at);
        Answered::new(timer, |_| ())
    }
}
