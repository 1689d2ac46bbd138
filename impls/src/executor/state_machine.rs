//! `state_machine`: a go block as a state array that channel callbacks drive (G3).
//!
//! | core.async's array | here |
//! | --- | --- |
//! | `FN-IDX`, the state machine function | `Machine::function` |
//! | `STATE-IDX`, the current state | a value of the block's own type, in its `Turn` |
//! | `VALUE-IDX`, the result of the previous operation | what that value carries |
//! | `BINDINGS-IDX`, the bindings at the spawn | in the spawner, if it conveys them ([`super::bindings`]) |
//! | `USER-START-IDX`, the channel that `go` returns | `Machine::returns` |
//! | the block's variables | what the function captures |
//!
//! If an operation is answered before it returns, the next state is there at once: the loop continues, and no stack
//! grows. Otherwise the machine returns and its thread is free. The callback later stores the next state and wakes the
//! machine. The machine is a task of the executor, and its poll is `run-state-machine`. So its panics are counted, and
//! it ends with its executor, like a block that is a future (G1).
//!
//! Invariant: either there is no state, and the turn is with the machine or with the one operation that it has started.
//! Or there is a state, and the machine runs or has been woken.
//!
//! A machine that is dropped with its executor while it waits leaves its callback in the channel, as core.async does.
//! The answer to that callback is dropped. An alts is withdrawn.
//!
//! Source: "The State Machines of core.async", and `clojure.core.async.impl.ioc-macros`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    AwaitAlts, Buffer, Callback, Message, Order, PutError, TakeError, Winner,
};
use flowmeter_harness::executor::{Frame, GoBlocks, Port, Selected, Spawn, Step};
use flowmeter_harness::pipeline::ResultPort;

use crate::channel::boxed;
use crate::sync::{Arc, Mutex};

/// Go blocks that callbacks drive.
#[derive(Clone, Copy, Debug, Default)]
pub struct StateMachine;

/// A go block: a task until it has its result.
struct Machine<C: Callback, S, T: Message, F> {
    function: F,
    array: Array<S>,
    returns: ResultPort<C, T>,
}

// No part of it is pinned in place.
impl<C: Callback, S, T: Message, F> Unpin for Machine<C, S, T, F> {}

/// Where operations write their results.
struct Array<S> {
    turn: Arc<Turn<S>>,
    /// The alts that the machine waits for.
    alts: Option<Pin<Box<dyn Future<Output = S> + Send>>>,
}

/// The next state of the machine, shared with its operation.
struct Turn<S>(Mutex<Next<S>>);

enum Next<S> {
    /// The machine runs, or its operation has not been answered yet.
    Unknown,
    /// As before, and the machine has returned: the answer has to wake it.
    Awaited(Waker),
    /// The state to continue with.
    State(S),
}

/// With this a state of such a block starts its operation.
pub struct Asks<'f, S>(&'f mut Array<S>);

impl<C: Callback> GoBlocks<C> for StateMachine {
    type Frame<'f, S: Send + 'static> = Asks<'f, S>;

    fn go<S: Send + 'static, T: Message>(
        spawner: &impl Spawn,
        begin: S,
        block: impl FnMut(Asks<'_, S>, S) -> Step<S, T> + Send + 'static,
    ) -> C::Rx<T> {
        let (tx, rx) = C::open(Buffer::fixed(1)).expect("the family has a fixed buffer");
        spawner.spawn(Machine::<C, _, _, _> {
            function: block,
            array: Array {
                turn: Arc::new(Turn(Mutex::new(Next::State(begin)))),
                alts: None,
            },
            returns: ResultPort::new(tx),
        });
        rx
    }
}

impl<C, S, T, F> Future for Machine<C, S, T, F>
where
    C: Callback,
    T: Message,
    F: FnMut(Asks<'_, S>, S) -> Step<S, T>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let machine = self.get_mut();
        let mut next = machine.array.next(context);
        while let Some(state) = next {
            next = match (machine.function)(Asks(&mut machine.array), state) {
                Step::Recur(state) => Some(state),
                Step::Parked => machine.array.next(context),
                Step::Return(result) => {
                    if let Some(result) = result {
                        // There is room for it, and nothing is left to do afterwards.
                        machine.returns.put_then(result, drop);
                    }
                    return Poll::Ready(());
                }
            };
        }
        Poll::Pending
    }
}

impl<S> Array<S> {
    /// The next state, if there is one; else the machine is woken once there is.
    fn next(&mut self, context: &mut Context<'_>) -> Option<S> {
        let Some(alts) = &mut self.alts else {
            return self.turn.next(context.waker());
        };
        let Poll::Ready(state) = alts.as_mut().poll(context) else {
            return None;
        };
        self.alts = None;
        Some(state)
    }
}

