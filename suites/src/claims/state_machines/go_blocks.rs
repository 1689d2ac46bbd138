//! Blocks, written as the macro `go` expands them. Their `(timeout ...)` is a channel that a thread closes when the
//! time has come.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowmeter_harness::channel::{
    Alts, AwaitAlts, Buffer, Callback, Channels, Order, Polled, PutError, TakeError, Winner,
};
use flowmeter_harness::executor::{Executors, Frame, GoBlocks, Port, Selected, Spawn, Step};
use flowmeter_harness::sync::World;

use super::super::acts::{after, ms, open, pass};
use super::{fill, or_nil, with_value};
use crate::properties::polls::Polls;

/// The states of these blocks, with their data.
enum State<C: Channels, T: Send + 'static> {
    Begin,
    Waited(Result<(), TakeError>),
    Took(Result<u32, TakeError>),
    Put(Result<(), PutError<T>>),
    Selected(Selected<C, u32>),
}

/// Closes after that time. The caller joins the thread that does it.
fn timeout<C: Alts, W: World>(delay: u64) -> (W::JoinHandle<()>, C::Rx<()>) {
    let (tx, rx) = open::<C, ()>(Buffer::fixed(1));
    let closes = W::spawn(move || {
        pass::<C, W>(ms(delay));
        C::close(&tx);
    });
    (closes, rx)
}

/// The observations of a search.
pub(super) struct Search {
    pub(super) states: String,
    /// The fate of its timeout.
    pub(super) timeout: String,
    pub(super) found: String,
}

/// `(go (<! (timeout 40)) (>! c [kind query]))`
pub(super) fn fake_search<G, C, E, W>() -> Search
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
            let _ = C::offer(&mut log, (2, or_nil(value)));
            frame.put(&c, (kind, query), State::Put)
        }
        State::Put(_accepted) => {
            let _ = C::offer(&mut log, (3, String::new()));
            Step::Return(None)
        }
        _ => {
            let _ = C::offer(&mut log, (1, String::new()));
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

/// The values from the channel of a block with that result, until it is closed.
pub(super) fn returned<G, C, E>(value: Option<u32>) -> String
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
pub(super) fn at_once<G, C, E>() -> String
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

/// The result of a block, and the number of runs it took.
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

pub(super) fn released<G, C, E, W>() -> String
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
            let _ = C::offer(&mut begun, ());
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

pub(super) fn restarted<G, C, E, W>() -> String
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

/// `(go (>! c :foo) (prn ...))`; printed text is sent on the second channel.
fn printing<G, C>(go: &impl Spawn, c: C::Tx<&'static str>, mut prints: C::Tx<()>) -> C::Rx<()>
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
{
    let block = move |frame: G::Frame<'_, _>, state| match state {
        State::<C, &'static str>::Begin => frame.put(&c, ":foo", State::Put),
        _ => {
            let _ = C::offer(&mut prints, ());
            Step::Return(None)
        }
    };
    G::go(go, State::Begin, block)
}

pub(super) fn never_runs<G, C, E, W>() -> String
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let (c, _no_taker) = open::<C, &'static str>(Buffer::Rendezvous);
    let (prints, mut printed) = open::<C, ()>(Buffer::fixed(1));
    let _results = printing::<G, C>(&executor.spawner(), c, prints);
    let (over, mut all_wait) = open::<C, ()>(Buffer::fixed(1));
    let ran = Arc::new(AtomicBool::new(false));
    let sees = Arc::clone(&ran);
    W::on_quiescence(move || {
        // Relaxed: one system thread runs all of a model.
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
pub(super) fn runs<G, C, E, W>(buffer: Buffer, taken_after: u64) -> String
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
pub(super) fn read<G, C, E>() -> String
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
pub(super) fn simply<G, C, E>() -> String
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
