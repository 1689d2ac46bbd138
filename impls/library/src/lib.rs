#![doc = include_str!("../README.md")]

mod channel;
pub mod core_async;
mod errors;
mod iter;
#[doc(hidden)]
pub mod macros;
mod receiver;
mod renamed;
mod sender;

pub use channel::{bounded, rendezvous, unbounded};
pub use errors::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use iter::{Drain, IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, WeakSender};
