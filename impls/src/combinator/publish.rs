//! `pub` and `sub`: one channel to the subscribers of each item's topic (M6). As in core.async a topic is a channel
//! with a buffer and a [`mult`] of it, made at the first subscription.

use std::collections::BTreeMap;
use std::fmt;

use flowmeter_harness::channel::{Async, Buffer, Channels, Message};
use flowmeter_harness::combinator::Topic;
use flowmeter_harness::executor::{Spawn, go};
use flowmeter_harness::pipeline::AtEnd;

use crate::pipeline::{next, open};
use crate::sync::{Arc, Mutex};

use super::Outlet;
use super::mult::{Mult, Tap, mult};

/// Puts each value of `from` to the subscribers of its topic, which `topic_of` returns. A value of a topic without
/// subscriptions is dropped. Each topic has the buffer that `buffer_of` returns (core.async's `buf-fn`; its default is
/// [`Buffer::Rendezvous`]). A slow subscriber delays its topic, and the other topics once that buffer is full. When the
/// source has ended the subscribers receive what the buffers hold and are closed, unless asked not to; also if
/// `topic_of` has panicked.
///
/// ```
/// # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
/// use flowmeter_impls::channel::Buffer;
/// use flowmeter_impls::channel::mutex::{Channel, MutexChannels as C};
/// use flowmeter_impls::combinator::{AtEnd, publish};
/// use flowmeter_impls::executor::Executors;
/// use flowmeter_impls::executor::fixed_pool::FixedPool;
///
/// let pool = FixedPool::new();
/// let (numbers, source) = Channel::split(Buffer::Rendezvous);
/// let by_parity = publish::<C, _, u32, _>(pool.spawner(), source, |n| n % 2, |_| Buffer::fixed(8));
/// let (to, odd) = Channel::split(Buffer::fixed(8));
/// by_parity.sub(1, to, AtEnd::Close);
/// for n in 0..4 {
///     numbers.put(n).unwrap();
/// }
/// drop(numbers);
/// assert!((&odd).into_iter().eq([1, 3]));
/// # }
/// ```
pub fn publish<C, K, T, S>(
    spawner: S,
    mut from: C::Rx<T>,
    mut topic_of: impl FnMut(&T) -> K + Send + 'static,
    buffer_of: impl Fn(&K) -> Buffer + Send + Sync + 'static,
) -> Publication<C, K, T, S>
where
    C: Async,
    K: Topic,
    T: Message + Clone,
    S: Spawn + Clone + Send + 'static,
{
    let table = Arc::new(Mutex::new(Topics {
        topics: BTreeMap::new(),
        ended: false,
    }));
    let end = AtTheEnd(Arc::clone(&table));
    go::<C, ()>(&spawner, async move {
        while let Some(item) = next::<C, T>(&mut from).await {
            let topic = topic_of(&item);
            let Some(mut outlet) = end.outlet_of(&topic) else {
                continue;
            };
            if outlet.put(item).await {
                end.put_back(&topic, outlet);
            }
        }
        None
    });
    Publication {
        table,
        spawner: Mutex::new(spawner),
        buffer_of: Box::new(buffer_of),
    }
}

/// The handle of a [`publish`]. The go block goes on without it.
pub struct Publication<C: Channels, K, T: Message, S> {
    table: Table<C, K, T>,
    /// A spawner need not be shareable among threads.
    spawner: Mutex<S>,
    buffer_of: Box<dyn Fn(&K) -> Buffer + Send + Sync>,
}

/// A subscriber of a [`Publication`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription<K> {
    topic: K,
    tap: Tap,
}

type Table<C, K, T> = Arc<Mutex<Topics<C, K, T>>>;

struct Topics<C: Channels, K, T: Message> {
    topics: BTreeMap<K, TopicOf<C, T>>,
    ended: bool,
}

struct TopicOf<C: Channels, T: Message> {
    mult: Mult<C, T>,
    /// The producer of the mult's source; `None` while the block has it, and once the mult has ended.
    outlet: Option<Outlet<C, T>>,
}

