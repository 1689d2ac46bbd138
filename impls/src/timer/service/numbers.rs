//! Numbers of timers, unique across all services.
//!
//! So the name of a timer need not say which service it belongs to, and is returned in two registers. A name of three
//! words was returned through memory, and the caller stalled on those writes.

use crate::sync::order_key;

/// How many numbers a service takes at once from the shared counter.
const BLOCK: u64 = 1 << 12;

/// The numbers of one service: increasing, and never 0.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    next: u64,
    /// Where the block ends.
    end: u64,
}

impl Numbers {
    /// A number greater than all before.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        if self.next == self.end {
            self.begin_block();
        }
        let number = self.next;
        self.next += 1;
        number
    }

    #[cold]
    #[inline(never)]
    fn begin_block(&mut self) {
        let begin = order_key().checked_mul(BLOCK);
        self.next = begin.expect("2^52 keys are not asked for");
        self.end = self.next + BLOCK;
    }
}
