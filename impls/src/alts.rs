//! [`alts!`](crate::alts!) and [`alts_async!`](crate::alts_async!): wait on several channels of any types at once;
//! exactly one clause commits.
//!
//! ```
//! use std::time::Duration;
//!
//! use flowmeter_harness::channel::Buffer;
//! use flowmeter_impls::alts;
//! use flowmeter_impls::channel::mutex::Channel;
//!
//! let jobs = Channel::<String>::new(Buffer::fixed(8));
//! let results = Channel::<u64>::new(Buffer::Rendezvous);
//! jobs.put("a job".to_owned()).unwrap();
//!
//! let said = alts! {
//!     take(jobs) => |job| match job {
//!         Some(job) => format!("took {job}"),
//!         None => "no more jobs".to_owned(),
//!     },
//!     put(results, 7) => |accepted| match accepted {
//!         Ok(()) => "the result was accepted".to_owned(),
//!         Err(result) => format!("{result} was refused"),
//!     },
//!     timeout(Duration::from_millis(10)) => "nothing to do".to_owned(),
//! }?;
//! assert_eq!(said, "took a job");
//! # Ok::<(), flowmeter_impls::alts::AltsError>(())
//! ```
//!
//! # Arms
//!
//! | arm | commits when | its name is bound to |
//! | --- | --- | --- |
//! | `take(port) => \|value\| …` | there is a value, or the channel is closed and empty | `Option<T>`: nothing when closed |
//! | `put(port, value) => \|accepted\| …` | the value is accepted, or the channel is closed | `Result<(), T>`: the value when closed |
//! | `timeout(delay) => …` | so long from now no clause has committed; `Duration::MAX` is never | |
//! | `deadline(at) => …` | the same at a [`Deadline`] | |
//! | `default => …` | no clause is able now; the alts then never waits | |
//!
//! There is at least one take or put, and at most one of the last three. Arms end with a comma. All are expressions of
//! one type, in place: `return`, `break` and `?` in them belong to the surrounding function. Clauses are tried in a
//! random order, or, if the arms begin with `priority;`, in the order of the text. Ports are borrowed shared, so a
//! channel may stand in several clauses. They belong to one family ([`TakePort`], [`PutPort`]). Ports, values and
//! delays are evaluated before the first try, in the order of the text. The value of a put that loses is dropped. To
//! get it back, call
//! [`MixedAlts::run_mixed`], on which the macros are built.
//!
//! # What it evaluates to
//!
//! With a `default`: the value of the arm. Without, the alts may have to wait, and a channel admits a bounded number of
//! waiters (C7). A waiter beyond that is refused. Neither an arm nor a panic is right for this, since the caller may
//! well continue with the other channels. So the value is a `Result`, and [`AltsError::TooManyWaiters`] is the only
//! error.
//!
//! ```
//! # use flowmeter_harness::channel::Buffer;
//! # use flowmeter_impls::alts;
//! # use flowmeter_impls::channel::mutex::Channel;
//! let urgent = Channel::<u8>::new(Buffer::fixed(1));
//! let idle = Channel::<&str>::new(Buffer::fixed(1));
//! let next = || alts! {
//!     priority;
//!     take(urgent) => |number| format!("{number:?}"),
//!     take(idle) => |text| format!("{text:?}"),
//!     default => "nothing".to_owned(),
//! };
//! assert_eq!(next(), "nothing");
//! idle.put("text").unwrap();
//! urgent.put(1).unwrap();
//! assert_eq!([next(), next()], ["Some(1)", "Some(\"text\")"]);
//! ```
//!
//! # Awaiting
//!
//! `alts_async!` has the same arms and awaits in place, so arms may also await. For a separate future write `async {
//! alts_async! { … } }`. It is cancel-safe: dropped while it waits it has had no effect, or nothing is lost (see
//! [`AwaitAlts::run_async`]). A task does not sleep by itself, so `timeout` and `deadline` name the timer that wakes
//! it: any [`Sleep`].
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use std::time::Duration;
//!
//! use flowmeter_harness::channel::Buffer;
//! use flowmeter_harness::timer::Sleep;
//! use flowmeter_impls::alts_async;
//! use flowmeter_impls::channel::mutex::Channel;
//! use flowmeter_impls::sync::block_on;
//! use flowmeter_impls::timer::heap::Heap;
//!
//! let timer = <Heap as Sleep>::start();
//! let names = Channel::<&str>::new(Buffer::Rendezvous);
//! let numbers = Channel::<u64>::new(Buffer::Rendezvous);
//! let heard = block_on(async {
//!     alts_async! {
//!         take(names) => |name| name.map(str::len),
//!         take(numbers) => |number| number.map(|number| number as usize),
//!         timeout(timer, Duration::from_millis(1)) => Some(0),
//!     }
//! });
//! assert_eq!(heard, Ok(Some(0)));
//! # }
//! ```
//!
//! core.async's way works as well, in both macros: a timeout is a channel that closes. A shared one serves many alts
//! with one timer.
//!
//! ```
//! # use std::time::Duration;
//! # use flowmeter_harness::channel::Buffer;
//! # use flowmeter_harness::timer::{Timeouts, Timers};
//! # use flowmeter_impls::{alts, channel::mutex::{Channel, Consumer, MutexChannels}, timer::heap::Heap};
//! let timer = <Heap as Timers>::start();
//! let jobs = Channel::<String>::new(Buffer::Rendezvous);
//! let late: Consumer<()> = Timeouts::<MutexChannels>::timeout(&timer, Duration::from_millis(1));
//! let heard = alts! {
//!     take(jobs) => |job| job,
//!     take(late) => |_| None,
//! };
//! assert_eq!(heard, Ok(None));
//! ```
//!
//! # What is refused
//!
//! An alts that would wait for ever, or is ambiguous, does not compile:
//!
//! ```compile_fail
//! // No clause.
//! flowmeter_impls::alts! { default => () };
//! ```
//!
//! ```compile_fail
//! # use flowmeter_harness::channel::Buffer;
//! # let jobs = flowmeter_impls::channel::mutex::Channel::<u8>::new(Buffer::Rendezvous);
//! // A default never waits, so nothing times out.
//! flowmeter_impls::alts! {
//!     take(jobs) => |_| (),
//!     timeout(std::time::Duration::ZERO) => (),
//!     default => (),
//! };
//! ```

