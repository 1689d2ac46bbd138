//! The state of a channel with a transform (B2, B3).

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Emit, Offered};

use super::effects::Effects;
use super::state::{Handed, State};
use super::store::Store;
use crate::channel::design::Core;
use crate::channel::transformed::Transformed;

impl<T: Send, S: Store<T>> State<T, S> {
    /// Commits a put and transforms its value, if there is room for one value. What the transform emits may need more.
    #[cold]
    pub(super) fn offer_transformed(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        if self.buffer.is_full() {
            return Offered::WouldWait(value);
        }
        self.transform(value, effects);
        Offered::Done
    }

    /// Transforms the value of a committed put.
    pub(super) fn transform(&mut self, value: T, effects: &mut Effects<T>) {
        let flow = self.run(effects, |transformed, emit| transformed.step(value, emit));
        match flow {
            // The close hands out what was emitted.
            Some(ControlFlow::Break(())) => self.end_early(effects),
            Some(ControlFlow::Continue(())) | None => self.serve(effects),
        }
    }

    /// Whether the channel has a transform that was not completed yet.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        let transformed = self.transformed.as_deref();
        transformed.is_some_and(Transformed::is_incomplete)
    }

    /// Completes the transform, once, and stores what it still emits. No put waits any more.
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
        Some(answer)
    }

    /// Hands stored values to waiting takes.
    fn serve(&mut self, effects: &mut Effects<T>) {
        for (taker, ()) in self.takes.win_first(self.buffer.len()) {
            let place = self.handed;
            self.handed += 1;
            let handed = self.buffer.next().map(|value| Handed { value, place });
            effects.tell(taker.answer(handed));
        }
    }

    /// Closes the channel, because the transform takes no further values. The values of waiting puts are discarded, and
    /// the puts are answered as if accepted. A put is answered the same way if its value is filtered out.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for (putter, value) in self.puts.win_all() {
            effects.tell(putter.answer(Ok(())));
            value.into_iter().for_each(|value| effects.discard(value));
        }
        self.close(effects);
    }
}
