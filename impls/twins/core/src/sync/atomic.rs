//! Core's atomics with a scheduling point before each operation: transparent, so that statics, zeroed memory and
//! pointers to the value work as in core.

use crate::engine::{about_to_write, changes, fails_spuriously, reads, stores, wrote};
use ::core::fmt;
use ::core::sync::atomic as real;

pub use ::core::sync::atomic::{Ordering, compiler_fence, fence};

/// As `core::sync::atomic::spin_loop_hint`.
#[track_caller]
pub fn spin_loop_hint() {
    crate::engine::spin_loop();
}

macro_rules! atomic {
    ([$($generics:tt)*] $name:ident $value:ty; $($fetch:ident)*) => {
        #[doc = concat!("As core's `", stringify!($name), "`.")]
        #[repr(transparent)]
        pub struct $name $($generics)* (real::$name $($generics)*);

        #[allow(missing_docs, reason = "core documents them")]
        impl $($generics)* $name $($generics)* {
            #[inline]
            pub const fn new(value: $value) -> Self {
                Self(real::$name::new(value))
            }

            /// # Safety
            /// As core's.
            #[inline]
            pub const unsafe fn from_ptr<'a>(at: *mut $value) -> &'a Self {
                // SAFETY: the caller promises what core's function requires, and this type is core's.
                unsafe { &*at.cast::<Self>() }
            }

            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            #[inline]
            pub const fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            #[inline]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            /// What is to be written now.
            #[inline]
            #[track_caller]
            fn written(&self, what: &'static str) -> &real::$name $($generics)* {
                wrote();
                self.exchanged(what)
            }

            /// What may be written now.
            #[inline]
            #[track_caller]
            fn exchanged(&self, what: &'static str) -> &real::$name $($generics)* {
                changes(self, what);
                about_to_write(self);
                &self.0
            }

            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                reads(self, "loads");
                self.0.load(order)
            }

            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                wrote();
                stores(self, "stores");
                about_to_write(self);
                self.0.store(value, order);
            }

            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.written("swaps").swap(value, order)
            }

            #[inline]
            #[track_caller]
            pub fn compare_and_swap(
                &self,
                current: $value,
                new: $value,
                order: Ordering,
            ) -> $value {
                let (success, failure) = (order, Ordering::Relaxed);
                match self.compare_exchange(current, new, success, failure) {
                    Ok(value) | Err(value) => value,
                }
            }

            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let atomic = self.exchanged("exchanges");
                let exchanged = atomic.compare_exchange(current, new, success, failure);
                if exchanged.is_ok() {
                    wrote();
                }
                exchanged
            }

            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if fails_spuriously() {
                    return Err(self.load(failure));
                }
                self.compare_exchange(current, new, success, failure)
            }

            #[inline]
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(fetch);
                while let Some(new) = next(seen) {
                    match self.compare_exchange_weak(seen, new, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(other) => seen = other,
                    }
                }
                Err(seen)
            }

            $(
                #[inline]
                #[track_caller]
                pub fn $fetch(&self, value: $value, order: Ordering) -> $value {
                    self.written(stringify!($fetch)).$fetch(value, order)
                }
            )*
        }

        impl $($generics)* From<$value> for $name $($generics)* {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        // The value as core shows it. Reading it here is no step of the execution.
        impl $($generics)* fmt::Debug for $name $($generics)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty;)*) => {$(
        atomic!([] $name $value; fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    )*};
}

integers! {
    AtomicU8 u8; AtomicU16 u16; AtomicU32 u32; AtomicU64 u64; AtomicUsize usize;
    AtomicI8 i8; AtomicI16 i16; AtomicI32 i32; AtomicI64 i64; AtomicIsize isize;
}

atomic!([] AtomicBool bool; fetch_and fetch_nand fetch_or fetch_xor);
atomic!([<T>] AtomicPtr *mut T;);

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

impl AtomicBool {
    /// As core's.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(::core::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}
