//! Transforms for channels, after Clojure's transducers. What each emits, when it ends early and what it keeps for the
//! end is as there. They make values of the channel's own type. So `mapcat` is [`flat_map`], and [`partition_all`]
//! takes a function that makes a value of each group.
//!
//! ```
//! use flowmeter_impls::channel::transforms::{Then, filter, map, take};
//!
//! let transform = map(|n: u32| n + 1).then(filter(|n| n % 2 == 0)).then(take(3));
//! # fn is_one(_: impl flowmeter_harness::channel::Transform<u32>) {}
//! # is_one(transform);
//! ```

use std::ops::ControlFlow::{self, Break, Continue};

use flowmeter_harness::channel::{Emit, Transform};

use super::by_name::debug_by_name;

/// Emits `f` of each value.
pub fn map<T, F: FnMut(T) -> T>(f: F) -> Map<F> {
    Map(f)
}

/// Emits the values for which `keeps` returns true.
pub fn filter<T, F: FnMut(&T) -> bool>(keeps: F) -> Filter<F> {
    Filter(keeps)
}

/// Emits all values that `f` makes of each value, in order (Clojure's `mapcat`).
pub fn flat_map<T, I: IntoIterator<Item = T>, F: FnMut(T) -> I>(f: F) -> FlatMap<F> {
    FlatMap(f)
}

/// Emits the first `count` values and ends the channel with the last of them. As in Clojure, the channel ends only when
/// a value comes. With a `count` of zero it ends with the first value, which is not emitted.
pub fn take(count: usize) -> Take {
    Take { left: count }
}

/// Drops values that equal the one before.
pub fn dedupe<T>() -> Dedupe<T> {
    Dedupe { last: None }
}

/// Emits what `join` makes of every `size` values. At the end it emits what `join` makes of the values that are left,
/// if any.
///
/// # Panics
/// When `size` is zero.
pub fn partition_all<T, F: FnMut(Vec<T>) -> T>(size: usize, join: F) -> PartitionAll<T, F> {
    assert!(size > 0, "a group has at least one value");
    PartitionAll {
        size,
        group: Vec::with_capacity(size),
        join,
    }
}

/// Composition: the values that one transform emits are the input of the next (Clojure's `comp`).
pub trait Then: Sized {
    /// This transform, and then `next`.
    fn then<B>(self, next: B) -> Chain<Self, B> {
        Chain {
            first: self,
            second: next,
            ended: false,
        }
    }
}

impl<A> Then for A {}

/// The transform of [`map`].
#[derive(Clone)]
pub struct Map<F>(F);

/// The transform of [`filter`].
#[derive(Clone)]
pub struct Filter<F>(F);

/// The transform of [`flat_map`].
#[derive(Clone)]
pub struct FlatMap<F>(F);

/// The transform of [`take`].
#[derive(Clone)]
pub struct Take {
    left: usize,
}

/// The transform of [`dedupe`].
#[derive(Clone)]
pub struct Dedupe<T> {
    last: Option<T>,
}

/// The transform of [`partition_all`].
#[derive(Clone)]
pub struct PartitionAll<T, F> {
    size: usize,
    group: Vec<T>,
    join: F,
}

/// The transform of [`Then::then`].
#[derive(Clone)]
pub struct Chain<A, B> {
    first: A,
    second: B,
    /// The second transform takes no further values, even if the first one goes on emitting.
    ended: bool,
}

impl<T, F: FnMut(T) -> T + Send + 'static> Transform<T> for Map<F> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        emit((self.0)(value))
    }
}

impl<T, F: FnMut(&T) -> bool + Send + 'static> Transform<T> for Filter<F> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        if (self.0)(&value) {
            emit(value)
        } else {
            Continue(())
        }
    }
}

impl<T, I: IntoIterator<Item = T>, F: FnMut(T) -> I + Send + 'static> Transform<T> for FlatMap<F> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        (self.0)(value).into_iter().try_for_each(emit)
    }
}

impl<T> Transform<T> for Take {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        if self.left > 0 {
            self.left -= 1;
            emit(value)?;
        }
        if self.left == 0 {
            Break(())
        } else {
            Continue(())
        }
    }
}

impl<T: Clone + PartialEq + Send + 'static> Transform<T> for Dedupe<T> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        if self.last.as_ref() == Some(&value) {
            return Continue(());
        }
        self.last = Some(value.clone());
        emit(value)
    }
}

impl<T: Send + 'static, F: FnMut(Vec<T>) -> T + Send + 'static> Transform<T>
    for PartitionAll<T, F>
{
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        self.group.push(value);
        if self.group.len() < self.size {
            return Continue(());
        }
        let next = Vec::with_capacity(self.size);
        emit((self.join)(std::mem::replace(&mut self.group, next)))
    }

    fn complete(&mut self, emit: Emit<'_, T>) {
        if !self.group.is_empty() {
            let _ = emit((self.join)(std::mem::take(&mut self.group)));
        }
    }
}

