//! A1: exactly one clause of an alts commits; a losing clause has no effect.
//!
//! The smallest history that violates it:
//!
//! ```text
//! alts [take a, take b]    producer of a       producer of b
//!                          put(a, 1) -> true
//!                                              put(b, 2) -> true
//! answers (a, 1)
//! take(b) waits for ever: the losing clause took the 2 as well
//! ```

use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::{alts, is_empty, put, take, turns};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Clause, Rx};

pub(super) const PROPERTY: Property = Property {
    name: "a1-exclusive",
    statement: "Of all clauses of an alts exactly one takes effect, and losing values come back to their sender.",
    relied_on_by: Reliance::Alts,
    cases: Cases::Channels(|design| design.alts().map(cases).unwrap_or_default()),
};

pub(super) const MIXED: Property = Property {
    name: "a1-exclusive-mixed",
    statement: "Of clauses of different types exactly one takes effect, and losing values come back to their sender.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed(), cases)),
};

pub(super) const AWAITED: Property = Property {
    name: "a1-exclusive-async",
    statement: "Of all clauses of an alts that is awaited exactly one takes effect, and losing values come back.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed_and_awaited(), cases)),
};

const BUFFERS: [Buffer; 3] = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded];

const AROUND: &str = "around an alts";

fn cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(format!("two takes, {buffer}"), move || {
            two_takes(channels, buffer, 0, Order::Random)
        }));
        if world::name() == "std" && buffer != Buffer::Unbounded {
            // Real threads seldom act between two clauses of an alts, unless there are many clauses between the two.
            let name = format!("two takes far apart, {buffer}");
            cases.push(Case::new(name, move || {
                two_takes(channels, buffer, 62, Order::Priority)
            }));
        }
        if buffer == Buffer::Unbounded {
            continue;
        }
        cases.push(Case::new(format!("two puts, {buffer}"), move || {
            two_puts(channels, buffer)
        }));
        cases.push(Case::new(format!("take and put, {buffer}"), move || {
            take_or_put(channels, buffer, false, Order::Random);
        }));
        cases.push(Case::new(
            format!("neither able at first, {buffer}"),
            move || take_or_put(channels, buffer, true, Order::Priority),
        ));
    }
    cases
}

/// One producer for each of two channels; an alts takes from either. Each run of the alts takes one value, and plain
/// takes drain the rest. `between` is the number of clauses between the two; their channels stay empty.
fn two_takes(channels: Channels, buffer: Buffer, between: usize, order: Order) {
    let each = turns();
    let count = 2 * each;
    let mint = Mint::new(count);
    let (tx_a, rx_a) = channels.open::<Token>(buffer).expect("asked before");
    let (tx_b, rx_b) = channels.open::<Token>(buffer).expect("asked before");
    let putting = [(tx_a, 0), (tx_b, each)].map(|(mut tx, first)| {
        let mint = mint.clone();
        world::spawn(move || {
            for id in first..first + each {
                put(&mut tx, mint.token(id));
            }
            tx
        })
    });
    let mut ledger = Ledger::new(count);
    // A second alts would make loom order the end of the first against its beginning. That space is not exhausted in
    // time.
    let runs = if world::name() == "loom" { 1 } else { count };
    let mut left = [each; 2];
    {
        let idle: Vec<_> = (0..between)
            .map(|_| channels.open::<Token>(buffer).expect("asked before"))
            .collect();
        let idle_takes = idle.iter().map(|(_tx, rx)| rx);
        let takes = std::iter::once(&rx_a).chain(idle_takes).chain([&rx_b]);
        let clauses: Vec<_> = takes.map(Clause::Take).collect();
        let mut nothing: Vec<Option<Token>> = clauses.iter().map(|_| None).collect();
        let stated = channels.clauses(&clauses);
        let mut prepared = stated.prepare(order);
        for _ in 0..runs {
            world::perturb();
            match prepared.run(&mut nothing, Patience::Forever) {
                Ok(Chosen::Took {
                    clause,
                    value: Some(token),
                }) => {
                    let from = token.id() / each;
                    holds_eq!(
                        [0, between + 1][from],
                        clause,
                        "A1: the answer names another clause than the value's"
                    );
                    ledger.taken(token.id());
                    left[from] -= 1;
                }
                other => violated!("A1: an alts over two takes answered {other:?}"),
            }
        }
    }
    let mut rxs = [rx_a, rx_b];
    for (rx, left) in rxs.iter_mut().zip(left) {
        (0..left).for_each(|_| ledger.taken(take::<Token>(rx).id()));
    }
    let txs = putting.map(world::join);
    (0..count).for_each(|id| ledger.accepted(id));
    for mut rx in rxs {
        is_empty(&mut rx, "A1: an alts took two, or none");
    }
    drop(txs);
    ledger.close(&mint, AROUND);
}

/// Takes `count` values.
fn taker(mut rx: Rx<Token>, count: usize) -> world::JoinHandle<(Rx<Token>, Vec<usize>)> {
    world::spawn(move || {
        let take = |_| take::<Token>(&mut rx).id();
        let taken = (0..count).map(take).collect();
        (rx, taken)
    })
}