use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

pub use flowmeter_harness::channel::{
    AltsError, AwaitAlts, MixedAlts, Order, Patience, PutPort, TakePort, Winner,
};
pub use flowmeter_harness::sync::Deadline;
pub use flowmeter_harness::timer::Sleep;

use crate::sync::clock;

/// A take of an `alts!`.
#[doc(hidden)]
pub struct Take<'a, P: TakePort + 'a>(<P::Family as MixedAlts>::TakeClause<'a, P::Message>);

/// A put of an `alts!`.
#[doc(hidden)]
pub struct Put<'a, P: PutPort + 'a>(<P::Family as MixedAlts>::PutClause<'a, P::Message>);

impl<'a, P: TakePort> Take<'a, P> {
    pub fn of(port: &'a P) -> Self {
        Take(port.take_clause())
    }

    pub fn any(&mut self) -> <P::Family as MixedAlts>::AnyClause<'_> {
        P::Family::any_take(&mut self.0)
    }

    /// The value, after the take has won.
    pub fn outcome(&mut self) -> Option<P::Message> {
        P::Family::taken(&mut self.0)
    }

    pub fn family(&self) -> PhantomData<P::Family> {
        PhantomData
    }
}

impl<'a, P: PutPort> Put<'a, P> {
    pub fn of(port: &'a P, value: P::Message) -> Self {
        Put(port.put_clause(Some(value)))
    }

    pub fn any(&mut self) -> <P::Family as MixedAlts>::AnyClause<'_> {
        P::Family::any_put(&mut self.0)
    }

    /// The outcome, after the put has won.
    pub fn outcome(&mut self) -> Result<(), P::Message> {
        P::Family::slot(&mut self.0).take().map_or(Ok(()), Err)
    }

    pub fn family(&self) -> PhantomData<P::Family> {
        PhantomData
    }
}

