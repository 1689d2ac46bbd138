//! Alts over channels of different message types, as [`Alts`] over channels of one: so that the properties of alts,
//! written for that, hold the other to the same.
//!
//! Of the channels that are opened one after the other every second carries its values in a frame, which is another type
//! of another size. An alts over two of them therefore has clauses of two types. Which channel is framed has to be the
//! same in every execution, or no schedule would replay: [`in_turns`] begins each with a plain one.

use std::cell::Cell;
use std::future::pending;
use std::marker::PhantomData;
use std::thread_local;

use flowmeter_harness::channel::{
    Alts, AltsError, AwaitAlts, Blocking, Buffer, Channels, Chosen, Clause, Message, MixedAlts,
    Offered, Order, Patience, Polled, PutError, TakeError, Winner,
};
use flowmeter_harness::sync::{Deadline, World};

use super::Case;
use super::form::{ByFuture, ByThread};

thread_local! {
    /// Whether the channel that is opened next is framed.
    static FRAMED: Cell<bool> = const { Cell::new(false) };
}

/// Models of [`Mixed`] families.
pub(super) fn in_turns(cases: Vec<Case>) -> Vec<Case> {
    let begins = |case: Case| case.after(|| FRAMED.set(false));
    cases.into_iter().map(begins).collect()
}

/// How an alts of several types is run.
pub(super) trait Run<C: MixedAlts>: Send + Sync + 'static {
    fn run(
        clauses: &mut [C::AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError>;
}

impl<C: MixedAlts> Run<C> for ByThread {
    fn run(
        clauses: &mut [C::AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError> {
        C::run_mixed(clauses, order, patience)
    }
}

impl<C: AwaitAlts, W: World> Run<C> for ByFuture<W> {
    fn run(
        clauses: &mut [C::AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError> {
        match patience {
            Patience::Now => C::run_mixed(clauses, order, Patience::Now),
            Patience::Forever => W::block_on(C::run_async(clauses, order, pending())),
            Patience::Until(deadline) => until::<C, W>(clauses, order, deadline),
        }
    }
}

/// A thread tells the task when the deadline has passed: a family of channels has no timer.
fn until<C: AwaitAlts, W: World>(
    clauses: &mut [C::AnyClause<'_>],
    order: Order,
    deadline: Deadline,
) -> Result<Winner, AltsError> {
    let (mut tx, mut rx) = with_room::<C>();
    let clock = W::spawn(move || {
        let (_silent, rx) = with_room::<C>();
        let mut take = C::take_clause(&rx);
        let patience = Patience::Until(deadline);
        let slept = C::run_mixed(&mut [C::any_take(&mut take)], Order::Priority, patience);
        assert_eq!(
            slept,
            Ok(Winner::TimedOut),
            "nobody puts to the clock's channel"
        );
        let offered = C::offer(&mut tx, ());
        assert_eq!(offered, Offered::Done, "there is room for the clock's word");
        tx
    });
    // It borrows its half, which so outlives it: a half that is dropped would close the channel to the thread.
    let late = async {
        let told = C::take_async(&mut rx).await;
        assert_eq!(told, Ok(()), "the clock's channel is open");
    };
    let winner = W::block_on(C::run_async(clauses, order, late));
    W::join(clock);
    winner
}

fn with_room<C: Channels>() -> (C::Tx<()>, C::Rx<()>) {
    let buffers = [Buffer::fixed(1), Buffer::Unbounded];
    let opened = buffers.into_iter().find_map(C::open);
    opened.expect("a family of channels has one with room")
}

/// The family `C` with alts of several types, run by `R`, in the place of its own.
pub(super) struct Mixed<C, R>(PhantomData<(C, R)>);

/// A value as it is carried by every second channel.
pub(super) struct Framed<T> {
    value: T,
    /// What makes it another type to the eye of whoever mixes them up.
    _frame: [u64; 3],
}

impl<T> Framed<T> {
    fn new(value: T) -> Self {
        Framed {
            value,
            _frame: [0x0ff; 3],
        }
    }
}

/// A half, or a clause, of either type.
pub(super) enum Either<P, F> {
    Plain(P),
    Framed(F),
}

use Either::{Framed as Wrapped, Plain};

type Tx<C, T> = Either<<C as Channels>::Tx<T>, <C as Channels>::Tx<Framed<T>>>;
type Rx<C, T> = Either<<C as Channels>::Rx<T>, <C as Channels>::Rx<Framed<T>>>;

impl<C: MixedAlts, R: Run<C>> Channels for Mixed<C, R> {
    type Tx<T: Message> = Tx<C, T>;
    type Rx<T: Message> = Rx<C, T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        Some(match FRAMED.replace(!FRAMED.get()) {
            false => {
                let (tx, rx) = C::open(buffer)?;
                (Plain(tx), Plain(rx))
            }
            true => {
                let (tx, rx) = C::open(buffer)?;
                (Wrapped(tx), Wrapped(rx))
            }
        })
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        match tx {
            Plain(tx) => C::another_tx(tx).map(Plain),
            Wrapped(tx) => C::another_tx(tx).map(Wrapped),
        }
    }

    fn another_rx<T: Message>(rx: &Self::Rx<T>) -> Option<Self::Rx<T>> {
        match rx {
            Plain(rx) => C::another_rx(rx).map(Plain),
            Wrapped(rx) => C::another_rx(rx).map(Wrapped),
        }
    }

    fn close<T: Message>(tx: &Self::Tx<T>) -> bool {
        match tx {
            Plain(tx) => C::close(tx),
            Wrapped(tx) => C::close(tx),
        }
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx {
            Plain(tx) => C::offer(tx, value),
            Wrapped(tx) => match C::offer(tx, Framed::new(value)) {
                Offered::Done => Offered::Done,
                Offered::WouldWait(framed) => Offered::WouldWait(framed.value),
                Offered::Closed(framed) => Offered::Closed(framed.value),
            },
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        match rx {
            Plain(rx) => C::poll(rx),
            Wrapped(rx) => match C::poll(rx) {
                Polled::Done(framed) => Polled::Done(framed.value),
                Polled::WouldWait => Polled::WouldWait,
                Polled::Closed => Polled::Closed,
            },
        }
    }
}

impl<C: MixedAlts, R: Run<C>> Blocking for Mixed<C, R> {
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        match tx {
            Plain(tx) => C::put(tx, value),
            Wrapped(tx) => C::put(tx, Framed::new(value)).map_err(|error| match error {
                PutError::Closed(framed) => PutError::Closed(framed.map(|framed| framed.value)),
                PutError::TooManyWaiters(framed) => PutError::TooManyWaiters(framed.value),
            }),
        }
    }

    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        match rx {
            Plain(rx) => C::take(rx),
            Wrapped(rx) => C::take(rx).map(|framed| framed.value),
        }
    }
}

/// Clauses are made anew for every run: they keep what came of one.
pub(super) struct Prepared<'a, C: MixedAlts, R: Run<C>, T: Message> {
    clauses: &'a [Clause<'a, Mixed<C, R>, T>],
    order: Order,
}

impl<C: MixedAlts, R: Run<C>> Alts for Mixed<C, R> {
    type Prepared<'a, T: Message> = Prepared<'a, C, R, T>;

    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Self::Prepared<'a, T> {
        Prepared { clauses, order }
    }

    fn run<T: Message>(
        prepared: &mut Self::Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        let Prepared { clauses, order } = *prepared;
        if slots.len() != clauses.len() {
            // There are no slots apart from the clauses: what could not be is not asked of the family.
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: clauses.len(),
            });
        }
        let mut made: Vec<Made<'_, C, T>> = std::iter::zip(clauses, &mut *slots)
            .map(|(clause, slot)| Made::of(clause, slot))
            .collect();
        let mut any: Vec<_> = made.iter_mut().map(Made::any).collect();
        let winner = R::run(&mut any, order, patience);
        drop(any);
        for (made, slot) in std::iter::zip(&mut made, &mut *slots) {
            *slot = made.slot();
        }
        Ok(match winner? {
            Winner::Clause(clause) => match made[clause].taken() {
                Some(value) => Chosen::Took { clause, value },
                None => Chosen::Put {
                    clause,
                    accepted: slots[clause].is_none(),
                },
            },
            Winner::Default => Chosen::Default,
            Winner::TimedOut => Chosen::TimedOut,
        })
    }
}

