//! For the text on the code of timeouts.

use super::{COALESCING, Row, TIMERS};

pub const TEXT: &str = "000_ffaacfc00d4fcfbd.txt";

/// In a process of the std world.
const LEAVING: &[&str] = &[
    "delay_queue",
    "heap",
    "hashed_wheel",
    "hierarchical_wheel",
    "hierarchical_wheel-spinning",
];

pub const ROWS: &[Row] = &[
    (
        "threads of the pool that go blocks run on",
        &["fixed_pool"],
        "2 + cores",
        "yes",
        None,
    ),
    (
        "threads of the pool that go blocks run on",
        &["work_stealing"],
        "0 + cores",
        "differs",
        Some("G2"),
    ),
    (
        "go blocks that block the pool's threads starve the others",
        &["fixed_pool", "work_stealing"],
        "the next go block never begins",
        "yes",
        None,
    ),
    (
        "a go block takes from (timeout 1000), then puts",
        TIMERS,
        "\"hello from the future!\" after 1000 ms",
        "yes",
        None,
    ),
    (
        "a go block that waits for a timeout holds up no thread",
        TIMERS,
        "its thread runs another go block after 0 ms",
        "yes",
        None,
    ),
    (
        "the entry of an earlier deadline is not found",
        COALESCING,
        "2 channels",
        "yes",
        None,
    ),
    (
        "nor is one whose key is 10 ms later",
        COALESCING,
        "2 channels",
        "yes",
        None,
    ),
    (
        "1,000 timeouts all 500 ms from now",
        COALESCING,
        "1 channel",
        "yes",
        None,
    ),
    (
        "the timers' thread is a daemon",
        LEAVING,
        "the process ends",
        "yes",
        None,
    ),
    (
        "puts into the timers' queue wait for space",
        COALESCING,
        "puts never wait",
        "inconsistent",
        None,
    ),
];
