//! Statics survive an execution, so what an execution writes to them is put back before the next one. Otherwise a
//! schedule would not replay.
//!
//! Before the first write to an address in the data segment, the bytes there are copied. What a static owned then
//! stays allocated: a static that is built lazily leaks its value once an execution.

use ::std::cell::RefCell;

use flowmeter_harness::sync::shuttle::twin;

use super::{Place, clear_later, place};

struct Entry {
    at: usize,
    old: Vec<u8>,
}

::std::thread_local! {
    /// All threads of an execution run on one thread of the system.
    static JOURNAL: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// The addresses of statics that can be written.
#[cfg(target_os = "linux")]
fn segment() -> ::std::ops::Range<usize> {
    // Symbols of the linker, which are never read: only their addresses count.
    unsafe extern "C" {
        static __data_start: u8;
        static _end: u8;
    }
    (&raw const __data_start).addr()..(&raw const _end).addr()
}

/// Not known here: statics keep what was written.
#[cfg(not(target_os = "linux"))]
fn segment() -> ::std::ops::Range<usize> {
    0..0
}

/// To be called before `value` is written, if it may be a static. Its bytes are initialised.
#[inline]
pub fn about_to_write<T: ?Sized>(value: &T) {
    let at = (&raw const *value).cast::<u8>();
    if segment().contains(&at.addr()) && place() == Place::Inside {
        keep(at.expose_provenance(), size_of_val(value));
    }
}

#[cold]
fn keep(at: usize, size: usize) {
    let _apart = twin::apart();
    clear_later();
    JOURNAL.with_borrow_mut(|journal| {
        if journal.iter().all(|entry| entry.at != at) {
            let from = ::std::ptr::with_exposed_provenance::<u8>(at);
            let mut old = vec![0; size];
            // SAFETY: the caller borrows these bytes. All threads of an execution share one thread of the system, so
            // nothing writes them now.
            unsafe { ::std::ptr::copy_nonoverlapping(from, old.as_mut_ptr(), size) };
            journal.push(Entry { at, old });
        }
    });
}

/// Puts back what was copied. No thread of an execution runs.
pub(super) fn put_back() {
    for entry in JOURNAL.take().into_iter().rev() {
        let to = ::std::ptr::with_exposed_provenance_mut::<u8>(entry.at);
        // SAFETY: these bytes are a static's, which its own type lets change through a shared reference. They get the
        // value that the static had when the process began, which owns nothing.
        unsafe { ::std::ptr::copy_nonoverlapping(entry.old.as_ptr(), to, entry.old.len()) };
    }
}
