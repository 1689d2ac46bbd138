//! Copies of a promise's value.

/// Copies a value `count` times. The value and its copies are kept in `held` until all are made. If `T::clone` panics
/// they stay there, so that they are dropped outside the channel's lock.
pub(super) fn copies<T>(
    value: T,
    count: usize,
    copy: fn(&T) -> T,
    held: &mut Vec<T>,
) -> (T, Vec<T>) {
    let first = held.len();
    held.push(value);
    for _ in 0..count {
        held.push(copy(&held[first]));
    }
    let copies = held.split_off(first + 1);
    let value = held.pop().expect("the value was pushed first");
    (value, copies)
}
