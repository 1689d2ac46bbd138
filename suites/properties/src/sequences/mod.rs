//! Generated sequences of acts on one channel: futures are made, polled under changing wakers, woken, dropped and
//! forgotten; room is reserved, filled and released; halves are cloned, dropped and closed. No other property has
//! several futures of one thread. Most faults of published channels need no schedule, only such a sequence.
//!
//! One thread judges every answer exactly, and checks after the last act that nothing waits beside what it waits for.
//! Two threads race, and are judged when both are done. Where a sequence has only puts, takes and closes, its history is
//! judged by the specification as well.
//!
//! The smallest sequences that violate it:
//!
//! ```text
//! fixed(1)                                            unbounded, two consumers
//! offer -> done                                       take 0 polled by waker 0; take 1 polled by waker 0
//! reserve polled by waker 0                           offer -> done, wakes take 0
//! poll the reservation by waker 1                     drop take 0
//! poll -> done, wakes waker 0 only                    take 1 waits beside the value: it was not woken
//! the reservation waits beside room
//! ```

mod act;
mod hand;
mod rest;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use flowmeter_harness::caps::{Claim, Origin};
use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::history::Recorder;
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::world;

use self::act::{Act, Kind, Menu, Sequence};
use self::hand::{Common, Hand};
use self::rest::Rest;
use super::acts::room;
use super::by_alts::by_alts;
use super::programs::judge::{Judge, Undecided};
use super::programs::{counted, family};
use super::{Case, Cases, Model, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c11-sequences",
    statement: "Generated sequences of polls, wakes, drops and forgets get right answers; nothing waits beside what it waits for.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// The case in which only offers and permits put, so that the order of values is known.
const PERMITS: &str = "one thread, permits";

/// Small ones are drawn more often: they are full sooner.
const BUFFERS: [Buffer; 8] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(1),
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::fixed(3),
    Buffer::fixed(5),
    Buffer::Unbounded,
];

/// What the sequences of a family are held to.
#[derive(Clone, Copy)]
struct Subject {
    channels: Channels,
    buffer: Buffer,
    rules: Rules,
    /// Whether dropped futures lose no value.
    cancel_safe: bool,
    /// Whether the last half dropped ends the channel.
    disconnects: bool,
    /// Whether a producer can close, and a consumer.
    closes: [bool; 2],
    /// Whether room may be held for a put that waits.
    holds_room: bool,
    /// Whether a future that is gone leaves no waker behind.
    lets_wakers_go: bool,
}

/// A channel before its threads begin.
struct Scene {
    common: Arc<Common>,
    mint: Mint,
    alone: bool,
}

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    let safe = design.claims(Claim::CancelSafe);
    let own = design.channels;
    cases.extend(case(design, own, "one thread", 1, safe, false));
    if own.awaits_room() {
        cases.extend(case(design, own, PERMITS, 1, safe, false));
    }
    if let Some(alts) = by_alts(own) {
        cases.extend(case(design, alts, "one thread, by alts", 1, safe, false));
    }
    // Loom counts what is forgotten as a leak.
    if design.channels.awaits() && safe && world::name() != "loom" {
        cases.extend(case(design, own, "one thread that forgets", 1, safe, true));
    }
    if design.channels.awaits() && world::name() != "sim" {
        cases.extend(case(design, own, "two threads", 2, safe, false));
    }
    cases
}

fn case(
    design: &Design,
    channels: Channels,
    name: &str,
    threads: usize,
    drops: bool,
    forgets: bool,
) -> Option<Case> {
    let buffers: Vec<Buffer> = channels.having(&BUFFERS).collect();
    let (tx, mut rx) = channels.open::<Token>(*buffers.first()?)?;
    let subject = Subject {
        channels,
        buffer: buffers[0],
        rules: Rules::of(&design.implementation.capabilities.claims),
        cancel_safe: drops,
        disconnects: design.claims(Claim::Disconnect),
        closes: [tx.close(), rx.close()],
        holds_room: design.implementation.origin == Origin::Peer,
        lets_wakers_go: design.claims(Claim::CallsUnlocked),
    };
    if threads > 1 && tx.another().is_none() {
        return None;
    }
    let acts = match (world::name(), threads) {
        ("loom", 2) => 3,
        (_, 2) => 6,
        _ => 14,
    };
    let menu = Menu {
        buffers,
        threads,
        acts,
        choice: choice(subject, drops, forgets, name == PERMITS),
    };
    let world = world::name();
    let undecided = Undecided::default();
    let shared = undecided.clone();
    let model = move |sequence: &Arc<Sequence>| -> Model {
        let sequence = Arc::clone(sequence);
        let subject = Subject {
            buffer: sequence.buffer,
            ..subject
        };
        let channel = [sequence.buffer];
        let judge = Judge::new(&channel, subject.rules, subject.holds_room, world, &shared);
        Arc::new(move || run(subject, &sequence, &judge))
    };
    let again = model.clone();
    Some(Case::generated(
        name,
        move |explorer, plan| {
            let explored = family::explore(explorer, menu.sequences(), plan, &model);
            counted(explored, &undecided)
        },
        move |key| family::member(key, &again),
    ))
}

