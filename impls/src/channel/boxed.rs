//! An alts of any family as a boxed future.

use std::future::Future;
use std::pin::Pin;

use flowmeter_harness::channel::{AltsError, AwaitAlts, Order, Winner};

/// [`AwaitAlts::run_async`] in a box. In code that is generic over `C`, Rust before 1.92 cannot tell that its future is `Send`
/// (rust-lang/rust#100013). It costs an allocation for each alts of a merge, a mix or a state machine.
pub(crate) fn run_async<'r, 'c: 'r, C: AwaitAlts>(
    clauses: &'r mut [C::AnyClause<'c>],
    order: Order,
    until: impl Future<Output = ()> + Send + 'r,
) -> Pin<Box<dyn Future<Output = Result<Winner, AltsError>> + Send + 'r>> {
    Box::pin(C::run_async(clauses, order, until))
}
