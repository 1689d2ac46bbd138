//! Records which check failed, and can switch one check off.
//!
//! A *check* is one line of a property that compares an observation with the expected value. Its name is its place,
//! such as `a1_exclusive.rs:77`; a rule of the [`Ledger`](super::Ledger) has a name of its own. A failure reports the
//! checks that failed. One check can be switched off for a whole process: if no mutant survives without it, it is not
//! needed. Only failing checks come here; a check that holds costs only its condition.

use std::fmt::Arguments;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// The panic message of an execution that cannot continue because the check that would have ended it is switched off.
pub const ABANDONED: &str = "abandoned: the check is off";

/// The name of the check that is switched off.
static OFF: Mutex<Option<String>> = Mutex::new(None);

/// The checks that have failed.
static SPOKE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The name of the check at that place: the path below the sources of the properties, and the line.
pub fn name_of(place: &Location<'_>) -> String {
    let file = place.file();
    let below = file
        .rsplit_once("properties/src/")
        .map_or(file, |(_, file)| file);
    format!("{below}:{}", place.line())
}

/// Switches that check off, and all others on, for the rest of this process.
pub fn switch_off(check: Option<&str>) {
    *OFF.lock().unwrap_or_else(PoisonError::into_inner) = check.map(str::to_owned);
}

/// The checks that have failed since the last call, each once, in the order of their first failure.
pub fn spoken() -> Vec<String> {
    std::mem::take(&mut *SPOKE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Reports a failed check. Records it and returns `true` if the check is on.
pub fn speaks(check: String) -> bool {
    let off = OFF.lock().unwrap_or_else(PoisonError::into_inner);
    if off.as_deref() == Some(&*check) {
        return false;
    }
    drop(off);
    let mut spoke = SPOKE.lock().unwrap_or_else(PoisonError::into_inner);
    if !spoke.contains(&check) {
        spoke.push(check);
    }
    true
}

/// Reports the failure of the check at the caller's place.
///
/// # Panics
/// With `says`, unless the check is off.
#[cold]
#[inline(never)]
#[track_caller]
pub fn found(says: Arguments<'_>) {
    if speaks(name_of(Location::caller())) {
        panic!("{says}");
    }
}

/// As [`found`], for a caller that cannot continue: if the check is off, the execution is abandoned.
///
/// # Panics
/// With `says`, or with [`ABANDONED`].
#[cold]
#[inline(never)]
#[track_caller]
pub fn ended(says: Arguments<'_>) -> ! {
    found(says);
    panic!("{ABANDONED}");
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;
    use crate::sync::panic_text;

    /// A single test, because switching off affects the whole process. Other checks may fail meanwhile.
    #[test]
    fn a_check_speaks_unless_it_is_off() {
        let told = catch_unwind(|| found(format_args!("C1: alas"))).expect_err("it is on");
        assert_eq!(panic_text(&*told), "C1: alas");
        let here = "harness/src/check/watch.rs:";
        assert!(spoken().iter().any(|check| check.starts_with(here)));

        assert!(speaks("one".to_owned()));
        switch_off(Some("one"));
        assert!(!speaks("one".to_owned()));
        assert!(speaks("another".to_owned()));
        switch_off(None);
        assert!(speaks("one".to_owned()));
        let spoke = spoken();
        let mine = spoke.iter().filter(|check| !check.contains(": "));
        assert_eq!(mine.collect::<Vec<_>>(), ["one", "another"]);
    }

    #[test]
    fn a_place_is_named_below_the_folder_of_the_properties() {
        let here = Location::caller();
        assert_eq!(name_of(here), format!("{}:{}", here.file(), here.line()));
    }
}
