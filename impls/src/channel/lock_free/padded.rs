//! A value with cache lines of its own.

use std::ops::Deref;

/// Two lines of 64 bytes, which x86 fetches together, and one of Apple's: what stands beside it is not slowed down by
/// who writes here.
#[repr(align(128))]
pub(super) struct Padded<T>(T);

impl<T> Padded<T> {
    pub(super) fn new(value: T) -> Self {
        Padded(value)
    }
}

impl<T> Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
