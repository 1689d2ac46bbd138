//! The capabilities that registration derives from an implementation's traits, and the promises that it makes beyond
//! them.
//!
//! A [`Capability`] is derived at registration: a trait or an answered `Some` proves it. A [`Claim`] is a promise about
//! behaviour, which only a property can refute. The report shows an unclaimed capability grey, and a claimed one that
//! fails red.

use std::collections::BTreeSet;
use std::fmt;

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All of them, in the order in which tables show them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The stable name, as JSON and tables print it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// What registration derives from the traits and constructors of an implementation.
    Capability {
        /// Opens a rendezvous channel.
        Rendezvous = "rendezvous",
        /// Opens a fixed buffer.
        Fixed = "fixed",
        /// Opens an unbounded buffer.
        Unbounded = "unbounded",
        /// Opens a dropping buffer.
        Dropping = "dropping",
        /// Opens a sliding buffer.
        Sliding = "sliding",
        /// Opens a promise.
        Promise = "promise",
        /// More than one producer.
        MultiProducer = "multi-producer",
        /// More than one consumer.
        MultiConsumer = "multi-consumer",
        /// Blocking puts and takes.
        Blocking = "blocking",
        /// Puts and takes as futures.
        Async = "async",
        /// Threads and tasks may use one channel at once.
        Mixed = "mixed",
        /// Puts and takes that answer a callback.
        Callback = "callback",
        /// Puts with a deadline.
        PutDeadline = "put-deadline",
        /// Takes with a deadline.
        TakeDeadline = "take-deadline",
        /// Can be closed while both halves live.
        Close = "close",
        /// Timers can be cancelled.
        Identity = "identity",
        /// Waits on several channels at once.
        Alts = "alts",
        /// Channels of one alts may carry different types.
        MixedAlts = "mixed-alts",
        /// Tasks await an alts.
        AwaitAlts = "await-alts",
        /// Producers that do not keep the channel open.
        WeakProducers = "weak-producers",
        /// Producers can wait for the close.
        AwaitClose = "await-close",
        /// Many values in one call.
        Batch = "batch",
        /// Permits that hold room.
        Reserve = "reserve",
        /// Applies a function to values before they are stored.
        Transforms = "transforms",
        /// Calls back at deadlines.
        Schedule = "schedule",
        /// Timers can be called off.
        Cancel = "cancel",
        /// Deadlines of timers can be moved.
        Reset = "reset",
        /// Timers close in time share a wake-up, but no handle (T7).
        SafeCoalescing = "safe-coalescing",
        /// Futures wait for deadlines.
        Sleep = "sleep",
        /// Threads wait for deadlines.
        BlockingSleep = "blocking-sleep",
        /// Closes channels at deadlines.
        Timeout = "timeout",
        /// Results leave in the order of their inputs.
        Ordered = "ordered",
        /// Finished items wait for earlier ones in a window that is separate from the items in flight (P5).
        Window = "window",
        /// Applies a function to what an iterator gives, unordered.
        ParallelMap = "parallel-map",
        /// Applies a function with any number of results to each value from a channel.
        Workers = "workers",
        /// The function may block its thread.
        MayBlock = "may-block",
        /// Takes inputs only as results are taken, so the inputs may be endless.
        Lazy = "lazy",
        /// Grants permits.
        TryAcquire = "try-acquire",
        /// Waits for permits until a deadline.
        AcquireDeadline = "acquire-deadline",
        /// Acquisitions may weigh more than one permit.
        Weights = "weights",
        /// Runs tasks.
        Tasks = "tasks",
        /// A spawned task can inherit the bindings of the task or thread that spawned it.
        Bindings = "bindings",
        /// Runs go blocks written as state machines.
        GoBlocks = "go-blocks",
    }
}

