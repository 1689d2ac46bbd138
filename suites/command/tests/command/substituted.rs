//! Claims can turn false: a claim about one design does not hold for another one under its name.

use flowmeter_harness::registry::{Registry, Visitor, own};
use flowmeter_harness::sync::shuttle::Sim;
use flowmeter_impls_shuttle::channel::mutex::MutexChannels;
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool;
use flowmeter_impls_shuttle::pipeline::{CoreAsync, Swapped};
use flowmeter_records::Holds;
use flowmeter_suites::claims_holding;

/// core.async's pipeline, and the one with two swapped lines entered in its place.
#[derive(Clone, Copy)]
struct Substituted;

impl Registry for Substituted {
    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        own::<CoreAsync, _>(visitor, "core_async")
            .pipeline::<MutexChannels, FixedPool>(2)
            .enter();
        own::<Swapped, _>(visitor, "swapped")
            .pipeline::<MutexChannels, FixedPool>(2)
            .enter();
    }
}

#[test]
fn at_least_five_claims_about_core_async_are_false_of_another() {
    let right = claims_holding::<Sim>(Substituted, "core_async");
    let all_hold = right.iter().all(|(_, holds)| *holds == Holds::Yes);
    assert!(all_hold && right.len() > 10, "{right:?}");
    let substituted = claims_holding::<Sim>(Substituted, "swapped");
    assert_eq!(substituted.len(), right.len());
    let turned = substituted.iter().filter(|(_, holds)| *holds == Holds::No);
    assert!(turned.count() >= 5, "{substituted:?}");
}
