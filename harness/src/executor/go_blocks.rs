//! Go blocks written as explicit state machines (G3), as core.async's macro `go` writes them.
//!
//! A block is a function from state to state. A state is a value of the block's own type, most often an enum with
//! variants that carry the answer to the preceding operation. The function is the `case` over the states, and its
//! captures are the block's variables. Each state ends with a [`Step`]: an operation on a channel, the next state, or
//! the result.
//!
//! ```
//! # use flowmeter_harness::channel::{AwaitAlts, Callback, PutError, TakeError};
//! # use flowmeter_harness::executor::{Frame, GoBlocks, Spawn, Step};
//! enum State {
//!     One,
//!     Two(Result<(), TakeError>),
//!     Three(Result<(), PutError<(&'static str, String)>>),
//! }
//!
//! /// `(go (<! timeout) (>! c [kind query]))`
//! fn fake_search<G: GoBlocks<C>, C: Callback>(
//!     go: &impl Spawn,
//!     timeout: C::Rx<()>,
//!     c: C::Tx<(&'static str, String)>,
//!     kind: &'static str,
//!     query: String,
//! ) -> C::Rx<()> {
//!     G::go(go, State::One, move |frame, state| match state {
//!         State::One => frame.take(&timeout, State::Two),
//!         State::Two(_closed) => frame.put(&c, (kind, query.clone()), State::Three),
//!         State::Three(_accepted) => Step::Return(None),
//!     })
//! }
//! ```
//!
//! `if` and `case` choose the next state. A loop returns to an earlier one: [`Step::Recur`].

use std::fmt;
use std::future::Future;

use super::Spawn;
use crate::channel::{
    AltsError, AwaitAlts, Callback, Channels, Message, Order, PutError, TakeError, Winner,
};

/// How a state ends, in a block with states `S` and a result `T`.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<S, T> {
    /// Continues with that state at once, on the same thread.
    Recur(S),
    /// Continues once the requested operation is answered; meanwhile the thread is free. Only an operation returns
    /// this: a block that returns it by itself waits forever.
    Parked,
    /// The block is over: its channel has the result, if there is one, and is closed.
    Return(Option<T>),
}

/// Starts the operation of a state: at most one. `next` turns the answer into the next state; it is often the
/// constructor of a variant. An operation that is answered immediately returns [`Step::Recur`].
pub trait Frame<C: Channels, S: Send + 'static>: Sized {
    /// Takes, as [`Callback::take_then`].
    fn take<V: Message, T>(
        self,
        from: &C::Rx<V>,
        next: impl FnOnce(Result<V, TakeError>) -> S + Send + 'static,
    ) -> Step<S, T>;

    /// Puts, as [`Callback::put_then`].
    fn put<V: Message, T>(
        self,
        to: &C::Tx<V>,
        value: V,
        next: impl FnOnce(Result<(), PutError<V>>) -> S + Send + 'static,
    ) -> Step<S, T>;

    /// Waits on several channels at once, as [`AwaitAlts::run_async`]. With [`std::future::ready`] as `until` it does
    /// not wait.
    fn alts<V: Message, T>(
        self,
        ports: Vec<Port<C, V>>,
        order: Order,
        until: impl Future<Output = ()> + Send + 'static,
        next: impl FnOnce(Selected<C, V>) -> S + Send + 'static,
    ) -> Step<S, T>
    where
        C: AwaitAlts;
}

/// A port of an alts in a state machine. The alts owns it until it is answered.
#[derive(Debug)]
pub enum Port<C: Channels, V: Message> {
    /// Take from this half.
    Take(C::Rx<V>),
    /// Put that value into this half; without one the alts is refused.
    Put(C::Tx<V>, Option<V>),
}

/// The result of an alts in a state machine.
pub struct Selected<C: Channels, V: Message> {
    /// Index of the port that won; [`Winner::TimedOut`] if `until` was ready first.
    ///
    /// # Errors
    /// As [`AwaitAlts::run_async`].
    pub winner: Result<Winner, AltsError>,
    /// What was taken if a take won; `None` if its channel was closed and empty.
    pub taken: Option<V>,
    /// The ports. A put that lost or found its channel closed holds its value again.
    pub ports: Vec<Port<C, V>>,
}

impl<C: Channels, V: Message + fmt::Debug> fmt::Debug for Selected<C, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selected")
            .field("winner", &self.winner)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

/// A design that runs go blocks written as state machines, over channels of that family and on any executor.
pub trait GoBlocks<C: Callback>: Sized + Send + Sync + 'static {
    /// Starts the operation of a state.
    type Frame<'f, S: Send + 'static>: Frame<C, S>;

    /// Runs a block from that state on: returns a channel that yields its result once and is then closed, as
    /// [`go`](super::go) does (G1).
    ///
    /// # Panics
    /// When the family has no fixed buffer.
    fn go<S: Send + 'static, T: Message>(
        spawner: &impl Spawn,
        begin: S,
        block: impl FnMut(Self::Frame<'_, S>, S) -> Step<S, T> + Send + 'static,
    ) -> C::Rx<T>;
}
