//! How a property says what must hold. Each use is a *check*: it has a name, its place, and can be switched off
//! to see whether anything broken on purpose survives without it ([`watch`](flowmeter_harness::check::watch)).
//!
//! What a model needs before it can ask anything is a plain assertion: it says nothing about the implementation
//! that another property does not say.

/// Checks a condition; what is said otherwise begins with the id that is violated. The condition is evaluated also
/// where the check is off.
macro_rules! holds {
    ($condition:expr, $($says:tt)+) => {
        // Not negated: a comparison may be of numbers that are not ordered.
        if $condition {
        } else {
            flowmeter_harness::check::watch::found(format_args!($($says)+));
        }
    };
}

/// Checks that two values are equal, and shows both where they are not.
macro_rules! holds_eq {
    ($left:expr, $right:expr, $($says:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    let says = format_args!($($says)+);
                    flowmeter_harness::check::watch::found(
                        format_args!("{says}\n  left: {left:?}\n right: {right:?}"),
                    );
                }
            }
        }
    };
}

/// A check that no answer can pass, for the arm of a `match` that must not be reached. Where it is off, that
/// execution is abandoned.
macro_rules! violated {
    ($($says:tt)+) => {
        flowmeter_harness::check::watch::ended(format_args!($($says)+))
    };
}
