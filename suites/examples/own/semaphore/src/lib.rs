//! An asynchronous semaphore.

#[cfg(test)]
mod linearizable;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// Permits that tasks wait for.
#[derive(Debug)]
pub struct Semaphore {
    state: Mutex<State>,
    /// The fault of a test: a release reads the waiting tasks under one lock, and adds the permit under another.
    #[cfg(test)]
    loses_wake_ups: bool,
}

#[derive(Debug)]
struct State {
    permits: usize,
    waiting: VecDeque<Waker>,
}

impl Semaphore {
    /// A semaphore with so many permits.
    pub fn new(permits: usize) -> Semaphore {
        Semaphore {
            state: Mutex::new(State {
                permits,
                waiting: VecDeque::new(),
            }),
            #[cfg(test)]
            loses_wake_ups: false,
        }
    }

    /// Takes a permit; waits while there is none.
    pub async fn acquire(&self) {
        poll_fn(|context| self.poll_acquire(context)).await;
    }

    fn poll_acquire(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock().expect("no operation panics");
        if state.permits > 0 {
            state.permits -= 1;
            return Poll::Ready(());
        }
        state.waiting.push_back(context.waker().clone());
        Poll::Pending
    }

    /// Takes a permit if there is one.
    pub fn try_acquire(&self) -> bool {
        let mut state = self.state.lock().expect("no operation panics");
        let taken = state.permits > 0;
        state.permits -= usize::from(taken);
        taken
    }

    /// Adds a permit, and wakes the tasks that wait.
    pub fn release(&self) {
        #[cfg(test)]
        if self.loses_wake_ups {
            let waiting =
                std::mem::take(&mut self.state.lock().expect("no operation panics").waiting);
            waiting.into_iter().for_each(Waker::wake);
            self.state.lock().expect("no operation panics").permits += 1;
            return;
        }
        let mut state = self.state.lock().expect("no operation panics");
        state.permits += 1;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}
