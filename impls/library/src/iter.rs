//! The values of a receiver as iterators.

use std::fmt;
use std::vec;

use crate::Receiver;

/// Values until the channel is empty and has no sender left, waiting for each.
pub struct Iter<'a, T: Send>(&'a Receiver<T>);

/// The same, of a receiver that it owns.
pub struct IntoIter<T: Send>(Receiver<T>);

/// The values that are there, without waiting. It may go on after it has ended.
pub struct TryIter<'a, T: Send>(&'a Receiver<T>);

/// The values that were in the channel at one call of [`Receiver::drain`].
pub struct Drain<T>(vec::IntoIter<T>);

impl<T: Send> Receiver<T> {
    /// Values until the channel is empty and has no sender left, waiting for each.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The values that are there, without waiting.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }

    /// Receives as many values as the channel has at this moment, one after the other. Other receivers may take some of them.
    pub fn drain(&self) -> Drain<T> {
        let values: Vec<T> = self.try_iter().take(self.len()).collect();
        Drain(values.into_iter())
    }
}

impl<T: Send> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T: Send> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T: Send> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for Drain<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for Drain<T> {}

impl<'a, T: Send> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Send> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

macro_rules! debug_by_name {
    ($([$($parameter:tt)*] $Name:ty, $name:literal;)*) => {$(
        impl<$($parameter)*> fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($name)
            }
        }
    )*};
}

debug_by_name! {
    [T: Send] Iter<'_, T>, "Iter";
    [T: Send] IntoIter<T>, "IntoIter";
    [T: Send] TryIter<'_, T>, "TryIter";
    [T] Drain<T>, "Drain";
}
