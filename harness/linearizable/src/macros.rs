//! [`check!`](crate::check!).

/// Makes the tests of a structure: a module with a test for each world.
///
/// ```no_run
/// use std::sync::Mutex;
///
/// use flowmeter_linearizable::{Sequential, check};
/// use proptest::prelude::*;
///
/// #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
/// struct Counter(u64);
///
/// impl Sequential for Counter {
///     type Op = u64;
///     type Ret = u64;
///     fn apply(&mut self, by: &u64) -> u64 {
///         self.0 += by;
///         self.0
///     }
/// }
///
/// check! {
///     mod counter;
///     spec: Counter::default(),
///     subject: Mutex::new(0),
///     calls: |count, by| {
///         let mut count = count.lock().unwrap();
///         *count += by;
///         *count
///     },
///     operations: 1..5_u64,
/// }
/// ```
///
/// The expressions stand in a module below the caller's, which uses all names of the caller's. There `super` is the module
/// of the caller.
///
/// - `subject` is evaluated for each execution.
/// - `calls` performs an operation on it. `awaits: async |subject, op| …` is the form for operations that are awaited.
/// - `operations` is a strategy of proptest.
/// - `with: |check| check.programs(500)` changes the [`Check`](crate::Check); it may be left out.
/// - `worlds: [std, shuttle, sim]` selects functions of [`worlds`](crate::worlds), each with attributes of its own, such
///   as `#[should_panic(expected = "not linearizable")]`. Those three are the default.
#[macro_export]
macro_rules! check {
    (
        mod $name:ident;
        spec: $spec:expr,
        subject: $subject:expr,
        $how:ident: $apply:expr,
        operations: $operations:expr
        $(,)?
    ) => {
        $crate::check! {
            mod $name;
            spec: $spec,
            subject: $subject,
            $how: $apply,
            operations: $operations,
            with: |check| check,
            worlds: [std, shuttle, sim],
        }
    };
    (
        mod $name:ident;
        spec: $spec:expr,
        subject: $subject:expr,
        $how:ident: $apply:expr,
        operations: $operations:expr,
        with: $with:expr
        $(,)?
    ) => {
        $crate::check! {
            mod $name;
            spec: $spec,
            subject: $subject,
            $how: $apply,
            operations: $operations,
            with: $with,
            worlds: [std, shuttle, sim],
        }
    };
    (
        mod $name:ident;
        spec: $spec:expr,
        subject: $subject:expr,
        $how:ident: $apply:expr,
        operations: $operations:expr,
        worlds: [$($worlds:tt)*]
        $(,)?
    ) => {
        $crate::check! {
            mod $name;
            spec: $spec,
            subject: $subject,
            $how: $apply,
            operations: $operations,
            with: |check| check,
            worlds: [$($worlds)*],
        }
    };
    (
        mod $name:ident;
        spec: $spec:expr,
        subject: $subject:expr,
        $how:ident: $apply:expr,
        operations: $operations:expr,
        with: $with:expr,
        worlds: [$($(#[$attribute:meta])* $world:ident),+ $(,)?]
        $(,)?
    ) => {
        mod $name {
            #[allow(unused_imports, reason = "the expressions may need nothing of their module")]
            use super::*;
            $(
                #[test]
                $(#[$attribute])*
                fn $world() {
                    let check = $crate::Check::new(
                        module_path!(),
                        env!("CARGO_PKG_NAME"),
                        $spec,
                        $crate::Subject::$how(|| $subject, $apply),
                        || $operations,
                    );
                    $crate::worlds::$world($crate::changed(check, $with));
                }
            )+
        }
    };
}
