//! Puts and takes that await an alts of one clause beside another which nobody ever meets: so that the properties of
//! futures hold an alts that is dropped to what they ask of a put and a take.

use std::future::pending;
use std::marker::PhantomData;

use flowmeter_harness::channel::{
    AltsError, Async, AwaitAlts, Buffer, Channels, Message, Offered, Order, Polled, PutError,
    TakeError, Winner,
};

/// The family `C` with every future an alts.
pub(super) struct ByAlts<C>(PhantomData<C>);

/// A type that no property's channel carries.
type Silence = [u64; 3];

impl<C: AwaitAlts> Channels for ByAlts<C> {
    type Tx<T: Message> = C::Tx<T>;
    type Rx<T: Message> = C::Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        C::open(buffer)
    }
    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        C::another_tx(tx)
    }
    fn another_rx<T: Message>(rx: &Self::Rx<T>) -> Option<Self::Rx<T>> {
        C::another_rx(rx)
    }
    fn close<T: Message>(tx: &Self::Tx<T>) -> bool {
        C::close(tx)
    }
    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        C::offer(tx, value)
    }
    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        C::poll(rx)
    }
}

impl<C: AwaitAlts> Async for ByAlts<C> {
    async fn put_async<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        let (_silent, idle) = silence::<C>();
        let mut put = C::put_clause(tx, Some(value));
        let winner = {
            let mut never = C::take_clause(&idle);
            let clauses = &mut [C::any_take(&mut never), C::any_put(&mut put)];
            C::run_async(clauses, Order::Priority, pending()).await
        };
        let left = C::slot(&mut put).take();
        match (winner, left) {
            (Ok(Winner::Clause(1)), None) => Ok(()),
            (Ok(Winner::Clause(1)), left) => Err(PutError::Closed(left)),
            (Err(AltsError::TooManyWaiters { clause: 1 }), Some(value)) => {
                Err(PutError::TooManyWaiters(value))
            }
            (winner, _) => {
                violated!("A1: an alts with one put that anybody meets answered {winner:?}")
            }
        }
    }

    async fn take_async<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        let (_silent, idle) = silence::<C>();
        let mut take = C::take_clause(rx);
        let winner = {
            let mut never = C::take_clause(&idle);
            let clauses = &mut [C::any_take(&mut never), C::any_take(&mut take)];
            C::run_async(clauses, Order::Priority, pending()).await
        };
        match winner {
            Ok(Winner::Clause(1)) => C::taken(&mut take).ok_or(TakeError::Closed),
            Err(AltsError::TooManyWaiters { clause: 1 }) => Err(TakeError::TooManyWaiters),
            winner => violated!("A1: an alts with one take that anybody meets answered {winner:?}"),
        }
    }
}

/// A channel to which nobody puts.
fn silence<C: Channels>() -> (C::Tx<Silence>, C::Rx<Silence>) {
    let buffers = [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded];
    let opened = buffers.into_iter().find_map(C::open);
    opened.expect("a family of channels opens one")
}
