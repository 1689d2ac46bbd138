//! The cache against one without a lock.

use flowmeter_linearizable::{Sequential, check};
use proptest::prelude::*;

use super::Lru;

const CAPACITY: usize = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Spec(Vec<(u8, u8)>);

#[derive(Clone, Debug)]
enum Op {
    Get(u8),
    Insert(u8, u8),
}

impl Sequential for Spec {
    type Op = Op;
    type Ret = Option<u8>;

    fn apply(&mut self, op: &Op) -> Option<u8> {
        let (Op::Get(key) | Op::Insert(key, _)) = op;
        let at = self.0.iter().position(|(known, _)| known == key);
        let old = at.map(|at| self.0.remove(at).1);
        let new = match op {
            Op::Get(_) => old,
            Op::Insert(_, value) => Some(*value),
        };
        // The entry that was used last is at the end.
        self.0.extend(new.map(|value| (*key, value)));
        let over = self.0.len().saturating_sub(CAPACITY);
        self.0.drain(..over);
        old
    }
}

fn operations() -> impl Strategy<Value = Op> {
    let key = || 0..3_u8;
    prop_oneof![
        key().prop_map(Op::Get),
        (key(), 0..9_u8).prop_map(|(key, value)| Op::Insert(key, value)),
    ]
}

check! {
    mod lru;
    spec: Spec::default(),
    subject: Lru::new(CAPACITY),
    calls: |lru, op| match op {
        Op::Get(key) => lru.get(key),
        Op::Insert(key, value) => lru.insert(*key, *value),
    },
    operations: operations(),
    worlds: [
        #[cfg(not(feature = "loom"))] std,
        #[cfg(not(feature = "loom"))] shuttle,
        #[cfg(not(feature = "loom"))] sim,
        #[cfg(feature = "loom")] loom,
    ],
}
