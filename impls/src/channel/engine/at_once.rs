//! First attempts: what most puts and takes need, short enough to be inlined into the caller.
//!
//! A design with a front tries that, without the lock. A design without a front tries under the lock, if that is free.
//! There a task also serves a request that waits, as it does at a rendezvous every other time. A thread that fails with
//! the lock held keeps it for the next attempt. A task gives it up, since it clones its waker with no lock held.
//!
//! They are inlined always, since a compiler that sees several calls of a put would not. An answer that is returned
//! through memory takes longer than the put itself.

use super::attempt;
use super::store::Store;
use super::{ChannelOver, Guard};
use crate::channel::front::Front;
use crate::channel::{EXPLORED, outlook};

/// What a failed put gives back: the lock, if it was taken, and the value.
pub(super) type GivenBack<'a, T, S> = (Option<Guard<'a, T, S>>, T);

impl<T: Send, S: Store<T>> ChannelOver<T, S> {
    /// Stores a value in one attempt, where nothing else is to be done.
    ///
    /// # Errors
    /// Gives the value back, and the lock if it was taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add_at_once(&self, value: T) -> Result<(), GivenBack<'_, T, S>> {
        if S::Front::OPENS {
            let added = self.front.offer_at_once(value);
            return added.map_err(|value| (None, value));
        }
        let Some(mut state) = self.lock_at_once() else {
            return Err((None, value));
        };
        if let Err(value) = state.add_at_once(value) {
            return Err((Some(state), value));
        }
        state.count_use();
        Ok(())
    }

    /// Removes a stored value in one attempt, in the same way.
    ///
    /// # Errors
    /// Gives the lock back if it was taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_at_once(&self) -> Result<T, Option<Guard<'_, T, S>>> {
        if S::Front::OPENS {
            return self.front.poll_at_once().ok_or(None);
        }
        let mut state = self.lock_at_once().ok_or(None)?;
        let Some(value) = state.next_at_once() else {
            return Err(Some(state));
        };
        state.count_use();
        Ok(value)
    }

    /// The lock, if it is free. In explored worlds it is waited for, so that a request takes it once there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lock_at_once(&self) -> Option<Guard<'_, T, S>> {
        match EXPLORED {
            true => Some(self.lock()),
            false => self.shared.state.try_lock().map(Guard::new),
        }
    }

    /// Puts for a task, if that can be done without waiting. Answers with the value if the channel is closed. Without a
    /// front the caller has looked whether the thread expects to wait, and this takes note that it did not.
    ///
    /// # Errors
    /// Gives the value back, and the lock if the attempt was made under it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn put_at_once(&self, value: T) -> Result<Result<(), T>, GivenBack<'_, T, S>> {
        let put = match self.add_at_once(value) {
            Ok(()) => Ok(()),
            Err((None, value)) => return Err((None, value)),
            Err((Some(state), value)) => {
                attempt::put(state, value).map_err(|(state, value)| (Some(state), value))?
            }
        };
        if !S::Front::OPENS {
            outlook::learn(false);
        }
        Ok(put)
    }

    /// Takes for a task, in the same way. Answers with nothing if the channel is closed and empty.
    ///
    /// # Errors
    /// Gives the lock back if the attempt was made under it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_at_once(&self) -> Result<Option<T>, Option<Guard<'_, T, S>>> {
        let taken = match self.next_at_once() {
            Ok(value) => Some(value),
            Err(None) => return Err(None),
            Err(Some(state)) => attempt::take(state).map_err(Some)?,
        };
        if !S::Front::OPENS {
            outlook::learn(false);
        }
        Ok(taken)
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::future::Future;
    use std::num::NonZeroUsize;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeUntilError};
    use flowmeter_harness::sync::Deadline;

    use crate::channel::engine::{Buffer as Stored, ChannelOver};
    use crate::sync::clock;

    fn past() -> Deadline {
        clock::after(Duration::ZERO)
    }

    /// A thread that tries without end must not keep away the task that it waits for.
    #[test]
    fn a_refused_put_or_take_is_no_use_of_the_lock() {
        let channel = ChannelOver::<i32, Stored<i32>>::new(Buffer::Fixed(NonZeroUsize::MIN));
        let uses = || channel.shared.state.uses();
        assert!(matches!(channel.poll(), Polled::WouldWait));
        assert_eq!(channel.take_until(past()), Err(TakeUntilError::TimedOut));
        assert_eq!(uses(), 0);
        channel.put(1).unwrap();
        assert_eq!(uses(), 1);
        assert!(matches!(channel.offer(2), Offered::WouldWait(2)));
        assert!(channel.put_until(2, past()).is_err());
        assert_eq!(uses(), 1);
        assert_eq!(channel.take(), Ok(1));
        assert_eq!(uses(), 2);
        channel.close();
        assert_eq!(channel.put(3), Err(PutError::Closed(Some(3))));
        assert_eq!(uses(), 2);
    }

    #[test]
    fn a_request_that_waits_and_one_that_serves_it_are_uses() {
        let channel = ChannelOver::<i32, Stored<i32>>::new(Buffer::Rendezvous);
        let uses = || channel.shared.state.uses();
        let mut context = Context::from_waker(Waker::noop());
        let mut take = pin!(channel.take_async());
        assert!(take.as_mut().poll(&mut context).is_pending());
        assert_eq!(uses(), 1);
        assert!(matches!(channel.offer(1), Offered::Done));
        assert_eq!(uses(), 2);
        assert!(take.poll(&mut context).is_ready());
        let mut put = pin!(channel.put_async(2));
        assert!(put.as_mut().poll(&mut context).is_pending());
        assert!(matches!(channel.poll(), Polled::Done(2)));
        assert_eq!(uses(), 4);
    }
}
