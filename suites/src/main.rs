//! The `flowmeter` command.
fn main() {}