impl<S> Turn<S> {
    /// The state, if the operation was answered before it returned.
    fn at_once(&self) -> Option<S> {
        let mut next = self.0.lock();
        match std::mem::replace(&mut *next, Next::Unknown) {
            Next::State(state) => Some(state),
            Next::Unknown | Next::Awaited(_) => None,
        }
    }

    fn next(&self, waker: &Waker) -> Option<S> {
        // A waker's clone and drop are foreign code: outside the lock.
        let waker = waker.clone();
        let mut next = self.0.lock();
        match std::mem::replace(&mut *next, Next::Unknown) {
            Next::State(state) => Some(state),
            earlier => {
                *next = Next::Awaited(waker);
                drop(next);
                drop(earlier);
                None
            }
        }
    }

    fn answer(&self, state: S) {
        let before = std::mem::replace(&mut *self.0.lock(), Next::State(state));
        if let Next::Awaited(waker) = before {
            waker.wake();
        }
    }
}

impl<S: Send + 'static> Asks<'_, S> {
    /// Calls `begin` to start an operation that calls back.
    fn operation<T>(self, begin: impl FnOnce(Arc<Turn<S>>)) -> Step<S, T> {
        begin(Arc::clone(&self.0.turn));
        match self.0.turn.at_once() {
            Some(state) => Step::Recur(state),
            None => Step::Parked,
        }
    }
}

impl<C: Callback, S: Send + 'static> Frame<C, S> for Asks<'_, S> {
    fn take<V: Message, T>(
        self,
        from: &C::Rx<V>,
        next: impl FnOnce(Result<V, TakeError>) -> S + Send + 'static,
    ) -> Step<S, T> {
        self.operation(|turn| C::take_then(from, move |answer| turn.answer(next(answer))))
    }

    fn put<V: Message, T>(
        self,
        to: &C::Tx<V>,
        value: V,
        next: impl FnOnce(Result<(), PutError<V>>) -> S + Send + 'static,
    ) -> Step<S, T> {
        self.operation(|turn| C::put_then(to, value, move |answer| turn.answer(next(answer))))
    }

    fn alts<V: Message, T>(
        self,
        ports: Vec<Port<C, V>>,
        order: Order,
        until: impl Future<Output = ()> + Send + 'static,
        next: impl FnOnce(Selected<C, V>) -> S + Send + 'static,
    ) -> Step<S, T>
    where
        C: AwaitAlts,
    {
        // The machine polls it when it looks for its next state, which is at once.
        let alts = async move { next(select(ports, order, until).await) };
        self.0.alts = Some(Box::pin(alts));
        Step::Parked
    }
}

/// A port while its alts runs.
enum Clause<'p, C: AwaitAlts, V: Message> {
    Take(C::TakeClause<'p, V>),
    Put(C::PutClause<'p, V>),
}

async fn select<C: AwaitAlts, V: Message>(
    mut ports: Vec<Port<C, V>>,
    order: Order,
    until: impl Future<Output = ()> + Send,
) -> Selected<C, V> {
    let mut clauses: Vec<_> = ports.iter_mut().map(Clause::of).collect();
    let winner = {
        let mut all: Vec<_> = clauses.iter_mut().map(Clause::any).collect();
        boxed::run_async::<C>(&mut all, order, until).await
    };
    let mut taken = None;
    let mut slots = Vec::new();
    for (index, clause) in clauses.iter_mut().enumerate() {
        slots.push(match clause {
            Clause::Take(take) => {
                if winner == Ok(Winner::Clause(index)) {
                    taken = C::taken(take);
                }
                None
            }
            Clause::Put(put) => C::slot(put).take(),
        });
    }
    drop(clauses);
    for (port, value) in ports.iter_mut().zip(slots) {
        if let Port::Put(_, slot) = port {
            *slot = value;
        }
    }
    Selected {
        winner,
        taken,
        ports,
    }
}

impl<'p, C: AwaitAlts, V: Message> Clause<'p, C, V> {
    fn of(port: &'p mut Port<C, V>) -> Self {
        match port {
            Port::Take(from) => Clause::Take(C::take_clause(from)),
            Port::Put(to, slot) => Clause::Put(C::put_clause(to, slot.take())),
        }
    }

    fn any(&mut self) -> C::AnyClause<'_> {
        match self {
            Clause::Take(take) => C::any_take(take),
            Clause::Put(put) => C::any_put(put),
        }
    }
}

impl<S> fmt::Debug for Asks<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asks")
    }
}
