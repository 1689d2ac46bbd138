//! What a timer does when it fires, in three words.
//!
//! ```text
//!         +---------------------+---------------------+----------------+
//! Call    | held.0: first word  | held.1: second word | kind: &'static |
//!         +---------------------+---------------------+----------------+
//! ```
//!
//! A callback of at most two words is stored in `held` itself, a larger one in a box to which `held` points. Most
//! callbacks hold a handle and a number, and so need no allocation. A waker is two words as well. `kind` is a table of
//! functions for the type of the value in `held`.

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::task::Waker;

use flowmeter_harness::timer::Fired;

/// The two words of a call. Each is moved separately, in a register of its own. A combined load would follow two
/// separate stores that are still in the store buffer, and stall when a timer is cancelled at once. Without padding, so
/// that a copy has every byte.
#[derive(Clone, Copy)]
#[repr(C)]
struct Held(MaybeUninit<usize>, MaybeUninit<usize>);

/// What a timer does when it fires, once. Dropping it does nothing else.
pub(super) struct Call {
    /// A value of the type that `kind` belongs to. [`Call::holding`] moves it in, and consuming the call moves it out
    /// or drops it, once. That type is [`Holdable`] and so `Send`, as the call is. A shared reference to the call gives
    /// access to a waker alone, which is `Sync`, so the call is `Sync` whatever that type is.
    held: Held,
    kind: &'static Kind,
}

/// What can be done with the value of a call. Each function takes it out.
struct Kind {
    fire: unsafe fn(Held, Fired),
    abandon: unsafe fn(Held),
    drop: unsafe fn(Held),
    /// The waker, where the value is one.
    waker: Option<unsafe fn(&Held) -> &Waker>,
}

/// What a call can hold.
trait Holdable: Send + Sized + 'static {
    /// Reads the value as a waker, where it is one.
    const WAKER: Option<unsafe fn(&Held) -> &Waker>;
    fn fire(self, fired: Fired);
    fn abandon(self);

    const KIND: &'static Kind = &Kind {
        fire: |held, fired| {
            // SAFETY: the caller hands over a value of this type, as with the other two.
            unsafe { taken::<Self>(held) }.fire(fired);
        },
        abandon: |held| {
            // SAFETY: as in `fire`.
            unsafe { taken::<Self>(held) }.abandon();
        },
        drop: |held| {
            // SAFETY: as in `fire`.
            drop(unsafe { taken::<Self>(held) });
        },
        waker: Self::WAKER,
    };
}

/// # Safety
/// `held` contains a value of that type, and it is not taken again.
#[inline]
unsafe fn taken<T>(held: Held) -> T {
    // SAFETY: it is there, as the caller promises. It is aligned: `holding` admits nothing that is larger or more
    // aligned.
    unsafe { (&raw const held).cast::<T>().read() }
}

/// # Safety
/// `held` contains a waker.
unsafe fn waker_in(held: &Held) -> &Waker {
    // SAFETY: it is there, as the caller promises, and aligned as in `taken`.
    unsafe { &*(&raw const *held).cast() }
}

/// Runs a callback, or drops it if its time will never come.
struct Callback<F>(F);

impl<F: FnOnce(Fired) + Send + 'static> Holdable for Callback<F> {
    const WAKER: Option<unsafe fn(&Held) -> &Waker> = None;

    #[inline]
    fn fire(self, fired: Fired) {
        (self.0)(fired);
    }

    fn abandon(self) {}
}

/// A sleeper is woken even if its time will never come (T8).
impl Holdable for Waker {
    const WAKER: Option<unsafe fn(&Held) -> &Waker> = Some(waker_in);

    #[inline]
    fn fire(self, _fired: Fired) {
        self.wake();
    }

    fn abandon(self) {
        self.wake();
    }
}

impl Call {
    /// A call of a callback.
    #[inline(always)]
    pub(super) fn back(then: impl FnOnce(Fired) + Send + 'static) -> Self {
        fn boxed<F: FnOnce(Fired)>(then: F) -> impl FnOnce(Fired) {
            let then = Box::new(then);
            move |fired| then(fired)
        }
        let callback = Callback(then);
        if fits(&callback) {
            Call::holding(callback)
        } else {
            Call::holding(Callback(boxed(callback.0)))
        }
    }

