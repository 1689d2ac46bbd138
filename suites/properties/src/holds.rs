//! How a property says what must hold. Each use is a *check*. Its name is its place in the source. A check can be
//! switched off, to see whether a fault survives without it ([`watch`](flowmeter_harness::check::watch)).
//!
//! What a model needs before it can ask anything is a plain assertion: another property checks it.

/// Checks a condition; the message begins with the id that is violated. The condition is evaluated also where the
/// check is off.
macro_rules! holds {
    ($condition:expr, $($says:tt)+) => {
        // Not negated: floating-point operands may be unordered.
        if $condition {
        } else {
            flowmeter_harness::check::watch::found(format_args!($($says)+));
        }
    };
}

/// Checks that two values are equal, and shows both where they differ.
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

/// A check that always fails, for a `match` arm that must not be reached. Where it is off, the execution is
/// abandoned.
macro_rules! violated {
    ($($says:tt)+) => {
        flowmeter_harness::check::watch::ended(format_args!($($says)+))
    };
}
