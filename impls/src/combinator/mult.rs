//! `mult`: one channel to any number of taps, which come and go (M4).
//!
//! A go block takes an item, puts it to all taps at once, and takes the next when every tap has accepted it. While an
//! item is being put the block holds the taps' producers. The table keeps their places, so the block does not wait for
//! a tap that leaves meanwhile.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::iter::repeat_n;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Channels, Message};
use flowmeter_harness::executor::{Spawn, go};
use flowmeter_harness::pipeline::AtEnd;

use crate::pipeline::next;
use crate::sync::{Arc, Mutex};

use super::Outlet;

/// Puts all values of `from` to all taps; the next one when each tap has accepted the one before. Without taps values
/// are taken and dropped. When the source has ended the taps are closed, unless asked not to.
///
/// ```
/// # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
/// use flowmeter_impls::channel::Buffer;
/// use flowmeter_impls::channel::mutex::{Channel, MutexChannels as C};
/// use flowmeter_impls::combinator::{AtEnd, mult};
/// use flowmeter_impls::executor::Executors;
/// use flowmeter_impls::executor::fixed_pool::FixedPool;
///
/// let pool = FixedPool::new();
/// let (news, source) = Channel::split(Buffer::Rendezvous);
/// let mult = mult::<C, &str>(&pool.spawner(), source);
/// let (paper, reader) = Channel::split(Buffer::fixed(1));
/// let (radio, listener) = Channel::split(Buffer::fixed(1));
/// mult.tap(paper, AtEnd::Close);
/// let on_air = mult.tap(radio, AtEnd::Close);
///
/// news.put("it rains").unwrap();
/// assert_eq!((reader.take(), listener.take()), (Ok("it rains"), Ok("it rains")));
/// mult.untap(on_air);
/// news.put("it pours").unwrap();
/// assert_eq!(reader.take(), Ok("it pours"));
/// # }
/// ```
pub fn mult<C: Async, T: Message + Clone>(spawner: &impl Spawn, mut from: C::Rx<T>) -> Mult<C, T> {
    let table = Arc::new(Table(Mutex::new(Taps {
        next_number: 0,
        taps: BTreeMap::new(),
        ended: false,
        has_left: false,
        block: None,
    })));
    let end = AtTheEnd(Arc::clone(&table));
    go::<C, ()>(spawner, async move {
        while let Some(item) = next::<C, T>(&mut from).await {
            end.0.hand_out(item).await;
        }
        None
    });
    Mult(table)
}

/// The handle of a [`mult`]. The go block goes on without it.
pub struct Mult<C: Channels, T: Message>(Arc<Table<C, T>>);

/// A tap of a [`Mult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap(u64);

impl<C: Channels, T: Message> Mult<C, T> {
    /// Adds `to` as a tap from the next item on. A channel that refuses an item is a tap no longer.
    ///
    /// A channel that is tapped twice is two taps, where core.async's taps are a set. If the source has ended already
    /// the tap ends, too, and is closed at once, unless asked not to; core.async leaves it open for ever.
    pub fn tap(&self, to: C::Tx<T>, at_end: AtEnd) -> Tap {
        let mut outlet = Some(Outlet::new(to, at_end));
        let mut taps = self.0.0.lock();
        let number = taps.next_number;
        taps.next_number += 1;
        if !taps.ended {
            taps.taps.insert(number, outlet.take());
        }
        // Outside the lock: a channel that is closed here wakes tasks.
        drop(taps);
        drop(outlet);
        Tap(number)
    }

    /// Removes a tap, without closing its channel; no effect if it is gone. An item that it has not accepted yet is no
    /// longer put to it, and the others do not wait for it; core.async goes on waiting.
    pub fn untap(&self, tap: Tap) {
        let mut taps = self.0.0.lock();
        let gone = taps.taps.remove(&tap.0);
        let block = taps.leave();
        drop(taps);
        let_go(gone, block);
    }

    /// Removes all taps, as [`Mult::untap`] does one.
    pub fn untap_all(&self) {
        let mut taps = self.0.0.lock();
        let gone = take(&mut taps.taps);
        let block = taps.leave();
        drop(taps);
        let_go(gone.into_values(), block);
    }
}

impl<C: Channels, T: Message> Clone for Mult<C, T> {
    /// Another handle of the same mult.
    fn clone(&self) -> Self {
        Mult(Arc::clone(&self.0))
    }
}

