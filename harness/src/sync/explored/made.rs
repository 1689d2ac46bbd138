//! A fingerprint of the operations of one execution: which thread made which operation, and what it returned.
//!
//! A checker that knows an execution only by its number has no other way to tell whether that number still means the
//! same execution. After any change of the model it may mean another one.
//!
//! A number that an atomic returns may be an address, which differs from process to process. So a large number counts
//! by the order in which the execution first saw it, and a pointer by whether it is null.

use ::std::cell::RefCell;
use ::std::collections::BTreeMap;

use super::super::sites::Kind;
use super::super::split_mix;

/// An operation.
#[derive(Clone, Copy)]
pub enum What {
    /// An access to an atomic, or a fence; and whether it was an exchange that failed.
    Atomic(Kind, bool),
    /// An access to a word of the facade.
    Word,
    /// A lock is taken.
    Lock,
    /// A lock is asked for, and perhaps taken.
    TryLock,
    /// A thread is started.
    Spawn,
    /// A thread has ended, and was waited for.
    Join,
    /// The thread lets others run.
    Yield,
    /// The thread blocks, and has been released.
    Sit,
    /// Another thread is released.
    Release,
    /// A choice is made.
    Choose,
    /// A primitive misbehaves in one of its ways.
    Misbehave,
}

impl What {
    /// A number for each operation. It is part of kept schedules, so it stays as it is.
    fn number(self) -> u64 {
        match self {
            What::Atomic(kind, failed) => 100 + 2 * kind as u64 + u64::from(failed),
            What::Word => 1,
            What::Lock => 2,
            What::TryLock => 3,
            What::Spawn => 4,
            What::Join => 5,
            What::Yield => 6,
            What::Sit => 7,
            What::Release => 8,
            What::Choose => 9,
            What::Misbehave => 10,
        }
    }
}

/// What an operation returned.
pub trait Seen {
    /// As a number.
    fn seen(&self) -> u64;

    /// Whether it is the answer of a failed exchange.
    fn is_failure(&self) -> bool {
        false
    }
}

macro_rules! number {
    ($($number:ty)*) => {$(
        impl Seen for $number {
            fn seen(&self) -> u64 {
                *self as u64
            }
        }
    )*};
}
number!(bool u8 u32 u64 usize);

impl Seen for () {
    fn seen(&self) -> u64 {
        0
    }
}

impl<T> Seen for *mut T {
    fn seen(&self) -> u64 {
        u64::from(!self.is_null())
    }
}

impl<T: Seen> Seen for Result<T, T> {
    fn seen(&self) -> u64 {
        match self {
            Ok(value) | Err(value) => value.seen(),
        }
    }
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

/// Addresses are at least as large.
const LARGE: u64 = 1 << 32;

/// The number of operations of an execution, and their fingerprint.
pub type Made = (u64, u64);

#[derive(Default)]
struct Making {
    made: Made,
    /// The order in which large numbers were first seen.
    large: BTreeMap<u64, u64>,
    /// What was made before the latest panic.
    before_panic: Option<Made>,
    /// How many operations an expected execution has.
    expected: Option<u64>,
    /// The fingerprint of as many operations of this execution.
    then: Option<u64>,
}

impl Making {
    fn look(&mut self) {
        let (count, fingerprint) = self.made;
        if self.expected == Some(count) {
            self.then = Some(fingerprint);
        }
    }
}

thread_local! {
    static MAKING: RefCell<Making> = RefCell::default();
}

/// An execution begins.
pub fn begin() {
    MAKING.with_borrow_mut(|making| {
        *making = Making {
            expected: making.expected,
            ..Making::default()
        };
        making.look();
    });
}

/// That thread has made an operation, which returned `seen`.
pub fn make(thread: Option<usize>, what: What, seen: u64) {
    // Destructors of a thread may come here after the thread-local is gone.
    let _ = MAKING.try_with(|making| {
        let mut making = making.borrow_mut();
        let next = LARGE + making.large.len() as u64;
        let seen = match seen {
            ..LARGE => seen,
            _ => *making.large.entry(seen).or_insert(next),
        };
        let thread = thread.map_or(0, |thread| thread as u64 + 1);
        let (count, mut fingerprint) = making.made;
        for part in [thread, what.number(), seen] {
            fingerprint = split_mix(fingerprint ^ part);
        }
        making.made = (count + 1, fingerprint);
        making.look();
    });
}

/// The execution panics. Destructors may make further operations, which are not part of it.
pub fn panics() {
    let _ = MAKING.try_with(|making| {
        let mut making = making.borrow_mut();
        making.before_panic = Some(making.made);
    });
}

/// What the execution made, until its latest panic if there was one.
pub fn made() -> Made {
    MAKING.with_borrow(|making| making.before_panic.unwrap_or(making.made))
}

/// Expects executions with as many operations; see [`are_as`].
pub fn expect((count, _): Made) {
    MAKING.with_borrow_mut(|making| making.expected = Some(count));
}

/// Whether the latest execution began with these operations, which were expected.
pub fn are_as((_, fingerprint): Made) -> bool {
    MAKING.with_borrow(|making| making.then == Some(fingerprint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(operations: &[(usize, What, u64)]) {
        begin();
        for &(thread, what, seen) in operations {
            make(Some(thread), what, seen);
        }
    }

    #[test]
    fn an_execution_is_told_by_threads_operations_and_answers() {
        let load = What::Atomic(Kind::Load, false);
        let (one, other) = (1 << 40, 1 << 41);
        let execution = [(0, load, 7), (1, What::Lock, 0), (0, load, one)];
        run(&execution);
        let whole = made();
        assert_eq!(whole.0, 3);
        for (place, other) in [
            (0, (1, load, 7)),
            (0, (0, load, 8)),
            (0, (0, What::Atomic(Kind::Load, true), 7)),
            (1, (1, What::TryLock, 0)),
            (2, (0, load, 7)),
        ] {
            let mut edited = execution;
            edited[place] = other;
            run(&edited);
            assert_ne!(made(), whole, "{place}");
        }
        // Addresses differ from process to process.
        run(&[execution[0], execution[1], (0, load, other)]);
        assert_eq!(made(), whole);
        run(&[(0, load, one), (0, load, other)]);
        let different = made();
        run(&[(0, load, one), (0, load, one)]);
        assert_ne!(made(), different);
    }

    #[test]
    fn an_execution_that_goes_on_begins_as_the_expected_one() {
        let begun = [(0, What::Lock, 0), (1, What::Lock, 0)];
        run(&begun);
        let expected = made();
        expect(expected);
        run(&[begun[0], begun[1], (1, What::Yield, 0)]);
        assert!(are_as(expected));
        run(&[begun[1], begun[0], (1, What::Yield, 0)]);
        assert!(!are_as(expected));
        run(&begun[..1]);
        assert!(!are_as(expected), "it is shorter");
    }

    #[test]
    fn what_destructors_make_after_a_panic_is_not_part_of_it() {
        run(&[(0, What::Lock, 0)]);
        let before = made();
        panics();
        make(Some(0), What::Word, 1);
        assert_eq!(made(), before);
    }
}
