//! A channel to one value: `into`, `reduce` and `transduce` (M9, M10, M11).
//!
//! The result is a go block's channel: it yields the value once and closes (G1). If a function panics it closes without
//! a value.

use std::ops::ControlFlow::{self, Break, Continue};

use flowmeter_harness::channel::{Async, Message, Transform};
use flowmeter_harness::executor::{Spawn, go};

use crate::pipeline::next;

/// A channel with the collection, once all values of `from` have been added to it.
pub fn into<C: Async, T: Message, B: Extend<T> + Message>(
    spawner: &impl Spawn,
    collection: B,
    from: C::Rx<T>,
) -> C::Rx<B> {
    reduce::<C, T, B>(spawner, from, collection, |mut collection, value| {
        collection.extend([value]);
        Continue(collection)
    })
}

/// A channel with the fold of `init` and all values of `from`, one after the other. `Break` is Clojure's `reduced`: it
/// holds the result, and nothing further is taken.
pub fn reduce<C: Async, T: Message, A: Message>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    init: A,
    mut fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
) -> C::Rx<A> {
    go::<C, A>(spawner, async move {
        let mut folded = init;
        while let Some(value) = next::<C, T>(&mut from).await {
            folded = match fold(folded, value) {
                Continue(folded) => folded,
                Break(result) => return Some(result),
            };
        }
        Some(folded)
    })
}

/// As [`reduce`], over what `transform` makes of all values of `from`. A transform that ends early ends the fold, and
/// is still completed. Once `fold` has returned `Break` it receives nothing more, not even from the completion (in
/// Clojure it does).
pub fn transduce<C: Async, T: Message, A: Message>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    mut transform: impl Transform<T>,
    init: A,
    fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
) -> C::Rx<A> {
    go::<C, A>(spawner, async move {
        let mut folding = Folding {
            folded: Some(init),
            ended: false,
            fold,
        };
        while let Some(value) = next::<C, T>(&mut from).await {
            let flow = transform.step(value, &mut |emitted| folding.add(emitted));
            if flow.is_break() {
                break;
            }
        }
        transform.complete(&mut |emitted| folding.add(emitted));
        folding.folded
    })
}

/// The target that a transform emits into.
struct Folding<A, F> {
    /// `None` only while `fold` has it.
    folded: Option<A>,
    /// `fold` has returned `Break`.
    ended: bool,
    fold: F,
}

impl<A, F> Folding<A, F> {
    fn add<T>(&mut self, value: T) -> ControlFlow<()>
    where
        F: FnMut(A, T) -> ControlFlow<A, A>,
    {
        if self.ended {
            return Break(());
        }
        let folded = self.folded.take();
        let folded = folded.expect("a fold that has panicked is asked nothing any more");
        match (self.fold)(folded, value) {
            Continue(folded) => {
                self.folded = Some(folded);
                Continue(())
            }
            Break(result) => {
                self.folded = Some(result);
                self.ended = true;
                Break(())
            }
        }
    }
}
