//! A5: with priority the first ready clause wins. Without it, `UniformChoice` makes the choice uniform over every
//! subset of clauses that are ready, not only over all of them: starting at a random clause and going round fails
//! this. With priority and `StrictPriority` no earlier clause was ready at the moment of the commit, whatever other
//! threads do meanwhile.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! alts [take a, take b], priority    producer
//! looks at a: empty
//!                                    put(a, 0) -> true
//!                                    put(b, 0) -> true
//! looks at b, answers (b, 0)         violates StrictPriority: a had its value first
//!
//! alts [take a, take b], random, both ready, 1,200 runs
//! answers a 900 times, b 300 times   violates UniformChoice
//! ```

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::world;

use super::a5_many;
use super::acts::{alts, close, put, take, turns};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Clause, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "a5-choice",
    statement: "With priority the first ready clause wins; without, the choice is uniform over every ready subset.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        let Some(channels) = design.alts() else {
            return Vec::new();
        };
        let mut all = raced_cases(channels);
        all.extend(cases(design, channels));
        all
    }),
};

pub(super) const MIXED: Property = Property {
    name: "a5-choice-mixed",
    statement: "The choice among clauses of different types follows the same rule as among clauses of one type.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        in_turns(design.channels.mixed(), |mixed| cases(design, mixed))
    }),
};

const CLAUSES: usize = 4;

/// `channels` are the design's own, or channels that stand for them.
fn cases(design: &Design, channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    // Only std runs often enough to count answers.
    if world::name() == "std" {
        let uniform = design.claims(Claim::UniformChoice);
        cases.extend(counted_cases(channels, uniform));
    }
    if design.claims(Claim::StrictPriority) {
        cases.extend(strict_cases(channels));
        cases.extend(a5_many::strict_cases(channels));
    }
    cases
}

fn counted_cases(channels: Channels, uniform: bool) -> Vec<Case> {
    if channels.open::<usize>(Buffer::fixed(1)).is_none() {
        return Vec::new();
    }
    let mut cases = vec![Case::new("priority", move || priority(channels))];
    if !uniform {
        return cases;
    }
    cases.extend(a5_many::uniform_cases(channels));
    // An alts that may wait can take another path than one with a default.
    for patience in [Patience::Now, Patience::Forever] {
        let name = format!("uniform over every ready subset, {patience:?}");
        cases.push(Case::new(name, move || {
            uniform_choice(channels, &[TAKE; CLAUSES], patience);
        }));
        for buffer in [
            Buffer::fixed(1),
            Buffer::fixed(2),
            Buffer::fixed(3),
            Buffer::Unbounded,
        ] {
            if channels.is_closable(buffer) && channels.is_closable(Buffer::fixed(1)) {
                let name = format!("uniform over takes, puts and closed {buffer}, {patience:?}");
                cases.push(Case::new(name, move || {
                    uniform_choice(channels, &mixture(buffer), patience);
                }));
            }
        }
    }
    cases
}

/// For every world: an alts does not pass by an earlier clause if its value came first.
fn raced_cases(channels: Channels) -> Vec<Case> {
    channels
        .having(&[Buffer::fixed(1), Buffer::fixed(2), Buffer::Unbounded])
        .map(|buffer| {
            Case::new(
                format!("each looks for the other's value first, {buffer}"),
                move || crossing(channels, buffer),
            )
        })
        .collect()
}

/// Each of two threads puts to its own channel, then runs an alts over the other's channel and, after it, one that
/// has a value. The thread that looks later looks after both puts.
fn crossing(channels: Channels, buffer: Buffer) {
    let (tx_here, rx_here) = channels.open::<usize>(buffer).expect("asked before");
    let (tx_there, rx_there) = channels.open::<usize>(buffer).expect("asked before");
    let look = move |mut tx: Tx<usize>, rx: Rx<usize>| {
        let (mut tx_ready, rx_ready) = channels.open::<usize>(buffer).expect("asked before");
        assert_eq!(tx_ready.offer(1), Offered::Done);
        put(&mut tx, 0);
        let clauses = [Clause::Take(&rx), Clause::Take(&rx_ready)];
        let chosen = alts(
            channels,
            &clauses,
            Order::Priority,
            &mut [None, None],
            Patience::Forever,
        );
        let is_earlier = matches!(chosen, Ok(Chosen::Took { clause: 0, .. }));
        (is_earlier, tx, rx, tx_ready)
    };
    let other = world::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = world::join(other);
    holds!(
        here.0 || there.0,
        "A5: each of two threads put before it looked, and both passed by the other's value"
    );
}

/// The order of priority while other threads change which clauses are ready. The first clause's channel is the
/// younger.
fn strict_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    if channels.open::<usize>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new("strict, takes", move || strict_takes(channels)));
        cases.push(Case::new("strict, puts", move || strict_puts(channels)));
    }
    if channels.is_closable(Buffer::Rendezvous) {
        cases.push(Case::new("strict, closed ports", move || {
            strict_closed(channels)
        }));
    }
    cases
}

