//! tokio's `sleep_until` in a runtime that has been up for nearly 12.4 days (2^30 ms), while a sleep of 2.2 years (2^36 ms)
//! waits in it.

use ::std::time::Duration;

use ::tokio::time;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use super::tokio_runtime::OwnRuntime;
use crate::sync::clock;

/// The timer of such a runtime.
#[derive(Debug)]
pub struct Aged(OwnRuntime);

const YEARS: Duration = Duration::from_millis((1 << 36) + 3_600_000);
const UP: Duration = Duration::from_millis((1 << 30) - 2);

impl Sleep for Aged {
    fn start() -> Self {
        let runtime = OwnRuntime::of_timer();
        runtime.spawn(async { time::sleep(YEARS).await });
        runtime.block_on(async { time::sleep(UP).await });
        Aged(runtime)
    }

    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        let sleep = clock::instant(deadline).map(|at| {
            let _context = self.0.enter();
            time::sleep_until(at.into())
        });
        async {
            match sleep {
                Some(sleep) => sleep.await,
                None => ::std::future::pending().await,
            }
        }
    }
}
