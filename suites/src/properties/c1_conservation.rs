//! C1, C3: what was put is taken, once, by one of those who wait; a put is answered `true` only then.

use std::ops::Range;

use flowmeter_harness::channel::{Buffer, Channels};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{having, room};
use super::crowd::{Books, Crowd};
use super::form::Form;
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c1-conservation",
    statement: "Every value whose put was answered true is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Blocking,
};

/// The same of the form that awaits: a crate's forms are different code, and fail apart.
pub(super) const AWAITED: Property = Property {
    name: "c1-conservation-async",
    statement: "Every value that was awaited into a channel is taken exactly once and dropped exactly once.",
    relied_on_by: Reliance::Async,
};

pub(super) fn cases<C: Channels, F: Form<C>, W: World>(form: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let opened = C::open::<Token>(Buffer::Unbounded);
    if opened.is_some_and(|(_, rx)| C::another_rx(&rx).is_some()) {
        let name = format!("{form}, unbounded, a take among puts that use its place again");
        cases.push(Case::new(name, place_used_again::<C, F, W>));
    }
    for buffer in having::<C>(&[Buffer::fixed(1), Buffer::fixed(2)]) {
        let name = format!("{form}, {buffer}, a put that comes to the place of a take");
        cases.push(Case::new(name, move || place_of_a_take::<C, F, W>(buffer)));
    }
    cases.extend(Crowd::cases::<C, F, W>(form, |_| true, judge));
    cases
}

/// A queue keeps what it has for the next values: here a take is about its place while enough values pass through for
/// others to come to it.
fn place_used_again<C: Channels, F: Form<C>, W: World>() {
    const VALUES: usize = 5;
    let mint = Mint::new(VALUES);
    let (mut tx, mut rx) = C::open::<Token>(Buffer::Unbounded).expect("asked before");
    let mut ledger = Ledger::new(VALUES);
    let mut put = |ids| put_all::<C, F>(&mut tx, ids, &mint, &mut ledger);
    put(0..2);
    let mut other = C::another_rx(&rx).expect("asked before");
    let taking = W::spawn(move || {
        let taken = F::take(&mut other);
        (other, taken)
    });
    let mut taken = vec![F::take(&mut rx)];
    put(2..VALUES);
    let (other, first) = W::join(taking);
    taken.push(first);
    taken.extend((2..VALUES).map(|_| F::take(&mut rx)));
    drop((tx, rx, other));
    for token in taken.into_iter().flatten() {
        ledger.taken(token.id());
    }
    ledger.close(&mint, "where places are used again");
}

/// A bounded queue comes round to its places soon: here a put comes to the one that a take is about to leave.
fn place_of_a_take<C: Channels, F: Form<C>, W: World>(buffer: Buffer) {
    let room = room(buffer);
    let mint = Mint::new(room + 1);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(room + 1);
    put_all::<C, F>(&mut tx, 0..room, &mint, &mut ledger);
    let taking = W::spawn(move || {
        W::perturb();
        let taken = F::take(&mut rx);
        (rx, taken)
    });
    W::perturb();
    put_all::<C, F>(&mut tx, room..room + 1, &mint, &mut ledger);
    let (mut rx, first) = W::join(taking);
    let mut taken = vec![first];
    taken.extend((0..room).map(|_| F::take(&mut rx)));
    drop((tx, rx));
    for token in taken.into_iter().flatten() {
        ledger.taken(token.id());
    }
    ledger.close(&mint, "where a put comes to the place of a take");
}

fn put_all<C: Channels, F: Form<C>>(
    tx: &mut C::Tx<Token>,
    ids: Range<usize>,
    mint: &Mint,
    ledger: &mut Ledger,
) {
    for id in ids {
        match F::put(tx, mint.token(id)) {
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
