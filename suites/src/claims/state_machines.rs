//! "The State Machines of core.async": what the macro `go` makes of a block, and how channels drive it.
//!
//! What the text says of blocks is re-enacted by what runs them as state machines, written down as the macro expands them;
//! what it says of `do-alts` by all channels that an alts can wait on. Its `(timeout ...)` is a channel that a thread closes
//! when the time has come.

use std::fmt::Debug;
use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowmeter_harness::channel::{
    Alts, Async, AwaitAlts, Blocking, Buffer, Callback, Channels, Chosen, Clause, Offered, Order,
    Patience, Polled, PutError, TakeError, Winner,
};
use flowmeter_harness::executor::{
    Bindings, Executors, Frame, GoBlocks, Port, Selected, Spawn, Step, go,
};
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::sync::World;

use super::acts::{after, another, ms, open, pass};
use super::{Claim, Enactment, Seed};
use crate::polls::Polls;

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

    fn alts<C: Alts, W: World>(_who: &Contestant) -> Vec<Enactment> {
        vec![
            ONE_OF_BOTH.seen_in(one_of_both::<C>),
            IN_ORDER.seen_in(|| chosen::<C>(Order::Priority)),
            AT_RANDOM.seen_in(|| chosen::<C>(Order::Random)),
            PUTS.seen_in(puts::<C>),
            ABLE.seen_in(able::<C>),
            DEFAULT.seen_in(default::<C, W>),
            WAITS.seen_in(waits::<C, W>),
            CANCELLED.seen_in(cancelled::<C>),
            COMMITTED.seen_in(committed::<C, W>),
        ]
    }

    fn bindings<B, E, C, W>(_who: &Contestant) -> Vec<Enactment>
    where
        B: Bindings,
        E: Executors,
        C: Async + Blocking,
        W: World,
    {
        vec![BOUND.seen_in(bound::<B, E, C>)]
    }

    fn state_machines<G, C, E, W>(_who: &Contestant) -> Vec<Enactment>
    where
        G: GoBlocks<C>,
        C: Callback + AwaitAlts,
        E: Executors,
        W: World,
    {
        vec![
            STATES.seen_in(|| fake_search::<G, C, E, W>().states),
            SEARCH.seen_in(|| fake_search::<G, C, E, W>().found),
            RETURNED.seen_in(|| returned::<G, C, E>(Some(7))),
            AT_ONCE.seen_in(at_once::<G, C, E>),
            RELEASED.seen_in(released::<G, C, E, W>),
            RESTARTED.seen_in(restarted::<G, C, E, W>),
            NIL.seen_in(|| fake_search::<G, C, E, W>().timeout),
            NEVER.seen_in(never_runs::<G, C, E, W>),
            ROOM.seen_in(|| runs::<G, C, E, W>(Buffer::fixed(1), 0)),
            BLOCKS.seen_in(|| runs::<G, C, E, W>(Buffer::Rendezvous, 40)),
            NO_VALUE.seen_in(|| returned::<G, C, E>(None)),
            READ.seen_in(read::<G, C, E>),
            SIMPLY.seen_in(simply::<G, C, E>),
        ]
    }
}

/// What the states of these blocks carry.
enum State<C: Channels, T: Send + 'static> {
    Begin,
    Waited(Result<(), TakeError>),
    Took(Result<u32, TakeError>),
    Put(Result<(), PutError<T>>),
    Selected(Selected<C, u32>),
}

/// As the text writes `nil`.
fn or_nil<T: Debug, E>(value: Result<T, E>) -> String {
    value.map_or_else(|_| "nil".to_owned(), |value| format!("{value:?}"))
}