/// A clause for one run.
enum Made<'a, C: MixedAlts, T: Message> {
    Take(Either<C::TakeClause<'a, T>, C::TakeClause<'a, Framed<T>>>),
    Put(Either<C::PutClause<'a, T>, C::PutClause<'a, Framed<T>>>),
}

impl<'a, C: MixedAlts, T: Message> Made<'a, C, T> {
    fn of<R: Run<C>>(clause: &Clause<'a, Mixed<C, R>, T>, slot: &mut Option<T>) -> Self {
        match *clause {
            Clause::Take(Plain(rx)) => Made::Take(Plain(C::take_clause(rx))),
            Clause::Take(Wrapped(rx)) => Made::Take(Wrapped(C::take_clause(rx))),
            Clause::Put(Plain(tx)) => Made::Put(Plain(C::put_clause(tx, slot.take()))),
            Clause::Put(Wrapped(tx)) => {
                let framed = slot.take().map(Framed::new);
                Made::Put(Wrapped(C::put_clause(tx, framed)))
            }
        }
    }

    fn any(&mut self) -> C::AnyClause<'_> {
        match self {
            Made::Take(Plain(take)) => C::any_take(take),
            Made::Take(Wrapped(take)) => C::any_take(take),
            Made::Put(Plain(put)) => C::any_put(put),
            Made::Put(Wrapped(put)) => C::any_put(put),
        }
    }

    /// What is left in the slot of a put.
    fn slot(&mut self) -> Option<T> {
        match self {
            Made::Take(_) => None,
            Made::Put(Plain(put)) => C::slot(put).take(),
            Made::Put(Wrapped(put)) => C::slot(put).take().map(|framed| framed.value),
        }
    }

    /// What a take that won has brought; nothing of a put.
    fn taken(&mut self) -> Option<Option<T>> {
        match self {
            Made::Take(Plain(take)) => Some(C::taken(take)),
            Made::Take(Wrapped(take)) => Some(C::taken(take).map(|framed| framed.value)),
            Made::Put(_) => None,
        }
    }
}