impl<A, B> Chain<A, B> {
    /// Runs the first transform, with its output going into the second.
    fn run<T, R>(
        &mut self,
        emit: Emit<'_, T>,
        run: impl FnOnce(&mut A, Emit<'_, T>) -> R,
    ) -> ControlFlow<()>
    where
        B: Transform<T>,
    {
        let Chain {
            first,
            second,
            ended,
        } = self;
        run(first, &mut |value| {
            if !*ended {
                *ended = second.step(value, emit).is_break();
            }
            if *ended { Break(()) } else { Continue(()) }
        });
        if self.ended { Break(()) } else { Continue(()) }
    }
}

impl<T, A: Transform<T>, B: Transform<T>> Transform<T> for Chain<A, B> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        let mut flow = Continue(());
        self.run(emit, |first, emit| flow = first.step(value, emit))?;
        flow
    }

    fn complete(&mut self, emit: Emit<'_, T>) {
        let _ = self.run(emit, |first, emit| first.complete(emit));
        self.second.complete(emit);
    }
}

debug_by_name! {
    [F] Map<F>;
    [F] Filter<F>;
    [F] FlatMap<F>;
    [] Take;
    [T] Dedupe<T>;
    [T, F] PartitionAll<T, F>;
    [A, B] Chain<A, B>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output for these values, and the number of values taken in before the transform ended.
    fn run(mut transform: impl Transform<u32>, values: &[u32]) -> (Vec<u32>, usize) {
        let mut emitted = Vec::new();
        let mut emit = |value| {
            emitted.push(value);
            Continue(())
        };
        let stepped = values
            .iter()
            .position(|value| transform.step(*value, &mut emit).is_break());
        transform.complete(&mut emit);
        (emitted, stepped.map_or(values.len(), |last| last + 1))
    }

    fn twice(n: u32) -> [u32; 2] {
        [n, n]
    }

    fn sum(group: Vec<u32>) -> u32 {
        group.into_iter().sum()
    }

    #[test]
    fn each_emits_what_its_namesake_does() {
        assert_eq!(run(map(|n| n * 10), &[1, 2]), (vec![10, 20], 2));
        assert_eq!(run(filter(|n| n % 2 == 1), &[1, 2, 3]), (vec![1, 3], 3));
        assert_eq!(
            run(flat_map(|n| 0..n), &[2, 0, 3]),
            (vec![0, 1, 0, 1, 2], 3)
        );
        assert_eq!(run(dedupe(), &[1, 1, 2, 1]), (vec![1, 2, 1], 4));
    }

    #[test]
    fn take_ends_with_its_last_value() {
        assert_eq!(run(take(2), &[1, 2, 3]), (vec![1, 2], 2));
        assert_eq!(run(take(3), &[1, 2]), (vec![1, 2], 2));
        assert_eq!(run(take(0), &[1, 2]), (vec![], 1));
    }

    #[test]
    fn a_group_that_is_not_full_comes_at_the_end() {
        assert_eq!(run(partition_all(2, sum), &[1, 2, 3]), (vec![3, 3], 3));
        assert_eq!(run(partition_all(2, sum), &[1, 2]), (vec![3], 2));
        assert_eq!(run(partition_all(2, sum), &[]), (vec![], 0));
    }

    #[test]
    fn a_chain_hands_on_values_ends_and_what_is_left() {
        let grows = map(|n| n + 1).then(filter(|n| n % 2 == 0));
        assert_eq!(run(grows, &[1, 2, 3]), (vec![2, 4], 3));
        // The second transform ends in the middle of what the first emits.
        assert_eq!(
            run(flat_map(twice).then(take(3)), &[1, 2, 3]),
            (vec![1, 1, 2], 2)
        );
        // What the first transform has left at the end goes through the second.
        let left = partition_all(2, sum).then(map(|n| n * 10));
        assert_eq!(run(left, &[1, 2, 3]), (vec![30, 30], 3));
        // The first transform ends. What the second has left is still emitted.
        assert_eq!(
            run(take(3).then(partition_all(2, sum)), &[1, 2, 3, 4]),
            (vec![3, 3], 3)
        );
        // The second transform has ended. What the first has left is dropped.
        let ended = partition_all(2, sum).then(take(1));
        assert_eq!(run(ended, &[1, 2, 3]), (vec![3], 2));
    }

    /// A transform that goes on emitting, whatever `emit` returns.
    struct Deaf;

    impl Transform<u32> for Deaf {
        fn step(&mut self, value: u32, emit: Emit<'_, u32>) -> ControlFlow<()> {
            for _ in 0..3 {
                let _ = emit(value);
            }
            Continue(())
        }
    }

    #[test]
    fn a_chain_has_ended_whatever_its_first_makes_of_it() {
        assert_eq!(run(Deaf.then(take(2)), &[1, 2]), (vec![1, 1], 1));
    }
}
