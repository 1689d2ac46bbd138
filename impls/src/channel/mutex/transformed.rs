//! The core of a channel that transforms what is put (B2, B3).

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Emit, Message};

use super::effects::Effects;
use super::operation::{Claim, Operation};
use super::state::{Attempt, State, ends};
use crate::channel::design::Core;
use crate::channel::transformed::Transformed;

impl<T: Message> State<T> {
    /// Commits a put whose value is transformed if there is room; what is emitted may need more.
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

    /// Transforms the value of a put that is committed.
    pub(super) fn transform(&mut self, value: T, effects: &mut Effects<T>) {
        let flow = self.run(effects, |transformed, emit| transformed.step(value, emit));
        if flow.is_some_and(|flow| flow.is_break()) {
            self.end_early(effects);
        }
    }

    /// Whether a transform has still to be told of the end.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        let transformed = self.transformed.as_deref();
        transformed.is_some_and(Transformed::is_incomplete)
    }

    /// Completes the transform, once; no put waits any more.
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

    /// Hands what is stored to the takes that wait.
    fn serve(&mut self, effects: &mut Effects<T>) {
        while !self.takes.is_empty()
            && let Some(value) = self.store.next()
        {
            match self.hand_over(value, self.handed, None, effects) {
                Attempt::Done(_) => self.handed += 1,
                // Those that wait there are over.
                Attempt::NotAble(value) | Attempt::Lost(value) => {
                    self.store.put_back(value);
                    return;
                }
            }
        }
    }

    /// The transform wants no more: closes. The puts that wait come to nothing, as a put that is filtered out does, and
    /// are answered so.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for put in std::mem::take(&mut self.puts) {
            match Operation::claim(None, &put.operation, put.clause, || {}) {
                Claim::Won => {
                    effects.wake(put.operation);
                    effects.discarded.extend(put.value);
                }
                // Its own thread removes it, for its value has to go back there.
                Claim::OtherOver | Claim::SelfOver => self.puts.push_back(put),
            }
        }
        self.close(effects);
    }
}