/// Closes after that time. The thread that does it is joined by whoever asks.
fn timeout<C: Alts, W: World>(delay: u64) -> (W::JoinHandle<()>, C::Rx<()>) {
    let (tx, rx) = open::<C, ()>(Buffer::fixed(1));
    let closes = W::spawn(move || {
        pass::<C, W>(ms(delay));
        C::close(&tx);
    });
    (closes, rx)
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

/// What was seen of a search.
struct Search {
    states: String,
    /// What came of its timeout.
    timeout: String,
    found: String,
}

/// `(go (<! (timeout 40)) (>! c [kind query]))`
fn fake_search<G, C, E, W>() -> Search
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    type Query = (&'static str, &'static str);
    let executor = E::with_threads(NonZeroUsize::MIN);
    let began = W::now_nanos();
    let (closes, timeout) = timeout::<C, W>(40);
    let (c, mut found) = open::<C, Query>(Buffer::Rendezvous);
    let (mut log, mut logged) = open::<C, (u32, String)>(Buffer::Unbounded);
    let (kind, query) = (":web", "query");
    let block = move |frame: G::Frame<'_, _>, state| match state {
        State::<C, Query>::Waited(value) => {
            C::offer(&mut log, (2, or_nil(value)));
            frame.put(&c, (kind, query), State::Put)
        }
        State::Put(_accepted) => {
            C::offer(&mut log, (3, String::new()));
            Step::Return(None)
        }
        _ => {
            C::offer(&mut log, (1, String::new()));
            frame.take(&timeout, State::Waited)
        }
    };
    let mut results = G::go::<_, ()>(&executor.spawner(), State::Begin, block);
    let found = C::take(&mut found).map_or_else(
        |why| format!("{why:?}"),
        |(kind, query)| format!("[{kind} {query}] {}", after::<W>(began)),
    );
    let _ended = C::take(&mut results);
    W::join(closes);
    drop(executor);
    let (mut states, mut timeout) = (Vec::new(), String::new());
    while let Polled::Done((state, value)) = C::poll(&mut logged) {
        states.push(state.to_string());
        timeout.push_str(&value);
    }
    Search {
        states: states.join(" "),
        timeout,
        found,
    }
}

/// What the channel of a block with that value gives until it is closed.
fn returned<G, C, E>(value: Option<u32>) -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let mut results = G::go(&executor.spawner(), (), move |_frame, ()| {
        Step::Return(value)
    });
    let mut seen = Vec::new();
    while let Ok(result) = C::take(&mut results) {
        seen.push(result.to_string());
    }
    seen.push("closed".to_owned());
    seen.join(", ")
}

/// A block that takes all of three values, and puts each where there is room.
fn at_once<G, C, E>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
{
    let (mut from, values) = open::<C, u32>(Buffer::fixed(3));
    fill::<C>(&mut from, 1..=3);
    C::close(&from);
    let (to, _moved) = open::<C, u32>(Buffer::fixed(3));
    run::<G, C, E, ()>(move |frame, state| match state {
        State::Took(Ok(value)) => frame.put(&to, value, State::Put),
        State::Took(Err(_)) => Step::Return(None),
        _ => frame.take(&values, State::Took),
    })
    .1
}

/// The result of a block, and in how many runs it came to it.
fn run<G, C, E, T>(
    block: impl FnMut(G::Frame<'_, State<C, u32>>, State<C, u32>) -> Step<State<C, u32>, T>
    + Send
    + 'static,
) -> (Option<T>, String)
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    T: Send + 'static,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let polls = Polls::default();
    let mut results = G::go(&polls.of(&executor.spawner()), State::Begin, block);
    let result = C::take(&mut results).ok();
    drop(executor);
    let runs = match polls.count() {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    (result, runs)
}

fn released<G, C, E, W>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let began = W::now_nanos();
    let (closes, timeout) = timeout::<C, W>(40);
    let (mut begun, mut begins) = open::<C, ()>(Buffer::fixed(1));
    let block = move |frame: G::Frame<'_, _>, state| match state {
        State::<C, ()>::Begin => {
            C::offer(&mut begun, ());
            frame.take(&timeout, State::Waited)
        }
        _ => Step::Return(None),
    };
    let _results = G::go::<_, ()>(&executor.spawner(), State::Begin, block);
    let _begun = C::take(&mut begins);
    let (mut tx, mut rx) = open::<C, ()>(Buffer::fixed(1));
    executor.spawn(async move {
        let _ = C::offer(&mut tx, ());
    });
    let _ran = C::take(&mut rx);
    let seen = format!("its thread runs another go block {}", after::<W>(began));
    W::join(closes);
    seen
}

fn restarted<G, C, E, W>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let began = W::now_nanos();
    let (mut tx, rx) = open::<C, u32>(Buffer::Rendezvous);
    let puts = W::spawn(move || {
        pass::<C, W>(ms(40));
        let _ = C::put(&mut tx, 7);
    });
    let (_result, runs) = run::<G, C, E, u32>(move |frame, state| match state {
        State::Took(value) => Step::Return(value.ok()),
        _ => frame.take(&rx, State::Took),
    });
    let seen = format!("{runs}, {}", after::<W>(began));
    W::join(puts);
    seen
}