/// The acts that the family has, each as often as it is drawn. With `permits` no put is a future.
fn choice(subject: Subject, drops: bool, forgets: bool, permits: bool) -> Vec<Act> {
    let channels = subject.channels;
    let mut choice = Vec::new();
    let mut often = |has: bool, times: usize, act: Act| {
        choice.extend(std::iter::repeat_n(act, if has { times } else { 0 }));
    };
    let awaits = channels.awaits();
    let reserves = channels.awaits_room() || channels.blocks_for_room();
    let start = |kind| Act::Start(kind, 0);
    often(true, if permits { 2 } else { 1 }, Act::Offer);
    often(true, if permits { 4 } else { 1 }, Act::TryTake);
    often(awaits && !permits, 4, start(Kind::Put));
    often(awaits && !permits, 1, Act::Make(Kind::Put));
    often(awaits, 4, start(Kind::Take));
    often(awaits, 1, Act::Make(Kind::Take));
    often(awaits, if permits { 2 } else { 4 }, Act::Poll(0, 0));
    often(awaits, if permits { 1 } else { 2 }, Act::Settle);
    often(awaits && drops, 2, Act::Drop(0));
    often(awaits && drops, if permits { 6 } else { 3 }, Act::DropWoken);
    often(awaits && forgets, 2, Act::Forget(0));
    often(
        channels.awaits_close(),
        if permits { 3 } else { 1 },
        start(Kind::Closed),
    );
    often(
        channels.awaits_room(),
        if permits { 6 } else { 2 },
        start(Kind::Reserve),
    );
    often(reserves, 1, Act::TryReserve);
    often(reserves, 2, Act::Fill(0));
    often(reserves, if permits { 2 } else { 1 }, Act::Release(0));
    often(reserves && forgets, 1, Act::ForgetPermit(0));
    let [by_tx, by_rx] = subject.closes;
    often(by_tx, 1, Act::CloseTx);
    often(by_rx && !by_tx, 1, Act::CloseRx);
    for act in [Act::CloneTx, Act::CloneRx, Act::DropTx, Act::DropRx] {
        often(!permits, 1, act);
    }
    choice
}

/// Runs the sequence once.
fn run(subject: Subject, sequence: &Sequence, judge: &Judge) {
    let (tx, rx) = subject
        .channels
        .open::<Token>(sequence.buffer)
        .expect("asked before");
    let longest = sequence.threads.iter().map(Vec::len).max().unwrap_or(0);
    let scene = Scene {
        common: Arc::new(Common {
            closed: AtomicBool::new(false),
            txs: AtomicUsize::new(1),
            rxs: AtomicUsize::new(1),
        }),
        mint: Mint::new(longest * sequence.threads.len() + room(sequence.buffer)),
        alone: sequence.threads.len() == 1,
    };
    let mut recorder = Recorder::new();
    let filled = longest * sequence.threads.len()..scene.mint.count();
    let mut hand = match &sequence.threads[..] {
        [acts] => {
            let mut hand = Hand::new(subject, &scene, (tx, Some(rx)), recorder, filled);
            for _ in 1..sequence.halves {
                hand.act(Act::CloneTx);
                hand.act(Act::CloneRx);
            }
            if sequence.full {
                (0..room(sequence.buffer)).for_each(|_| hand.act(Act::Offer));
            }
            hand.ids = 0..longest;
            acts.iter().for_each(|act| hand.act(*act));
            hand
        }
        [mine, theirs] => {
            let (other_tx, other_rx) = (tx.another().expect("asked before"), rx.another());
            scene.common.txs.store(2, Relaxed);
            scene
                .common
                .rxs
                .store(1 + usize::from(other_rx.is_some()), Relaxed);
            let theirs = theirs.clone();
            let halves = (other_tx, other_rx);
            let ids = longest..2 * longest;
            let mut other = Hand::new(subject, &scene, halves, recorder.fork(), ids);
            let other = world::spawn(move || {
                for act in theirs {
                    world::perturb();
                    other.act(act);
                }
                other
            });
            let mut hand = Hand::new(
                subject,
                &scene,
                (tx, Some(rx)),
                std::mem::take(&mut recorder),
                0..longest,
            );
            for act in mine {
                world::perturb();
                hand.act(*act);
            }
            hand.merge(world::join(other));
            hand.alone = true;
            hand
        }
        _ => unreachable!("a sequence has one thread or two"),
    };
    let rest_at = end(&mut hand, sequence.deserted);
    books(hand, rest_at, judge);
}

