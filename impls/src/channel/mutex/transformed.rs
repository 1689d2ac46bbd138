//! The state of a channel with a transform (B2, B3).

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Emit, Message};

use super::effects::Effects;
use super::operation::{Claim, Operation};
use super::state::{Attempt, State, ends};
use crate::channel::design::Core;
use crate::channel::transformed::Transformed;

impl<T: Message> State<T> {
    /// Commits a put and transforms its value, if there is room for one value. What the transform emits may need more.
    #[cold]
    pub(super) fn put_transformed(
        &mut self,
        value: T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        if self.is_full() {
            return Attempt::NotAble(value);
        }
        if !ends(me) {
            return Attempt::Lost(value);
        }
        self.transform(value, effects);
        Attempt::Done(Ok(()))
    }

    /// Transforms the value of a committed put.
    pub(super) fn transform(&mut self, value: T, effects: &mut Effects<T>) {
        let flow = self.run(effects, |transformed, emit| transformed.step(value, emit));
        if flow.is_some_and(|flow| flow.is_break()) {
            self.end_early(effects);
        }
    }

    /// Whether the channel has a transform that was not completed yet.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        let transformed = self.transformed.as_deref();
        transformed.is_some_and(Transformed::is_incomplete)
    }

    /// Completes the transform, once. No put waits any more.
    #[cold]
    pub(super) fn complete(&mut self, effects: &mut Effects<T>) {
        self.run(effects, Transformed::complete);
    }

    fn run<R>(
        &mut self,
        effects: &mut Effects<T>,
        part: impl FnOnce(&mut Transformed<T>, Emit<'_, T>) -> R,
    ) -> Option<R> {
        let mut transformed = self.transformed.take()?;
        let answer = part(&mut transformed, &mut |value| {
            self.store_anyway(value, effects);
            ControlFlow::Continue(())
        });
        self.transformed = Some(transformed);
        self.serve(effects);
        Some(answer)
    }

    /// Hands stored values to waiting takes.
    fn serve(&mut self, effects: &mut Effects<T>) {
        while !self.takes.is_empty() {
            let Some(value) = self.store.next() else {
                break;
            };
            match self.hand_over(value, self.handed, None, effects) {
                Attempt::Done(_) => self.handed += 1,
                // All requests of the takes in line are over.
                Attempt::NotAble(value) | Attempt::Lost(value) => {
                    self.store.put_back(value);
                    return;
                }
            }
        }
    }

    /// Closes the channel, because the transform takes no further values. The values of waiting puts are discarded, and
    /// the puts are answered as if accepted. A put is answered the same way if its value is filtered out.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for put in std::mem::take(&mut self.puts) {
            match Operation::claim(None, &put.operation, put.clause, || {}) {
                Claim::Won => {
                    effects.wake(put.operation);
                    effects.discarded.extend(put.value);
                }
                // Its own thread removes it and gets the value back.
                Claim::OtherOver | Claim::SelfOver => self.puts.push_back(put),
            }
        }
        self.close(effects);
    }
}
