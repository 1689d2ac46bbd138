//! Callbacks run one after the other on the thread that completes them, however deep they nest (C11):
//! one that completes another only queues it, so a chain of any length needs one frame of stack.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;

use crate::sync::{contain, thread_local};

type Call = Box<dyn FnOnce()>;

thread_local! {
    /// Callbacks that wait for the running one; `None` while none runs. It needs no drop, so that it is there when the
    /// destructor of another thread-local completes a callback.
    static WAITING: ManuallyDrop<RefCell<Option<VecDeque<Call>>>> =
        const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Runs `call` now, or after the callback that is running on this thread.
pub(super) fn run(call: Call) {
    let nested = WAITING.with(|waiting| match &mut *waiting.borrow_mut() {
        Some(queue) => {
            queue.push_back(call);
            None
        }
        idle => {
            *idle = Some(VecDeque::new());
            Some(call)
        }
    });
    let mut next = nested;
    while let Some(call) = next {
        // Its panic goes no further: the thread it happens to run on has no part in it and would lose the
        // value it has just taken.
        contain(call);
        next = WAITING.with(|waiting| {
            let mut waiting = waiting.borrow_mut();
            let following = waiting.as_mut().and_then(VecDeque::pop_front);
            if following.is_none() {
                *waiting = None;
            }
            following
        });
    }
}
