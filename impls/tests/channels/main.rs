//! What every registered channel must answer, written once over the traits and run for each family that
//! has the trait: a first filter with one or two threads, long before any checker.
//!
//! A statement is a generic function; [`statement!`] makes a test of it that walks the registry.

mod alts;
mod asynchronous;
mod blocking;
mod capabilities;
mod closing;
mod deadlines;
mod executor;
mod identity;
mod kanal_faults;

use flowmeter_harness::channel::Buffer;

/// Every buffer that keeps all it was given. A family opens those it has.
const KEEPING: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// A test that a statement holds for every family that has the trait, and of those, where a claim is
/// given, for every contestant that makes it.
macro_rules! statement {
    (
        $name:ident<$family:ident: $bound:ident $(+ $more:ident)*>,
        visited by $visit:ident,
        $(given $claim:ident,)?
        $body:block
    ) => {
        #[test]
        fn $name() {
            use flowmeter_harness::registry::{Contestant, Enrol, Registry};

            fn holds<$family: $bound $(+ $more)*>() $body

            /// How many families the statement was put to.
            struct Hall(usize);
            impl Enrol for Hall {
                fn $visit<$family: $bound $(+ $more)*>(&mut self, who: &Contestant) {
                    $(
                        let given = flowmeter_harness::caps::Claim::$claim;
                        if !who.capabilities.claims.contains(&given) {
                            return;
                        }
                    )?
                    // Captured by the test harness, and shown when the statement fails.
                    println!("{}: {}", who.name, std::any::type_name::<$family>());
                    holds::<$family>();
                    self.0 += 1;
                }
            }
            let mut hall = Hall(0);
            flowmeter_impls::registry::Everybody.channels(&mut hall);
            assert!(hall.0 > 0, "nobody was asked");
        }
    };
}
use statement;
