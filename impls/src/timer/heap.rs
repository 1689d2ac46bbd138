//! `heap`: a service over a heap of deadlines.
//!
//! A node has four children, side by side in memory, so the heap is half as deep as a binary one. A timer
//! knows its place in the heap, so a cancelled timer leaves at once and leaves no garbage.

use flowmeter_harness::sync::Deadline;

use super::service::{Index, Link, Picked, Progress, Slab, TimerService};

/// A timer service over a heap.
pub type Heap = TimerService<DaryHeap>;

/// A heap of deadlines, the earliest first.
#[derive(Debug, Default)]
pub struct DaryHeap {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    due: Deadline,
    key: u32,
}

const CHILDREN: usize = 4;

impl DaryHeap {
    /// Places that node at `at` or nearer to the root.
    fn rise<T>(&mut self, timers: &mut Slab<T>, mut at: usize, node: Node) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.nodes[parent].due <= node.due {
                break;
            }
            self.set(timers, at, self.nodes[parent]);
            at = parent;
        }
        self.set(timers, at, node);
    }

    /// Places that node at `at` or farther from the root.
    fn sink<T>(&mut self, timers: &mut Slab<T>, mut at: usize, node: Node) {
        loop {
            let first = CHILDREN * at + 1;
            let children = first..(first + CHILDREN).min(self.nodes.len());
            let Some(least) = children.min_by_key(|child| self.nodes[*child].due) else {
                break;
            };
            if node.due <= self.nodes[least].due {
                break;
            }
            self.set(timers, at, self.nodes[least]);
            at = least;
        }
        self.set(timers, at, node);
    }

    fn set<T>(&mut self, timers: &mut Slab<T>, at: usize, node: Node) {
        self.nodes[at] = node;
        let place = u32::try_from(at).expect("no more places than keys");
        *timers.link_mut(node.key) = Link { place, of: 0 };
    }

    fn take<T>(&mut self, timers: &mut Slab<T>, at: usize) {
        let Some(last) = self.nodes.pop() else { return };
        if let Some(node) = self.nodes.get(at) {
            if last.due < node.due {
                self.rise(timers, at, last);
            } else {
                self.sink(timers, at, last);
            }
        }
    }
}

impl Index for DaryHeap {
    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let node = Node { due, key };
        self.nodes.push(node);
        self.rise(timers, self.nodes.len() - 1, node);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        let at = timers.link_mut(key).place;
        self.take(timers, at as usize);
    }

    fn next(&self) -> Deadline {
        self.nodes.first().map_or(Deadline::NEVER, |node| node.due)
    }

    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        step: usize,
        picked: &mut Vec<Picked>,
    ) -> Progress {
        for _ in 0..step {
            match self.nodes.first() {
                Some(node) if node.due.as_nanos() <= now => {
                    let key = node.key;
                    self.take(timers, 0);
                    picked.push(timers.take_out(key));
                }
                _ => return Progress::Whole,
            }
        }
        // A heap returns equal deadlines in no particular order.
        let last = picked.last().map(|picked| picked.due());
        let goes_on = self.nodes.first().map(|node| node.due) == last;
        if goes_on {
            Progress::Looking
        } else {
            Progress::Batch
        }
    }
}
