//! Designs of go blocks as state machines.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;

use flowmeter_harness::channel::{AwaitAlts, Callback, Order, PutError, TakeError};
use flowmeter_harness::executor::{self, GoBlocks as Family, Port, Selected, Step};

use super::super::channels::{Channels, Erased, Rx, Tx, refused};
use super::super::parcel::{Packing, Parcel};
use super::{Runtime, Spawning, Task};

/// A design of go blocks as state machines. Those of models move numbers, and their states are [`State`]s.
#[derive(Clone, Copy)]
pub(crate) struct GoBlocks {
    /// Where they run.
    pub(crate) on: Runtime,
    pub(crate) table: &'static dyn Running,
}

/// The state of a block: the answer of its last operation.
pub(crate) enum State {
    /// There was none yet.
    Begin,
    Took(Result<u32, TakeError>),
    Put(Result<(), PutError<u32>>),
    Selected(Selected<Erased, u32>),
}

/// How an operation ends a state: without a result.
pub(crate) type Next = Step<State, Infallible>;
/// Makes the next state from the outcome of an alts.
pub(crate) type Then = Box<dyn FnOnce(Selected<Erased, u32>) -> State + Send>;
/// A block.
pub(crate) type Block = Box<dyn FnMut(Frame<'_>, State) -> Step<State, Parcel> + Send>;

/// Runs blocks.
pub(crate) trait Running: Sync {
    fn go(&self, channels: Channels, spawner: Spawning<'_>, block: Block) -> Rx<Parcel>;
}

/// What a state requests its operation from.
pub(crate) struct Frame<'f>(pub(crate) Box<dyn Lent + 'f>);

/// The operations of a frame.
pub(crate) trait Lent {
    fn take(self: Box<Self>, from: &Rx<u32>) -> Next;
    fn put(self: Box<Self>, to: &Tx<u32>, value: u32) -> Next;
    fn alts(
        self: Box<Self>,
        ports: Vec<Port<Erased, u32>>,
        order: Order,
        until: Task,
        next: Then,
    ) -> Next;
}

/// How a block goes on after that step.
fn with<T, U>(step: Step<State, T>, result: impl FnOnce(T) -> U) -> Step<State, U> {
    match step {
        Step::Recur(state) => Step::Recur(state),
        Step::Parked => Step::Parked,
        Step::Return(returned) => Step::Return(returned.map(result)),
    }
}

impl Frame<'_> {
    /// Takes.
    pub(crate) fn take<T>(self, from: &Rx<u32>) -> Step<State, T> {
        with(self.0.take(from), |never| match never {})
    }

    /// Puts.
    pub(crate) fn put<T>(self, to: &Tx<u32>, value: u32) -> Step<State, T> {
        with(self.0.put(to, value), |never| match never {})
    }

    /// Waits on several channels at once.
    pub(crate) fn alts<T>(
        self,
        ports: Vec<Port<Erased, u32>>,
        order: Order,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Step<State, T> {
        let next = Box::new(State::Selected);
        let next = self.0.alts(ports, order, Box::pin(until), next);
        with(next, |never| match never {})
    }
}

impl GoBlocks {
    /// The design of that family.
    pub(super) fn of<G: Family<C>, C: Callback + AwaitAlts>(on: Runtime) -> GoBlocks {
        let table = &Of::<G, C>(PhantomData);
        GoBlocks { on, table }
    }

    /// Runs a block from its beginning.
    pub(crate) fn go<T: Send + 'static>(
        self,
        spawner: &impl executor::Spawn,
        mut block: impl FnMut(Frame<'_>, State) -> Step<State, T> + Send + 'static,
    ) -> Rx<T> {
        let channels = self.on.channels;
        let block = move |frame: Frame<'_>, state| with(block(frame, state), Parcel::of);
        let results = self
            .table
            .go(channels, Spawning::of(spawner), Box::new(block));
        Rx::new(channels, results.half)
    }
}

struct Of<G, C>(PhantomData<fn(G, C)>);

impl<G: Family<C>, C: Callback + AwaitAlts> Running for Of<G, C> {
    fn go(&self, channels: Channels, spawner: Spawning<'_>, mut block: Block) -> Rx<Parcel> {
        let block = move |frame: G::Frame<'_, State>, state| {
            let frame = Own::<C, _> {
                frame,
                channels,
                over: PhantomData,
            };
            block(Frame(Box::new(frame)), state)
        };
        let results = G::go(&spawner, State::Begin, block);
        Rx::new(channels, Box::new(results))
    }
}

/// A frame of a family.
struct Own<C, F> {
    frame: F,
    channels: Channels,
    over: PhantomData<C>,
}

impl<C: Callback + AwaitAlts, F: executor::Frame<C, State>> Lent for Own<C, F> {
    fn take(self: Box<Self>, from: &Rx<u32>) -> Next {
        let next = |taken: Result<Parcel, _>| State::Took(taken.map(Parcel::open));
        self.frame.take(from.family::<C>(), next)
    }

    fn put(self: Box<Self>, to: &Tx<u32>, value: u32) -> Next {
        let next =
            |put: Result<(), _>| State::Put(put.map_err(|error| refused(error, Parcel::open)));
        self.frame.put(to.family::<C>(), Parcel::of(value), next)
    }

    fn alts(
        self: Box<Self>,
        ports: Vec<Port<Erased, u32>>,
        order: Order,
        until: Task,
        next: Then,
    ) -> Next {
        let own = |port| match port {
            Port::Take(rx) => Port::Take(Rx::into_family::<C>(rx)),
            Port::Put(tx, slot) => Port::Put(Tx::into_family::<C>(tx), slot.map(Parcel::of)),
        };
        let channels = self.channels;
        let erased = move |port| match port {
            Port::Take(rx) => Port::Take(Rx::new(channels, Box::new(rx))),
            Port::Put(tx, slot) => Port::Put(
                Tx::new(channels, Box::new(tx), Packing::PLAIN),
                slot.map(Parcel::open),
            ),
        };
        let next = move |selected: Selected<C, Parcel>| {
            next(Selected {
                winner: selected.winner,
                taken: selected.taken.map(Parcel::open),
                ports: selected.ports.into_iter().map(erased).collect(),
            })
        };
        let ports: Vec<Port<C, Parcel>> = ports.into_iter().map(own).collect();
        self.frame.alts(ports, order, until, next)
    }
}
