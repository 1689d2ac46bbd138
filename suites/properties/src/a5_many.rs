//! Cases of A5 with many clauses, and with a close that finds an alts waiting.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! alts over 130 takes, the first and the last of which are ready, 400 runs
//! answers the last 390 times      the draw counted the clauses of one group only
//!
//! take of a    alts [take a, take b], priority    close of a
//! waits        waits
//!                                                 answers the take, and has not answered the alts
//! -> closed
//! put to b     answers b: a was closed before
//! ```

use flowmeter_harness::channel::{
    Buffer, Chosen, Offered, Order, Patience, ReserveError, TakeError,
};
use flowmeter_harness::sync::world;

use super::Case;
use super::acts::{alts, close, put};
use crate::design::{Channels, Clause, Rx, Tx};

const ONE: Buffer = Buffer::fixed(1);

/// More than a design looks at in one word of bits, twice.
const MANY: usize = 130;

/// Pairs of clauses that lie in one group of 64 or in two, at its ends and inside.
const PAIRS: [(usize, usize); 5] = [(0, 1), (0, 129), (3, 70), (63, 64), (65, 127)];

const RUNS: u32 = 400;

/// For std, where an alts runs often enough to count its answers.
pub(super) fn uniform_cases(channels: Channels) -> Vec<Case> {
    vec![Case::new(format!("two of {MANY} takes"), move || {
        two_of_many(channels);
    })]
}

/// For families with strict priority.
pub(super) fn strict_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    if channels.is_closable(ONE) && channels.blocks() {
        cases.push(Case::new(
            "strict, a close beside a take that waits",
            move || closed_as_it_waits(channels),
        ));
    }
    if channels.is_closable(ONE) && channels.blocks_for_room() {
        cases.push(Case::new(
            "strict, a close beside a reservation that waits",
            move || closed_as_room_is_awaited(channels),
        ));
    }
    cases
}

fn two_of_many(channels: Channels) {
    let halves: Vec<(Tx<usize>, Rx<usize>)> = (0..MANY)
        .map(|_| channels.open(ONE).expect("asked before"))
        .collect();
    let several = "a family with alts has several handles";
    let mut fillers: Vec<_> = halves
        .iter()
        .map(|(tx, rx)| (tx.another().expect(several), rx.another().expect(several)))
        .collect();
    let clauses: Vec<_> = halves.iter().map(|(_, rx)| Clause::Take(rx)).collect();
    let stated = channels.clauses(&clauses);
    for patience in [Patience::Now, Patience::Forever] {
        let mut alts = stated.prepare(Order::Random);
        for (one, other) in PAIRS {
            let mut firsts = 0;
            for ready in [one, other] {
                assert_eq!(fillers[ready].0.offer(ready), Offered::Done);
            }
            for _ in 0..RUNS {
                let mut slots: Vec<Option<usize>> = vec![None; MANY];
                let chosen = alts.run(&mut slots, patience);
                let Ok(Chosen::Took {
                    clause,
                    value: Some(value),
                }) = chosen
                else {
                    violated!("A6: clauses {one} and {other} are ready, and none won: {chosen:?}")
                };
                holds_eq!(value, clause, "A1: the value of another clause");
                firsts += u32::from(clause == one);
                assert_eq!(fillers[clause].0.offer(clause), Offered::Done);
            }
            for ready in [one, other] {
                let _ = fillers[ready].1.poll();
            }
            // Half of them, and six standard deviations to either side: by chance once in a hundred million executions.
            holds!(
                (RUNS / 2).abs_diff(firsts) <= 60,
                "A5: of {RUNS} runs, clause {one} won {firsts} and clause {other} the rest"
            );
        }
    }
}

/// Whatever an answered take does next comes after the close, also for an alts that waits beside it.
fn closed_as_it_waits(channels: Channels) {
    let (tx, mut waits) = channels.open::<usize>(ONE).expect("asked before");
    let first = waits.another().expect("a family with alts");
    let (mut tx_second, second) = channels.open::<usize>(ONE).expect("asked before");
    let taker = world::spawn(move || {
        world::perturb();
        let taken = waits.take();
        put(&mut tx_second, 1);
        (taken, waits, tx_second)
    });
    let closer = world::spawn(move || {
        world::perturb();
        close(&tx);
        tx
    });
    first_is_closed(channels, &first, &second);
    drop(world::join(closer));
    let (taken, ..) = world::join(taker);
    holds_eq!(taken, Err(TakeError::Closed), "C6: a take of a closed port");
}

/// The same beside a reservation that waits for the room of a permit.
fn closed_as_room_is_awaited(channels: Channels) {
    let several = "a family with alts has several handles";
    let (tx, first) = channels.open::<usize>(ONE).expect("asked before");
    let (waits, closes) = (tx.another().expect(several), tx.another().expect(several));
    let (mut tx_second, second) = channels.open::<usize>(ONE).expect("asked before");
    let permit = tx.try_reserve().expect("there is room");
    let reserver = world::spawn(move || {
        world::perturb();
        let refused = waits.reserve().err();
        put(&mut tx_second, 1);
        (refused, waits, tx_second)
    });
    let closer = world::spawn(move || {
        world::perturb();
        close(&closes);
        closes
    });
    first_is_closed(channels, &first, &second);
    drop(world::join(closer));
    let (refused, ..) = world::join(reserver);
    drop(permit);
    holds_eq!(
        refused,
        Some(ReserveError::Closed),
        "C15: a reservation in a closed port"
    );
}

/// An alts over takes of both, the first of which is closed before the second has a value.
fn first_is_closed(channels: Channels, first: &Rx<usize>, second: &Rx<usize>) {
    let chosen = alts(
        channels,
        &[Clause::Take(first), Clause::Take(second)],
        Order::Priority,
        &mut [None, None],
        Patience::Forever,
    );
    let closed = Chosen::Took {
        clause: 0,
        value: None,
    };
    holds_eq!(
        chosen,
        Ok(closed),
        "A5: the port of an earlier clause had closed first"
    );
}
