//! Takes the place of async-io in a twin. Its reactor waits for events of the system, which no schedule has. What is
//! left of its `block_on` is a thread that polls and parks.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::sync::shuttle::twin::apart;
use flowmeter_std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// As `async_io::block_on`.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    // async-io keeps one for each thread.
    let waker = {
        let _apart = apart();
        Waker::from(Arc::new(Unpark(thread::current())))
    };
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
