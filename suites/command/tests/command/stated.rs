//! What the seed texts state, and who is seen to do what.

pub const CODE_READ: &str = "000_ffaacfc00d4fcfbd.txt";
pub const TIMEOUT_CHANNELS: &str = "001_d22df209ee62fd6d.txt";

const THROUGHPUT: &str = "002_db2788e82060fecc.txt";
const OFF_BY_TWO: &str = "004_ebf855893e4a364d.txt";

const COALESCING: &[&str] = &["delay_queue"];
const SAFE: &[&str] = &["heap", "hashed_wheel", "hierarchical_wheel"];
const TIMERS: &[&str] = &["delay_queue", "heap", "hashed_wheel", "hierarchical_wheel"];
/// In a process of the std world.
const LEAVING: &[&str] = &[
    "delay_queue",
    "heap",
    "hashed_wheel",
    "hierarchical_wheel",
    "hierarchical_wheel-spinning",
];
const ALTS: &[&str] = &[
    "mutex",
    "ordered_locks",
    "lock_free",
    "delay_queue",
    "heap",
    "hashed_wheel",
    "hierarchical_wheel",
];
const ORIGINAL: &[&str] = &["core_async"];
const SWAPPED: &[&str] = &["swapped"];
const FIXED: &[&str] = &["finishes", "windowed"];
const UNORDERED: &[&str] = &["unordered"];
const PIPELINES: &[&str] = &["core_async", "swapped", "finishes", "windowed", "unordered"];

const MAPS: &[&str] = &["upmap", "upmap-eager"];
const LAZY: &[&str] = &["upmap"];
const EAGER: &[&str] = &["upmap-eager"];
const FAIR: &[&str] = &["semaphore"];
const UNFAIR: &[&str] = &["semaphore-unfair"];
const SEMAPHORES: &[&str] = &["semaphore", "semaphore-unfair"];

/// Of each text its claims in their order, with who sees what. What does not hold says in its note which statement wants
/// it so.
pub const ALL: &[(&str, &[Row])] = &[
    (
        CODE_READ,
        &[
            (
                "threads of the pool that go blocks run on",
                &["fixed_pool"],
                "2 + cores",
                "yes",
                None,
            ),
            (
                "go blocks that block the pool's threads starve the others",
                &["fixed_pool"],
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
        ],
    ),
    (
        TIMEOUT_CHANNELS,
        &[
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
                "no",
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
                "no",
                Some("T7"),
            ),
            (
                "timeouts that differ in less than 10 ms",
                COALESCING,
                "2 channels",
                "no",
                Some("T7"),
            ),
            (
                "timeouts that differ in less than 10 ms",
                SAFE,
                "one wake-up, a handle each",
                "no",
                Some("T7"),
            ),
            (
                "(timeout Long/MAX_VALUE)",
                TIMERS,
                "it never closes",
                "no",
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
                "no",
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
                "no",
                Some("T7"),
            ),
        ],
    ),
    (
        THROUGHPUT,
        &[
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
                "no",
                Some("P7"),
            ),
            (
                "(upmap inc [1 2 3 4 5 6]): inputs taken before the first task",
                LAZY,
                "1 input",
                "no",
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
                "a fair semaphore: who gets permits, where six ask one after the other",
                FAIR,
                "1 2 3 4 5 6",
                "yes",
                None,
            ),
            (
                "a fair semaphore whose permit is back: one waits for it, another comes",
                FAIR,
                "who waited is served, who comes waits",
                "yes",
                None,
            ),
            (
                "an unfair semaphore whose permit is back: one waits for it, another comes",
                UNFAIR,
                "who comes is served, who waited waits",
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
        ],
    ),
    (
        OFF_BY_TWO,
        &[
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
        ],
    ),
];

/// A claim, who re-enacts it, what they are seen to do, whether it holds, and the statement that says why not.
pub type Row = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
    Option<&'static str>,
);
