//! C14 with C1 and C10: halves that go while others work. Producers leave one after the other and two at once beside
//! takers, consumers leave beside puts, and every value is taken once or dropped once.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer 1            producer 2            consumer
//!                                             take waits
//! drops its half        drops its half
//! two are left          two are left
//!                                             waits for ever: neither was the last
//!
//! producer              consumer
//! put 1 -> true
//!                       drops its half
//! put 2 -> true: no consumer was left, and the 2 is dropped with the channel
//! ```

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, PutError, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::turns;
use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c14-halves",
    statement: "Halves that are dropped while others work end the channel once, for all, and lose no value.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !design.claims(Claim::Disconnect) {
        return Vec::new();
    }
    let all = [0, 1, 2, 3, 5, 7].map(|room| match room {
        0 => Buffer::Rendezvous,
        room => Buffer::fixed(room),
    });
    let few = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(3)];
    let mut buffers: Vec<Buffer> = match world::name() {
        "std" => all.into(),
        "loom" => [Buffer::fixed(1)].into(),
        _ => few.into(),
    };
    let is_loom = world::name() == "loom";
    if !is_loom {
        buffers.push(Buffer::Unbounded);
    }
    let mut cases = Vec::new();
    let keeps = design.claims(Claim::KeepsBuffered);
    for way in [Way::Blocking, Way::Async] {
        // The spaces of futures are larger, and no more is in them of what a half does.
        if !way.is_of(channels) || (is_loom && way == Way::Async) {
            continue;
        }
        for buffer in channels.having(&buffers) {
            let mut case = |what: &str, model: fn(Channels, Way, Buffer, bool)| {
                let name = format!("{way}, {what}, {buffer}");
                cases.push(Case::new(name, move || {
                    for _ in 0..turns().min(16) {
                        model(channels, way, buffer, keeps);
                    }
                }));
            };
            case("producers leave", producers_leave);
            case("consumers leave", consumers_leave);
        }
    }
    // A value may use what it came through, where a panic in its drop is allowed for.
    if design.claims(Claim::PanicSafe) {
        for buffer in channels.having(&[Buffer::fixed(3), Buffer::Unbounded]) {
            cases.push(Case::new(
                format!("values that use the channel, {buffer}"),
                move || values_use_the_channel(channels, buffer),
            ));
        }
    }
    cases
}

/// As many further halves as the family and the world allow, up to `most`.
fn several<H>(first: H, most: usize, another: fn(&H) -> Option<H>) -> Vec<H> {
    let most = match world::name() {
        "std" => most,
        _ => 2,
    };
    let mut halves = vec![first];
    while halves.len() < most
        && let Some(further) = another(&halves[0])
    {
        halves.push(further);
    }
    halves
}

