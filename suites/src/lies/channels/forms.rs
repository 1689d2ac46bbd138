//! The forms of puts and takes: by thread, by future, by callback, until a deadline.

use std::future::{Future, pending};
use std::sync::Arc;

use flowmeter_harness::channel::{
    Async, Blocking, Callback, Message, Polled, PutDeadline, PutError, PutUntilError, TakeDeadline,
    TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::super::deadlines::other;
use super::super::future::{awaited, hasty};
use super::super::told;
use super::super::values::{Spare, double, ghost};
use super::put::Put;
use super::take::{Take, answered, answered_until};
use super::{HERE, Lying, Rx, Shared, Tx};

impl<C: Blocking> Blocking for Lying<C> {
    fn put<T: Message>(tx: &mut Tx<C, T>, value: T) -> Result<(), PutError<T>> {
        let shared = Arc::clone(&tx.shared);
        Put::begin(&shared, value).put(|value| C::put(tx.real_mut(), value))
    }

    fn take<T: Message>(rx: &mut Rx<C, T>) -> Result<T, TakeError> {
        match Take::begin::<C>(rx) {
            Some(Take::Make) => {}
            Some(Take::Answer(value)) => return Ok(value),
            Some(Take::Closed) => return Err(TakeError::Closed),
            None => return Err(TakeError::TooManyWaiters),
        }
        let answer = C::take(rx.real_mut());
        let value = answered(&rx.shared, answer)?;
        if told("a take overtakes")
            && let Polled::Done(second) = C::poll(rx.real_mut())
        {
            rx.shared.add(Some(value));
            return Ok(second);
        }
        Ok(value)
    }
}

impl<C: PutDeadline> PutDeadline for Lying<C> {
    fn put_until<T: Message>(
        tx: &mut Tx<C, T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let shared = Arc::clone(&tx.shared);
        let deadline = other(deadline);
        Put::begin(&shared, value).put_until(|value| C::put_until(tx.real_mut(), value, deadline))
    }
}

impl<C: TakeDeadline> TakeDeadline for Lying<C> {
    fn take_until<T: Message>(rx: &mut Rx<C, T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        match Take::begin::<C>(rx) {
            Some(Take::Make) => {}
            Some(Take::Answer(value)) => return Ok(value),
            Some(Take::Closed) => return Err(TakeUntilError::Take(TakeError::Closed)),
            None => return Err(TakeUntilError::TimedOut),
        }
        let answer = C::take_until(rx.real_mut(), other(deadline));
        answered_until(&rx.shared, answer)
    }
}

impl<C: Async> Async for Lying<C> {
    fn put_async<T: Message>(
        tx: &mut Tx<C, T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let shared = Arc::clone(&tx.shared);
        let lands = if told("a dropped put is delivered") {
            Some(double(&value))
        } else if told("a dropped put is delivered in its own stead") {
            // Nothing but its coming is wrong: it is not there twice.
            Some(ghost(&value))
        } else {
            None
        };
        let mut cancelled = Cancelled {
            shared: Arc::clone(&shared),
            lands,
        };
        let put = async move {
            let (turn, aftermath) = Put::begin(&shared, value).split();
            let answer = match turn {
                Ok(value) => {
                    let put = C::put_async(tx.real_mut(), value);
                    aftermath.answer(awaited(put).await)
                }
                Err(answer) => answer,
            };
            cancelled.is_answered();
            answer
        };
        let unmade = "a put is answered before its time";
        hasty(put, [unmade, "a put that waits is answered"], || Ok(()))
    }

    fn take_async<T: Message>(
        rx: &mut Rx<C, T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        let take = async move {
            if told("a take never looks") {
                return pending().await;
            }
            let (real, shared) = (rx.real.as_mut().expect(HERE), &rx.shared);
            match Take::of(shared) {
                Some(Take::Make) => {}
                Some(Take::Answer(value)) => return Ok(value),
                Some(Take::Closed) => return Err(TakeError::Closed),
                None => return Err(TakeError::TooManyWaiters),
            }
            answered(shared, awaited(C::take_async(real)).await)
        };
        let unmade = "a take is answered before its time";
        hasty(take, [unmade, "a take that waits is answered"], || {
            Err(TakeError::Closed)
        })
    }
}

/// A put that is dropped while it waits.
struct Cancelled<T> {
    shared: Arc<Shared<T>>,
    lands: Option<Spare<T>>,
}

impl<T> Cancelled<T> {
    fn is_answered(&mut self) {
        self.lands = None;
    }
}

impl<T> Drop for Cancelled<T> {
    fn drop(&mut self) {
        self.shared.add(self.lands.take().and_then(Spare::take));
    }
}

impl<C: Callback> Callback for Lying<C> {
    fn put_then<T: Message>(
        tx: &Tx<C, T>,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    ) {
        let shared = Arc::clone(&tx.shared);
        let then = unless_forgotten(then);
        let (turn, aftermath) = Put::begin(&shared, value).split();
        match turn {
            Ok(value) => {
                C::put_then(tx.real(), value, move |made| then(aftermath.answer(made)));
            }
            Err(answer) => then(answer),
        }
    }

    fn take_then<T: Message>(
        rx: &Rx<C, T>,
        then: impl FnOnce(Result<T, TakeError>) + Send + 'static,
    ) {
        let then = unless_forgotten(then);
        match Take::of(&rx.shared) {
            Some(Take::Make) => {}
            Some(Take::Answer(value)) => return then(Ok(value)),
            Some(Take::Closed) => return then(Err(TakeError::Closed)),
            None => return then(Err(TakeError::TooManyWaiters)),
        }
        let shared = Arc::clone(&rx.shared);
        C::take_then(rx.real(), move |answer| then(answered(&shared, answer)));
    }
}

/// The callback, or as a lie none.
fn unless_forgotten<A>(then: impl FnOnce(A) + Send + 'static) -> impl FnOnce(A) + Send + 'static {
    let called = !told("a callback is not called");
    move |answer| {
        if called {
            then(answer);
        }
    }
}
