//! Only the package of `cargo bench`, which runs `benches/flowmeter.rs`.
