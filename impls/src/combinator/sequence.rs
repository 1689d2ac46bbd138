//! Functions of consecutive values of one channel: `take`, `unique` and `partition` (M13, M14, M15).
//!
//! As in core.async, none of them checks whether its output is still open. Refused values are dropped, and the go
//! block continues until the source has ended or enough was taken.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Spawn, go};

use crate::pipeline::{next, open};

use super::Outlet;

/// A channel of the first `count` values of `from`, closed after them; no further value is taken.
pub fn take<C: Async, T: Message>(
    spawner: &impl Spawn,
    count: usize,
    mut from: C::Rx<T>,
    buffer: Buffer,
) -> C::Rx<T> {
    let (to, rx) = open::<C, T>(buffer);
    let mut to = Outlet::<C, T>::closing(to);
    go::<C, ()>(spawner, async move {
        for _ in 0..count {
            let Some(value) = next::<C, T>(&mut from).await else {
                break;
            };
            to.put(value).await;
        }
        None
    });
    rx
}

/// A channel of the values of `from`, without those that equal the one before.
///
/// # Panics
/// When the family has no such buffer.
pub fn unique<C: Async, T: Message + Clone + PartialEq>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    buffer: Buffer,
) -> C::Rx<T> {
    let (to, rx) = open::<C, T>(buffer);
    let mut to = Outlet::<C, T>::closing(to);
    go::<C, ()>(spawner, async move {
        let mut last = None;
        while let Some(value) = next::<C, T>(&mut from).await {
            if last.as_ref() != Some(&value) {
                last = Some(value.clone());
                to.put(value).await;
            }
        }
        None
    });
    rx
}

/// A channel of groups of `size` values; the last group has those that are left, if any.
///
/// # Panics
/// When the family has no such buffer.
pub fn partition<C: Async, T: Message>(
    spawner: &impl Spawn,
    size: NonZeroUsize,
    mut from: C::Rx<T>,
    buffer: Buffer,
) -> C::Rx<Vec<T>> {
    let (to, rx) = open::<C, Vec<T>>(buffer);
    let mut to = Outlet::<C, Vec<T>>::closing(to);
    go::<C, ()>(spawner, async move {
        let mut group = Vec::new();
        while let Some(value) = next::<C, T>(&mut from).await {
            group.push(value);
            if group.len() == size.get() {
                to.put(std::mem::take(&mut group)).await;
            }
        }
        if !group.is_empty() {
            to.put(group).await;
        }
        None
    });
    rx
}

/// A channel of groups of consecutive values with equal `key`. A group is put when the first value of another one has
/// come, or the source has ended.
///
/// # Panics
/// When the family has no such buffer.
pub fn partition_by<C: Async, T: Message, K: PartialEq + Send + 'static>(
    spawner: &impl Spawn,
    mut key: impl FnMut(&T) -> K + Send + 'static,
    mut from: C::Rx<T>,
    buffer: Buffer,
) -> C::Rx<Vec<T>> {
    let (to, rx) = open::<C, Vec<T>>(buffer);
    let mut to = Outlet::<C, Vec<T>>::closing(to);
    go::<C, ()>(spawner, async move {
        let mut group = Vec::new();
        let mut its_key = None;
        while let Some(value) = next::<C, T>(&mut from).await {
            let key = Some(key(&value));
            if its_key != key && !group.is_empty() {
                to.put(std::mem::take(&mut group)).await;
            }
            its_key = key;
            group.push(value);
        }
        if !group.is_empty() {
            to.put(group).await;
        }
        None
    });
    rx
}
