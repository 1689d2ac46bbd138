//! The atomics of an explored world: the checker's own. Each call is a site, and weak exchanges may fail spuriously, as
//! their contract admits.

use ::std::panic::Location;
use ::std::sync::atomic::Ordering;

use super::super::sites::{self, Breakage, Kind};
use super::Engine;
use super::census;
use super::mischief::Mischief;

/// Announces an access at the caller's site. Returns the memory order requested there, unless the site is broken.
#[inline]
#[track_caller]
pub fn ordered<E: Engine>(object: usize, kind: Kind, order: Ordering) -> Ordering {
    let at = Location::caller();
    E::announce(object, kind, at);
    match sites::pass(kind, Some((order, None)), at) {
        Some(Breakage::Relaxed) => Ordering::Relaxed,
        _ => order,
    }
}

/// Announces an exchange at the caller's site. Returns the memory orders of success and failure requested there, unless
/// the site is broken, and whether the exchange fails spuriously.
#[inline]
#[track_caller]
pub fn exchanged<E: Engine>(
    object: usize,
    kind: Kind,
    success: Ordering,
    failure: Ordering,
) -> (Ordering, Ordering, bool) {
    let at = Location::caller();
    E::announce(object, kind, at);
    match sites::pass(kind, Some((success, Some(failure))), at) {
        Some(Breakage::Relaxed) => (Ordering::Relaxed, Ordering::Relaxed, false),
        Some(Breakage::FailsOnce) => (success, failure, fails_once::<E>()),
        _ if kind == Kind::CompareExchangeWeak => {
            let fails = E::misbehaves(Mischief::WeakFailure, 1) > 0;
            (success, failure, fails)
        }
        _ => (success, failure, false),
    }
}

fn fails_once<E: Engine>() -> bool {
    let entry =
        |me| census::with(|census| !::std::mem::replace(&mut census.thread(me).failed, true));
    E::me().is_some_and(entry)
}

/// Whether the caller's fence takes effect.
#[inline]
#[track_caller]
pub fn fences(order: Ordering) -> bool {
    sites::pass(Kind::Fence, Some((order, None)), Location::caller()) != Some(Breakage::Dropped)
}

/// Defines the atomics of a checker. Its own atomics must be in scope as `raw`.
macro_rules! atomics {
    ($engine:ident) => {
        pub use ::std::sync::atomic::Ordering;
        use $crate::sync::cost::allocations::apart;
        use $crate::sync::explored::atomic::{atomic, exchanged, fences, ordered};
        use $crate::sync::explored::{Engine, address};
        use $crate::sync::sites::Kind;

        atomic!($engine, AtomicBool, bool, false; fetch_and fetch_or fetch_xor);
        atomic!($engine, AtomicPtr[T], *mut T, ::std::ptr::null_mut(););
        atomic!($engine, AtomicU8, u8, 0;
            fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
        atomic!($engine, AtomicU32, u32, 0;
            fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
        atomic!($engine, AtomicU64, u64, 0;
            fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
        atomic!($engine, AtomicUsize, usize, 0;
            fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);

        /// A fence, as std's of that name.
        #[inline]
        #[track_caller]
        pub fn fence(order: Ordering) {
            if fences(order) {
                raw::fence(order);
                <$engine>::accessed(Kind::Fence, ());
            }
        }
    };
}
pub(in super::super) use atomics;

/// Defines one type of [`atomics`].
macro_rules! atomic {
    ($engine:ident, $name:ident $([$t:ident])?, $value:ty, $zero:expr; $($fetch:ident)*) => {
        #[doc = concat!("As std's `", stringify!($name), "`.")]
        pub struct $name $(<$t>)? (raw::$name $(<$t>)?);

        impl $(<$t>)? $name $(<$t>)? {
            /// An atomic holding `value`.
            #[inline]
            #[track_caller]
            pub fn new(value: $value) -> Self {
                $name(raw::$name::new(value))
            }

            /// Reads.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let _apart = apart();
                let seen = self.0.load(ordered::<$engine>(address(self), Kind::Load, order));
                <$engine>::accessed(Kind::Load, seen)
            }

            /// Writes.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                let _apart = apart();
                self.0.store(value, ordered::<$engine>(address(self), Kind::Store, order));
                <$engine>::accessed(Kind::Store, ());
            }

            /// Writes, and returns the previous value.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                let _apart = apart();
                let seen = self.0.swap(value, ordered::<$engine>(address(self), Kind::ReadModifyWrite, order));
                <$engine>::accessed(Kind::ReadModifyWrite, seen)
            }

            /// Writes `new` if the value is `current`.
            ///
            /// # Errors
            /// With the other value.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let _apart = apart();
                let (success, failure, _) =
                    exchanged::<$engine>(address(self), Kind::CompareExchange, success, failure);
                let seen = self.0.compare_exchange(current, new, success, failure);
                <$engine>::accessed(Kind::CompareExchange, seen)
            }

            /// Writes `new` if the value is `current`; may fail spuriously.
            ///
            /// # Errors
            /// With the value found.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let _apart = apart();
                let (success, failure, fails) =
                    exchanged::<$engine>(address(self), Kind::CompareExchangeWeak, success, failure);
                let seen = if fails {
                    Err(self.0.load(failure))
                } else {
                    self.0.compare_exchange(current, new, success, failure)
                };
                <$engine>::accessed(Kind::CompareExchangeWeak, seen)
            }

            /// Replaces the value by `next` of it; retries until it succeeds or `next` returns `None`.
            ///
            /// # Errors
            /// With the value for which `next` returned `None`.
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
                /// As std's of that name: returns the previous value.
                #[inline]
                #[track_caller]
                pub fn $fetch(&self, value: $value, order: Ordering) -> $value {
                    let _apart = apart();
                    let seen = self.0.$fetch(value, ordered::<$engine>(address(self), Kind::ReadModifyWrite, order));
                    <$engine>::accessed(Kind::ReadModifyWrite, seen)
                }
            )*
        }

        impl $(<$t>)? Default for $name $(<$t>)? {
            #[track_caller]
            fn default() -> Self {
                $name::new($zero)
            }
        }

        // The value is left out: reading it would be a step of the model.
        impl $(<$t>)? ::std::fmt::Debug for $name $(<$t>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(in super::super) use atomic;
