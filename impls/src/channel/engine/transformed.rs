//! The core of a channel that transforms what is put (B2, B3).

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Emit, Message, Offered};

use super::effects::Effects;
use super::state::{Handed, State};
use super::store::Store;
use crate::channel::design::Core;
use crate::channel::transformed::Transformed;

impl<T: Message, S: Store<T>> State<T, S> {
    /// Commits a put whose value is transformed if there is room; what is emitted may need more.
    #[cold]
    pub(super) fn offer_transformed(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        if self.buffer.is_full() {
            return Offered::WouldWait(value);
        }
        self.transform(value, effects);
        Offered::Done
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
        let transformed = self.transformed.as_mut()?;
        let answer = part(transformed, &mut |value| {
            self.buffer.overfill(value, effects);
            ControlFlow::Continue(())
        });
        self.serve(effects);
        Some(answer)
    }

    /// Hands what is stored to the takes that wait.
    fn serve(&mut self, effects: &mut Effects<T>) {
        while !self.buffer.is_empty()
            && let Some((taker, ())) = self.takes.next()
        {
            let place = self.handed;
            self.handed += 1;
            let handed = self.buffer.next().map(|value| Handed { value, place });
            effects.tell(taker.answer(handed));
        }
    }

    /// The transform wants no more: closes. The puts that wait come to nothing, as a put that is filtered out does, and
    /// are answered so.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for (putter, value) in self.puts.win_all() {
            effects.tell(putter.answer(Ok(())));
            value.into_iter().for_each(|value| effects.discard(value));
        }
        self.close(effects);
    }
}
