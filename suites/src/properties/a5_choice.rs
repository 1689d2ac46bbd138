//! A5: with priority the first ready clause wins; without, the choice is uniform over whichever clauses
//! are ready (`UniformChoice`), not only when all of them are: a random rotation fails this. With priority and
//! `StrictPriority` no earlier clause was ready at the moment of the commit, whatever others do meanwhile.

use flowmeter_harness::channel::{
    Alts, Buffer, Channels, Chosen, Clause, Offered, Order, Patience,
};
use flowmeter_harness::sync::World;

use super::acts::{alts, close, is_closable, put, take, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a5-choice",
    statement: "With priority the first ready clause wins; without, the choice is uniform over every ready subset.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const MIXED: Property = Property {
    name: "a5-choice-mixed",
    statement: "The choice among clauses of different types is what it is among those of one.",
    relied_on_by: Reliance::Nobody,
};

const CLAUSES: usize = 4;

pub(super) fn cases<C: Alts>(uniform: bool) -> Vec<Case> {
    if C::open::<usize>(Buffer::fixed(1)).is_none() {
        return Vec::new();
    }
    let mut cases = vec![Case::new("priority", priority::<C>)];
    if uniform {
        cases.push(Case::new("uniform over every ready subset", || {
            uniform_choice::<C>(Patience::Now, 0)
        }));
        // Whoever may wait need not look as closely.
        cases.push(Case::new("uniform for one who would wait", || {
            uniform_choice::<C>(Patience::Forever, 0)
        }));
        if is_closable::<C>(Buffer::fixed(1)) {
            cases.push(Case::new("uniform among values and closed ports", || {
                uniform_choice::<C>(Patience::Forever, 0b1010)
            }));
        }
    }
    cases
}

/// What is true at one moment, and looked at while others change it. The first clause's channel is the younger one.
pub(super) fn strict_cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    if C::open::<usize>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new("strict, takes", strict_takes::<C, W>));
        cases.push(Case::new("strict, puts", strict_puts::<C, W>));
    }
    if is_closable::<C>(Buffer::Rendezvous) {
        cases.push(Case::new("strict, closed ports", strict_closed::<C, W>));
    }
    cases
}

/// A value comes to the first clause before one comes to the second.
fn strict_takes<C: Alts, W: World>() {
    let (mut tx_second, mut rx_second) = C::open::<usize>(Buffer::fixed(1)).expect("asked before");
    let (mut tx_first, rx_first) = C::open::<usize>(Buffer::fixed(1)).expect("asked before");
    let putter = W::spawn(move || {
        for turn in 0..turns::<W>() {
            put::<C, W, _>(&mut tx_first, turn);
            put::<C, W, _>(&mut tx_second, turn);
        }
        (tx_first, tx_second)
    });
    for turn in 0..turns::<W>() {
        let clauses = [Clause::Take(&rx_first), Clause::Take(&rx_second)];
        let mut slots = [None, None];
        let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Forever);
        let took = Chosen::Took {
            clause: 0,
            value: Some(turn),
        };
        holds_eq!(
            chosen,
            Ok(took),
            "A5: an earlier clause had its value first"
        );
        holds_eq!(
            take::<C, W, _>(&mut rx_second),
            turn,
            "C2: not what was put"
        );
    }
    drop(W::join(putter));
}

/// Room comes to the first clause before it comes to the second.
fn strict_puts<C: Alts, W: World>() {
    let (mut tx_second, mut rx_second) = C::open::<usize>(Buffer::fixed(1)).expect("asked before");
    let (mut tx_first, mut rx_first) = C::open::<usize>(Buffer::fixed(1)).expect("asked before");
    for tx in [&mut tx_first, &mut tx_second] {
        assert_eq!(C::offer(tx, 0), Offered::Done);
    }
    let taker = W::spawn(move || {
        for turn in 0..turns::<W>() {
            for rx in [&mut rx_first, &mut rx_second] {
                holds_eq!(take::<C, W, _>(rx), turn, "C2: not what was put");
            }
        }
        (rx_first, rx_second)
    });
    for turn in 1..=turns::<W>() {
        let clauses = [Clause::Put(&tx_first), Clause::Put(&tx_second)];
        let mut slots = [Some(turn), Some(turn)];
        let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Forever);
        let put_first = Chosen::Put {
            clause: 0,
            accepted: true,
        };
        holds_eq!(
            chosen,
            Ok(put_first),
            "A5: an earlier clause had room first"
        );
        put::<C, W, _>(&mut tx_second, turn);
    }
    drop(W::join(taker));
}

