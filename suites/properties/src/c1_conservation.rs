//! C1, C3: each value that was put is taken once, by one of the waiting takes. A put is answered `true` only then.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer            consumer 1       consumer 2
//! put 0 -> true
//! put 1 -> true
//!                     take -> 1
//!                                      take -> 1    taken twice; the 0 is lost
//! ```

use std::ops::Range;

use flowmeter_harness::channel::{Buffer, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::room;
use super::crowd::{Books, Crowd};
use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c1-conservation",
    statement: "Every value whose put succeeded is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Blocking,
    cases: Cases::Channels(|design| cases(design.channels, Way::Blocking)),
};

/// The same of the async form: a crate's forms are separate code and fail separately.
pub(super) const AWAITED: Property = Property {
    name: "c1-conservation-async",
    statement: "Every value that was awaited into a channel is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Async,
    cases: Cases::Channels(|design| cases(design.channels, Way::Async)),
};

fn cases(channels: Channels, way: Way) -> Vec<Case> {
    if !way.is_of(channels) {
        return Vec::new();
    }
    let mut cases = Vec::new();
    let opened = channels.open::<Token>(Buffer::Unbounded);
    if opened.is_some_and(|(_, rx)| rx.another().is_some()) {
        let name = format!("{way}, unbounded, a take among puts that use its place again");
        cases.push(Case::new(name, move || place_used_again(channels, way)));
        let name = format!("{way}, unbounded, a take among takes that use its place again");
        cases.push(Case::new(name, move || place_taken_again(channels, way)));
    }
    for buffer in channels.having(&[Buffer::fixed(1), Buffer::fixed(2)]) {
        let name = format!("{way}, {buffer}, a put that comes to the place of a take");
        cases.push(Case::new(name, move || {
            place_of_a_take(channels, way, buffer)
        }));
    }
    cases.extend(Crowd::cases(channels, way, |_| true, judge));
    cases
}

/// A queue reuses its places. Here a take is busy with its place while enough values pass for later ones to reach the
/// same place.
fn place_used_again(channels: Channels, way: Way) {
    const VALUES: usize = 5;
    let mint = Mint::new(VALUES);
    let (mut tx, mut rx) = channels
        .open::<Token>(Buffer::Unbounded)
        .expect("asked before");
    let mut ledger = Ledger::new(VALUES);
    let mut put = |ids| put_all(way, &mut tx, ids, &mint, &mut ledger);
    put(0..2);
    let mut other = rx.another().expect("asked before");
    let taking = world::spawn(move || {
        let taken = way.take(&mut other);
        (other, taken)
    });
    let mut taken = vec![way.take(&mut rx)];
    put(2..VALUES);
    let (other, first) = world::join(taking);
    taken.push(first);
    taken.extend((2..VALUES).map(|_| way.take(&mut rx)));
    drop((tx, rx, other));
    for token in taken.into_iter().flatten() {
        ledger.taken(token.id());
    }
    ledger.close(&mint, "where places are used again");
}

/// As [`place_used_again`]. Nothing was put to the place again when another take comes to it.
fn place_taken_again(channels: Channels, way: Way) {
    const VALUES: usize = 5;
    let mint = Mint::new(VALUES);
    let (mut tx, mut rx) = channels
        .open::<Token>(Buffer::Unbounded)
        .expect("asked before");
    let mut ledger = Ledger::new(VALUES);
    let mut put = |ids| put_all(way, &mut tx, ids, &mint, &mut ledger);
    put(0..3);
    let mut other = rx.another().expect("asked before");
    let taking = world::spawn(move || {
        let taken = way.take(&mut other);
        (other, taken)
    });
    let mut taken = vec![way.take(&mut rx)];
    put(3..4);
    taken.extend([(); 2].map(|()| way.take(&mut rx)));
    // There is a value only as long as the other take has none.
    if let Polled::Done(token) = rx.poll() {
        taken.push(Ok(token));
    }
    put(4..VALUES);
    let (other, last) = world::join(taking);
    taken.push(last);
    taken.extend((taken.len()..VALUES).map(|_| way.take(&mut rx)));
    drop((tx, rx, other));
    for token in taken.into_iter().flatten() {
        ledger.taken(token.id());
    }
    ledger.close(&mint, "where places are taken from again");
}

/// A bounded queue soon reuses a place. Here a put reaches the place that a take is about to leave.
fn place_of_a_take(channels: Channels, way: Way, buffer: Buffer) {
    let room = room(buffer);
    let mint = Mint::new(room + 1);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(room + 1);
    put_all(way, &mut tx, 0..room, &mint, &mut ledger);
    let taking = world::spawn(move || {
        world::perturb();
        let taken = way.take(&mut rx);
        (rx, taken)
    });
    world::perturb();
    put_all(way, &mut tx, room..room + 1, &mint, &mut ledger);
    let (mut rx, first) = world::join(taking);
    let mut taken = vec![first];
    taken.extend((0..room).map(|_| way.take(&mut rx)));
    drop((tx, rx));
    for token in taken.into_iter().flatten() {
        ledger.taken(token.id());
    }
    ledger.close(&mint, "where a put comes to the place of a take");
}

fn put_all(way: Way, tx: &mut Tx<Token>, ids: Range<usize>, mint: &Mint, ledger: &mut Ledger) {
    for id in ids {
        match way.put(tx, mint.token(id)) {
            Ok(()) => ledger.accepted(id),
            Err(_) => ledger.refused(id),
        }
    }
}

fn judge(books: Books) {
    books
        .ledger
        .close(&books.mint, "among producers and consumers");
}