/// A value comes to the first clause before one comes to the second.
fn strict_takes(channels: Channels) {
    let (mut tx_second, mut rx_second) = channels
        .open::<usize>(Buffer::fixed(1))
        .expect("asked before");
    let (mut tx_first, rx_first) = channels
        .open::<usize>(Buffer::fixed(1))
        .expect("asked before");
    let putter = world::spawn(move || {
        for turn in 0..turns() {
            put(&mut tx_first, turn);
            put(&mut tx_second, turn);
        }
        (tx_first, tx_second)
    });
    for turn in 0..turns() {
        let clauses = [Clause::Take(&rx_first), Clause::Take(&rx_second)];
        let mut slots = [None, None];
        let chosen = alts(
            channels,
            &clauses,
            Order::Priority,
            &mut slots,
            Patience::Forever,
        );
        let took = Chosen::Took {
            clause: 0,
            value: Some(turn),
        };
        holds_eq!(
            chosen,
            Ok(took),
            "A5: an earlier clause had its value first"
        );
        holds_eq!(take(&mut rx_second), turn, "C2: not what was put");
    }
    drop(world::join(putter));
}

/// Room comes to the first clause before it comes to the second.
fn strict_puts(channels: Channels) {
    let (mut tx_second, mut rx_second) = channels
        .open::<usize>(Buffer::fixed(1))
        .expect("asked before");
    let (mut tx_first, mut rx_first) = channels
        .open::<usize>(Buffer::fixed(1))
        .expect("asked before");
    for tx in [&mut tx_first, &mut tx_second] {
        assert_eq!(tx.offer(0), Offered::Done);
    }
    let taker = world::spawn(move || {
        for turn in 0..turns() {
            for rx in [&mut rx_first, &mut rx_second] {
                holds_eq!(take(rx), turn, "C2: not what was put");
            }
        }
        (rx_first, rx_second)
    });
    for turn in 1..=turns() {
        let clauses = [Clause::Put(&tx_first), Clause::Put(&tx_second)];
        let mut slots = [Some(turn), Some(turn)];
        let chosen = alts(
            channels,
            &clauses,
            Order::Priority,
            &mut slots,
            Patience::Forever,
        );
        let put_first = Chosen::Put {
            clause: 0,
            accepted: true,
        };
        holds_eq!(
            chosen,
            Ok(put_first),
            "A5: an earlier clause had room first"
        );
        put(&mut tx_second, turn);
    }
    drop(world::join(taker));
}

/// The port of the first clause closes before that of the second.
fn strict_closed(channels: Channels) {
    let (tx_second, rx_second) = channels
        .open::<usize>(Buffer::Rendezvous)
        .expect("asked before");
    let (tx_first, rx_first) = channels
        .open::<usize>(Buffer::Rendezvous)
        .expect("asked before");
    let closer = world::spawn(move || {
        close(&tx_first);
        close(&tx_second);
        (tx_first, tx_second)
    });
    let clauses = [Clause::Take(&rx_first), Clause::Take(&rx_second)];
    let mut slots = [None, None];
    let chosen = alts(
        channels,
        &clauses,
        Order::Priority,
        &mut slots,
        Patience::Forever,
    );
    let closed = Chosen::Took {
        clause: 0,
        value: None,
    };
    holds_eq!(
        chosen,
        Ok(closed),
        "A5: an earlier clause's port had closed first"
    );
    drop(world::join(closer));
}

/// A clause's operation, and its channel.
#[derive(Clone, Copy)]
struct Kind {
    buffer: Buffer,
    puts: bool,
    /// Closed before the first alts, so that it is always ready.
    closed: bool,
}

const TAKE: Kind = Kind {
    buffer: Buffer::fixed(1),
    puts: false,
    closed: false,
};

/// A take, a put, and both of closed channels, all with this buffer. The puts use a bounded buffer where `buffer` has
/// no bound.
fn mixture(buffer: Buffer) -> [Kind; CLAUSES] {
    let take = Kind { buffer, ..TAKE };
    let put = Kind {
        buffer: match buffer {
            Buffer::Fixed(_) => buffer,
            _ => TAKE.buffer,
        },
        puts: true,
        closed: false,
    };
    let closed = |kind| Kind {
        closed: true,
        ..kind
    };
    [take, put, closed(take), closed(put)]
}

/// A channel of clause numbers: halves for the clause, and further ones to make it ready.
struct Port {
    kind: Kind,
    clause: usize,
    tx: Tx<usize>,
    rx: Rx<usize>,
}

type Halves = (Tx<usize>, Rx<usize>);