/// The port of the first clause closes before that of the second.
fn strict_closed<C: Alts, W: World>() {
    let (tx_second, rx_second) = C::open::<usize>(Buffer::Rendezvous).expect("asked before");
    let (tx_first, rx_first) = C::open::<usize>(Buffer::Rendezvous).expect("asked before");
    let closer = W::spawn(move || {
        close::<C, W, _>(&tx_first);
        close::<C, W, _>(&tx_second);
        (tx_first, tx_second)
    });
    let clauses = [Clause::Take(&rx_first), Clause::Take(&rx_second)];
    let mut slots = [None, None];
    let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Forever);
    let closed = Chosen::Took {
        clause: 0,
        value: None,
    };
    holds_eq!(
        chosen,
        Ok(closed),
        "A5: an earlier clause's port had closed first"
    );
    drop(W::join(closer));
}

/// Both halves of one channel of clause numbers.
type Halves<C> = (<C as Channels>::Tx<usize>, <C as Channels>::Rx<usize>);

/// Runs one alts over four channels of which the `ready` ones have a value, or are `closed`, so many times, and counts
/// which clause won.
fn choose_among<C: Alts>(
    channels: &mut [Halves<C>],
    (ready, closed): (usize, usize),
    order: Order,
    patience: Patience,
    times: u32,
) -> [u32; CLAUSES] {
    let is_in = |set: usize, clause: usize| set & (1 << clause) != 0;
    for (clause, (tx, _)) in channels.iter_mut().enumerate() {
        if is_in(ready & !closed, clause) {
            assert_eq!(C::offer(tx, clause), Offered::Done);
        }
    }
    let mut tally = [0; CLAUSES];
    for _ in 0..times {
        let won = {
            let clauses: Vec<Clause<'_, C, usize>> =
                channels.iter().map(|(_, rx)| Clause::Take(rx)).collect();
            let mut alts = C::prepare(&clauses, order);
            match C::run(&mut alts, &mut [None, None, None, None], patience) {
                Ok(Chosen::Took { clause, value })
                    if value == (!is_in(closed, clause)).then_some(clause) =>
                {
                    clause
                }
                other => violated!("A6: of the ready clauses {ready:04b} none won: {other:?}"),
            }
        };
        tally[won] += 1;
        if !is_in(closed, won) {
            assert_eq!(C::offer(&mut channels[won].0, won), Offered::Done);
        }
    }
    for (_, rx) in channels {
        let _ = C::poll(rx);
    }
    tally
}

fn open<C: Alts>() -> Vec<Halves<C>> {
    (0..CLAUSES)
        .map(|_| C::open(Buffer::fixed(1)).expect("asked before"))
        .collect()
}

fn priority<C: Alts>() {
    let mut channels = open::<C>();
    for ready in 1..1usize << CLAUSES {
        let (order, patience) = (Order::Priority, Patience::Now);
        let tally = choose_among::<C>(&mut channels, (ready, 0), order, patience, 5);
        let first = ready.trailing_zeros() as usize;
        holds_eq!(
            tally[first],
            5,
            "A5: of {ready:04b} (lowest bit first) another clause won: {tally:?}"
        );
    }
}

/// Among every subset that the ports which are `closed` belong to.
fn uniform_choice<C: Alts>(patience: Patience, closed: usize) {
    const TIMES: u32 = 1_200;
    let mut channels = open::<C>();
    for (clause, (tx, _)) in channels.iter().enumerate() {
        if closed & (1 << clause) != 0 {
            C::close(tx);
        }
    }
    let subsets = (1..1usize << CLAUSES).filter(|ready| ready & closed == closed);
    for ready in subsets {
        let sets = (ready, closed);
        let tally = choose_among::<C>(&mut channels, sets, Order::Random, patience, TIMES);
        let ways = ready.count_ones();
        let expected = f64::from(TIMES) / f64::from(ways);
        let chi_squared: f64 = (0..CLAUSES)
            .filter(|clause| ready & (1 << clause) != 0)
            .map(|clause| (f64::from(tally[clause]) - expected).powi(2) / expected)
            .sum();
        // One in ten million for 1, 2 and 3 degrees of freedom: 15 subsets, some thousand executions.
        let limit = [0.0, 0.0, 28.4, 32.2, 35.0][ways as usize];
        holds!(
            chi_squared.total_cmp(&limit).is_le(),
            "A5: the choice among {ready:04b} is not uniform: {tally:?}, chi-squared {chi_squared:.1}"
        );
    }
}