    /// A call that wakes a future.
    #[inline(always)]
    pub(super) fn wake(waker: Waker) -> Self {
        Call::holding(waker)
    }

    #[inline(always)]
    fn holding<T: Holdable>(value: T) -> Self {
        assert!(fits(&value), "it is asked before, or has fewer words");
        let mut held = Held(MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the words have room for it, and are aligned for it.
        unsafe { (&raw mut held).cast::<T>().write(value) };
        Call {
            held,
            kind: T::KIND,
        }
    }

    /// Whether it wakes a future.
    #[inline]
    pub(super) fn wakes(&self) -> bool {
        self.kind.waker.is_some()
    }

    /// Whether it wakes the same task as that waker. No foreign code runs.
    #[inline]
    pub(super) fn will_wake(&self, waker: &Waker) -> bool {
        let held = |waker_of: unsafe fn(&Held) -> &Waker| {
            // SAFETY: the value is of this kind.
            unsafe { waker_of(&self.held) }.will_wake(waker)
        };
        self.kind.waker.is_some_and(held)
    }

    /// Fires it at the deadline.
    #[inline]
    pub(super) fn fire(self, fired: Fired) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the value is of this kind, and its owner is gone without a drop.
        unsafe { (this.kind.fire)(this.held, fired) }
    }

    /// Ends it when its time will never come.
    pub(super) fn abandon(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: as in `fire`.
        unsafe { (this.kind.abandon)(this.held) }
    }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is of this kind, and the call is not used after its drop.
        unsafe { (self.kind.drop)(self.held) }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call")
    }
}

/// Whether a call has room for it.
#[inline(always)]
const fn fits<T>(_: &T) -> bool {
    size_of::<T>() <= size_of::<Held>() && align_of::<T>() <= align_of::<Held>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicUsize, Ordering};

    use flowmeter_harness::sync::Deadline;

    const FIRED: Fired = Fired {
        due: Deadline::NEVER,
        claimed_nanos: None,
    };

    /// Callbacks of zero, one, two and many words; aligned as words are, and more.
    #[test]
    fn what_a_callback_holds_is_used_once_or_dropped_once() {
        #[derive(Clone)]
        #[repr(align(32))]
        struct Aligned(#[expect(dead_code, reason = "it takes up room")] u8);

        fn each(hold: impl Fn(&Arc<AtomicUsize>) -> Call) {
            let called = Arc::new(AtomicUsize::new(0));
            hold(&called).fire(FIRED);
            assert_eq!(called.load(Ordering::Relaxed), 1);
            drop(hold(&called));
            hold(&called).abandon();
            assert_eq!(called.load(Ordering::Relaxed), 1);
            assert_eq!(Arc::strong_count(&called), 1);
        }
        fn with<H: Clone + Send + 'static>(held: H) {
            each(|called| {
                let (held, called) = (held.clone(), called.clone());
                Call::back(move |_| {
                    called.fetch_add(1, Ordering::Relaxed);
                    drop(held);
                })
            });
        }
        with(());
        with(1_u64);
        with([1_u64; 5]);
        with(Aligned(1));
        assert_eq!(size_of::<Option<Call>>(), 24);
        Call::back(|_| ()).fire(FIRED);
    }

    #[test]
    fn what_a_callback_that_panics_holds_is_dropped_once() {
        let held = Arc::new(());
        let also = held.clone();
        let call = Call::back(move |_| {
            let _also = also;
            // Bypasses the panic hook, which would print it.
            std::panic::resume_unwind(Box::new("a callback's own fault"));
        });
        assert!(crate::sync::contain(|| call.fire(FIRED)).is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn a_waker_is_woken_also_when_its_time_never_comes_and_dropped_otherwise() {
        struct Count(AtomicUsize);
        impl std::task::Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(count.clone());
        let call = || Call::wake(waker.clone());
        assert!(call().will_wake(&waker));
        assert!(!call().will_wake(Waker::noop()));
        assert!(!Call::back(|_| ()).will_wake(&waker));
        call().fire(FIRED);
        call().abandon();
        drop(call());
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        drop(waker);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
