//! The program of a row of the corpus: releases of published crates, compiled over the same shims as twins, and the
//! adapters that the row names.
//!
//! It is the command `flowmeter` with these implementations alone. `scripts/corpus` writes its manifest and builds it. The
//! adapters are those of `impls/src/peers`, or stand in `adapters` where only an older or a faulty release needs one.

mod registry;
#[path = "../program/sync.rs"]
mod sync;

#[path = "../../src/own_thread.rs"]
#[allow(dead_code)]
mod own_thread;

/// What adapters and registry take from our own implementations.
#[allow(unused_imports)]
#[path = "."]
pub mod channel {
    pub use flowmeter_impls_shuttle::channel::*;

    #[path = "../../src/channel/trampoline.rs"]
    #[allow(dead_code)]
    pub(crate) mod trampoline;
}

/// What pipelines are made of.
#[cfg(feature = "futures-buffered")]
#[path = "."]
mod pipeline {
    #[path = "../../src/pipeline/output.rs"]
    #[allow(dead_code)]
    mod output;
    #[path = "../../src/pipeline/ports.rs"]
    #[allow(dead_code)]
    mod ports;

    pub(crate) use output::{Demand, Output};
    pub(crate) use ports::{ONE, TOO_MANY, next, open};
}

/// The adapters, each under a feature of its own.
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "."]
pub mod peers {
    macro_rules! adapters {
        ($($feature:literal $path:literal $name:ident;)*) => {
            $(#[cfg(feature = $feature)] #[path = $path] pub mod $name;)*
        };
    }

    #[path = "../../src/peers/answered.rs"]
    mod answered;
    #[path = "../../src/peers/panic_watch.rs"]
    mod panic_watch;
    #[cfg(feature = "tokio-runtime")]
    #[path = "../../src/peers/tokio_runtime.rs"]
    mod tokio_runtime;

    adapters! {
        "async-channel" "../../src/peers/async_channel.rs" async_channel;
        "crossbeam" "../../src/peers/crossbeam.rs" crossbeam;
        "crossfire" "../../src/peers/crossfire/mod.rs" crossfire;
        "flume" "../../src/peers/flume.rs" flume;
        "futures-buffered" "../../src/peers/futures_buffered.rs" futures_buffered;
        "futures-channel" "../../src/peers/futures_channel.rs" futures_channel;
        "kanal" "../../src/peers/kanal.rs" kanal;
        "leaky-bucket" "../../src/peers/leaky_bucket.rs" leaky_bucket;
        "loole" "../../src/peers/loole.rs" loole;
        "thingbuf" "../../src/peers/thingbuf.rs" thingbuf;
        "tokio" "../../src/peers/tokio.rs" tokio;
        "tokio-delay-queue" "../../src/peers/tokio_delay_queue.rs" tokio_delay_queue;
        "tokio-executor" "../../src/peers/tokio_executor.rs" tokio_executor;
        "tokio-semaphore" "../../src/peers/tokio_semaphore.rs" tokio_semaphore;
        "tokio-sleep" "../../src/peers/tokio_sleep.rs" tokio_sleep;
        "hash-wheel-timer" "../../src/peers/hash_wheel_timer.rs" hash_wheel_timer;
        "broadcast-reentrant" "adapters/broadcast_reentrant.rs" broadcast_reentrant;
        "deque" "adapters/deque.rs" deque;
        "crossfire-multiplex" "adapters/crossfire_multiplex.rs" crossfire_multiplex;
        "delay-queue-bare" "adapters/delay_queue_bare.rs" delay_queue_bare;
        "flume-selector" "adapters/flume_selector.rs" flume_selector;
        "flume-timeout" "adapters/flume_timeout.rs" flume_timeout;
        "futures-acked" "adapters/futures_acked.rs" futures_acked;
        "kanal-older" "adapters/kanal_older.rs" kanal_older;
        "kanal-option" "adapters/kanal_option.rs" kanal_option;
        "leaky-bucket-variant" "adapters/leaky_bucket_variant.rs" leaky_bucket_variant;
        "thingbuf-timeout" "adapters/thingbuf_timeout.rs" thingbuf_timeout;
        "tokio-asked" "adapters/tokio_asked.rs" tokio_asked;
        "tokio-broadcast" "adapters/tokio_broadcast.rs" tokio_broadcast;
        "tokio-owned" "adapters/tokio_owned.rs" tokio_owned;
        "tokio-sleep-aged" "adapters/tokio_sleep_aged.rs" tokio_sleep_aged;
        "tokio-semaphore-queue" "adapters/tokio_semaphore_queue.rs" tokio_semaphore_queue;
    }
}

use std::process::ExitCode;

use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;
use flowmeter_workloads::catalogue::Catalogue;
use registry::Corpus;

#[global_allocator]
static ALLOCATOR: ledger::Ledger = ledger::Ledger;

mod ledger;

fn main() -> ExitCode {
    let worlds = Worlds::timing(Catalogue::without_workloads(Corpus), Corpus)
        .with::<Shuttle>(Corpus)
        .with::<Sim>(Corpus);
    cli::main_in(&worlds)
}
