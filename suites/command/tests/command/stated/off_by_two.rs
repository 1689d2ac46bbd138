//! For the text on the pipeline that is off by two.

use super::Row;

pub const TEXT: &str = "004_ebf855893e4a364d.txt";

const ORIGINAL: &[&str] = &["core_async"];
const SWAPPED: &[&str] = &["swapped"];
const FIXED: &[&str] = &["finishes", "windowed"];
const UNORDERED: &[&str] = &["unordered"];
const PIPELINES: &[&str] = &["core_async", "swapped", "finishes", "windowed", "unordered"];

pub const ROWS: &[Row] = &[
    (
        "(pipeline-async 3 ...), ten tasks of 1 s",
        ORIGINAL,
        "after 2000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async 1 ...), ten tasks of 1 s",
        ORIGINAL,
        "after 4000 ms",
        "yes",
        None,
    ),
    (
        "the log of (pipeline-async 1 ...): which jobs start together",
        ORIGINAL,
        "0 1 2, 3 4 5, 6 7 8, 9",
        "yes",
        None,
    ),
    (
        "with a parallelism of 1",
        ORIGINAL,
        "3 in flight",
        "yes",
        None,
    ),
    (
        "with a parallelism of 3",
        ORIGINAL,
        "5 in flight",
        "yes",
        None,
    ),
    (
        "jobs after results, with a parallelism of 1",
        SWAPPED,
        "2 in flight",
        "yes",
        None,
    ),
    (
        "jobs after results, n = 1: ten tasks of 1 s",
        SWAPPED,
        "after 5000 ms",
        "yes",
        None,
    ),
    (
        "jobs after results, n = 3: ten tasks of 1 s",
        SWAPPED,
        "after 3000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async-unordered 3 ...)",
        UNORDERED,
        "3 in flight",
        "yes",
        None,
    ),
    (
        "(pipeline-async-unordered 3 ...), ten tasks of 1 s",
        UNORDERED,
        "after 4000 ms",
        "yes",
        None,
    ),
    (
        "the last worker closes `to`: when, where one has a task of 10 s and the others have ended",
        UNORDERED,
        "after 10000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async 1 ...), the first task takes 10 s, the others nothing: the first result",
        ORIGINAL,
        "after 10000 ms",
        "yes",
        None,
    ),
    (
        "until that one is finished no more tasks will be taken",
        ORIGINAL,
        "3 in 10000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others nothing: the first result",
        UNORDERED,
        "after 0 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s: what comes out",
        ORIGINAL,
        "1 2 3 4 5 6 7 8 9 10",
        "yes",
        None,
    ),
    (
        "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s",
        ORIGINAL,
        "after 13000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s",
        UNORDERED,
        "after 10000 ms",
        "yes",
        None,
    ),
    (
        "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s: what comes last",
        UNORDERED,
        "1",
        "yes",
        None,
    ),
    (
        "(pipeline* (dec n) ...), asked for 2",
        ORIGINAL,
        "3 in flight",
        "yes",
        None,
    ),
    (
        "with `finishes`, n = 1, 2, 3",
        FIXED,
        "1, 2, 3 in flight",
        "yes",
        None,
    ),
    (
        "ten tasks of 1 s where n is a bound, n = 3 and n = 1",
        FIXED,
        "after 4000 ms, after 10000 ms",
        "yes",
        None,
    ),
    (
        "(process 10 ...), then (process-async 10 ...), ten values, 1 s in each",
        ORIGINAL,
        "after 2000 ms",
        "yes",
        None,
    ),
    (
        "`to` closes when `from` does",
        PIPELINES,
        "closed, or left open",
        "yes",
        None,
    ),
    (
        "`to` is closed: ten tasks of 1 s, n = 1",
        PIPELINES,
        "it stops",
        "yes",
        None,
    ),
];
