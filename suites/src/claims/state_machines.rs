//! "The State Machines of core.async": how the macro `go` expands a block, and how channels drive it.
//!
//! Claims about blocks are re-enacted by runners of state machines, with the blocks written as the macro expands them
//! (`go_blocks`). Claims about `do-alts` are re-enacted by all channels with alts (`do_alts`).

mod do_alts;
mod go_blocks;

use std::fmt::Debug;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    Alts, Async, AwaitAlts, Blocking, Buffer, Callback, Channels, Offered, Order,
};
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks, go};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;

use super::acts::open;
use super::{Claim, Enactment, Seed};

const STATES: Claim = Claim::new(
    "the states that (fake-search :web) goes through",
    "three states: 1, 2, and 3",
    &["1 2 3"],
);

const SEARCH: Claim = Claim::new(
    "((fake-search :web) c query), where (rand-int 100) is 40: what comes out of c",
    "(>! c [kind query])",
    &["[:web query] after 40 ms"],
);

const RETURNED: Claim = Claim::new(
    "the channel of a go block",
    "the value of the last expression put on it and immediately closed",
    &["7, closed"],
);

const AT_ONCE: Claim = Claim::new(
    "every channel has something to take or room for a put",
    "from start to finish without giving up the thread",
    &["1 run"],
);

const RELEASED: Claim = Claim::new(
    "there is not a value to dequeue",
    "exits and the thread is released",
    &["its thread runs another go block after 0 ms"],
)
.note("on a pool of one thread");

const RESTARTED: Claim = Claim::new(
    "a value arrives on the channel after 40 ms",
    "kick this state machine back up",
    &["2 runs, after 40 ms"],
);

const NIL: Claim = Claim::new(
    "the value received from the timeout channel",
    "nil since it closes on timeout",
    &["nil"],
);

const NEVER: Claim = Claim::new(
    "(go (>! c :foo) (prn ...)), and no one ever takes from c",
    "\"this never runs!\"",
    &["it never runs"],
)
.note("until nothing else happens any more");

const ROOM: Claim = Claim::new(
    "the same, and there is room in a buffer",
    "this won't block",
    &["it runs after 0 ms"],
);

const BLOCKS: Claim = Claim::new(
    "the same without a buffer, and a thread takes after 40 ms",
    "the put blocks until another thread takes",
    &["it runs after 40 ms"],
);

const NO_VALUE: Claim = Claim::new(
    "the channel of a go block whose last value is nil",
    "In every case we close and return the channel",
    &["closed"],
);

const READ: Claim = Claim::new(
    "(alts! [c1 c2]) in a go block, and a value comes to c2",
    "\"Read\" v \"from\" ch",
    &["Read 7 from c2"],
);

const ONE_OF_BOTH: Claim = Claim::new(
    "(alts! [c1 c2]), both with a value",
    "make sure we don't also take from c2",
    &["1 taken, 1 left"],
);

const IN_ORDER: Claim = Claim::new(
    "(alts! [c1 c2] :priority true), both with values, 64 times",
    "the order the channels are given in the vector",
    &["c1 64 times"],
);

const AT_RANDOM: Claim = Claim::new(
    "(alts! [c1 c2]), both with values, 64 times",
    "Otherwise it is done randomly",
    &["c1 and c2"],
);

const PUTS: Claim = Claim::new(
    "(alts! [c1 [c3 \"foo\"]]), c1 empty",
    "a put operation with a channel and value pair",
    &["c3 has \"foo\""],
);

const ABLE: Claim = Claim::new(
    "(alts! [c1 c2] :default ...), and c2 has a value",
    "If it has a value the `or` expression returns it",
    &["7 from c2"],
);

const DEFAULT: Claim = Claim::new(
    "(alts! [c1 c2] :default ...), and none is ready",
    "we return that default value",
    &["the default after 0 ms"],
);

const WAITS: Claim = Claim::new(
    "(alts! [c1 c2]), and a value comes to c1 after 40 ms",
    "we wait for a channel operation to complete",
    &["7 from c1 after 40 ms"],
);

const CANCELLED: Claim = Claim::new(
    "values come to c1 and c2 after the default was returned",
    "never execute a callback on an inactive Handler",
    &["both are there"],
);

const COMMITTED: Claim = Claim::new(
    "a value comes to c2 after c1 has answered an alts that waited",
    "the rest of the callbacks become inactive",
    &["it is there"],
);

const SIMPLY: Claim = Claim::new(
    "loop, if and case, of the numbers from 1 to 10",
    "manipulate the STATE-IDX and then `:recur`",
    &["25 odd, 30 even, 1 run"],
)
.note("of a comment on the text");

const BOUND: Claim = Claim::new(
    "what is bound where a go block is spawned, before and after it has waited",
    "maintained while the go block executes",
    &["seen, and seen"],
)
.note("of a comment on the text; with a spawner that conveys bindings");

