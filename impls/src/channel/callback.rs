//! Puts and takes that answer a callback, as core.async's `put!` and `take!` (C11).

use flowmeter_harness::channel::{PutError, TakeError};

use super::halves::{Consumer, Handle, Producer};

/// A handle whose puts and takes may answer a callback.
pub trait Callbacks: Handle {
    /// Puts, and gives the answer to `then`: on this thread if the put is able at once, else on the
    /// thread that completes it; outside any lock. A callback that panics ends alone.
    ///
    /// A callback should not wait: it would hold up the thread that it runs on. While it waits in a blocking call of this
    /// library, the callbacks behind it run on a thread that is started for them, if the system has one left. While it waits
    /// by other means, such as a lock or `block_on`, those wait as well.
    fn put_then(
        &self,
        value: Self::Value,
        then: impl FnOnce(Result<(), PutError<Self::Value>>) + Send + 'static,
    );

    /// Takes, and gives the answer to `then`, as [`Callbacks::put_then`].
    fn take_then(&self, then: impl FnOnce(Result<Self::Value, TakeError>) + Send + 'static);
}

impl<H: Callbacks> Producer<H> {
    /// As [`Callbacks::put_then`].
    pub fn put_then(
        &self,
        value: H::Value,
        then: impl FnOnce(Result<(), PutError<H::Value>>) + Send + 'static,
    ) {
        self.handle().put_then(value, then);
    }
}

impl<H: Callbacks> Consumer<H> {
    /// As [`Callbacks::take_then`].
    pub fn take_then(&self, then: impl FnOnce(Result<H::Value, TakeError>) + Send + 'static) {
        self.handle().take_then(then);
    }
}
