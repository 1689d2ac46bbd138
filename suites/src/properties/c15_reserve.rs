//! C15 (permits): a permit holds room for one value, is filled without waiting, and gives its room back when dropped.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    AsyncReserve, BlockingReserve, Buffer, Channels, Message, Offered, Polled, Reserve,
    ReserveError,
};
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::having;
use super::form::{ByFuture, ByThread, Form};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c15-reserve",
    statement: "A permit holds room for one value and gives it back; no value that it accepts is lost.",
    relied_on_by: Reliance::Nobody,
};

/// Reservations by thread or by future.
pub(super) trait ReserveForm<C: Reserve>: Form<C> {
    fn reserve<T: Message>(tx: &C::Tx<T>) -> Result<C::Permit<'_, T>, ReserveError>;
}

impl<C: BlockingReserve> ReserveForm<C> for ByThread {
    fn reserve<T: Message>(tx: &C::Tx<T>) -> Result<C::Permit<'_, T>, ReserveError> {
        C::reserve(tx)
    }
}

impl<C: AsyncReserve, W: World> ReserveForm<C> for ByFuture<W> {
    fn reserve<T: Message>(tx: &C::Tx<T>) -> Result<C::Permit<'_, T>, ReserveError> {
        W::block_on(C::reserve_async(tx))
    }
}

const ONE: Buffer = Buffer::fixed(1);

pub(super) fn cases<C: Reserve, F: ReserveForm<C>, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    if having::<C>(&[Buffer::Rendezvous]).next().is_some() {
        cases.push(Case::new("nothing to reserve", nothing_to_reserve::<C>));
    }
    if having::<C>(&[ONE]).next().is_some() {
        cases.push(Case::new("room is held", room_is_held::<C>));
        cases.push(Case::new("room comes back to a put", || {
            comes_back::<C, F, W>(false)
        }));
        cases.push(Case::new("room comes back to a put that waits", || {
            comes_back::<C, F, W>(true)
        }));
        cases.push(Case::new("a reservation waits for room", || {
            waits_for_room::<C, F, W>()
        }));
        cases.push(Case::new("a permit serves a take and a put", || {
            serves_a_take_and_a_put::<C, F, W>()
        }));
        if is_shut::<C>() {
            cases.push(Case::new("a close while a permit is out", || {
                close_while_out::<C, F, W>()
            }));
        }
        cases.push(Case::new("a close while a reservation waits", || {
            close_while_waiting::<C, F, W>()
        }));
        cases.push(Case::new("no consumer while a permit is out", || {
            no_consumer::<C>()
        }));
    }
    cases
}

/// Cases of reservations that are dropped: futures polled by hand.
pub(super) fn dropped_cases<C: AsyncReserve>() -> Vec<Case> {
    let mut cases = Vec::new();
    if having::<C>(&[ONE]).next().is_some() {
        cases.push(Case::new(
            "a reservation dropped before it is served",
            || dropped::<C>(false),
        ));
        cases.push(Case::new(
            "a reservation dropped after it is served",
            || dropped::<C>(true),
        ));
    }
    cases
}

fn producers<C: Channels>() -> (C::Tx<u32>, C::Tx<u32>, C::Rx<u32>) {
    let (tx, rx) = C::open::<u32>(ONE).expect("asked before");
    let further = C::another_tx(&tx).expect("permits are for many producers");
    (tx, further, rx)
}

