//! A waker that remembers whether it was woken, and wakes the thread that listens to it. A thread with several futures
//! polls only what was woken by its latest waker, so a wake-up that goes to another waker is missed as in a real
//! executor.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Std primitives in every world: they order nothing between the threads of a model.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    thread: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::Relaxed);
        let thread = self.swap(None);
        if let Some(thread) = thread {
            thread.wake();
        }
    }
}

impl Bell {
    /// Wakes that thread the next time. Call it before asking [`Bell::is_rung`].
    pub(crate) fn hears(&self, thread: &Waker) {
        drop(self.swap(Some(thread.clone())));
    }

    /// A waker is cloned and dropped with the lock open: in an explored world either may switch threads.
    fn swap(&self, thread: Option<Waker>) -> Option<Waker> {
        let mut heard = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut heard, thread)
    }

    /// Whether it was woken.
    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Relaxed)
    }
}

/// A future that waits, and whether it was woken.
pub(crate) struct Waits<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
    bell: Arc<Bell>,
}

impl<'a, T> Waits<'a, T> {
    /// Polls nothing yet.
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'a) -> Self {
        Waits {
            future: Box::pin(future),
            bell: Arc::default(),
        }
    }

    /// Polls it.
    ///
    /// # Panics
    /// When it does not wait.
    pub(crate) fn begin(future: impl Future<Output = T> + Send + 'a) -> Self {
        let mut waits = Waits::new(future);
        assert!(waits.poll().is_pending(), "what it waits for is not there");
        waits
    }

    /// Polls it, each time under the same waker.
    pub(crate) fn poll(&mut self) -> Poll<T> {
        let waker = Waker::from(Arc::clone(&self.bell));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Whether it was woken.
    pub(crate) fn is_woken(&self) -> bool {
        self.bell.is_rung()
    }
}
