//! What the seed texts state, and who is seen to do what: a file for each text.

mod code_read;
mod managing_throughput;
mod off_by_two;
mod state_machines;
mod timeout_channels;

pub use code_read::TEXT as CODE_READ;
pub use timeout_channels::TEXT as TIMEOUT_CHANNELS;

const COALESCING: &[&str] = &["delay_queue"];
const TIMERS: &[&str] = &["delay_queue", "heap", "hashed_wheel", "hierarchical_wheel"];

/// Of each text its claims in their order, with who sees what. What does not hold says in its note which statement wants
/// it so.
pub const ALL: &[(&str, &[Row])] = &[
    (code_read::TEXT, code_read::ROWS),
    (timeout_channels::TEXT, timeout_channels::ROWS),
    (managing_throughput::TEXT, managing_throughput::ROWS),
    (state_machines::TEXT, state_machines::ROWS),
    (off_by_two::TEXT, off_by_two::ROWS),
];

/// A claim, who re-enacts it, what they are seen to do, whether it holds, and the statement that says why not.
pub type Row = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
    Option<&'static str>,
);