fn nothing_to_reserve<C: Reserve>() {
    let (tx, _rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let refused = C::try_reserve(&tx).err();
    holds_eq!(
        refused,
        Some(ReserveError::NothingToReserve),
        "C15: a rendezvous has no room"
    );
}

fn room_is_held<C: Reserve>() {
    let (tx, mut further, mut rx) = producers::<C>();
    let permit =
        C::try_reserve(&tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    holds_eq!(
        C::offer(&mut further, 1),
        Offered::WouldWait(1),
        "C15: another put took the room of a permit"
    );
    holds_eq!(
        C::try_reserve(&further).err(),
        Some(ReserveError::WouldWait),
        "C15: two permits for one place"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "C15: a permit is no value"
    );
    holds_eq!(C::fill(permit, 7), Ok(()), "C15: a permit is filled");
    holds_eq!(
        C::offer(&mut further, 1),
        Offered::WouldWait(1),
        "C3: a value takes room"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::Done(7),
        "C15: a permit was filled"
    );
    holds_eq!(
        C::offer(&mut further, 1),
        Offered::Done,
        "C15: room is left"
    );
}

/// A put waits, perhaps, while a permit is out, and is served once that is dropped.
fn comes_back<C: Reserve, F: ReserveForm<C>, W: World>(waits: bool) {
    let (tx, mut further, mut rx) = producers::<C>();
    let permit =
        F::reserve(&tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    if !waits {
        drop(permit);
        holds_eq!(
            C::offer(&mut further, 1),
            Offered::Done,
            "C15: a permit's room was not given back"
        );
        return;
    }
    let putter = W::spawn(move || {
        W::perturb();
        (F::put(&mut further, 1), further)
    });
    W::perturb();
    drop(permit);
    let (put, _further) = W::join(putter);
    holds_eq!(put, Ok(()), "C15: a put that waited for a permit's room");
    holds_eq!(C::poll(&mut rx), Polled::Done(1), "C15: it was put");
}

fn waits_for_room<C: Reserve, F: ReserveForm<C>, W: World>() {
    let (mut tx, further, mut rx) = producers::<C>();
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    let reserving = W::spawn(move || {
        W::perturb();
        let filled = match F::reserve(&further) {
            Ok(permit) => C::fill(permit, 2),
            Err(why) => violated!("C15: {why:?} of an open channel"),
        };
        (filled, further)
    });
    W::perturb();
    assert_eq!(F::take(&mut rx), Ok(1));
    holds_eq!(F::take(&mut rx), Ok(2), "C15: a permit was filled");
    let (filled, _further) = W::join(reserving);
    holds_eq!(filled, Ok(()), "C15: a permit of an open channel");
}

/// The value of a permit goes to a take that waits, and then its room to whoever waits for it.
fn serves_a_take_and_a_put<C: Reserve, F: ReserveForm<C>, W: World>() {
    let (tx, mut further, mut rx) = producers::<C>();
    let permit =
        F::reserve(&tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    let taker = W::spawn(move || {
        W::perturb();
        let mut taken = [F::take(&mut rx), F::take(&mut rx)].map(Result::ok);
        taken.sort_unstable();
        (taken, rx)
    });
    let putter = W::spawn(move || {
        W::perturb();
        (F::put(&mut further, 2), further)
    });
    W::perturb();
    holds_eq!(
        C::fill(permit, 1),
        Ok(()),
        "C15: a permit of an open channel"
    );
    let (put, _further) = W::join(putter);
    holds_eq!(put, Ok(()), "C15: a put that waited for a permit's room");
    let (taken, _rx) = W::join(taker);
    holds_eq!(taken, [Some(1), Some(2)], "C15: both were put");
}

fn shut<C: Channels>(tx: &C::Tx<u32>, rx: &mut C::Rx<u32>) -> bool {
    C::close(tx) || C::close_rx(rx)
}

/// Whether one half or the other can close.
fn is_shut<C: Channels>() -> bool {
    let (tx, mut rx) = C::open::<u32>(ONE).expect("asked before");
    shut::<C>(&tx, &mut rx)
}

/// A permit's value is accepted and can be taken, or it is given back.
fn close_while_out<C: Reserve, F: ReserveForm<C>, W: World>() {
    let (tx, further, mut rx) = producers::<C>();
    let permit =
        F::reserve(&tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    let closer = W::spawn(move || {
        W::perturb();
        assert!(shut::<C>(&further, &mut rx), "asked before");
        (further, rx)
    });
    W::perturb();
    let filled = C::fill(permit, 2);
    let (_further, mut rx) = W::join(closer);
    let polled = C::poll(&mut rx);
    holds!(
        matches!(
            (filled, &polled),
            (Ok(()), Polled::Done(2)) | (Err(2), Polled::Closed)
        ),
        "C15: a permit's value at a close was answered {filled:?}, and a take {polled:?}"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::Closed,
        "C6: the channel is closed"
    );
}

fn close_while_waiting<C: Reserve, F: ReserveForm<C>, W: World>() {
    let (mut tx, further, mut rx) = producers::<C>();
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    let reserving = W::spawn(move || {
        W::perturb();
        let refused = F::reserve(&further).err();
        (refused, further)
    });
    W::perturb();
    if !shut::<C>(&tx, &mut rx) {
        drop(rx);
    }
    let (refused, _further) = W::join(reserving);
    holds_eq!(
        refused,
        Some(ReserveError::Closed),
        "C15: a reservation outlived its channel"
    );
}

/// A value that is filled in when nobody can take it any more is dropped once, here or there.
fn no_consumer<C: Reserve>() {
    let mint = Mint::new(1);
    let (tx, rx) = C::open::<Token>(ONE).expect("asked before");
    let permit =
        C::try_reserve(&tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    drop(rx);
    drop(C::fill(permit, mint.token(0)));
    drop(tx);
    holds_eq!(mint.drops(0), 1, "C10: drops of a value without consumers");
}

/// A reservation that is dropped holds nothing, whether it had been served or not.
fn dropped<C: AsyncReserve>(served: bool) {
    let (mut tx, further, mut rx) = producers::<C>();
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    {
        let mut reserving = pin!(C::reserve_async(&further));
        let mut context = Context::from_waker(Waker::noop());
        holds!(
            matches!(reserving.as_mut().poll(&mut context), Poll::Pending),
            "C15: a reservation without room"
        );
        if served {
            assert_eq!(C::poll(&mut rx), Polled::Done(1));
            holds_eq!(
                C::offer(&mut tx, 2),
                Offered::WouldWait(2),
                "C15: a reservation that waits is served in turn"
            );
        }
    }
    if !served {
        assert_eq!(C::poll(&mut rx), Polled::Done(1));
    }
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::Done,
        "C15: a reservation that was dropped holds room"
    );
    assert_eq!(C::poll(&mut rx), Polled::Done(2));
}
