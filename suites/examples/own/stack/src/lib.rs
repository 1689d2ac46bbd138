//! A lock-free stack (Treiber 1986) of bytes in a fixed number of nodes. Nodes are named by index and used again, so
//! there is no `unsafe`, and the ABA problem is there in full.

#[cfg(test)]
mod linearizable;

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};

/// How many values fit.
const NODES: usize = 4;
/// No node.
const NONE: u64 = 0xffff;

/// A list of nodes: its first node, and in the upper bits how often that was changed.
#[derive(Debug)]
struct List {
    head: AtomicU64,
    /// Added to the head by each change. Zero is the fault: a head that was changed and put back looks unchanged.
    step: u64,
}

/// A stack that any number of threads share.
#[derive(Debug)]
pub struct Stack {
    full: List,
    free: List,
    next: [AtomicU64; NODES],
    values: [AtomicU8; NODES],
}

impl List {
    fn take(&self, next: &[AtomicU64; NODES]) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            let node = head & NONE;
            if node == NONE {
                return None;
            }
            let after = next[node as usize].load(SeqCst);
            if self.exchange(head, after) {
                return Some(node as usize);
            }
        }
    }

    fn put(&self, node: usize, next: &[AtomicU64; NODES]) {
        loop {
            let head = self.head.load(SeqCst);
            next[node].store(head & NONE, SeqCst);
            if self.exchange(head, node as u64) {
                return;
            }
        }
    }

    fn exchange(&self, head: u64, node: u64) -> bool {
        let new = (head & !NONE).wrapping_add(self.step) | node;
        self.head
            .compare_exchange(head, new, SeqCst, SeqCst)
            .is_ok()
    }
}

impl Stack {
    /// An empty stack.
    pub fn new() -> Stack {
        Stack::stepping(NONE + 1)
    }

    /// An empty stack without the counter that tells a changed head from an unchanged one.
    #[cfg(test)]
    fn without_tag() -> Stack {
        Stack::stepping(0)
    }

    fn stepping(step: u64) -> Stack {
        let list = |head| List {
            head: AtomicU64::new(head),
            step,
        };
        let after = |node: usize| {
            if node + 1 < NODES {
                node as u64 + 1
            } else {
                NONE
            }
        };
        Stack {
            full: list(NONE),
            free: list(0),
            next: std::array::from_fn(|node| AtomicU64::new(after(node))),
            values: Default::default(),
        }
    }

    /// Puts a value on top; `false` when there is no room.
    pub fn push(&self, value: u8) -> bool {
        let Some(node) = self.free.take(&self.next) else {
            return false;
        };
        self.values[node].store(value, SeqCst);
        self.full.put(node, &self.next);
        true
    }

    /// Takes the value on top.
    pub fn pop(&self) -> Option<u8> {
        let node = self.full.take(&self.next)?;
        let value = self.values[node].load(SeqCst);
        self.free.put(node, &self.next);
        Some(value)
    }
}

impl Default for Stack {
    fn default() -> Self {
        Stack::new()
    }
}
