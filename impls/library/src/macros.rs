//! `select!`, `alts!` and `alts_async!`. All are the macros of `flowmeter_impls::alts`, which this module passes on.

use flowmeter_impls::channel::AltsError;

pub use flowmeter_impls::{alts as alts_of_threads, alts_async as alts_of_tasks};

/// Waits on several channels of any types at once; exactly one arm runs.
///
/// | arm | runs when | its name is bound to |
/// | --- | --- | --- |
/// | `recv(receiver) -> answer => …` | there is a value, or no sender left | `Result<T, RecvError>` |
/// | `send(sender, value) -> answer => …` | the value is accepted, or no receiver is left | `Result<(), SendError<T>>` |
/// | `default => …` | no other arm is able now | |
/// | `default(time) => …` | no other arm was able for so long | |
///
/// Without a `default` it waits for as long as it takes. Of several able arms one is drawn at random. Arms are
/// expressions of one type, in place: `return`, `break` and `?` in them belong to the surrounding function. The value of
/// a `send` that loses is dropped. Values do not borrow.
///
/// The value of each `send` is evaluated, also where another arm wins. crossbeam-channel evaluates that of the chosen arm
/// alone. So a value that must not be lost is cloned there, or sent by [`Sender::try_send`](crate::Sender::try_send).
///
/// ```
/// use std::time::Duration;
///
/// use alts::{bounded, select};
///
/// let (job, jobs) = bounded(8);
/// let (result, results) = bounded::<u64>(0);
/// job.send("a job").unwrap();
/// let said = select! {
///     recv(jobs) -> job => job.unwrap_or("no more jobs"),
///     send(result, 7) -> sent => { sent.unwrap(); "sent" }
///     default(Duration::from_millis(10)) => "nothing to do",
/// };
/// assert_eq!(said, "a job");
/// # drop(results);
/// ```
///
/// # Panics
/// If it has to wait on a channel of [`core_async`](crate::core_async) that admits no further waiter. The channels of
/// this crate's root admit any number.
#[macro_export]
macro_rules! select {
    ($($arms:tt)*) => {
        $crate::__select!(@arm waits [] $($arms)*)
    };
}

/// Waits on several channels in core.async's words; exactly one arm runs. It blocks its thread.
///
/// Arms are `take(port) => |value| …`, `put(port, value) => |accepted| …`, `timeout(delay) => …`, `deadline(at) => …`
/// and `default => …`. The arms of [`alts!` in flowmeter-impls](mod@flowmeter_impls::alts) are the same, and are explained
/// there. Ports are channels of [`core_async`](crate::core_async), a [`Sender`](crate::Sender) or a
/// [`Receiver`](crate::Receiver).
#[macro_export]
macro_rules! alts {
    ($($arms:tt)*) => {
        $crate::macros::alts_of_threads! { $($arms)* }
    };
}

/// [`alts!`] that awaits in a task instead of blocking its thread. Dropped while it waits, it loses nothing.
///
/// In a task that may move to another thread the messages are no references, not even `&'static str`: rustc cannot tell
/// then that the task is `Send`.
#[macro_export]
macro_rules! alts_async {
    ($($arms:tt)*) => {
        $crate::macros::alts_of_tasks! { $($arms)* }
    };
}

/// The arms of a `select!` as arms of an `alts!`, one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@arm $end:ident $arms:tt recv($port:expr $(,)?) -> $answer:pat => $($rest:tt)*) => {
        $crate::__select!(@body $end $arms { recv ($port) ($answer) } $($rest)*)
    };
    (@arm $end:ident $arms:tt send($port:expr, $value:expr $(,)?) -> $answer:pat => $($rest:tt)*) => {
        $crate::__select!(@body $end $arms { send ($port, $value) ($answer) } $($rest)*)
    };
    (@arm waits $arms:tt default => $($rest:tt)*) => {
        $crate::__select!(@body glances $arms { default } $($rest)*)
    };
    (@arm waits $arms:tt default($time:expr $(,)?) => $($rest:tt)*) => {
        $crate::__select!(@body waits $arms { timeout ($time) } $($rest)*)
    };
    (@arm waits [$($arms:tt)*]) => {
        match $crate::macros::alts_of_threads! { $($arms)* } {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => $crate::macros::refused(error),
        }
    };
    (@arm glances [$($arms:tt)*]) => {
        $crate::macros::alts_of_threads! { $($arms)* }
    };
    (@arm $($rest:tt)*) => {
        ::core::compile_error!("an arm of a select is one of `recv(receiver) -> answer => …`, `send(sender, value) -> answer => …`, `default => …`, `default(time) => …`, and there is one default")
    };

    (@body $end:ident $arms:tt $head:tt $body:block, $($rest:tt)*) => {
        $crate::__select!(@add $end $arms $head ($body) $($rest)*)
    };
    (@body $end:ident $arms:tt $head:tt $body:block $($rest:tt)*) => {
        $crate::__select!(@add $end $arms $head ($body) $($rest)*)
    };
    (@body $end:ident $arms:tt $head:tt $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@add $end $arms $head ($body) $($($rest)*)?)
    };

    (@add $end:ident [$($arms:tt)*] { recv ($port:expr) ($answer:pat) } ($body:expr) $($rest:tt)*) => {
        $crate::__select!(@arm $end [$($arms)*
            take($port) => |taken| {
                let $answer = ::core::option::Option::ok_or(taken, $crate::RecvError);
                $body
            },
        ] $($rest)*)
    };
    (@add $end:ident [$($arms:tt)*] { send ($port:expr, $value:expr) ($answer:pat) } ($body:expr) $($rest:tt)*) => {
        $crate::__select!(@arm $end [$($arms)*
            put($port, $value) => |accepted| {
                let $answer = ::core::result::Result::map_err(accepted, $crate::SendError);
                $body
            },
        ] $($rest)*)
    };
    (@add $end:ident [$($arms:tt)*] { default } ($body:expr) $($rest:tt)*) => {
        $crate::__select!(@arm $end [$($arms)* default => $body,] $($rest)*)
    };
    (@add $end:ident [$($arms:tt)*] { timeout ($time:expr) } ($body:expr) $($rest:tt)*) => {
        $crate::__select!(@arm $end [$($arms)* timeout($time) => $body,] $($rest)*)
    };
}

/// A `select!` was refused.
///
/// # Panics
/// Always.
#[cold]
pub fn refused(error: AltsError) -> ! {
    panic!("a select cannot wait: {error}")
}
