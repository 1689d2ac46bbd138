//! [`suite!`](crate::suite!).

/// Makes the program that proves and times implementations of this crate: the root of an example with `test = true` and
/// `harness = false`.
///
/// ```ignore
/// flowmeter::suite! {
///     adapter: "adapter.rs",
///     of: my_channel,
///     explored: my_channel_explored;
///     Bounded: KeepsBuffered, Disconnect;
///     Ticker;
/// }
/// ```
///
/// - `adapter` is a file beside this one. It has a public type for each implementation, its *family*, with the traits of
///   [`channel`](crate::channel), [`timer`](crate::timer) or [`limiter`](crate::limiter) that the implementation has. It
///   takes your types from `super::my_channel`.
/// - `of` is your crate. The std world proves and times it.
/// - `explored` is the same sources once more, compiled against `flowmeter-std` and `flowmeter-core`. The worlds shuttle
///   and sim explore it.
/// - Each further line is a family with its [claims](crate::Claim). Every trait that the family implements takes part
///   without being named. A claim that those traits do not support does not compile.
///
/// The name of an implementation is that of its family, as `cargo flowmeter check -i '^Bounded$'` takes it.
///
/// Without the first three lines, families of the caller's own module are proved and timed in the std world alone:
///
/// ```ignore
/// flowmeter::suite!(Bounded: KeepsBuffered, Disconnect);
/// ```
#[macro_export]
macro_rules! suite {
    (
        adapter: $adapter:tt,
        of: $of:ident,
        explored: $explored:ident;
        $($family:ident $(: $($claim:ident),+)?);+ $(;)?
    ) => {
        #[path = "."]
        mod plain {
            pub(crate) use ::$of;
            #[path = $adapter]
            pub(crate) mod adapter;
            $crate::__suite!(adapter; $($family $(: $($claim),+)?);+);
        }
        $crate::__supported!(plain: $($family)+);

        #[path = "."]
        mod explored {
            pub(crate) use ::$explored as $of;
            #[allow(clippy::duplicate_mod, reason = "the same adapter, over the other compilation")]
            #[path = $adapter]
            pub(crate) mod adapter;
            $crate::__suite!(adapter; $($family $(: $($claim),+)?);+);
        }

        #[cfg(test)]
        fn main() -> ::std::process::ExitCode {
            let worlds = plain::proving()
                .with::<$crate::Shuttle>(explored::Suite)
                .with::<$crate::Sim>(explored::Suite);
            $crate::tested(&worlds, plain::Suite, &["shuttle", "sim", "std"], explored::TOUCHES)
        }

        #[cfg(not(test))]
        fn main() -> ::std::process::ExitCode {
            let worlds = $crate::Worlds::of(plain::Suite)
                .with::<$crate::Shuttle>(explored::Suite)
                .with::<$crate::Sim>(explored::Suite);
            $crate::commanded(worlds, explored::TOUCHES)
        }
    };
    ($($family:ident $(: $($claim:ident),+)?);+ $(;)?) => {
        mod plain {
            $crate::__suite!(super; $($family $(: $($claim),+)?);+);
        }
        $crate::__supported!(plain: $($family)+);

        #[cfg(test)]
        fn main() -> ::std::process::ExitCode {
            $crate::tested(&plain::proving(), plain::Suite, &["std"], &[])
        }

        #[cfg(not(test))]
        fn main() -> ::std::process::ExitCode {
            $crate::commanded($crate::Worlds::of(plain::Suite), &[])
        }
    };
}

/// The registry of these families, which stand in a module.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ($place:ident; $($family:ident $(: $($claim:ident),+)?);+) => {
        use $crate::Otherwise as _;

        /// Named once, so that what is wrong with a name is told once.
        pub(crate) mod families {
            $(pub(crate) type $family = super::$place::$family;)+
        }
        #[allow(non_upper_case_globals, reason = "each has the name of its family")]
        pub(crate) mod claims {
            $(pub(crate) const $family: &[$crate::Claim] = &[$($($crate::Claim::$claim),+)?];)+
        }

        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Suite;

        impl $crate::registry::Registry for Suite {
            fn channels<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(channel $family in visitor);)+
            }
            fn timers<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(timer $family in visitor);)+
            }
            fn limiters<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(limiter $family in visitor);)+
            }
        }

        impl $crate::registry::AsyncRegistry for Suite {
            type Executor = $crate::Executor;
            type Sleep = $crate::Sleep;
        }

        #[allow(dead_code, reason = "the command times, too")]
        pub(crate) fn proving() -> $crate::Worlds {
            $crate::Worlds::timing($crate::Catalogue::without_workloads(Suite), Suite)
        }

        #[allow(dead_code, reason = "real threads make no steps")]
        pub(crate) const TOUCHES: &[$crate::Touch] = &[$((stringify!($family), || {
            $crate::Probe::<families::$family>::touch_channel();
            $crate::Probe::<families::$family>::touch_timer();
            $crate::Probe::<families::$family>::touch_limiter();
        })),+];
    };
}

/// Enters a family, if it is of that kind.
#[doc(hidden)]
#[macro_export]
macro_rules! __entered {
    ($kind:ident $family:ident in $visitor:ident) => {
        if let Some(entry) = $crate::Probe::<families::$family>::$kind($visitor, stringify!($family)) {
            let entry = $crate::__registered!(entry of families::$family);
            let entry = entry.version(env!("CARGO_PKG_VERSION"));
            entry.claims(claims::$family).enter();
        }
    };
}

/// Refuses the claims that a family of that module cannot make.
#[doc(hidden)]
#[macro_export]
macro_rules! __supported {
    ($module:ident: $($family:ident)+) => {
        $(const _: () = {
            use $crate::Otherwise as _;
            type Family = $crate::Probe<$module::families::$family>;
            $crate::supported(
                $module::claims::$family,
                $crate::Has {
                    channel: Family::CHANNEL,
                    timer: Family::TIMER,
                    limiter: Family::LIMITER,
                    asynchronous: Family::ASYNC,
                    alts: Family::ALTS,
                    sleep: Family::SLEEP,
                },
            );
        };)+
    };
}
