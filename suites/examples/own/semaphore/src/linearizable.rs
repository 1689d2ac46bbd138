//! The semaphore against a number.

use flowmeter_linearizable::{Sequential, check};
use proptest::prelude::*;

use super::Semaphore;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Permits(usize);

#[derive(Clone, Debug)]
enum Op {
    Acquire,
    TryAcquire,
    Release,
}

impl Sequential for Permits {
    type Op = Op;
    /// Whether a permit was taken.
    type Ret = bool;

    fn waits(&self, op: &Op) -> bool {
        matches!(op, Op::Acquire) && self.0 == 0
    }

    fn apply(&mut self, op: &Op) -> bool {
        match op {
            Op::Release => self.0 += 1,
            Op::TryAcquire if self.0 == 0 => {}
            Op::Acquire | Op::TryAcquire => {
                self.0 -= 1;
                return true;
            }
        }
        false
    }
}

async fn apply(semaphore: &Semaphore, op: &Op) -> bool {
    match op {
        Op::Acquire => semaphore.acquire().await,
        Op::TryAcquire => return semaphore.try_acquire(),
        Op::Release => {
            semaphore.release();
            return false;
        }
    }
    true
}

fn operations() -> impl Strategy<Value = Op> {
    prop_oneof![Just(Op::Acquire), Just(Op::TryAcquire), Just(Op::Release)]
}

check! {
    mod semaphore;
    spec: Permits(1),
    subject: Semaphore::new(1),
    awaits: async |semaphore, op| apply(semaphore, op).await,
    operations: operations(),
}

fn broken() -> Semaphore {
    Semaphore {
        loses_wake_ups: true,
        ..Semaphore::new(0)
    }
}

check! {
    mod loses_wake_ups;
    spec: Permits(0),
    subject: broken(),
    awaits: async |semaphore, op| apply(semaphore, op).await,
    operations: operations(),
    worlds: [#[should_panic(expected = "hang")] shuttle],
}
