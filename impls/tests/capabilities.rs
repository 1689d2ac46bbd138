//! The capabilities and claims of each implementation, in a table: a claim that is dropped silently
//! fails here.

use flowmeter_harness::caps::Origin;
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_impls::registry::All;

/// Names as `list` prints them, derived capabilities before claims.
const TABLE: &[(&str, Origin, &str)] = &[
    (
        "mutex",
        Origin::Own,
        "rendezvous fixed unbounded dropping sliding promise multi-producer multi-consumer blocking \
         async mixed callback put-deadline take-deadline close identity alts mixed-alts await-alts \
         weak-producers await-close batch reserve transforms waiter-fifo cancel-safe keeps-buffered \
         pending-puts-survive bounded-waiters panic-safe calls-unlocked disconnect uniform-choice",
    ),
    (
        "ordered_locks",
        Origin::Own,
        "rendezvous fixed unbounded dropping sliding promise multi-producer multi-consumer blocking \
         async mixed callback put-deadline take-deadline close identity alts mixed-alts await-alts \
         weak-producers await-close batch reserve transforms waiter-fifo cancel-safe keeps-buffered \
         pending-puts-survive bounded-waiters panic-safe calls-unlocked disconnect strict-priority strict-default \
         uniform-choice",
    ),
    (
        "lock_free",
        Origin::Own,
        "rendezvous fixed unbounded dropping sliding promise multi-producer multi-consumer blocking \
         async mixed callback put-deadline take-deadline close identity alts mixed-alts await-alts \
         weak-producers await-close batch reserve transforms waiter-fifo cancel-safe keeps-buffered \
         pending-puts-survive bounded-waiters panic-safe calls-unlocked disconnect uniform-choice",
    ),
    (
        "condvar",
        Origin::Own,
        "fixed unbounded multi-producer multi-consumer blocking put-deadline take-deadline close \
         identity keeps-buffered panic-safe \
         disconnect",
    ),
    (
        "spsc_ring",
        Origin::Own,
        "fixed blocking put-deadline take-deadline keeps-buffered panic-safe disconnect",
    ),
    (
        "crossbeam-channel",
        Origin::Peer,
        "rendezvous fixed unbounded multi-producer multi-consumer blocking put-deadline \
         take-deadline identity alts keeps-buffered disconnect",
    ),
    (
        "kanal",
        Origin::Peer,
        "rendezvous fixed unbounded multi-producer multi-consumer blocking async mixed take-deadline \
         close disconnect",
    ),
    (
        "flume",
        Origin::Peer,
        "rendezvous fixed unbounded multi-producer multi-consumer blocking async mixed put-deadline \
         take-deadline identity weak-producers keeps-buffered disconnect",
    ),
    (
        "tokio-mpsc",
        Origin::Peer,
        "fixed unbounded multi-producer async weak-producers batch reserve waiter-fifo cancel-safe \
         keeps-buffered disconnect",
    ),
    (
        "std-mpsc",
        Origin::Peer,
        "rendezvous fixed unbounded multi-producer blocking take-deadline keeps-buffered \
         disconnect",
    ),
    (
        "async-channel",
        Origin::Peer,
        "fixed unbounded multi-producer multi-consumer blocking async mixed close identity \
         weak-producers keeps-buffered disconnect",
    ),
    (
        "futures-channel",
        Origin::Peer,
        "unbounded multi-producer async close identity keeps-buffered disconnect",
    ),
    (
        "tachyonix",
        Origin::Peer,
        "fixed multi-producer async close keeps-buffered disconnect",
    ),
    ("rtrb", Origin::Peer, "fixed blocking keeps-buffered"),
    (
        "loole",
        Origin::Peer,
        "rendezvous fixed unbounded multi-producer multi-consumer blocking async mixed put-deadline \
         take-deadline close identity keeps-buffered disconnect",
    ),
    (
        "thingbuf",
        Origin::Peer,
        "fixed multi-producer blocking async take-deadline keeps-buffered disconnect",
    ),
    (
        "crossfire",
        Origin::Peer,
        "fixed unbounded multi-producer multi-consumer blocking async put-deadline take-deadline \
         weak-producers cancel-safe keeps-buffered disconnect",
    ),
    (
        "crossfire-mpsc",
        Origin::Peer,
        "fixed unbounded multi-producer blocking async put-deadline take-deadline weak-producers \
         cancel-safe keeps-buffered disconnect",
    ),
    (
        "crossfire-spsc",
        Origin::Peer,
        "fixed unbounded blocking async put-deadline take-deadline cancel-safe keeps-buffered \
         disconnect",
    ),
    (
        "delay_queue",
        Origin::Own,
        "schedule timeout panic-safe coalescing isolated-callbacks",
    ),
    (
        "heap",
        Origin::Own,
        "schedule cancel reset safe-coalescing sleep blocking-sleep timeout panic-safe calls-unlocked \
         tickless deadline-order answers-sleepers isolated-callbacks",
    ),
    (
        "hashed_wheel",
        Origin::Own,
        "schedule cancel reset safe-coalescing sleep blocking-sleep timeout panic-safe calls-unlocked \
         answers-sleepers isolated-callbacks",
    ),
    (
        "hierarchical_wheel",
        Origin::Own,
        "schedule cancel reset safe-coalescing sleep blocking-sleep timeout panic-safe calls-unlocked \
         tickless deadline-order answers-sleepers isolated-callbacks",
    ),
    (
        "hierarchical_wheel-spinning",
        Origin::Own,
        "schedule cancel reset safe-coalescing sleep blocking-sleep timeout panic-safe calls-unlocked \
         deadline-order answers-sleepers",
    ),
    ("tokio-sleep", Origin::Peer, "sleep"),
    ("tokio-delay-queue", Origin::Peer, "schedule cancel reset"),
    ("async-io", Origin::Peer, "sleep"),
    ("hash-wheel-timer", Origin::Peer, "schedule cancel"),
    ("os-sleep", Origin::Peer, "blocking-sleep"),
    #[cfg(target_os = "linux")]
    ("os-sleep-1ns", Origin::Peer, "blocking-sleep"),
    ("spin-sleep", Origin::Peer, "blocking-sleep"),
    (
        "semaphore",
        Origin::Own,
        "blocking async try-acquire acquire-deadline weights waiter-fifo calls-unlocked tickless window-bound \
         wakes-once passes-on",
    ),
    (
        "semaphore-unfair",
        Origin::Own,
        "blocking async try-acquire acquire-deadline weights calls-unlocked tickless window-bound wakes-once passes-on",
    ),
    (
        "gcra",
        Origin::Own,
        "blocking async try-acquire acquire-deadline weights waiter-fifo calls-unlocked tickless rate-bound wakes-once",
    ),
    (
        "token_bucket",
        Origin::Own,
        "blocking async try-acquire acquire-deadline weights waiter-fifo calls-unlocked tickless rate-bound \
         wakes-once passes-on",
    ),
    (
        "governor",
        Origin::Peer,
        "async try-acquire weights rate-bound",
    ),
    (
        "leaky-bucket",
        Origin::Peer,
        "async try-acquire weights passes-on",
    ),
    (
        "tokio-semaphore",
        Origin::Peer,
        "async try-acquire weights waiter-fifo window-bound",
    ),
    ("core_async", Origin::Own, "ordered bound(n+2)"),
    ("swapped", Origin::Own, "ordered bound(n+1)"),
    ("finishes", Origin::Own, "ordered bound(n+0)"),
    ("windowed", Origin::Own, "ordered window bound(n+0)"),
    ("unordered", Origin::Own, "bound(n+0)"),
    ("pipeline", Origin::Own, "ordered workers bound(n+0)"),
    (
        "pipeline-blocking",
        Origin::Own,
        "ordered workers may-block bound(n+0)",
    ),
    ("upmap", Origin::Own, "parallel-map lazy bound(n+0)"),
    ("upmap-eager", Origin::Own, "parallel-map bound(n+0)"),
    ("futures-buffered", Origin::Peer, "ordered bound(n+0)"),
    ("futures-buffer-unordered", Origin::Peer, "bound(n+0)"),
    ("par-stream", Origin::Peer, "bound(n+0)"),
    ("rayon", Origin::Peer, "ordered workers bound(n+0)"),
    (
        "fixed_pool",
        Origin::Own,
        "tasks bindings panic-safe runs-beside-blocked",
    ),
    (
        "thread_per_task",
        Origin::Own,
        "tasks bindings panic-safe runs-beside-blocked",
    ),
    (
        "work_stealing",
        Origin::Own,
        "tasks bindings panic-safe runs-beside-blocked",
    ),
    ("state_machine", Origin::Own, "go-blocks"),
    ("tokio", Origin::Peer, "tasks"),
    ("smol", Origin::Peer, "tasks"),
    ("combinators", Origin::Own, ""),
    ("combinators-lock_free", Origin::Own, ""),
];

