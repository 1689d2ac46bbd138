//! `cargo test` proves this crate with Flowmeter, and `cargo flowmeter` is the whole command over it.

flowmeter::suite! {
    adapter: "adapter.rs",
    of: my_channel,
    explored: my_channel_explored;
    Bounded: KeepsBuffered, Disconnect;
    Ticks;
    Tasks: RunsBesideBlocked, PanicSafe;
}