impl Port {
    fn open(channels: Channels, clause: usize, kind: Kind) -> (Halves, Port) {
        let (tx, rx) = channels.open(kind.buffer).expect("asked before");
        let several = "a family with alts has several handles";
        let mut port = Port {
            kind,
            clause,
            tx: tx.another().expect(several),
            rx: rx.another().expect(several),
        };
        // A ring does not begin with its first place: what it holds then lies on both sides of its end.
        port.hold(1);
        port.hold(0);
        if kind.closed {
            // Without the close both would wait: a take finds no value there, and a put no room.
            port.hold(if kind.puts { port.room() } else { 0 });
            tx.close();
        }
        ((tx, rx), port)
    }

    fn room(&self) -> usize {
        match self.kind.buffer {
            Buffer::Fixed(room) => room.get(),
            _ => 1,
        }
    }

    /// Holds so many values.
    fn hold(&mut self, count: usize) {
        while let Polled::Done(_) = self.rx.poll() {}
        for _ in 0..count {
            assert_eq!(self.tx.offer(self.clause), Offered::Done);
        }
    }

    /// By one value or one place, since a design may tell such a buffer for an empty or a full one.
    fn make(&mut self, ready: bool) {
        if !self.kind.closed {
            self.hold(match (self.kind.puts, ready) {
                (false, _) => usize::from(ready),
                (true, _) => self.room() - usize::from(ready),
            });
        }
    }

    /// What an alts answers that has chosen this port.
    fn answer(&self) -> Chosen<usize> {
        let Kind { puts, closed, .. } = self.kind;
        let clause = self.clause;
        match puts {
            true => Chosen::Put {
                clause,
                accepted: !closed,
            },
            false => Chosen::Took {
                clause,
                value: (!closed).then_some(clause),
            },
        }
    }
}

/// Runs one alts over those ports, `times` times for each `ready` set. `judge` gets how often each clause won. The
/// alts is prepared once, as in a loop.
fn choose_among(
    channels: Channels,
    kinds: &[Kind; CLAUSES],
    (order, patience): (Order, Patience),
    times: u32,
    judge: impl Fn(usize, [u32; CLAUSES]),
) {
    let opened = kinds.iter().enumerate();
    let (halves, mut ports): (Vec<_>, Vec<_>) = opened
        .map(|(clause, kind)| Port::open(channels, clause, *kind))
        .unzip();
    let clauses: Vec<Clause<'_, usize>> = std::iter::zip(&halves, kinds)
        .map(|((tx, rx), kind)| match kind.puts {
            true => Clause::Put(tx),
            false => Clause::Take(rx),
        })
        .collect();
    let stated = channels.clauses(&clauses);
    let mut alts = stated.prepare(order);
    let is_in = |set: usize, clause: usize| set & (1 << clause) != 0;
    let always: usize = (0..CLAUSES)
        .filter(|c| kinds[*c].closed)
        .map(|c| 1 << c)
        .sum();
    for ready in (1..1usize << CLAUSES).filter(|ready| ready & always == always) {
        for port in &mut ports {
            port.make(is_in(ready, port.clause));
        }
        let mut tally = [0; CLAUSES];
        for _ in 0..times {
            let mut slots: Vec<_> = ports
                .iter()
                .map(|port| port.kind.puts.then_some(port.clause))
                .collect();
            let chosen = alts.run(&mut slots, patience);
            let won = ports
                .iter_mut()
                .find(|port| is_in(ready, port.clause) && chosen == Ok(port.answer()));
            let Some(port) = won else {
                violated!("A6: of the ready clauses {ready:04b} none won: {chosen:?}")
            };
            tally[port.clause] += 1;
            port.make(true);
        }
        judge(ready, tally);
    }
}

fn priority(channels: Channels) {
    let plan = (Order::Priority, Patience::Now);
    choose_among(channels, &[TAKE; CLAUSES], plan, 5, |ready, tally| {
        let first = ready.trailing_zeros() as usize;
        holds_eq!(
            tally[first],
            5,
            "A5: of {ready:04b} (lowest bit first) another clause won: {tally:?}"
        );
    });
}

fn uniform_choice(channels: Channels, kinds: &[Kind; CLAUSES], patience: Patience) {
    const TIMES: u32 = 1_200;
    let plan = (Order::Random, patience);
    choose_among(channels, kinds, plan, TIMES, |ready, tally| {
        let ways = ready.count_ones();
        let expected = f64::from(TIMES) / f64::from(ways);
        let chi_squared: f64 = (0..CLAUSES)
            .filter(|clause| ready & (1 << clause) != 0)
            .map(|clause| (f64::from(tally[clause]) - expected).powi(2) / expected)
            .sum();
        // Exceeded by chance once in ten million, for 1, 2 and 3 degrees of freedom: there are 15 subsets and some
        // thousand executions.
        let limit = [0.0, 0.0, 28.4, 32.2, 35.0][ways as usize];
        holds!(
            chi_squared.total_cmp(&limit).is_le(),
            "A5: the choice among {ready:04b} is not uniform: {tally:?}, chi-squared {chi_squared:.1}"
        );
    });
}
