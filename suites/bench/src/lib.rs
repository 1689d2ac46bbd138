//! Nothing but the package of `cargo bench`: what that runs is `benches/flowmeter.rs`.
