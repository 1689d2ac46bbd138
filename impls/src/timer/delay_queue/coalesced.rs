//! Sharing of timeouts: core.async's `timeouts-map`.

use std::any::{Any, TypeId};

use flowmeter_harness::channel::{Channels, Message};

use crate::sync::{Arc, Mutex, OrderedMap};

/// A timeout is shared by requests that end less than this much earlier: core.async's
/// `TIMEOUT_RESOLUTION_MS`.
const RESOLUTION_MS: u64 = 10;

/// The key of a timeout. Channels of different types cannot be shared, so the type comes first. The
/// entries of each type are ordered by their milliseconds as in the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    kind: TypeId,
    due_ms: u64,
}

impl Key {
    pub(super) fn of<C: Channels, T: Message>(due_ms: u64) -> Key {
        Key {
            kind: TypeId::of::<C::Rx<T>>(),
            due_ms,
        }
    }
}

/// The consumer that requests share, until the timeout is over. It is taken out then, since the map may
/// keep a removed entry for a while.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Option<Box<dyn Any + Send>>>>);

impl Shared {
    pub(super) fn new<C: Channels, T: Message>(rx: C::Rx<T>) -> Self {
        Shared(Arc::new(Mutex::new(Some(Box::new(rx)))))
    }

    fn another<C: Channels, T: Message>(&self) -> Option<C::Rx<T>> {
        let half = self.0.lock();
        let rx = half.as_ref()?.downcast_ref::<C::Rx<T>>()?;
        C::another_rx(rx)
    }

    fn is(&self, other: &Shared) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn end(&self) {
        let half = self.0.lock().take();
        drop(half);
    }
}

/// The timeouts that are not over, by their deadlines.
pub(super) struct Coalesced(OrderedMap<Key, Shared>);

impl Coalesced {
    pub(super) fn new() -> Self {
        Coalesced(OrderedMap::new())
    }

    /// A consumer of a timeout with a deadline close enough.
    pub(super) fn find<C: Channels, T: Message>(&self, key: Key) -> Option<C::Rx<T>> {
        let (found, shared) = self.0.ceiling(&key)?;
        let close = found.kind == key.kind && found.due_ms < key.due_ms + RESOLUTION_MS;
        close.then(|| shared.another::<C, T>()).flatten()
    }

    /// Lets other requests find that timeout. An earlier one with the same key is no longer found.
    pub(super) fn insert(&self, key: Key, shared: Shared) {
        self.0.insert(key, shared);
    }

    /// Ends the timeout.
    pub(super) fn remove(&self, key: Key, shared: &Shared) {
        self.0.remove_if(&key, |found| found.is(shared));
        shared.end();
    }
}