impl<C: Channels, T: Message> fmt::Debug for Mult<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taps = self.0.0.lock();
        f.debug_struct("Mult")
            .field("taps", &taps.taps.len())
            .field("ended", &taps.ended)
            .finish()
    }
}

/// Outside the lock: channels that end, and wakers, run foreign code.
fn let_go<C: Channels, T: Message>(
    gone: impl IntoIterator<Item = Option<Outlet<C, T>>>,
    block: Option<Waker>,
) {
    gone.into_iter().flatten().for_each(Outlet::leave);
    if let Some(block) = block {
        block.wake();
    }
}

struct Table<C: Channels, T: Message>(Mutex<Taps<C, T>>);

struct Taps<C: Channels, T: Message> {
    next_number: u64,
    /// `None` in the place of a tap that the block holds.
    taps: BTreeMap<u64, Option<Outlet<C, T>>>,
    ended: bool,
    /// A tap has left since the block looked.
    has_left: bool,
    /// The block, while it waits for taps.
    block: Option<Waker>,
}

impl<C: Channels, T: Message> Taps<C, T> {
    /// Records that a tap has left; returns the waker of the block.
    fn leave(&mut self) -> Option<Waker> {
        self.has_left = true;
        self.block.take()
    }
}

impl<C: Async, T: Message + Clone> Table<C, T> {
    /// Puts the item to every present tap, and returns when each has accepted it, refused it, or left.
    async fn hand_out(&self, item: T) {
        let mut taps = self.take_all();
        let items = repeat_n(item, taps.len());
        let puts = taps.iter_mut().zip(items);
        let mut waiting: Vec<_> = puts
            .map(|((number, outlet), item)| {
                (*number, Box::pin(async move { outlet.put(item).await }))
            })
            .collect();
        let mut refused = Vec::new();
        let mut begun = false;
        poll_fn(|context| {
            if self.has_left(context) {
                waiting.retain(|(number, _)| self.has(*number));
            }
            // Every put is started; after that a put is polled when those before it are done.
            let mut looked_at = 0;
            while looked_at < waiting.len() {
                let (number, put) = &mut waiting[looked_at];
                match Pin::new(put).poll(context) {
                    Poll::Ready(accepted) => {
                        if !accepted {
                            refused.push(*number);
                        }
                        drop(waiting.remove(looked_at));
                    }
                    Poll::Pending if begun => break,
                    Poll::Pending => looked_at += 1,
                }
            }
            begun = true;
            if waiting.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        drop(waiting);
        self.put_back(taps, &refused);
    }

    fn take_all(&self) -> Vec<(u64, Outlet<C, T>)> {
        let mut taps = self.0.lock();
        let here = taps.taps.iter_mut();
        here.filter_map(|(number, tap)| Some((*number, tap.take()?)))
            .collect()
    }

    fn put_back(&self, outlets: Vec<(u64, Outlet<C, T>)>, refused: &[u64]) {
        let mut gone = Vec::new();
        let mut taps = self.0.lock();
        for (number, outlet) in outlets {
            if refused.contains(&number) {
                taps.taps.remove(&number);
            }
            match taps.taps.get_mut(&number) {
                Some(place) => *place = Some(outlet),
                None => gone.push(Some(outlet)),
            }
        }
        drop(taps);
        let_go(gone, None);
    }

    /// Whether a tap has left since the last look; if not, the block is woken when one does.
    fn has_left(&self, context: &Context<'_>) -> bool {
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = context.waker().clone();
        let mut taps = self.0.lock();
        let old = taps.block.replace(waker);
        let has_left = take(&mut taps.has_left);
        drop(taps);
        drop(old);
        has_left
    }

    fn has(&self, number: u64) -> bool {
        self.0.lock().taps.contains_key(&number)
    }
}

/// Ends all taps when it is dropped.
struct AtTheEnd<C: Channels, T: Message>(Arc<Table<C, T>>);

impl<C: Channels, T: Message> Drop for AtTheEnd<C, T> {
    fn drop(&mut self) {
        let mut taps = self.0.0.lock();
        taps.ended = true;
        let all = take(&mut taps.taps);
        let block = taps.block.take();
        drop(taps);
        drop((all, block));
    }
}
