//! For the text on timeout channels.

use super::{COALESCING, Row, TIMERS};

pub const TEXT: &str = "001_d22df209ee62fd6d.txt";

const SAFE: &[&str] = &["heap", "hashed_wheel", "hierarchical_wheel"];
const ALTS: &[&str] = &[
    "mutex",
    "ordered_locks",
    "lock_free",
    "delay_queue",
    "heap",
    "hashed_wheel",
    "hierarchical_wheel",
];

pub const ROWS: &[Row] = &[
    (
        "a response takes longer than 300 ms, in an alts with (timeout 300)",
        ALTS,
        ":timeout after 300 ms",
        "yes",
        None,
    ),
    (
        "a response comes faster than 300 ms",
        ALTS,
        "the value after 200 ms",
        "yes",
        None,
    ),
    (
        "the late response finds its channel closed",
        ALTS,
        "the put is refused",
        "yes",
        None,
    ),
    (
        "a take from the delay queue blocks until its head is due",
        COALESCING,
        "after 10000 ms",
        "yes",
        None,
    ),
    (
        "(identical? (timeout 10009) (timeout 10000))",
        COALESCING,
        "1 channel",
        "yes",
        None,
    ),
    (
        "10,000 timeouts of 1,000 ms",
        COALESCING,
        "20 channels",
        "differs",
        Some("T7"),
    ),
    (
        "10,000 timeouts of 1,000 ms, once more",
        COALESCING,
        "6 channels",
        "yes",
        None,
    ),
    (
        "their keys in timeouts-map",
        COALESCING,
        "6 channels, 1 ms apart",
        "yes",
        None,
    ),
    (
        "two requests at once, before either is in the cache",
        COALESCING,
        "2 channels for one deadline",
        "yes",
        None,
    ),
    (
        "what such a race leaves",
        COALESCING,
        "both close when due, the next request has a new one",
        "yes",
        None,
    ),
    (
        "a timeout of 1 ms beside one of 10 ms",
        COALESCING,
        "it closes after 10 ms",
        "yes",
        None,
    ),
    (
        "a timeout of 1 ms beside one of 10 ms",
        SAFE,
        "it closes after 1 ms",
        "differs",
        Some("T7"),
    ),
    (
        "timeouts that differ in less than 10 ms",
        COALESCING,
        "2 channels",
        "differs",
        Some("T7"),
    ),
    (
        "timeouts that differ in less than 10 ms",
        SAFE,
        "one wake-up, a handle each",
        "differs",
        Some("T7"),
    ),
    (
        "(timeout Long/MAX_VALUE)",
        TIMERS,
        "it never closes",
        "differs",
        Some("T4"),
    ),
    (
        "close! on a timeout channel",
        COALESCING,
        "the other's closes",
        "yes",
        None,
    ),
    (
        "close! on a timeout channel",
        SAFE,
        "the other's stays open",
        "differs",
        Some("T7"),
    ),
    (
        "1,025 takes from (timeout 1000)",
        TIMERS,
        "take 1025 is refused",
        "yes",
        None,
    ),
    (
        "110 takes from each of 10 timeouts of 10,000 ms",
        COALESCING,
        "take 1025 is refused",
        "yes",
        None,
    ),
    (
        "110 takes from each of 10 timeouts of 10,000 ms",
        SAFE,
        "all 1100 wait",
        "differs",
        Some("T7"),
    ),
];
