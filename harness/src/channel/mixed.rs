//! Alts over channels of different message types, for threads and for tasks.
//!
//! [`Alts`] has one message type and no indirection, for loops that are timed. Here every clause is a separate value,
//! typed by its message. A run borrows all clauses through one type of the family that hides the message type. After
//! the run each clause holds its result: the winning take has the value, the winning put has an empty slot, and the
//! slot of every losing put still holds its value.
//! won has an empty slot, and every loser's slot holds its value still.

use std::future::Future;

use super::{Alts, AltsError, Async, Message, Order, Patience};

/// What a run of an alts ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The clause of that index committed.
    Clause(usize),
    /// No clause was able, and the patience was [`Patience::Now`].
    Default,
    /// No clause committed before patience ended.
    TimedOut,
}

/// Waits on several channels of any message types; exactly one clause commits.
///
/// ```
/// # use flowmeter_harness::channel::{AltsError, MixedAlts, Order, Patience, Winner};
/// /// The next name, unless the number was accepted first.
/// fn name_or_number<C: MixedAlts>(
///     names: &C::Rx<String>,
///     numbers: &C::Tx<u32>,
/// ) -> Result<Option<String>, AltsError> {
///     let mut name = C::take_clause(names);
///     let mut number = C::put_clause(numbers, Some(7));
///     let winner = C::run_mixed(
///         &mut [C::any_take(&mut name), C::any_put(&mut number)],
///         Order::Random,
///         Patience::Forever,
///     )?;
///     Ok(match winner {
///         Winner::Clause(0) => C::taken(&mut name),
///         _ => None,
///     })
/// }
/// ```
pub trait MixedAlts: Alts {
    /// A take, and what it brought.
    type TakeClause<'a, T: Message>: Send;
    /// A put, and its value.
    type PutClause<'a, T: Message>: Send;
    /// A clause as a run sees it, independent of its message type.
    type AnyClause<'c>: Send;

    /// A clause that takes from this half. Halves are borrowed shared: a channel may stand in several clauses.
    fn take_clause<T: Message>(rx: &Self::Rx<T>) -> Self::TakeClause<'_, T>;

    /// A clause that puts the value in its slot into this half; a run with an empty slot is an error.
    fn put_clause<T: Message>(tx: &Self::Tx<T>, slot: Option<T>) -> Self::PutClause<'_, T>;

    /// The take as a run sees it.
    fn any_take<'c, T: Message>(clause: &'c mut Self::TakeClause<'_, T>) -> Self::AnyClause<'c>;

    /// The put as a run sees it.
    fn any_put<'c, T: Message>(clause: &'c mut Self::PutClause<'_, T>) -> Self::AnyClause<'c>;

    /// What a winning take received, returned once; `None` where its channel was closed and empty.
    fn taken<T: Message>(clause: &mut Self::TakeClause<'_, T>) -> Option<T>;

    /// The slot of a put. It is empty after the value was accepted, and full if the put lost or its channel was closed.
    /// Fill it again before the next run.
    fn slot<'c, T: Message>(clause: &'c mut Self::PutClause<'_, T>) -> &'c mut Option<T>;

    /// Commits exactly one clause, or none if the patience ends first. A value from an earlier run that was not
    /// collected is dropped.
    ///
    /// # Errors
    /// [`AltsError`], before any effect.
    fn run_mixed(
        clauses: &mut [Self::AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError>;
}

/// An alts that tasks await.
pub trait AwaitAlts: MixedAlts + Async {
    /// [`MixedAlts::run_mixed`] as a future. Its patience ends once `until` is ready, which is polled only while no
    /// clause is able. For an alts without a time limit pass [`std::future::pending`]. If a clause and `until` race,
    /// exactly one wins (A9).
    ///
    /// If it is dropped while pending, no clause stays behind. If a clause had committed by then, nothing is lost (C9):
    /// a value that a take received goes back to its channel, and the value of a put has been delivered.
    ///
    /// # Errors
    /// [`AltsError`], before any effect.
    fn run_async(
        clauses: &mut [Self::AnyClause<'_>],
        order: Order,
        until: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<Winner, AltsError>> + Send;
}

/// Anything that an alts can take from. It knows its family and its message type, which a half alone does not tell. A
/// handle that is not a half of its family may implement it too.
pub trait TakePort {
    /// The family of the channel.
    type Family: MixedAlts;
    /// The message type.
    type Message: Message;

    /// A clause that takes from this port.
    fn take_clause(&self) -> <Self::Family as MixedAlts>::TakeClause<'_, Self::Message>;
}

/// Anything that an alts can put to.
pub trait PutPort {
    /// The family of the channel.
    type Family: MixedAlts;
    /// The message type.
    type Message: Message;

    /// A clause that puts the value in its slot into this port.
    fn put_clause(
        &self,
        slot: Option<Self::Message>,
    ) -> <Self::Family as MixedAlts>::PutClause<'_, Self::Message>;
}

macro_rules! ports_are_borrowed {
    ($($borrowed:ty),*) => {$(
        impl<P: TakePort + ?Sized> TakePort for $borrowed {
            type Family = P::Family;
            type Message = P::Message;

            fn take_clause(&self) -> <Self::Family as MixedAlts>::TakeClause<'_, Self::Message> {
                (**self).take_clause()
            }
        }

        impl<P: PutPort + ?Sized> PutPort for $borrowed {
            type Family = P::Family;
            type Message = P::Message;

            fn put_clause(
                &self,
                slot: Option<Self::Message>,
            ) -> <Self::Family as MixedAlts>::PutClause<'_, Self::Message> {
                (**self).put_clause(slot)
            }
        }
    )*};
}

ports_are_borrowed!(&P, &mut P);