/// Two takers, one on each channel; the alts puts to either. Losing values come back and are offered again.
fn two_puts(channels: Channels, buffer: Buffer) {
    let each = turns();
    let count = 2 * each;
    let mint = Mint::new(count);
    let (mut tx_a, rx_a) = channels.open::<Token>(buffer).expect("asked before");
    let (mut tx_b, rx_b) = channels.open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(count);
    let taking = [rx_a, rx_b].map(|rx| taker(rx, each));
    let mut tokens = (0..count).map(|id| mint.token(id));
    let mut slots = [tokens.next(), tokens.next()];
    let mut accepted = [0; 2];
    while accepted[0] < each && accepted[1] < each {
        let ids = slots.each_ref().map(|slot| slot.as_ref().map(Token::id));
        let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
        match alts(
            channels,
            &clauses,
            Order::Random,
            &mut slots,
            Patience::Forever,
        ) {
            Ok(Chosen::Put {
                clause: won,
                accepted: true,
            }) => {
                let mut left = ids;
                left[won] = None;
                holds_eq!(
                    slots.each_ref().map(|slot| slot.as_ref().map(Token::id)),
                    left,
                    "A1: not the losing clause's value alone came back"
                );
                ledger.accepted(ids[won].expect("every slot is filled"));
                accepted[won] += 1;
                slots[won] = tokens.next();
            }
            other => violated!("A1: an alts over two puts answered {other:?}"),
        }
    }
    // Unblocks the other taker.
    let (tx, missing) = if accepted[0] < each {
        (&mut tx_a, each - accepted[0])
    } else {
        (&mut tx_b, each - accepted[1])
    };
    for token in slots.into_iter().flatten().chain(tokens).take(missing) {
        ledger.accepted(token.id());
        put(tx, token);
    }
    for handle in taking {
        let (mut rx, taken) = world::join(handle);
        taken.into_iter().for_each(|id| ledger.taken(id));
        is_empty(&mut rx, "A1: a losing put took effect");
    }
    drop((tx_a, tx_b));
    ledger.close(&mint, AROUND);
}

/// An alts over a take, which another thread feeds, and a put, which another thread drains. `full`: the put's channel
/// has no room at first.
fn take_or_put(channels: Channels, buffer: Buffer, full: bool, order: Order) {
    let each = turns();
    let count = 2 * each;
    let mint = Mint::new(count + 1);
    let mut ledger = Ledger::new(count + 1);
    let (mut tx_in, mut rx_in) = channels.open::<Token>(buffer).expect("asked before");
    let (mut tx_out, rx_out) = channels.open::<Token>(buffer).expect("asked before");
    let stored = usize::from(full && buffer != Buffer::Rendezvous);
    if stored == 1 {
        let offered = tx_out.offer(mint.token(count));
        assert!(matches!(offered, Offered::Done));
        ledger.accepted(count);
    }
    let incoming: Vec<Token> = (0..each).map(|id| mint.token(id)).collect();
    let putter = world::spawn(move || {
        for token in incoming {
            put(&mut tx_in, token);
        }
        tx_in
    });
    let taking = taker(rx_out, each);
    (0..each).for_each(|id| ledger.accepted(id));
    let mut outgoing = (each..count).map(|id| mint.token(id));
    let mut slots = [None, outgoing.next()];
    let (mut taken, mut accepted) = (0, 0);
    while taken < each && accepted < each {
        let id = slots[1].as_ref().map(Token::id);
        let clauses = [Clause::Take(&rx_in), Clause::Put(&tx_out)];
        match alts(channels, &clauses, order, &mut slots, Patience::Forever) {
            Ok(Chosen::Took {
                clause: 0,
                value: Some(token),
            }) => {
                ledger.taken(token.id());
                taken += 1;
                holds_eq!(
                    slots[1].as_ref().map(Token::id),
                    id,
                    "A1: a losing clause's value did not come back"
                );
            }
            Ok(Chosen::Put {
                clause: 1,
                accepted: true,
            }) => {
                holds!(
                    slots[1].is_none(),
                    "A1: the winner's value stayed in its slot"
                );
                ledger.accepted(id.expect("its slot is filled"));
                accepted += 1;
                slots[1] = outgoing.next();
            }
            other => violated!("A1: an alts over a take and a put answered {other:?}"),
        }
    }
    // Unblocks the other two threads.
    for _ in taken..each {
        ledger.taken(take::<Token>(&mut rx_in).id());
    }
    let rest = slots.into_iter().flatten().chain(outgoing);
    for token in rest.take((each - stored).saturating_sub(accepted)) {
        ledger.accepted(token.id());
        put(&mut tx_out, token);
    }
    let tx_in = world::join(putter);
    let (mut rx_out, took) = world::join(taking);
    took.into_iter().for_each(|id| ledger.taken(id));
    while let Polled::Done(token) = rx_out.poll() {
        ledger.taken(token.id());
    }
    is_empty(&mut rx_in, "A1: a value appeared twice");
    drop((tx_in, rx_in, tx_out, rx_out));
    ledger.close(&mint, AROUND);
}
