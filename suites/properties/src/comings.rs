//! C10 with C3: what waits comes and goes, one after the other, and then each that is left is served.
//!
//! The smallest history that violates it:
//!
//! ```text
//! takes 1 and 2 are polled, and wait
//! take 1 is dropped
//! take 3 is polled, and stands where take 1 stood
//! take 3 is dropped, and takes the line along
//! offer 1         take 2 is not woken, and waits beside a value
//! ```

use std::task::Poll;

use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::sync::world;

use super::Case;
use super::bell::Waits;
use crate::design::{Channels, Rx, Tx};

/// What happens to a line of two. No more than [`MOST`] ever come.
const ACTS: usize = 4;
const MOST: usize = 2 + ACTS;

/// An act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Comes,
    OldestGoes,
    NewestGoes,
    /// The second one.
    InnerGoes,
}

const ALL: [Act; 4] = [Act::Comes, Act::OldestGoes, Act::NewestGoes, Act::InnerGoes];

/// Each row of acts.
fn rows() -> impl Iterator<Item = [Act; ACTS]> {
    let count = ALL.len().pow(ACTS as u32);
    (0..count)
        .map(|row| std::array::from_fn(|nth| ALL[row / ALL.len().pow(nth as u32) % ALL.len()]))
}

/// One row, drawn, where there are many executions; else each.
fn some_rows() -> impl Iterator<Item = [Act; ACTS]> {
    let (from, count) = match world::name() {
        "sim" => (0, usize::MAX),
        _ => (world::choose(rows().count()), 1),
    };
    rows().skip(from).take(count)
}

pub(super) fn cases(channels: Channels) -> Vec<Case> {
    // Loom explores one thread once.
    if world::name() == "loom" {
        return Vec::new();
    }
    // Room for all that is offered to takes.
    let many = Buffer::fixed(MOST);
    let mut cases = Vec::new();
    if (channels.open::<u32>(many)).is_some_and(|(_, rx)| rx.another().is_some()) {
        cases.push(Case::new("takes that come and go", move || {
            some_rows().for_each(|row| takes(channels, many, row));
        }));
    }
    let one = Buffer::fixed(1);
    if (channels.open::<u32>(one)).is_some_and(|(tx, _)| tx.another().is_some()) {
        cases.push(Case::new("puts that come and go", move || {
            some_rows().for_each(|row| puts(channels, one, row));
        }));
    }
    cases
}

/// Those that are left in line at the end. `come` begins the next one.
fn line<'a, T>(row: [Act; ACTS], mut come: impl FnMut() -> Waits<'a, T>) -> Vec<Waits<'a, T>> {
    let mut line = vec![come(), come()];
    for act in row {
        match act {
            Act::Comes => line.push(come()),
            Act::OldestGoes if !line.is_empty() => drop(line.remove(0)),
            Act::NewestGoes => drop(line.pop()),
            Act::InnerGoes if line.len() > 2 => drop(line.remove(1)),
            Act::OldestGoes | Act::InnerGoes => {}
        }
    }
    line
}

/// Removes one that was woken, and returns its answer.
fn served<T>(line: &mut Vec<Waits<'_, T>>, row: [Act; ACTS]) -> T {
    // One may be woken for nothing.
    for nth in 0..line.len() {
        if line[nth].is_woken()
            && let Poll::Ready(answer) = line[nth].poll()
        {
            drop(line.remove(nth));
            return answer;
        }
    }
    violated!("C3: after {row:?}, none of those that wait was woken for it")
}

fn takes(channels: Channels, buffer: Buffer, row: [Act; ACTS]) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut halves: Vec<Rx<u32>> = (0..MOST)
        .map(|_| rx.another().expect("asked before"))
        .collect();
    let mut next = halves.iter_mut();
    let mut line = line(row, || {
        Waits::begin(next.next().expect("no more come").take_async())
    });
    for value in 0.. {
        if line.is_empty() {
            break;
        }
        holds_eq!(
            tx.offer(value),
            Offered::Done,
            "C5: an offer to a take that waits, after {row:?}"
        );
        holds_eq!(
            served(&mut line, row),
            Ok(value),
            "C2: what a take got after {row:?}"
        );
    }
}

fn puts(channels: Channels, buffer: Buffer, row: [Act; ACTS]) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    assert_eq!(tx.offer(99), Offered::Done);
    let mut halves: Vec<Tx<u32>> = (0..MOST)
        .map(|_| tx.another().expect("asked before"))
        .collect();
    let mut next = (0..).zip(&mut halves);
    let mut line = line(row, || {
        let (value, tx) = next.next().expect("no more come");
        Waits::begin(tx.put_async(value))
    });
    while !line.is_empty() {
        holds!(
            matches!(rx.poll(), Polled::Done(_)),
            "C3: a put was answered, and its value is not there, after {row:?}"
        );
        holds_eq!(served(&mut line, row), Ok(()), "C1: a put after {row:?}");
    }
}
