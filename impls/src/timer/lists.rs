//! Lists of timers, any of which can leave its list without knowing which one it is in.
//!
//! Rings through the timers' own links. Each begins and ends in a head of its own, so the nodes are numbered: first the
//! heads, then the timers.

use super::service::{Link, Slab};

/// So many lists.
pub(super) struct Lists<const N: usize> {
    heads: Box<[Link]>,
}

impl<const N: usize> Lists<N> {
    pub(super) fn new() -> Self {
        let heads = (0..N).map(|list| Link {
            prev: head(list),
            next: head(list),
        });
        Lists {
            heads: heads.collect(),
        }
    }

    pub(super) fn is_empty(&self, list: usize) -> bool {
        self.heads[list].next == head(list)
    }

    /// Puts a timer at a list's end.
    #[inline(always)]
    pub(super) fn push<T>(&mut self, timers: &mut Slab<T>, list: usize, key: u32) {
        let (node, list) = (node::<N>(key), head(list));
        let last = std::mem::replace(&mut self.link(timers, list).prev, node);
        self.link(timers, last).next = node;
        *timers.link_mut(key) = Link {
            prev: last,
            next: list,
        };
    }

    /// Takes a timer out of its list; answers which list that was if it is empty now.
    #[inline(always)]
    pub(super) fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) -> Option<usize> {
        let Link { prev, next } = *timers.link_mut(key);
        self.link(timers, prev).next = next;
        self.link(timers, next).prev = prev;
        (prev == next).then_some(prev as usize)
    }

    /// Takes the first of a list.
    pub(super) fn pop<T>(&mut self, timers: &mut Slab<T>, list: usize) -> Option<u32> {
        let key = self.heads[list].next.checked_sub(head(N))?;
        self.remove(timers, key);
        Some(key)
    }

    /// Puts all of one list at the end of another.
    pub(super) fn splice<T>(&mut self, timers: &mut Slab<T>, from: usize, to: usize) {
        if self.is_empty(from) {
            return;
        }
        let Link { prev, next } = self.heads[from];
        self.heads[from] = Link {
            prev: head(from),
            next: head(from),
        };
        let last = std::mem::replace(&mut self.heads[to].prev, prev);
        self.link(timers, last).next = next;
        self.link(timers, next).prev = last;
        self.link(timers, prev).next = head(to);
    }

    #[inline(always)]
    fn link<'a, T>(&'a mut self, timers: &'a mut Slab<T>, node: u32) -> &'a mut Link {
        match node.checked_sub(head(N)) {
            Some(key) => timers.link_mut(key),
            None => &mut self.heads[node as usize],
        }
    }
}

/// The node of a list's head.
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are less than a thousand lists"
)]
#[inline]
const fn head(list: usize) -> u32 {
    list as u32
}

/// The node of a timer.
#[inline]
const fn node<const N: usize>(key: u32) -> u32 {
    key + head(N)
}