/// `(go (>! c :foo) (prn ...))`; what is printed is sent on the second channel.
fn printing<G, C>(go: &impl Spawn, c: C::Tx<&'static str>, mut prints: C::Tx<()>) -> C::Rx<()>
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
{
    let block = move |frame: G::Frame<'_, _>, state| match state {
        State::<C, &'static str>::Begin => frame.put(&c, ":foo", State::Put),
        _ => {
            C::offer(&mut prints, ());
            Step::Return(None)
        }
    };
    G::go(go, State::Begin, block)
}

fn never_runs<G, C, E, W>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let (c, _nobody_takes) = open::<C, &'static str>(Buffer::Rendezvous);
    let (prints, mut printed) = open::<C, ()>(Buffer::fixed(1));
    let _results = printing::<G, C>(&executor.spawner(), c, prints);
    let (over, mut all_wait) = open::<C, ()>(Buffer::fixed(1));
    let ran = Arc::new(AtomicBool::new(false));
    let sees = Arc::clone(&ran);
    W::on_quiescence(move || {
        // Relaxed: one thread of the system runs all of a model.
        sees.store(C::poll(&mut printed) == Polled::Done(()), Ordering::Relaxed);
        C::close(&over);
    });
    let _closed = C::take(&mut all_wait);
    match ran.load(Ordering::Relaxed) {
        true => "it runs".to_owned(),
        false => "it never runs".to_owned(),
    }
}

/// With that buffer, and a thread that takes so many milliseconds later.
fn runs<G, C, E, W>(buffer: Buffer, taken_after: u64) -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let began = W::now_nanos();
    let (c, mut values) = open::<C, &'static str>(buffer);
    let (prints, mut printed) = open::<C, ()>(Buffer::fixed(1));
    let _results = printing::<G, C>(&executor.spawner(), c, prints);
    let takes = W::spawn(move || {
        if taken_after > 0 {
            pass::<C, W>(ms(taken_after));
            let _ = C::take(&mut values);
        }
        values
    });
    let _printed = C::take(&mut printed);
    let seen = format!("it runs {}", after::<W>(began));
    drop(W::join(takes));
    seen
}

/// `(let [[v ch] (alts! [c1 c2])] (println "Read" v "from" ch))`
fn read<G, C, E>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
{
    let (_open, first) = open::<C, u32>(Buffer::fixed(1));
    let (_also_open, second) = with_value::<C>(7);
    let mut channels = Some([first, second]);
    let (line, _runs) = run::<G, C, E, String>(move |frame, state| match state {
        State::Selected(Selected { winner, taken, .. }) => {
            let from = match winner {
                Ok(Winner::Clause(index)) => format!("c{}", index + 1),
                other => format!("{other:?}"),
            };
            let value = or_nil(taken.ok_or(()));
            Step::Return(Some(format!("Read {value} from {from}")))
        }
        _ => {
            let ports = channels.take().expect("it begins once").map(Port::Take);
            frame.alts(ports.into(), Order::Random, pending(), State::Selected)
        }
    });
    line.unwrap_or_default()
}

/// `(loop [] (case (<! c) ... (if (odd? n) ... (recur))))`
fn simply<G, C, E>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
{
    let (mut tx, rx) = open::<C, u32>(Buffer::fixed(10));
    fill::<C>(&mut tx, 1..=10);
    C::close(&tx);
    let (mut odd, mut even) = (0, 0);
    let (sums, runs) = run::<G, C, E, (u32, u32)>(move |frame, state| match state {
        State::Took(Ok(number)) => {
            if number % 2 == 1 {
                odd += number;
            } else {
                even += number;
            }
            Step::Recur(State::Begin)
        }
        State::Took(Err(_)) => Step::Return(Some((odd, even))),
        _ => frame.take(&rx, State::Took),
    });
    let (odd, even) = sums.unwrap_or_default();
    format!("{odd} odd, {even} even, {runs}")
}

/// `(binding [*x* ...] (go ...))`, which waits in between for what is put after the binding has ended.
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

