//! Takes the place of `std` in a twin: a published crate, compiled from unchanged sources and explored.
//!
//! rustc takes a dependency of the name `std` for std itself, so `use std::…`, the prelude and its macros end here.
//! Locks, threads, thread-locals, atomics and clocks are those of the explored world. What has no lock in it is std's
//! own. What is left of std's locks and threads has no name here, so a crate that needs it does not compile. That is
//! better than a lock which blocks all threads of an execution.

#![allow(
    ambiguous_glob_reexports,
    reason = "a name that is defined here hides std's"
)]

pub use ::std::*;

pub mod sync;
pub mod thread;
pub mod time;

/// As `std::collections`.
pub mod collections {
    pub use ::std::collections::*;

    /// As `std::collections::hash_map`, with keys that are part of the schedule.
    pub mod hash_map {
        pub use crate::hash::RandomState;
        pub use ::std::collections::hash_map::*;
    }
}

pub mod hash;

/// As `std::hint`.
pub mod hint {
    pub use ::std::hint::*;
    pub use flowmeter_core::hint::spin_loop;
}

/// The names that a crate has without asking.
pub mod prelude {
    pub use ::std::prelude::*;

    macro_rules! editions {
        ($($edition:ident)*) => {$(
            #[doc = concat!("As `std::prelude::", stringify!($edition), "`.")]
            pub mod $edition {
                pub use crate::thread_local;
                pub use ::std::prelude::$edition::*;
            }
        )*};
    }
    editions!(v1 rust_2015 rust_2018 rust_2021 rust_2024);
}

/// As `std::thread_local`.
#[macro_export]
macro_rules! thread_local {
    () => {};
    (
        $(#[$attribute:meta])* $visible:vis static $name:ident : $value:ty = const $first:block
        $(; $($more:tt)*)?
    ) => {
        $(#[$attribute])*
        $visible const $name: $crate::thread::LocalKey<$value> = $crate::__local_key!($value, $first);
        $($crate::thread_local!($($more)*);)?
    };
    (
        $(#[$attribute:meta])* $visible:vis static $name:ident : $value:ty = $first:expr
        $(; $($more:tt)*)?
    ) => {
        $(#[$attribute])*
        $visible const $name: $crate::thread::LocalKey<$value> = $crate::__local_key!($value, $first);
        $($crate::thread_local!($($more)*);)?
    };
}

/// A part of [`thread_local`].
#[doc(hidden)]
#[macro_export]
macro_rules! __local_key {
    ($value:ty, $first:expr) => {{
        fn first() -> $value {
            $first
        }
        static KEY: $crate::thread::Key<$value> = $crate::thread::key(first);
        $crate::thread::LocalKey::new(&KEY)
    }};
}
