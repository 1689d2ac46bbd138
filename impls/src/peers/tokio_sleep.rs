//! tokio's `sleep_until`: timers that only futures can wait for.
//!
//! | offered | where the crate documents it |
//! | --- | --- |
//! | sleep | `time::sleep_until`: "Waits until `deadline` is reached" |
//! | dropping calls off | `time::sleep_until`, "Cancellation": "done by dropping the returned future. No additional cleanup work is required" |
//!
//! Nothing is claimed. Its ticks are of 1 ms: "operates at millisecond granularity and should not be used for tasks
//! that require high-resolution timers". The order in which tasks due in one tick are woken is not documented.
//!
//! A sleep belongs to the runtime in which it was made, and fires there. Any thread may poll it. A service that is
//! started inside a runtime uses the runtime that its caller runs in, as the crate's own function does, and adds no
//! cost. A service that is started elsewhere brings a runtime with one thread, which every call has to enter. A sleep
//! that is polled after its runtime has ended panics, as the crate's own does. So `answers-sleepers` is not claimed.

use ::std::pin::Pin;
use ::std::task::{Context, Poll};

use ::tokio::runtime::Handle;
use ::tokio::time;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use super::tokio_runtime::OwnRuntime;
use crate::sync::clock;

/// A runtime's timer.
#[derive(Debug)]
pub struct TokioSleep {
    /// `None`: the caller's runtime.
    runtime: Option<OwnRuntime>,
}

impl Sleep for TokioSleep {
    /// # Panics
    /// When there is no runtime and the system refuses a thread for one.
    fn start() -> Self {
        TokioSleep {
            runtime: Handle::try_current().is_err().then(OwnRuntime::of_timer),
        }
    }

    /// # Panics
    /// Outside of every runtime, and in a runtime without a timer, if the service was started inside a runtime.
    #[inline]
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        let sleep = clock::instant(deadline).map(|at| {
            let _context = self.runtime.as_ref().map(|runtime| runtime.enter());
            time::sleep_until(at.into())
        });
        OrNever { sleep }
    }
}

pin_project_lite::pin_project! {
    /// A sleep, or none for a deadline that never comes, because tokio has no such sleep.
    ///
    /// An `async` block would hold the sleep twice.
    struct OrNever {
        #[pin]
        sleep: Option<time::Sleep>,
    }
}

impl Future for OrNever {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.project().sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(context),
            None => Poll::Pending,
        }
    }
}