/// `(alts! [c1 c2])`, tried or waited for.
fn alts<C: Alts>(
    c1: &C::Rx<u32>,
    c2: &C::Rx<u32>,
    order: Order,
    patience: Patience,
) -> Chosen<u32> {
    let clauses = [Clause::Take(c1), Clause::Take(c2)];
    let chosen = C::run(
        &mut C::prepare(&clauses, order),
        &mut [None, None],
        patience,
    );
    chosen.expect("there are as many slots as clauses")
}

/// What was read, and from where.
fn told(chosen: &Chosen<u32>) -> String {
    match chosen {
        Chosen::Took { clause, value } => {
            format!("{} from c{}", or_nil(value.ok_or(())), clause + 1)
        }
        Chosen::Default => "the default".to_owned(),
        other => format!("{other:?}"),
    }
}

fn one_of_both<C: Alts>() -> String {
    let [(_tx1, mut c1), (_tx2, mut c2)] = [1, 2].map(with_value::<C>);
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    let taken = u8::from(matches!(chosen, Chosen::Took { value: Some(_), .. }));
    let polled = [C::poll(&mut c1), C::poll(&mut c2)];
    let left = polled
        .iter()
        .filter(|polled| matches!(polled, Polled::Done(_)));
    format!("{taken} taken, {} left", left.count())
}

fn chosen<C: Alts>(order: Order) -> String {
    let [(mut tx1, c1), (mut tx2, c2)] = [1, 2].map(with_value::<C>);
    let mut times = [0; 2];
    for _ in 0..64 {
        if let Chosen::Took { clause, .. } = alts::<C>(&c1, &c2, order, Patience::Forever) {
            times[clause] += 1;
            fill::<C>([&mut tx1, &mut tx2][clause], [1]);
        }
    }
    match times {
        [64, 0] => "c1 64 times".to_owned(),
        [0, _] | [_, 0] => format!("{times:?}"),
        _ => "c1 and c2".to_owned(),
    }
}

fn puts<C: Alts>() -> String {
    let (_open, c1) = open::<C, &'static str>(Buffer::fixed(1));
    let (c3, mut put) = open::<C, &'static str>(Buffer::fixed(1));
    let clauses = [Clause::Take(&c1), Clause::Put(&c3)];
    let mut slots = [None, Some("foo")];
    let prepared = &mut C::prepare(&clauses, Order::Random);
    let chosen = C::run(prepared, &mut slots, Patience::Forever);
    match (chosen, C::poll(&mut put)) {
        (Ok(Chosen::Put { clause: 1, .. }), Polled::Done(value)) => format!("c3 has {value:?}"),
        other => format!("{other:?}"),
    }
}

fn able<C: Alts>() -> String {
    let (_open, c1) = open::<C, u32>(Buffer::fixed(1));
    let (_also_open, c2) = with_value::<C>(7);
    told(&alts::<C>(&c1, &c2, Order::Random, Patience::Now))
}

fn default<C: Alts, W: World>() -> String {
    let began = W::now_nanos();
    let [(_tx1, c1), (_tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Now);
    format!("{} {}", told(&chosen), after::<W>(began))
}

fn waits<C: Alts, W: World>() -> String {
    let began = W::now_nanos();
    let [(mut tx1, c1), (_tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let puts = W::spawn(move || {
        pass::<C, W>(ms(40));
        fill::<C>(&mut tx1, [7]);
    });
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    let seen = format!("{} {}", told(&chosen), after::<W>(began));
    W::join(puts);
    seen
}

fn cancelled<C: Alts>() -> String {
    let [(mut tx1, mut c1), (mut tx2, mut c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Now);
    fill::<C>(&mut tx1, [1]);
    fill::<C>(&mut tx2, [2]);
    match (chosen, C::poll(&mut c1), C::poll(&mut c2)) {
        (Chosen::Default, Polled::Done(1), Polled::Done(2)) => "both are there".to_owned(),
        other => format!("{other:?}"),
    }
}

fn committed<C: Alts, W: World>() -> String {
    let [(mut tx1, c1), (mut tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let mut later = another::<C, u32>(&c2);
    let puts = W::spawn(move || {
        pass::<C, W>(ms(40));
        fill::<C>(&mut tx1, [1]);
        fill::<C>(&mut tx2, [2]);
    });
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    W::join(puts);
    match (told(&chosen).as_str(), C::poll(&mut later)) {
        ("1 from c1", Polled::Done(2)) => "it is there".to_owned(),
        other => format!("{other:?}"),
    }
}