struct Roll(Vec<Registered>);

impl Visitor for Roll {
    fn implementation(&mut self, implementation: &Registered) {
        self.0.push(implementation.clone());
    }
}

fn show_all() -> Vec<Registered> {
    let mut roll = Roll(Vec::new());
    All.show_all(&mut roll);
    roll.0
}

#[test]
fn every_implementation_offers_and_promises_what_the_table_says() {
    let mut listed: Vec<_> = TABLE.iter().map(|(name, ..)| *name).collect();
    for implementation in show_all() {
        let row = TABLE.iter().find(|(name, ..)| *name == implementation.name);
        let seen = implementation.capabilities.names().join(" ");
        let &(_, origin, expected) = row.unwrap_or_else(|| {
            panic!(
                "{} has no row in the table; it has: {seen}",
                implementation.name
            )
        });
        assert_eq!(seen, expected, "{}", implementation.name);
        assert_eq!(implementation.origin, origin, "{}", implementation.name);
        listed.retain(|name| *name != implementation.name);
    }
    assert!(listed.is_empty(), "no longer registered: {listed:?}");
}

#[test]
fn every_implementation_has_a_version() {
    for implementation in show_all() {
        let starts_with_a_number = implementation
            .version
            .starts_with(|c: char| c.is_ascii_digit());
        assert!(
            starts_with_a_number,
            "{}: {}",
            implementation.name, implementation.version
        );
    }
}
