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
///     Stages (n + 2);
/// }
/// ```
///
/// - `adapter` is a file beside this one. It has a public type for each implementation, its *family*, with the traits of
///   [`channel`](crate::channel), [`timer`](crate::timer), [`limiter`](crate::limiter), [`pipeline`](crate::pipeline),
///   [`transform_pipeline`](crate::transform_pipeline), [`parallel_map`](crate::parallel_map),
///   [`executor`](crate::executor) or [`combinator`](crate::combinator) that the implementation has. It takes your types
///   from `super::my_channel`.
/// - `of` is your crate. The std world proves and times it.
/// - `explored` is the same sources once more, compiled against `flowmeter-std` and `flowmeter-core`. The worlds shuttle
///   and sim explore it.
/// - `loom`, behind a comma, is the same sources compiled with loom's primitives. The world loom explores it. It needs the
///   feature `loom` of this package. `explored` and `loom` can each be left out.
/// - Each further line is a family with its [claims](crate::Claim). Every trait that the family implements takes part
///   without being named. A family is of one kind: channels and timers each have a type of their own. A claim that those
///   traits do not support does not compile.
/// - `(n + 2)` behind a family of [`Pipelines`](crate::pipeline::Pipelines) is how many items it may have in flight. Without
///   it that is its parallelism.
///
/// Pipelines and combinators are tried over channels and on an executor of ours (with `rivals`, on one of tokio in the world
/// std), so implement their traits for all.
/// The channels are those on which tasks of an executor wait, too.
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
        of: $of:ident
        $(, $word:ident: $twin:ident)*;
        $($families:tt)+
    ) => {
        $crate::__program!({ $($families)+ } $adapter $of $($word $twin)*);
    };
    ($($families:tt)+) => {
        mod plain {
            $crate::__suite!(super on plain { $($families)+ });
        }
        $crate::__supported!({ $($families)+ });
        $crate::__main!();
    };
}

/// The program over an adapter of that crate and its twins.
#[doc(hidden)]
#[macro_export]
macro_rules! __program {
    ($families:tt $adapter:tt $of:ident $($word:ident $twin:ident)*) => {
        #[path = "."]
        mod plain {
            pub(crate) use ::$of;
            #[path = $adapter]
            pub(crate) mod adapter;
            $crate::__suite!(adapter on plain $families);
        }
        $crate::__supported!($families);

        $(#[path = "."]
        mod $word {
            pub(crate) use ::$twin as $of;
            #[allow(clippy::duplicate_mod, reason = "the same adapter, over another compilation")]
            #[path = $adapter]
            pub(crate) mod adapter;
            $crate::__suite!(adapter on $word $families);
        })*
        $crate::__main!($($word)*);
    };
}

/// The tests or the command, with twins by their words.
#[doc(hidden)]
#[macro_export]
macro_rules! __main {
    ($($word:ident)*) => {
        fn main() -> ::std::process::ExitCode {
            #[cfg(test)]
            let worlds = plain::proving();
            #[cfg(not(test))]
            let worlds = $crate::Worlds::of(plain::Suite);
            $(let worlds = <$crate::grounds::$word as $crate::grounds::Explored>::with(worlds, $word::Suite);)*
            let twins = [$($crate::Twin::of::<$crate::grounds::$word>(stringify!($word), $word::TOUCHES)),*];
            #[cfg(test)]
            return $crate::tested(&worlds, plain::Suite, &twins);
            #[cfg(not(test))]
            $crate::commanded(worlds, &twins)
        }
    };
}

/// The registry of these families, which stand in a module, for a compilation.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    (
        $place:ident on $ground:ident
        { $($family:ident $((n + $over:literal))? $(: $($claim:ident),+)?);+ $(;)? }
    ) => {
        use $crate::Otherwise as _;

        /// Named once, so that what is wrong with a name is told once.
        pub(crate) mod families {
            $(pub(crate) type $family = super::$place::$family;)+
        }
        #[allow(non_upper_case_globals, reason = "each has the name of its family")]
        pub(crate) mod claims {
            $(pub(crate) const $family: &[$crate::Claim] = &[$($($crate::Claim::$claim),+)?];)+
        }
        #[allow(non_upper_case_globals, reason = "each has the name of its family")]
        pub(crate) mod bounds {
            $(pub(crate) const $family: &[usize] = &[$($over)?];)+
        }

        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Suite;

        impl $crate::registry::Registry for Suite {
            fn channels<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(channel: $family on $ground in visitor);)+
            }
            fn timers<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(timer: $family on $ground in visitor);)+
            }
            fn limiters<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(limiter: $family on $ground in visitor);)+
            }
            fn pipelines<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(pipeline workers parallel_map: $family on $ground in visitor);)+
            }
            fn executors<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(executor go_blocks: $family on $ground in visitor);)+
            }
            fn combinators<V: $crate::registry::Visitor>(self, visitor: &mut V) {
                $($crate::__entered!(combinators: $family on $ground in visitor);)+
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
        pub(crate) const TOUCHES: &[$crate::Touch] = &[$({
            type Family = $crate::Probe<families::$family, $crate::grounds::$ground>;
            let touch: fn() = || {
                Family::touch_channel();
                Family::touch_timer();
                Family::touch_limiter();
                Family::touch_executor();
            };
            let has = Family::CHANNEL || Family::TIMER || Family::LIMITER || Family::EXECUTOR;
            (stringify!($family), if has { Some(touch) } else { None })
        }),+];
    };
}

/// Enters a family for each of these kinds that it is of.
#[doc(hidden)]
#[macro_export]
macro_rules! __entered {
    ($($kind:ident)+: $family:ident on $ground:ident in $visitor:ident) => {{
        type Family = $crate::Probe<families::$family, $crate::grounds::$ground>;
        let over = bounds::$family.first().copied().unwrap_or(0);
        $(if let Some(entry) = Family::$kind($visitor, stringify!($family), over) {
            let entry = $crate::__registered!(entry of families::$family, on $ground);
            let entry = entry.version(env!("CARGO_PKG_VERSION"));
            entry.claims(claims::$family).enter();
        })+
    }};
}

/// Refuses the claims that a family cannot make.
#[doc(hidden)]
#[macro_export]
macro_rules! __supported {
    ({ $($family:ident $((n + $over:literal))? $(: $($claim:ident),+)?);+ $(;)? }) => {
        $(const _: () = {
            use $crate::Otherwise as _;
            type Family = $crate::Probe<plain::families::$family, $crate::grounds::plain>;
            $crate::supported(
                plain::claims::$family,
                !plain::bounds::$family.is_empty(),
                $crate::Has {
                    channel: Family::CHANNEL,
                    timer: Family::TIMER,
                    limiter: Family::LIMITER,
                    pipeline: Family::PIPELINE,
                    executor: Family::EXECUTOR,
                    unclaimed: Family::WORKERS
                        || Family::PARALLEL_MAP
                        || Family::GO_BLOCKS
                        || Family::COMBINATORS,
                    asynchronous: Family::ASYNC,
                    alts: Family::ALTS,
                    sleep: Family::SLEEP,
                },
            );
        };)+
    };
}