/// Each producer puts a few values and leaves. The consumers take until they are told of the end.
fn producers_leave(channels: Channels, way: Way, buffer: Buffer, keeps: bool) {
    let each = if world::name() == "std" { 5 } else { 1 };
    let (tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let txs = several(tx, 3, Tx::another);
    let consumers = if world::name() == "std" { 2 } else { 1 };
    let mut rxs = several(rx, consumers, Rx::another);
    rxs.truncate(consumers);
    let mint = Mint::new(txs.len() * each);
    let putting: Vec<_> = txs
        .into_iter()
        .enumerate()
        .map(|(producer, mut tx)| {
            let mint = mint.clone();
            world::spawn(move || {
                let mut ledger = Ledger::new(mint.count());
                for id in producer * each..(producer + 1) * each {
                    world::perturb();
                    let put = way.put(&mut tx, mint.token(id));
                    holds!(
                        put.is_ok(),
                        "C14: a put was refused, and consumers are left"
                    );
                    ledger.accepted(id);
                }
                world::perturb();
                drop(tx);
                ledger
            })
        })
        .collect();
    let count = mint.count();
    let take_all = move |mut rx: Rx<Token>| {
        let mut ledger = Ledger::new(count);
        loop {
            match way.take(&mut rx) {
                Ok(token) => ledger.taken(token.id()),
                Err(TakeError::Closed) => return ledger,
                Err(TakeError::TooManyWaiters) => violated!("C7: one too many among few"),
            }
        }
    };
    let mine = rxs.pop().expect("one at least");
    let taking: Vec<_> = rxs
        .into_iter()
        .map(|rx| world::spawn(move || take_all(rx)))
        .collect();
    let mut ledger = take_all(mine);
    for handle in taking.into_iter().chain(putting) {
        ledger.merge(&world::join(handle));
    }
    ledger.close_keeping(keeps, &mint, "where producers leave one by one");
}

/// Each consumer takes one value at most and leaves. The producers put until they are refused.
fn consumers_leave(channels: Channels, way: Way, buffer: Buffer, _keeps: bool) {
    let each = match world::name() {
        "std" => 40,
        "loom" => 1,
        _ => 3,
    };
    let (tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut txs = several(tx, 2, Tx::another);
    let producers = if world::name() == "std" { 2 } else { 1 };
    txs.truncate(producers);
    let rxs = several(rx, 3, Rx::another);
    let mint = Mint::new(txs.len() * each);
    let taking: Vec<_> = rxs
        .into_iter()
        .enumerate()
        .map(|(nth, mut rx)| {
            world::spawn(move || {
                world::perturb();
                // One of them leaves without a take.
                let taken = (nth > 0).then(|| way.take(&mut rx));
                world::perturb();
                drop(rx);
                match taken {
                    Some(Ok(token)) => Some(token.id()),
                    Some(Err(_)) => {
                        violated!("C14: a take was told of an end, and producers are left")
                    }
                    None => None,
                }
            })
        })
        .collect();
    let count = mint.count();
    let further = mint.clone();
    let put_all = move |nth: usize, mut tx: Tx<Token>| {
        let (mut ledger, mint) = (Ledger::new(count), further.clone());
        let mut refused = false;
        for id in nth * each..(nth + 1) * each {
            world::perturb();
            let token = mint.token(id);
            // An unbounded channel never makes a put wait, so the producer ends by itself.
            match way.put(&mut tx, token) {
                Ok(()) => {
                    holds!(!refused, "C14: a put was accepted after the last consumer");
                    ledger.accepted(id);
                }
                Err(PutError::Closed(_)) => {
                    refused = true;
                    ledger.refused(id);
                }
                Err(PutError::TooManyWaiters(_)) => violated!("C7: one too many among few"),
            }
        }
        (ledger, tx)
    };
    let mine = txs.pop().expect("one at least");
    let nth = txs.len();
    let putting: Vec<_> = txs
        .into_iter()
        .enumerate()
        .map(|(nth, tx)| {
            let put_all = put_all.clone();
            world::spawn(move || put_all(nth, tx))
        })
        .collect();
    let (mut ledger, mut tx) = put_all(nth, mine);
    for handle in putting {
        let (theirs, tx) = world::join(handle);
        ledger.merge(&theirs);
        drop(tx);
    }
    for taken in taking.into_iter().map(world::join) {
        taken.into_iter().for_each(|id| ledger.taken(id));
    }
    let last = Mint::new(1);
    let offered = tx.offer(last.token(0));
    holds!(
        matches!(offered, Offered::Closed(_)),
        "C14: an offer without consumers was answered {offered:?}"
    );
    drop(tx);
    ledger.close_lossy(&mint, "where consumers leave one by one");
}

/// A value whose drop offers to the channel that carried it.
struct Uses(Option<Tx<Uses>>);

impl Drop for Uses {
    fn drop(&mut self) {
        if let Some(mut tx) = self.0.take() {
            let _ = tx.offer(Uses(None));
        }
    }
}

/// The last consumer goes, then the last producer. What is buffered is dropped with no lock held.
fn values_use_the_channel(channels: Channels, buffer: Buffer) {
    let (mut tx, rx) = channels.open::<Uses>(buffer).expect("asked before");
    for value in [Uses(tx.another()), Uses(None)] {
        let offered = tx.offer(value);
        holds!(
            matches!(offered, Offered::Done),
            "C5: there is room, and an offer was refused"
        );
    }
    drop(rx);
    let offered = tx.offer(Uses(None));
    holds!(
        matches!(offered, Offered::Closed(_)),
        "C14: an offer without consumers was not refused"
    );
}