named! {
    /// Promises about behaviour. SEMANTICS.md has the statements that each of them implies.
    Claim {
        /// Waiters are served first come, first served: puts and takes (C4), acquisitions (L1).
        WaiterFifo = "waiter-fifo",
        /// Dropping a pending future loses no value (C9).
        CancelSafe = "cancel-safe",
        /// Values in the buffer survive a close (C6).
        KeepsBuffered = "keeps-buffered",
        /// Puts that wait when the channel closes are still taken (C6).
        PendingPutsSurvive = "pending-puts-survive",
        /// The number of waiting puts and takes is limited; a further one is refused (C7).
        BoundedWaiters = "bounded-waiters",
        /// A stalled thread delays no offer or poll of another thread (C12).
        NonBlockingTry = "non-blocking-try",
        /// A panic in a drop, a waker or a callback leaves the channel and all values intact (C10, C11). A waker that
        /// panics stops no timer (T6), and a task that panics as it is dropped keeps no other (G1).
        PanicSafe = "panic-safe",
        /// No lock is held while a waker is called or dropped, while a value or a cancelled callback is dropped, or while
        /// the future that ends the patience of an alts is polled. A request that is gone leaves no waker behind (C11,
        /// T2, L3).
        CallsUnlocked = "calls-unlocked",
        /// The last half dropped disconnects the other side (C14).
        Disconnect = "disconnect",
        /// An earlier clause of an alts was not able at the moment of commit (A5).
        StrictPriority = "strict-priority",
        /// No clause was able at the moment of the default (A6).
        StrictDefault = "strict-default",
        /// The choice among ready clauses is uniform over every ready subset (A5).
        UniformChoice = "uniform-choice",
        /// Timers have no tick: if virtual time advances only while no thread can run, a timer fires exactly at its
        /// deadline (T3), and a permit is granted exactly when it is free (L3).
        Tickless = "tickless",
        /// Timers due together fire in the order of their deadlines, and equal deadlines in the order in which they were
        /// armed (T5).
        DeadlineOrder = "deadline-order",
        /// Dropping a service of timers answers the futures that wait for it (T8).
        AnswersSleepers = "answers-sleepers",
        /// Timeouts close in time share a channel, as core.async's (T7).
        Coalescing = "coalescing",
        /// A slow callback delays other timers until it has ended, and no longer (T6).
        IsolatedCallbacks = "isolated-callbacks",
        /// No window of one period, wherever it begins, holds more acquisitions than permits (L1).
        WindowBound = "window-bound",
        /// Acquisitions in any interval are at most the burst and what the rate adds (L2).
        RateBound = "rate-bound",
        /// Each waiter for a permit is woken once, for its own grant (L2).
        WakesOnce = "wakes-once",
        /// The turn of a waiter that gives up passes to the waiters behind it (L3).
        PassesOn = "passes-on",
        /// As many tasks as threads run at once, even where each blocks its thread (G2).
        RunsBesideBlocked = "runs-beside-blocked",
    }
}

named! {
    /// What an implementation is.
    Kind {
        /// Carries values.
        Channel = "channel",
        /// Acts at deadlines.
        Timer = "timer",
        /// Applies a function to what comes out of a channel or an iterator, n at a time.
        Pipeline = "pipeline",
        /// Grants permits.
        Limiter = "limiter",
        /// Runs tasks.
        Executor = "executor",
        /// Takes from channels and puts to channels.
        Combinator = "combinator",
    }
}

/// Where an implementation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Origin {
    /// Written in this project.
    Own,
    /// A published crate.
    Peer,
    /// Another language.
    Foreign,
    /// Broken on purpose.
    Mutant,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Origin::Own => "own",
            Origin::Peer => "peer",
            Origin::Foreign => "foreign",
            Origin::Mutant => "mutant",
        })
    }
}

/// Everything an implementation offers and promises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Derived from its traits.
    pub derived: BTreeSet<Capability>,
    /// Promised.
    pub claims: BTreeSet<Claim>,
    /// How many operations of a pipeline are in flight at most, as a function of its parallelism n:
    /// `n + extra` (P1).
    pub bound_over_n: Option<usize>,
}

impl Capabilities {
    /// Stable names, derived ones first.
    pub fn names(&self) -> Vec<String> {
        let derived = self.derived.iter().map(|c| c.to_string());
        let claims = self.claims.iter().map(|c| c.to_string());
        let bound = self.bound_over_n.map(|k| format!("bound(n+{k})"));
        derived.chain(claims).chain(bound).collect()
    }
}
