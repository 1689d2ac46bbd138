//! core.async's words: `use alts::core_async::*;`.
//!
//! For people from Clojure, their name and ours. `ch` is a [`Channel`], one handle that puts, takes and closes.
//!
//! | core.async | here, on a [`Channel`] | with the names of the crate's root |
//! | --- | --- | --- |
//! | `(chan)` | `chan(Buffer::Rendezvous)` | `rendezvous()` or `bounded(0)` |
//! | `(chan 3)` | `chan(buffer(3))` | `bounded(3)` |
//! | `(chan (dropping-buffer 3))`, `(chan (sliding-buffer 3))` | `chan(dropping_buffer(3))`, `chan(sliding_buffer(3))` | |
//! | `(chan 3 (map inc) ex-handler)` | `Channel::transformed(buffer(3), map(inc), handler)` | |
//! | `(promise-chan)` | `promise_chan()` | |
//! | | `chan(Buffer::Unbounded)` | `unbounded()` |
//! | `(>!! ch v)`, `(<!! ch)` | `ch.put(v)`, `ch.take()` | `tx.send(v)`, `rx.recv()` |
//! | `(>! ch v)`, `(<! ch)` | `ch.put_async(v).await`, `ch.take_async().await` | `tx.send_async(v).await`, `rx.recv_async().await` |
//! | `(put! ch v f)`, `(take! ch f)` | `ch.put_then(v, f)`, `ch.take_then(f)` | |
//! | `(offer! ch v)`, `(poll! ch)` | `ch.offer(v)`, `ch.poll()` | `tx.try_send(v)`, `rx.try_recv()` |
//! | `(close! ch)` | `ch.close()` | drop the last `Sender` |
//! | `(timeout 300)` | `timeout(Duration::from_millis(300))` | `default(time)` in `select!`, `recv_timeout` |
//! | `(alts!! [a [b v]])` | `alts! { take(a) => …, put(b, v) => … }` | `select! { recv(a) -> … , send(b, v) -> … }` |
//! | `(alts! [a [b v]])` | `alts_async! { take(a) => …, put(b, v) => … }` | |
//! | `:priority true`, `:default x` | `priority;` first, `default => x` last | `default => x` |
//! | `(go …)`, `(thread …)` | `go(async move { … })`, `thread(move \|\| …)` | |
//! | `(pipe a b)`, `mult`, `mix`, `pub`, … | `flowmeter_impls::combinator`, `flowmeter_impls::pipeline` | |
//!
//! Three things differ. A put on a closed channel gives its value back as an error, where `>!!` answers `false`. A take
//! from a closed channel is an error, where `<!!` answers `nil`. 1,024 puts and 1,024 takes may wait on a channel of
//! [`chan`]. The next one is refused as an error, where core.async fails an assertion.
//!
//! ```
//! use std::time::Duration;
//!
//! use alts::core_async::*;
//!
//! let ch = chan(buffer(1));
//! let answer = ch.clone();
//! thread(move || answer.put("<html>".to_owned()));
//! let late = timeout(Duration::from_secs(60));
//! let page = go(async move {
//!     alts_async! {
//!         take(ch) => |page| page.unwrap_or_default(),
//!         take(late) => |_| "timeout".to_owned(),
//!     }
//! });
//! assert_eq!(page.take(), Ok(Ok("<html>".to_owned())));
//! ```

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use flowmeter_harness::timer::Timeouts;
use flowmeter_impls::executor::fixed_pool::FixedPool;
use flowmeter_impls::executor::{self, Executors};
use flowmeter_impls::timer::heap::Heap;

pub use flowmeter_impls::channel::lock_free::{Channel, Consumer, LockFree, Producer};
pub use flowmeter_impls::channel::{
    AltsError, Buffer, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};

pub use crate::{alts, alts_async};

/// The threads of all go blocks.
static POOL: OnceLock<FixedPool> = OnceLock::new();
/// The thread of all timeouts.
static TIMER: OnceLock<Heap> = OnceLock::new();

/// A channel with that buffer. It stays open until it is closed.
pub fn chan<T: Send>(buffer: Buffer) -> Channel<T> {
    Channel::new(buffer)
}

/// A channel that answers every take with the first value put.
pub fn promise_chan<T: Clone + Send>() -> Channel<T> {
    Channel::promise()
}

/// Room for that many values; then a put waits.
///
/// # Panics
/// When `capacity` is zero: that is [`Buffer::Rendezvous`].
pub const fn buffer(capacity: usize) -> Buffer {
    Buffer::fixed(capacity)
}

/// Room for that many values; a put on a full one drops its value.
///
/// # Panics
/// As [`buffer`].
pub const fn dropping_buffer(capacity: usize) -> Buffer {
    match Buffer::fixed(capacity) {
        Buffer::Fixed(capacity) => Buffer::Dropping(capacity),
        other => other,
    }
}

/// Room for that many values; a put on a full one drops the oldest.
///
/// # Panics
/// As [`buffer`].
pub const fn sliding_buffer(capacity: usize) -> Buffer {
    match Buffer::fixed(capacity) {
        Buffer::Fixed(capacity) => Buffer::Sliding(capacity),
        other => other,
    }
}

/// A channel without values that closes after so long; `Duration::MAX` is never. All timeouts share one thread.
pub fn timeout(delay: Duration) -> Consumer<()> {
    let timer = TIMER.get_or_init(Heap::new);
    Timeouts::<LockFree>::timeout(timer, delay)
}

/// Runs the block on the pool of all go blocks: two threads more than the machine has cores. The channel has its value,
/// and then closes. If the block panics, the channel closes without a value.
///
/// The block must not wait by blocking its thread. [`thread`] may.
pub fn go<T: Send + 'static>(block: impl Future<Output = T> + Send + 'static) -> Consumer<T> {
    let pool = POOL.get_or_init(FixedPool::new);
    executor::go::<LockFree, T>(&pool.spawner(), async move { Some(block.await) })
}

/// Runs the function on a thread of its own. The channel has its value, and then closes. If the function panics, the
/// channel closes without a value.
///
/// # Panics
/// When the system cannot start a thread.
pub fn thread<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Consumer<T> {
    let (tx, rx) = Channel::split(Buffer::fixed(1));
    std::thread::spawn(move || {
        // Refused if the consumer is gone: it no longer wants the value.
        let _ = tx.put(body());
    });
    rx
}