#[doc(hidden)]
pub fn run<C: MixedAlts>(
    _family: PhantomData<C>,
    clauses: &mut [C::AnyClause<'_>],
    order: Order,
    patience: Patience,
) -> Result<Winner, AltsError> {
    C::run_mixed(clauses, order, patience)
}

#[doc(hidden)]
pub fn run_async<C: AwaitAlts>(
    _family: PhantomData<C>,
    clauses: &mut [C::AnyClause<'_>],
    order: Order,
    until: impl Future<Output = ()> + Send,
) -> impl Future<Output = Result<Winner, AltsError>> + Send {
    C::run_async(clauses, order, until)
}

/// The moment a delay from now; `Duration::MAX` never comes.
pub fn after(delay: Duration) -> Deadline {
    clock::after(delay)
}

/// [`Sleep`] as a method, so that a timer may also be behind references and pointers.
#[doc(hidden)]
pub trait Alarm {
    fn alarm(&self, at: Deadline) -> impl Future<Output = ()> + Send + 'static;
}

impl<S: Sleep> Alarm for S {
    fn alarm(&self, at: Deadline) -> impl Future<Output = ()> + Send + 'static {
        self.sleep_until(at)
    }
}

/// # Panics
/// Always: the family returned an answer that the alts did not ask for.
#[doc(hidden)]
#[cold]
pub fn broken(answer: Result<Winner, AltsError>) -> ! {
    panic!("the channels broke the contract of MixedAlts: an alts was answered {answer:?}")
}

/// Waits on several channels at once, blocking the thread; exactly one arm is evaluated.
///
/// See [the module](mod@crate::alts).
#[macro_export]
macro_rules! alts {
    ($($arms:tt)*) => {
        $crate::__alts!(@order thread $($arms)*)
    };
}

/// Waits on several channels at once, awaiting; exactly one arm is evaluated. See [the module](mod@crate::alts).
#[macro_export]
macro_rules! alts_async {
    ($($arms:tt)*) => {
        $crate::__alts!(@order task $($arms)*)
    };
}

/// Collects the arms one by one, and how the alts ends otherwise. A clause has a name of its own, since an identifier
/// of one expansion is not visible in another. It also has its index, its constructor, its pattern and its expression.
#[doc(hidden)]
#[macro_export]
macro_rules! __alts {
    (@order $form:ident priority; $($arms:tt)*) => {
        $crate::__alts!(@arms $form Priority [] (0usize) [] $($arms)*)
    };
    (@order $form:ident $($arms:tt)*) => {
        $crate::__alts!(@arms $form Random [] (0usize) [] $($arms)*)
    };

    (@arms $form:ident $order:ident [$($clauses:tt)*] ($($index:tt)*) $end:tt
        take($port:expr $(,)?) => |$value:pat_param| $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms $form $order
            [$($clauses)* { clause ($($index)*) (Take::of(&$port)) ($value) ($body) }]
            ($($index)* + 1) $end $($($rest)*)?)
    };
    (@arms $form:ident $order:ident [$($clauses:tt)*] ($($index:tt)*) $end:tt
        put($port:expr, $message:expr $(,)?) => |$accepted:pat_param| $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms $form $order
            [$($clauses)* { clause ($($index)*) (Put::of(&$port, $message)) ($accepted) ($body) }]
            ($($index)* + 1) $end $($($rest)*)?)
    };
    (@arms thread $order:ident $clauses:tt $index:tt []
        timeout($delay:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms thread $order $clauses $index
            [until ($crate::alts::Patience::Until($crate::alts::after($delay))) ($body)]
            $($($rest)*)?)
    };
    (@arms thread $order:ident $clauses:tt $index:tt []
        deadline($at:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms thread $order $clauses $index
            [until ($crate::alts::Patience::Until($at)) ($body)]
            $($($rest)*)?)
    };
    (@arms task $order:ident $clauses:tt $index:tt []
        timeout($timer:expr, $delay:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms task $order $clauses $index
            [until ({ use $crate::alts::Alarm as _; $timer.alarm($crate::alts::after($delay)) }) ($body)]
            $($($rest)*)?)
    };
    (@arms task $order:ident $clauses:tt $index:tt []
        deadline($timer:expr, $at:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms task $order $clauses $index
            [until ({ use $crate::alts::Alarm as _; $timer.alarm($at) }) ($body)]
            $($($rest)*)?)
    };
    (@arms $form:ident $order:ident $clauses:tt $index:tt []
        default => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__alts!(@arms $form $order $clauses $index [default ($body)] $($($rest)*)?)
    };

    // Everything is collected.
    (@arms $form:ident $order:ident [] $index:tt $end:tt) => {
        ::core::compile_error!("an alts has at least one take or put")
    };
    (@arms $form:ident $order:ident
        [{ $first:ident $($of_first:tt)* } $($clauses:tt)*] $index:tt $end:tt
    ) => {
        $crate::__alts!(@run $form $order $first [{ $first $($of_first)* } $($clauses)*] $end)
    };

    // An unknown arm, or one too many.
    (@arms $form:ident $order:ident $clauses:tt $index:tt [default $($end:tt)*]
        default => $($rest:tt)*
    ) => {
        ::core::compile_error!("an alts has one default")
    };
    (@arms $form:ident $order:ident $clauses:tt $index:tt [until $($end:tt)*]
        default => $($rest:tt)*
    ) => {
        ::core::compile_error!("with a default an alts never waits: it has no timeout or deadline")
    };
    (@arms $form:ident $order:ident $clauses:tt $index:tt [default $($end:tt)*]
        $arm:ident($($what:tt)*) => $($rest:tt)*
    ) => {
        ::core::compile_error!("with a default an alts never waits: it has no timeout or deadline, and takes and puts bind a name, as in `take(port) => |value| …`")
    };
    (@arms $form:ident $order:ident $clauses:tt $index:tt [until $($end:tt)*]
        $arm:ident($($what:tt)*) => $($rest:tt)*
    ) => {
        ::core::compile_error!("an alts has one timeout or deadline, and takes and puts bind a name, as in `take(port) => |value| …`")
    };
    (@arms task $order:ident $clauses:tt $index:tt []
        $arm:ident($($what:tt)*) => $($rest:tt)*
    ) => {
        ::core::compile_error!("an arm of alts_async! is one of `take(port) => |value| …`, `put(port, value) => |accepted| …`, `timeout(timer, delay) => …`, `deadline(timer, at) => …`, `default => …`")
    };
    (@arms $form:ident $order:ident $clauses:tt $index:tt $end:tt $($rest:tt)*) => {
        ::core::compile_error!("an arm of an alts is one of `take(port) => |value| …`, `put(port, value) => |accepted| …`, `timeout(delay) => …`, `deadline(at) => …`, `default => …`, with a comma behind it")
    };

    // With a default it never waits, not even in a task.
    (@run $form:ident $order:ident $first:ident
        [$({ $clause:ident $index:tt ($($made:tt)*) ($bound:pat_param) ($body:expr) })*]
        [default ($default:expr)]
    ) => {
        match ($($crate::alts::$($made)*,)*) {
            ($(mut $clause,)*) => {
                let winner = $crate::alts::run(
                    $first.family(),
                    &mut [$($clause.any()),*],
                    $crate::alts::Order::$order,
                    $crate::alts::Patience::Now,
                );
                match winner {
                    ::core::result::Result::Ok($crate::alts::Winner::Default) => $default,
                    $(::core::result::Result::Ok($crate::alts::Winner::Clause(index)) if index == $index => {
                        let $bound = $clause.outcome();
                        $body
                    })*
                    answer => $crate::alts::broken(answer),
                }
            }
        }
    };
    (@run thread $order:ident $first:ident $clauses:tt []) => {
        $crate::__alts!(@run thread $order $first $clauses
            [until ($crate::alts::Patience::Forever) ()])
    };
    (@run task $order:ident $first:ident $clauses:tt []) => {
        $crate::__alts!(@run task $order $first $clauses
            [until (::core::future::pending::<()>()) ()])
    };
    (@run thread $order:ident $first:ident
        [$({ $clause:ident $index:tt ($($made:tt)*) $bound:tt $body:tt })*]
        [until ($until:expr) $late:tt]
    ) => {
        match ($($crate::alts::$($made)*,)* $until) {
            ($(mut $clause,)* until) => {
                let winner = $crate::alts::run(
                    $first.family(),
                    &mut [$($clause.any()),*],
                    $crate::alts::Order::$order,
                    until,
                );
                $crate::__alts!(@arm winner $late [$({ $clause $index $bound $body })*])
            }
        }
    };
    (@run task $order:ident $first:ident
        [$({ $clause:ident $index:tt ($($made:tt)*) $bound:tt $body:tt })*]
        [until ($until:expr) $late:tt]
    ) => {
        match ($($crate::alts::$($made)*,)* $until) {
            ($(mut $clause,)* until) => {
                let winner = $crate::alts::run_async(
                    $first.family(),
                    &mut [$($clause.any()),*],
                    $crate::alts::Order::$order,
                    until,
                )
                .await;
                $crate::__alts!(@arm winner $late [$({ $clause $index $bound $body })*])
            }
        }
    };

    // The arm of the winner, of an alts that could be refused.
    (@arm $winner:ident ($($late:expr)?)
        [$({ $clause:ident $index:tt ($bound:pat_param) ($body:expr) })*]
    ) => {
        match $winner {
            $(
                #[allow(unreachable_code, reason = "an arm may leave by break or return")]
                ::core::result::Result::Ok($crate::alts::Winner::Clause(index)) if index == $index => {
                    let $bound = $clause.outcome();
                    ::core::result::Result::Ok($body)
                }
            )*
            $(
                #[allow(unreachable_code, reason = "an arm may leave by break or return")]
                ::core::result::Result::Ok($crate::alts::Winner::TimedOut) => {
                    ::core::result::Result::Ok($late)
                }
            )?
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
            answer => $crate::alts::broken(answer),
        }
    };
}
