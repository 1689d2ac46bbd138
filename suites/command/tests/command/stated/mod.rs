//! The claims of the seed texts, and the expected observations of each implementation: a file for each text.

mod code_read;
mod managing_throughput;
mod off_by_two;
mod state_machines;
mod timeout_channels;

pub use code_read::TEXT as CODE_READ;
pub use timeout_channels::TEXT as TIMEOUT_CHANNELS;

const COALESCING: &[&str] = &["delay_queue"];
const TIMERS: &[&str] = &["delay_queue", "heap", "hashed_wheel", "hierarchical_wheel"];

/// For each text its claims in order, with the implementations and their observations. The note of a claim that does
/// not hold names the statement of SEMANTICS.md.
pub const ALL: &[(&str, &[Row])] = &[
    (code_read::TEXT, code_read::ROWS),
    (timeout_channels::TEXT, timeout_channels::ROWS),
    (managing_throughput::TEXT, managing_throughput::ROWS),
    (state_machines::TEXT, state_machines::ROWS),
    (off_by_two::TEXT, off_by_two::ROWS),
];

/// A claim, its implementations, their observation, whether it holds, and the statement that says why not.
pub type Row = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
    Option<&'static str>,
);
