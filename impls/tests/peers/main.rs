//! Published crates: their faults through their own APIs, their timers behind our traits, and our pipelines on their
//! executor. One program, since each would link everything again.

#![allow(
    clippy::disallowed_macros,
    reason = "`timer_peers` has std's thread-locals; Clippy takes this allowance only at the root"
)]

mod flume_faults;
mod futures_faults;
mod hash_wheel_faults;
mod kanal_faults;
mod leaky_bucket_faults;
mod loole_faults;
mod par_stream_faults;
mod side_by_side;
mod smol_faults;
mod thingbuf_faults;
mod timer_peers;
mod tokio_faults;
