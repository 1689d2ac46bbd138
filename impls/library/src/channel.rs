//! New channels.

use std::num::NonZeroUsize;

use flowmeter_impls::channel::Buffer;
use flowmeter_impls::channel::lock_free::Channel;

use crate::{Receiver, Sender};

fn open<T: Send>(buffer: Buffer) -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = Channel::split_unlimited(buffer);
    (Sender(tx), Receiver(rx))
}

/// A channel with room for `capacity` values. Without room it is a [`rendezvous`].
///
/// ```
/// let (tx, rx) = alts::bounded(2);
/// tx.send(1).unwrap();
/// tx.send(2).unwrap();
/// assert!(tx.try_send(3).is_err());
/// assert_eq!(rx.try_iter().sum::<i32>(), 3);
/// ```
pub fn bounded<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    open(NonZeroUsize::new(capacity).map_or(Buffer::Rendezvous, Buffer::Fixed))
}

/// A channel with room for any number of values: a send never waits.
///
/// ```
/// let (tx, rx) = alts::unbounded();
/// tx.send("a job").unwrap();
/// assert_eq!(rx.recv(), Ok("a job"));
/// ```
pub fn unbounded<T: Send>() -> (Sender<T>, Receiver<T>) {
    open(Buffer::Unbounded)
}

/// A channel without room: a send waits until a receiver has its value.
///
/// ```
/// use std::thread;
///
/// let (tx, rx) = alts::rendezvous();
/// thread::scope(|threads| {
///     threads.spawn(|| tx.send("met").unwrap());
///     assert_eq!(rx.recv(), Ok("met"));
/// });
/// ```
pub fn rendezvous<T: Send>() -> (Sender<T>, Receiver<T>) {
    open(Buffer::Rendezvous)
}
