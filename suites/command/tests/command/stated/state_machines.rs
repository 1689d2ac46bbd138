//! For the text on the state machines of core.async.

use super::Row;

pub const TEXT: &str = "003_79027425952605e6.txt";

/// Channels with alts of their own.
const CHANNELS: &[&str] = &["mutex", "ordered_locks", "lock_free"];
const MACHINES: &[&str] = &["state_machine"];

pub const ROWS: &[Row] = &[
    (
        "the states that (fake-search :web) goes through",
        MACHINES,
        "1 2 3",
        "yes",
        None,
    ),
    (
        "((fake-search :web) c query), where (rand-int 100) is 40: what comes out of c",
        MACHINES,
        "[:web query] after 40 ms",
        "yes",
        None,
    ),
    (
        "the channel of a go block",
        MACHINES,
        "7, closed",
        "yes",
        None,
    ),
    (
        "there is not a value to dequeue",
        MACHINES,
        "its thread runs another go block after 0 ms",
        "yes",
        None,
    ),
    (
        "a value arrives on the channel after 40 ms",
        MACHINES,
        "2 runs, after 40 ms",
        "yes",
        None,
    ),
    (
        "every channel has something to take or room for a put",
        MACHINES,
        "1 run",
        "yes",
        None,
    ),
    (
        "the value received from the timeout channel",
        MACHINES,
        "nil",
        "yes",
        None,
    ),
    (
        "(go (>! c :foo) (prn ...)), and no one ever takes from c",
        MACHINES,
        "it never runs",
        "yes",
        None,
    ),
    (
        "the same, and there is room in a buffer",
        MACHINES,
        "it runs after 0 ms",
        "yes",
        None,
    ),
    (
        "the same without a buffer, and a thread takes after 40 ms",
        MACHINES,
        "it runs after 40 ms",
        "yes",
        None,
    ),
    (
        "the channel of a go block whose last value is nil",
        MACHINES,
        "closed",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2]) in a go block, and a value comes to c2",
        MACHINES,
        "Read 7 from c2",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2]), both with a value",
        CHANNELS,
        "1 taken, 1 left",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2] :priority true), both with values, 64 times",
        CHANNELS,
        "c1 64 times",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2]), both with values, 64 times",
        CHANNELS,
        "c1 and c2",
        "yes",
        None,
    ),
    (
        "(alts! [c1 [c3 \"foo\"]]), c1 empty",
        CHANNELS,
        "c3 has \"foo\"",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2] :default ...), and c2 has a value",
        CHANNELS,
        "7 from c2",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2] :default ...), and none is ready",
        CHANNELS,
        "the default after 0 ms",
        "yes",
        None,
    ),
    (
        "(alts! [c1 c2]), and a value comes to c1 after 40 ms",
        CHANNELS,
        "7 from c1 after 40 ms",
        "yes",
        None,
    ),
    (
        "values come to c1 and c2 after the default was returned",
        CHANNELS,
        "both are there",
        "yes",
        None,
    ),
    (
        "a value comes to c2 after c1 has answered an alts that waited",
        CHANNELS,
        "it is there",
        "yes",
        None,
    ),
    (
        "loop, if and case, of the numbers from 1 to 10",
        MACHINES,
        "25 odd, 30 even, 1 run",
        "yes",
        None,
    ),
    (
        "what is bound where a go block is spawned, before and after it has waited",
        &["fixed_pool", "thread_per_task", "work_stealing"],
        "seen, and seen",
        "yes",
        None,
    ),
];