/// Ends a channel in steps, and checks after each that nothing waits for what is there. Returns a moment of rest.
fn end(hand: &mut Hand, deserted: bool) -> u64 {
    hand.settle();
    rests(hand);
    let rest_at = world::stamp();
    if deserted && hand.subject.disconnects && !hand.seen.forgot {
        desert(hand);
        return rest_at;
    }
    while let Some(permit) = hand.permits.pop() {
        drop(permit);
        hand.settle();
        rests(hand);
    }
    let [by_tx, by_rx] = hand.subject.closes;
    if by_tx {
        hand.close_tx();
    } else if by_rx {
        hand.close_rx();
    }
    hand.settle();
    rests(hand);
    if hand.rxs.is_empty() {
        // Their futures have them.
        while !hand.waiting.is_empty() {
            hand.drop_future(0);
        }
    }
    let before = hand.taken_at_once.len();
    while hand.try_take() {
        hand.settle();
        rests(hand);
    }
    let drained = &hand.taken_at_once[before..];
    if !hand.seen.unordered {
        let place = |id: &usize| hand.put_at_once.iter().position(|put| put == id);
        holds!(
            drained.is_sorted_by_key(place),
            "C2: what is left leaves in the order {drained:?}, and was put in the order {:?}",
            hand.put_at_once
        );
    }
    rest_at
}

/// All consumers go, and whatever waits for one is told.
fn desert(hand: &mut Hand) {
    while let Some(at) = hand.next_take() {
        hand.drop_future(at);
    }
    while !hand.rxs.is_empty() {
        hand.drop_rx();
    }
    hand.settle();
    rests(hand);
}

/// Nothing that waits could end if it were polled, and the numbers say so too.
fn rests(hand: &mut Hand) {
    if let Some(rest) = Rest::of(hand) {
        rest.judge();
    }
    if hand.seen.forgot {
        return;
    }
    for at in (0..hand.waiting.len()).rev() {
        if hand.waiting[at].waits() {
            let waker = hand.waiting[at].other_waker();
            let waits = hand.poll(at, waker);
            holds!(waits, "C3: a future could end, and its task was not woken");
        }
    }
}

/// Drops everything, and judges the values and the history.
fn books(mut hand: Hand, rest_at: u64, judge: &Judge) {
    while !hand.waiting.is_empty() {
        hand.drop_future(0);
    }
    let Hand {
        subject,
        common,
        txs,
        rxs,
        recorder,
        ledger,
        mint,
        seen,
        ..
    } = hand;
    drop((txs, rxs));
    let is_closed = common.may_end();
    let loses = (seen.dropped && !subject.cancel_safe)
        || common.rxs.load(Relaxed) == 0
        || (is_closed && !subject.rules.keeps_buffered);
    if seen.forgot {
        for id in 0..mint.count() {
            let drops = mint.drops(id);
            holds!(
                drops <= 1,
                "C10: token {id} was dropped {drops} times beside a forgotten future"
            );
        }
        return;
    }
    let around = "after a sequence of polls and drops";
    match loses {
        true => return ledger.close_lossy(&mint, around),
        false => ledger.close(&mint, around),
    }
    if !seen.beyond {
        let history = recorder.finish([subject.buffer.into()]);
        judge.judge(history, Some(rest_at), &mint);
    }
}
