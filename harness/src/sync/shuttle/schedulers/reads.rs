//! Which line read what which line had written: what distinguishes executions for feedback.

use ::std::collections::{HashMap, HashSet};

use super::super::access::Access;

/// The pairs of a writing and a reading line, over all executions.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pairs: HashSet<(usize, usize)>,
    /// The line that wrote an object last, in this execution.
    written: HashMap<usize, usize>,
    has_new: bool,
}

impl Reads {
    /// Begins an execution; whether the one before had a pair that none before it had.
    pub(super) fn begin(&mut self) -> bool {
        self.written.clear();
        ::std::mem::take(&mut self.has_new)
    }

    /// An access is made.
    pub(super) fn made(&mut self, access: Access) {
        if access.reads()
            && let Some(writer) = self.written.get(&access.object)
        {
            self.has_new |= self.pairs.insert((*writer, access.line));
        }
        if access.writes() {
            self.written.insert(access.object, access.line);
        }
    }
}
