//! Faults injected into go blocks as state machines: the effects and answers of their operations, and how they end.

use std::future::{Future, pending};
use std::mem::forget;

use flowmeter_harness::channel::{Buffer, Order, PutError, TakeError, Winner};
use flowmeter_harness::executor::{Port, Selected, Spawn, Step};

use super::future::awaited;
use super::{executors, told};
use crate::design::channels::Erased;
use crate::design::executors::{
    Block, Frame, GoBlocks, Lent, Next, Running, Spawning, State, Task, Then,
};
use crate::design::{Channels, Parcel, Rx, Tx};

/// The design with one fault, on an executor that may have faults as well.
pub(super) fn lying(real: GoBlocks) -> GoBlocks {
    GoBlocks {
        on: executors::hosting(real.on),
        table: Box::leak(Box::new(Lying(real.table))),
    }
}

/// A design that behaves like the real one, except for one fault.
struct Lying(&'static dyn Running);

/// A frame of such a design.
struct Lends<'f>(Frame<'f>);

/// How a block goes on after that step.
fn ended<S, T>(step: Step<S, T>) -> Step<S, T> {
    match step {
        Step::Return(Some(_)) if told("a block's result is lost") => Step::Return(None),
        Step::Return(_) if told("a block never ends") => Step::Parked,
        step => step,
    }
}

/// Spawns tasks that may yield although they could go on.
struct Hesitant<'s>(Spawning<'s>);

impl Spawn for Hesitant<'_> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(awaited(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(work);
    }
}

impl Running for Lying {
    fn go(&self, channels: Channels, spawner: Spawning<'_>, mut block: Block) -> Rx<Parcel> {
        if told("a block is dropped") {
            let opened = channels.open(Buffer::fixed(1));
            let (tx, rx) = opened.expect("ours have buffers");
            tx.close();
            return rx;
        }
        let block =
            move |frame: Frame<'_>, state| ended(block(Frame(Box::new(Lends(frame))), state));
        let spawner = Hesitant(spawner);
        let results = self.0.go(channels, Spawning::of(&spawner), Box::new(block));
        if told("a block's channel is never let go") {
            forget(results.another());
        }
        results
    }
}

impl Lent for Lends<'_> {
    fn take(self: Box<Self>, from: &Rx<u32>) -> Next {
        if told("a block's take is answered closed") {
            return Step::Recur(State::Took(Err(TakeError::Closed)));
        }
        if told("a block waits for no take") {
            return Step::Parked;
        }
        self.0.take(from)
    }

    fn put(self: Box<Self>, to: &Tx<u32>, value: u32) -> Next {
        if told("a block's put is not made") {
            return Step::Recur(State::Put(Ok(())));
        }
        if told("a block's put is refused") {
            return Step::Recur(State::Put(Err(PutError::Closed(Some(value)))));
        }
        if told("a block does not wait for its put") {
            to.put_then(value, drop);
            return Step::Recur(State::Put(Ok(())));
        }
        self.0.put(to, value)
    }

    fn alts(
        self: Box<Self>,
        mut ports: Vec<Port<Erased, u32>>,
        order: Order,
        until: Task,
        next: Then,
    ) -> Next {
        if told("a block's alts is not made") {
            return Step::Recur(State::Selected(Selected {
                winner: Ok(Winner::TimedOut),
                taken: None,
                ports,
            }));
        }
        if told("a block's alts has its ports turned round") {
            ports.reverse();
        }
        let next = Box::new(|mut selected: Selected<Erased, u32>| {
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
        });
        if told("a block's alts never gives up") {
            return self.0.0.alts(ports, order, Box::pin(pending()), next);
        }
        self.0.0.alts(ports, order, until, next)
    }
}