impl<C, K, T, S> Publication<C, K, T, S>
where
    C: Async,
    K: Topic,
    T: Message + Clone,
    S: Spawn + Clone + Send + 'static,
{
    /// Subscribes `to` to that topic, from the next value that is taken on. A channel that refuses a value is no longer
    /// subscribed. If the source has ended already the subscription ends, too, and `to` is closed at once, unless asked
    /// not to; core.async leaves it open for ever.
    ///
    /// # Panics
    /// When the family has no buffer such as `buffer_of` returns for the topic, or that function panics.
    pub fn sub(&self, topic: K, to: C::Tx<T>, at_end: AtEnd) -> Subscription<K> {
        let known = self.mult_of(&topic);
        let mult = known.unwrap_or_else(|| self.begin(&topic));
        let tap = mult.tap(to, at_end);
        Subscription { topic, tap }
    }

    /// Removes a subscriber, without closing its channel; no effect if it is gone. As with [`Mult::untap`], the others
    /// no longer wait for it.
    pub fn unsub(&self, subscription: &Subscription<K>) {
        if let Some(mult) = self.mult_of(&subscription.topic) {
            mult.untap(subscription.tap);
        }
    }

    /// Removes all subscribers of that topic, or those of all topics, as [`Publication::unsub`] does one.
    pub fn unsub_all(&self, topic: Option<&K>) {
        let table = self.table.lock();
        let topics = table.topics.iter();
        let named = topics.filter(|(name, _)| topic.is_none_or(|topic| topic == *name));
        let mults: Vec<_> = named.map(|(_, topic)| topic.mult.clone()).collect();
        drop(table);
        mults.iter().for_each(Mult::untap_all);
    }

    fn mult_of(&self, topic: &K) -> Option<Mult<C, T>> {
        let table = self.table.lock();
        table.topics.get(topic).map(|topic| topic.mult.clone())
    }

    /// Makes a topic without subscriptions; or finds the topic that another thread has made meanwhile. The lock is not
    /// held while foreign code runs.
    fn begin(&self, topic: &K) -> Mult<C, T> {
        let (to, from) = open::<C, T>((self.buffer_of)(topic));
        let spawner = self.spawner.lock().clone();
        let mut begun = Some(TopicOf {
            mult: mult::<C, T>(&spawner, from),
            outlet: Some(Outlet::closing(to)),
        });
        let key = topic.clone();
        let mut table = self.table.lock();
        let mult = if table.ended {
            begun.as_ref().map(|begun| begun.mult.clone())
        } else {
            let topic = table.topics.entry(key);
            let topic = topic.or_insert_with(|| begun.take().expect("it was begun"));
            Some(topic.mult.clone())
        };
        drop(table);
        // If it was not needed its mult ends.
        drop(begun);
        mult.expect("it is known, or was begun")
    }
}

impl<C: Channels, K: fmt::Debug, T: Message, S> fmt::Debug for Publication<C, K, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table.lock();
        f.debug_set().entries(table.topics.keys()).finish()
    }
}

/// Ends all topics when it is dropped.
struct AtTheEnd<C: Channels, K, T: Message>(Table<C, K, T>);

impl<C: Channels, K: Topic, T: Message> AtTheEnd<C, K, T> {
    /// The producer for the subscribers of a topic, if there have ever been any.
    fn outlet_of(&self, topic: &K) -> Option<Outlet<C, T>> {
        self.0.lock().topics.get_mut(topic)?.outlet.take()
    }

    fn put_back(&self, topic: &K, outlet: Outlet<C, T>) {
        let mut table = self.0.lock();
        let topic = table.topics.get_mut(topic);
        topic.expect("topics stay until the end").outlet = Some(outlet);
    }
}

impl<C: Channels, K, T: Message> Drop for AtTheEnd<C, K, T> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.ended = true;
        let topics = table.topics.values_mut();
        let outlets: Vec<_> = topics.filter_map(|topic| topic.outlet.take()).collect();
        drop(table);
        drop(outlets);
    }
}
