//! For the text on managing throughput with virtual threads.

use super::Row;

pub const TEXT: &str = "002_db2788e82060fecc.txt";

const MAPS: &[&str] = &["upmap", "upmap-eager"];
const LAZY: &[&str] = &["upmap"];
const EAGER: &[&str] = &["upmap-eager"];
const FAIR: &[&str] = &["semaphore"];
const UNFAIR: &[&str] = &["semaphore-unfair"];
const SEMAPHORES: &[&str] = &["semaphore", "semaphore-unfair"];

pub const ROWS: &[Row] = &[
    (
        "each task has a thread of its own: 1,000 tasks of 1 s",
        MAPS,
        "after 1000 ms",
        "yes",
        None,
    ),
    (
        "the completion service: tasks of 3 s, 1 s and 2 s",
        MAPS,
        "2 after 1000 ms, 3 after 2000 ms, 1 after 3000 ms",
        "yes",
        None,
    ),
    (
        "we take more tasks than there are",
        MAPS,
        "it ends",
        "differs",
        Some("P7"),
    ),
    (
        "(upmap inc [1 2 3 4 5 6]): inputs taken before the first task",
        LAZY,
        "1 input",
        "differs",
        Some("P7"),
    ),
    (
        "(upmap inc [1 2 3 4 5 6]): inputs taken before the first task",
        EAGER,
        "6 inputs",
        "yes",
        None,
    ),
    (
        "(upmap inc [1 2 3 4 5 6])",
        MAPS,
        "2 3 4 5 6 7",
        "yes",
        None,
    ),
    (
        "a task of 10 s and one of 1 s: the first result",
        MAPS,
        "after 1000 ms",
        "yes",
        None,
    ),
    (
        "a fair semaphore: the order of permits, where six ask one after the other",
        FAIR,
        "1 2 3 4 5 6",
        "yes",
        None,
    ),
    (
        "a fair semaphore whose permit is back: one waits for it, another comes",
        FAIR,
        "the waiter is served, the newcomer waits",
        "yes",
        None,
    ),
    (
        "an unfair semaphore whose permit is back: one waits for it, another comes",
        UNFAIR,
        "the newcomer is served, the waiter waits",
        "yes",
        None,
    ),
    (
        "two permits, 2 req/s: the first three requests",
        SEMAPHORES,
        "2 after 0 ms, 1 after 1000 ms",
        "yes",
        None,
    ),
    (
        "(Thread/sleep 1000), then a permit is back: the second request where there is one permit",
        SEMAPHORES,
        "after 1000 ms",
        "yes",
        None,
    ),
    (
        "two permits, 2 req/s: requests in any second",
        SEMAPHORES,
        "2 at most",
        "yes",
        None,
    ),
    (
        "(upmap sem inc [1 2 3 4 5 6 8 9 10]): how many results",
        MAPS,
        "9 results",
        "inconsistent",
        None,
    ),
    (
        "the submission blocks: how long nine tasks take",
        EAGER,
        "after 4000 ms",
        "yes",
        None,
    ),
    (
        "the submission blocks: when results come",
        EAGER,
        "9 after 4000 ms",
        "yes",
        None,
    ),
    (
        "the submission in a thread of its own: when results come",
        LAZY,
        "2 after 0 ms, 2 after 1000 ms, 2 after 2000 ms, 2 after 3000 ms, 1 after 4000 ms",
        "yes",
        None,
    ),
    (
        "the submission in a thread of its own: how long nine tasks take",
        LAZY,
        "after 4000 ms",
        "yes",
        None,
    ),
];
