//! Deadlines other than the requested ones.

use flowmeter_harness::sync::Deadline;

use super::told;

/// Little in the time of models: their deadlines are tens of microseconds away.
const LITTLE: u64 = 1_000;
/// Longer than any model waits by itself.
const LONG: u64 = 100_000_000;

/// The deadline that is used instead of that one.
pub(super) fn other(deadline: Deadline) -> Deadline {
    if told("a deadline is in the past") {
        return Deadline::from_nanos(0);
    }
    if told("a deadline is never") {
        return Deadline::NEVER;
    }
    if told("a deadline is far too late") {
        return Deadline::from_nanos(deadline.as_nanos().saturating_add(LONG));
    }
    close_to(deadline)
}

/// A moment a little before or after that one.
pub(super) fn close_to(deadline: Deadline) -> Deadline {
    if told("a moment is a little early") {
        return Deadline::from_nanos(deadline.as_nanos().saturating_sub(LITTLE));
    }
    if told("a moment is a little late") {
        return Deadline::from_nanos(deadline.as_nanos().saturating_add(LITTLE));
    }
    deadline
}
