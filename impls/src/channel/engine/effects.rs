//! What a commit leaves to be done outside the lock: notifying waiting requests, and dropping values that a buffer
//! discards.

use super::waiter::Notify;
use crate::channel::design::Deferred;
use crate::channel::promise::copies;

/// A list that rarely has more than one element. The first one needs no allocation, and a list of none or one is
/// dropped by looking at two words.
struct Few<X> {
    first: Option<X>,
    #[expect(
        clippy::box_collection,
        reason = "most operations make and drop such a list, which is almost always empty"
    )]
    more: Option<Box<Vec<X>>>,
}

impl<X> Few<X> {
    const NONE: Few<X> = Few {
        first: None,
        more: None,
    };

    #[inline]
    fn push(&mut self, one: X) {
        match self.first {
            None => self.first = Some(one),
            Some(_) => self.push_more(one),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_more(&mut self, one: X) {
        self.more().push(one);
    }

    fn more(&mut self) -> &mut Vec<X> {
        self.more.get_or_insert_default()
    }
}

/// What a commit leaves to be done outside the lock.
#[must_use]
pub struct Effects<T> {
    /// More than one where a close, a disconnect, a promise, a batch, a permit or a transform answers several.
    notices: Few<Notify>,
    discarded: Few<T>,
}

impl<T> Effects<T> {
    /// Adds a notification.
    #[inline]
    pub(super) fn tell(&mut self, notify: Notify) {
        if !matches!(notify, Notify::Nothing) {
            self.notices.push(notify);
        }
    }

    /// Adds a value to be dropped.
    pub(in crate::channel) fn discard(&mut self, value: T) {
        self.discarded.push(value);
    }

    /// Copies a value `count` times; see [`copies`].
    pub(super) fn copies(&mut self, value: T, count: usize, copy: fn(&T) -> T) -> (T, Vec<T>) {
        copies(value, count, copy, self.discarded.more())
    }

    /// Takes out what is left to be done so far.
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Effects::new())
    }
}

#[cold]
#[inline(never)]
fn tell_all(notices: Vec<Notify>) {
    notices.into_iter().for_each(Notify::tell);
}

impl<T> Deferred for Effects<T> {
    #[inline]
    fn new() -> Self {
        Effects {
            notices: Few::NONE,
            discarded: Few::NONE,
        }
    }

    #[inline]
    fn run(self) {
        let Few { first, more } = self.notices;
        let Some(first) = first else {
            return;
        };
        first.tell();
        if let Some(more) = more {
            tell_all(*more);
        }
    }
}