pub(super) struct StateMachines;

impl Seed for StateMachines {
    const FILE: &'static str = "003_79027425952605e6.txt";
    const TITLE: &'static str = "The State Machines of core.async";
    const CLAIMS: &'static [&'static Claim] = &[
        &STATES,
        &SEARCH,
        &RETURNED,
        &RELEASED,
        &RESTARTED,
        &AT_ONCE,
        &NIL,
        &NEVER,
        &ROOM,
        &BLOCKS,
        &NO_VALUE,
        &READ,
        &ONE_OF_BOTH,
        &IN_ORDER,
        &AT_RANDOM,
        &PUTS,
        &ABLE,
        &DEFAULT,
        &WAITS,
        &CANCELLED,
        &COMMITTED,
        &SIMPLY,
        &BOUND,
    ];

    fn alts<C: Alts, W: World>(_: &Registered) -> Vec<Enactment> {
        vec![
            ONE_OF_BOTH.seen_in(do_alts::one_of_both::<C>),
            IN_ORDER.seen_in(|| do_alts::chosen::<C>(Order::Priority)),
            AT_RANDOM.seen_in(|| do_alts::chosen::<C>(Order::Random)),
            PUTS.seen_in(do_alts::puts::<C>),
            ABLE.seen_in(do_alts::able::<C>),
            DEFAULT.seen_in(do_alts::default::<C, W>),
            WAITS.seen_in(do_alts::waits::<C, W>),
            CANCELLED.seen_in(do_alts::cancelled::<C>),
            COMMITTED.seen_in(do_alts::committed::<C, W>),
        ]
    }

    fn bindings<B, E, C, W>(_: &Registered) -> Vec<Enactment>
    where
        B: Bindings,
        E: Executors,
        C: Async + Blocking,
        W: World,
    {
        vec![BOUND.seen_in(bound::<B, E, C>)]
    }

    fn state_machines<G, C, E, W>(_: &Registered) -> Vec<Enactment>
    where
        G: GoBlocks<C>,
        C: Callback + AwaitAlts,
        E: Executors,
        W: World,
    {
        vec![
            STATES.seen_in(|| go_blocks::fake_search::<G, C, E, W>().states),
            SEARCH.seen_in(|| go_blocks::fake_search::<G, C, E, W>().found),
            RETURNED.seen_in(|| go_blocks::returned::<G, C, E>(Some(7))),
            AT_ONCE.seen_in(go_blocks::at_once::<G, C, E>),
            RELEASED.seen_in(go_blocks::released::<G, C, E, W>),
            RESTARTED.seen_in(go_blocks::restarted::<G, C, E, W>),
            NIL.seen_in(|| go_blocks::fake_search::<G, C, E, W>().timeout),
            NEVER.seen_in(go_blocks::never_runs::<G, C, E, W>),
            ROOM.seen_in(|| go_blocks::runs::<G, C, E, W>(Buffer::fixed(1), 0)),
            BLOCKS.seen_in(|| go_blocks::runs::<G, C, E, W>(Buffer::Rendezvous, 40)),
            NO_VALUE.seen_in(|| go_blocks::returned::<G, C, E>(None)),
            READ.seen_in(go_blocks::read::<G, C, E>),
            SIMPLY.seen_in(go_blocks::simply::<G, C, E>),
        ]
    }
}

/// `(binding [*x* ...] (go ...))`, where the block waits for a value that is put after the binding has ended.
fn bound<B: Bindings, E: Executors, C: Async + Blocking>() -> String {
    #[derive(Clone)]
    struct Bound;
    let executor = E::with_threads(NonZeroUsize::MIN);
    let spawner = B::conveying(executor.spawner());
    let (mut tx, mut rx) = open::<C, ()>(Buffer::fixed(1));
    let seen = || match B::bound::<Bound>() {
        Some(Bound) => "seen",
        None => "not seen",
    };
    let mut results = B::bind(Bound, || {
        go::<C, _>(&spawner, async move {
            let before = seen();
            let _value = C::take_async(&mut rx).await;
            Some(format!("{before}, and {}", seen()))
        })
    });
    let _ = C::put(&mut tx, ());
    C::take(&mut results).unwrap_or_default()
}

/// As the text writes `nil`.
fn or_nil<T: Debug, E>(value: Result<T, E>) -> String {
    value.map_or_else(|_| "nil".to_owned(), |value| format!("{value:?}"))
}

/// A channel with that value.
fn with_value<C: Channels>(value: u32) -> (C::Tx<u32>, C::Rx<u32>) {
    let (mut tx, rx) = open::<C, u32>(Buffer::fixed(64));
    fill::<C>(&mut tx, [value]);
    (tx, rx)
}

fn fill<C: Channels>(tx: &mut C::Tx<u32>, values: impl IntoIterator<Item = u32>) {
    for value in values {
        assert_eq!(C::offer(tx, value), Offered::Done, "there is room");
    }
}
