//! Lies about go blocks that are state machines: what their operations do and answer, and how they end.

use std::future::{Future, pending};
use std::marker::PhantomData;
use std::mem::forget;

use flowmeter_harness::channel::{
    AwaitAlts, Buffer, Callback, Message, Order, PutError, TakeError, Winner,
};
use flowmeter_harness::executor::{Frame, GoBlocks, Port, Selected, Spawn, Step};

use super::future::awaited;
use super::told;

/// A design that does what `G` does, but for one lie.
pub(super) struct Lying<G>(PhantomData<fn() -> G>);

/// A frame of it.
pub(super) struct Lent<F>(F);

/// How a block goes on that ends so.
fn ended<S, T>(step: Step<S, T>) -> Step<S, T> {
    match step {
        Step::Return(Some(_)) if told("a block's result is lost") => Step::Return(None),
        Step::Return(_) if told("a block never ends") => Step::Parked,
        step => step,
    }
}

/// Spawns tasks that may give way though they could go on.
struct Hesitant<'s, S>(&'s S);

impl<S: Spawn> Spawn for Hesitant<'_, S> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(awaited(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(work);
    }
}

impl<G: GoBlocks<C>, C: Callback> GoBlocks<C> for Lying<G> {
    type Frame<'f, S: Send + 'static> = Lent<G::Frame<'f, S>>;

    fn go<S: Send + 'static, T: Message>(
        spawner: &impl Spawn,
        begin: S,
        mut block: impl FnMut(Self::Frame<'_, S>, S) -> Step<S, T> + Send + 'static,
    ) -> C::Rx<T> {
        if told("a block is dropped") {
            let (tx, rx) = C::open(Buffer::fixed(1)).expect("ours have buffers");
            C::close(&tx);
            return rx;
        }
        let block = move |frame: G::Frame<'_, S>, state| ended(block(Lent(frame), state));
        let results = G::go(&Hesitant(spawner), begin, block);
        if told("a block's channel is never let go") {
            forget(C::another_rx(&results));
        }
        results
    }
}

impl<C: Callback, S: Send + 'static, F: Frame<C, S>> Frame<C, S> for Lent<F> {
    fn take<V: Message, T>(
        self,
        from: &C::Rx<V>,
        next: impl FnOnce(Result<V, TakeError>) -> S + Send + 'static,
    ) -> Step<S, T> {
        if told("a block's take is answered closed") {
            return Step::Recur(next(Err(TakeError::Closed)));
        }
        if told("a block waits for no take") {
            return Step::Parked;
        }
        self.0.take(from, next)
    }

    fn put<V: Message, T>(
        self,
        to: &C::Tx<V>,
        value: V,
        next: impl FnOnce(Result<(), PutError<V>>) -> S + Send + 'static,
    ) -> Step<S, T> {
        if told("a block's put is not made") {
            return Step::Recur(next(Ok(())));
        }
        if told("a block's put is refused") {
            return Step::Recur(next(Err(PutError::Closed(Some(value)))));
        }
        if told("a block does not wait for its put") {
            C::put_then(to, value, drop);
            return Step::Recur(next(Ok(())));
        }
        self.0.put(to, value, next)
    }

    fn alts<V: Message, T>(
        self,
        mut ports: Vec<Port<C, V>>,
        order: Order,
        until: impl Future<Output = ()> + Send + 'static,
        next: impl FnOnce(Selected<C, V>) -> S + Send + 'static,
    ) -> Step<S, T>
    where
        C: AwaitAlts,
    {
        if told("a block's alts is not made") {
            return Step::Recur(next(Selected {
                winner: Ok(Winner::TimedOut),
                taken: None,
                ports,
            }));
        }
        if told("a block's alts has its ports turned round") {
            ports.reverse();
        }
        let next = move |mut selected: Selected<C, V>| {
            if told("a block is told of another port") {
                selected.winner = Ok(Winner::Clause(usize::MAX));
            }
            if told("what a block's alts took is lost") {
                selected.taken = None;
            }
            if told("a block's alts loses its ports") {
                selected.ports.clear();
            }
            for port in &mut selected.ports {
                if let Port::Put(_, slot) = port
                    && told("a block's alts keeps a value")
                {
                    *slot = None;
                }
            }
            next(selected)
        };
        if told("a block's alts never gives up") {
            return self.0.alts(ports, order, pending(), next);
        }
        self.0.alts(ports, order, until, next)
    }
}
