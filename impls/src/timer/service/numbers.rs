//! Numbers of timers: no two timers have the same, whatever service they are of.
//!
//! So a name need not tell whose it is, and goes back to who armed the timer in two registers. Three words went through memory,
//! and whoever moved them on waited for the writes.

use crate::sync::order_key;

/// How many are taken at once from what all share.
const BLOCK: u64 = 1 << 12;

/// The numbers of one service: ever greater, and none of them is 0.
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
