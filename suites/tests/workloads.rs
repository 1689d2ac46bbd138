//! The faults that the workloads find, without false positives.

mod families;
#[path = "workloads/kinds.rs"]
mod kinds;

use std::path::Path;

use families::{FAULT, Fault, Tested};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::FailureKind;
use flowmeter_suites::catalogue::Catalogue;
use flowmeter_suites::scenario::{ScenarioSpec, built_in, parse};

const SHORT: WindowSpec = WindowSpec {
    ramp_nanos: 2_000_000,
    nanos: 10_000_000,
    slowed_percent: None,
    seed: 1,
};

/// Long enough for the hundredth value where each one wakes a thread, also on a busy machine.
const LONG: WindowSpec = WindowSpec {
    nanos: 150_000_000,
    ..SHORT
};

fn scenario(name: &str) -> ScenarioSpec {
    let mut all = built_in().into_iter();
    all.find(|s| s.name == name)
        .unwrap_or_else(|| panic!("{name} is built in"))
}

/// The queue with a fault, in a scenario.
fn faulty(fault: Fault, name: &str) -> Box<dyn Stage> {
    FAULT.set(fault);
    let stage = Catalogue::of(Tested).stage("queue", &scenario(name));
    stage.unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn proof(fault: Fault, name: &str) -> Result<(), StageError> {
    faulty(fault, name).prove()
}

/// A window in which the fault is seen, or the last of six, each twice as long as the one before: on a busy machine a
/// window may end before the put that is wrong, or fall behind.
fn window(fault: Fault, name: &str) -> Result<Sample, StageError> {
    let mut spec = LONG;
    loop {
        let outcome = faulty(fault, name).window(spec);
        let seen = matches!(&outcome, Err(why) if why.kind != FailureKind::Void);
        if seen || spec.nanos >= LONG.nanos << 5 {
            return outcome;
        }
        spec.nanos *= 2;
    }
}

#[track_caller]
fn failure<T>(outcome: Result<T, StageError>) -> (FailureKind, String) {
    match outcome {
        Ok(_) => panic!("it got through"),
        Err(error) => (error.kind, error.message),
    }
}

#[test]
fn honest_families_pass_the_proof_of_every_scenario_they_take_part_in() {
    let catalogue = Catalogue::of(Tested);
    for scenario in built_in() {
        for name in ["queue", "std"] {
            if catalogue.supports(name, &scenario) {
                let mut stage = catalogue.stage(name, &scenario).expect("takes part");
                let outcome = stage.prove();
                assert!(outcome.is_ok(), "{name} in {}: {outcome:?}", scenario.name);
            }
        }
    }
}

#[test]
fn honest_families_get_a_number_in_every_scenario_they_take_part_in() {
    let catalogue = Catalogue::of(Tested);
    for scenario in built_in() {
        for name in ["queue", "std"] {
            if !catalogue.supports(name, &scenario) {
                continue;
            }
            let mut stage = catalogue.stage(name, &scenario).expect("takes part");
            match stage.window(SHORT) {
                Ok(sample) => {
                    assert!(sample.value > 0.0, "{name} in {}", scenario.name);
                    assert!(sample.operations > 0, "{name} in {}", scenario.name);
                    let latency = scenario.record().unit == "ns" && sample.latency.is_some();
                    assert_eq!(latency, scenario.name.contains("latency"));
                }
                // A busy machine keeps no schedule.
                Err(error) => {
                    assert!(
                        scenario.name.contains("latency"),
                        "{name} {}: {error}",
                        scenario.name
                    );
                    assert_eq!(
                        error.kind,
                        FailureKind::Void,
                        "{name} {}: {error}",
                        scenario.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_lost_value_is_found_by_proof_and_window() {
    let (kind, message) = failure(proof(Fault::Drops, "channels/spsc-64"));
    assert_eq!(kind, FailureKind::Proof);
    assert_eq!(message, "value 99 of producer 0 was put and never taken");
    let (kind, message) = failure(window(Fault::Drops, "channels/spsc-64"));
    assert_eq!(kind, FailureKind::Count);
    assert!(message.contains("were put and"), "{message}");
}

#[test]
fn a_repeated_value_is_found_by_proof_and_window() {
    let (kind, message) = failure(proof(Fault::Duplicates, "channels/mpmc-64"));
    assert_eq!(kind, FailureKind::Proof);
    assert!(message.ends_with("was taken twice"), "{message}");
    let (kind, _) = failure(window(Fault::Duplicates, "channels/mpmc-64"));
    assert_eq!(kind, FailureKind::Count);
}

#[test]
fn another_value_in_its_place_is_found_by_proof_and_window() {
    let (kind, _) = failure(proof(Fault::Exchanges, "channels/spsc-1024"));
    assert_eq!(kind, FailureKind::Proof);
    let (kind, message) = failure(window(Fault::Exchanges, "channels/spsc-1024"));
    assert_eq!(kind, FailureKind::Count);
    assert!(message.contains("checksums differ"), "{message}");
}

#[test]
fn values_out_of_order_are_found_by_the_proof() {
    for name in [
        "channels/spsc-64",
        "channels-async/spsc-64",
        "alts/two-contended",
    ] {
        let (kind, message) = failure(proof(Fault::Reorders, name));
        assert_eq!(kind, FailureKind::Proof, "{name}");
        assert!(
            message.contains("of the same producer"),
            "{name}: {message}"
        );
    }
}

#[test]
fn too_many_values_in_a_buffer_are_found_by_the_proof() {
    for fault in [Fault::Overfills, Fault::OverfillsPuts] {
        for name in [
            "channels/spsc-64",
            "channels-async/spsc-64",
            "channels/burst-64",
        ] {
            if fault == Fault::OverfillsPuts && name.contains("async") {
                // Whether a put overfills is found where its thread is free to run into the full buffer;
                // tasks are asked, too, but promise no moment at which they run.
                continue;
            }
            // On a busy machine the producer may not run while consumers hold back.
            let mut proofs = (0..5).map(|_| proof(fault, name));
            let failed = proofs.find(Result::is_err).unwrap_or(Ok(()));
            let (kind, message) = failure(failed);
            assert_eq!(kind, FailureKind::Proof, "{fault:?} in {name}");
            assert!(
                message.contains("its capacity is 64"),
                "{fault:?}: {message}"
            );
        }
    }
}

#[test]
fn faults_are_found_by_the_other_workloads_too() {
    for (fault, name) in [
        (Fault::Duplicates, "channels/ping-pong"),
        (Fault::Exchanges, "channels/chain-16"),
        (Fault::Drops, "channels/burst-64"),
        (Fault::Exchanges, "channels/uncontended-64"),
        (Fault::Drops, "channels/latency-10k"),
        (Fault::Drops, "alts/two-contended"),
        (Fault::Exchanges, "alts/two-one-hot"),
        (Fault::Exchanges, "alts/two-mixed"),
        (Fault::Exchanges, "alts/eight-all-ready"),
        (Fault::Drops, "channels-async/spsc-64"),
    ] {
        let (kind, message) = failure(window(fault, name));
        assert_eq!(kind, FailureKind::Count, "{fault:?} in {name}: {message}");
    }
}

#[test]
fn each_is_offered_a_share_of_its_own_capacity() {
    let offered = |fault: Fault, name: &str| {
        // A capacity that was measured in a quiet moment is too high for a busy one. So each try measures its own.
        let tried = (0..20).find_map(|_| match faulty(fault, name).window(SHORT) {
            Err(why) if why.kind == FailureKind::Void => None,
            answer => Some(answer),
        });
        let sample = tried
            .expect("it keeps up in one of twenty")
            .expect("a window");
        sample.findings.offered.expect("a share was asked for")
    };
    // 100 us a message, so about 10,000 a second at most, however busy the machine is.
    let slow = offered(Fault::IsSlow, "channels/latency-50pc");
    let slowest = offered(Fault::IsSlow, "channels/latency-25pc");
    assert!((60.0..=6_000.0).contains(&slow), "{slow}");
    assert!((30.0..=3_000.0).contains(&slowest), "{slowest}");
    let quick = offered(Fault::None, "channels/latency-50pc");
    assert!(quick > 3.0 * slow, "{quick}, {slow}");
}

#[test]
fn a_rate_that_cannot_be_sustained_is_void() {
    let mut scenario = scenario("channels/latency-100k");
    let text = r#"title = "Too fast"
why = "A parked thread cannot meet a million times a second."
workload = "open-loop"
[params]
rate = 10000000
buffer = "rendezvous"
"#;
    scenario.work = parse("channels/x", Path::new("x.toml"), text)
        .expect("well-formed")
        .work;
    let stage = Catalogue::of(Tested).stage("std", &scenario);
    let (kind, message) = failure(stage.expect("std has rendezvous").window(SHORT));
    assert_eq!(kind, FailureKind::Void);
    assert!(message.starts_with("it sustained"), "{message}");
}

#[test]
fn a_panic_is_a_failure_with_what_it_said() {
    let (kind, message) = failure(window(Fault::Panics, "channels/spsc-64"));
    assert_eq!(kind, FailureKind::Panic);
    assert_eq!(message, "it panicked: the third value");
    let (kind, _) = failure(window(Fault::Panics, "channels-async/spsc-64"));
    assert_eq!(kind, FailureKind::Panic);
}

#[test]
fn participants_are_known_before_anything_runs() {
    let catalogue = Catalogue::of(Tested);
    let supports =
        |implementation: &str, name: &str| catalogue.supports(implementation, &scenario(name));
    assert!(supports("std", "channels/spsc-rendezvous"));
    assert!(
        supports("std", "channels/spsc-unbounded"),
        "its second family"
    );
    assert!(supports("std", "channels/mpsc-64"));
    assert!(!supports("std", "channels/spmc-64"), "it has one consumer");
    assert!(!supports("std", "channels-async/spsc-64"));
    assert!(!supports("std", "alts/two-mixed"));
    assert!(!supports("queue", "channels/spsc-rendezvous"));
    assert!(!supports("absent", "channels/spsc-64"));
}

#[test]
fn an_implementation_that_does_not_take_part_gets_no_stage() {
    let catalogue = Catalogue::of(Tested);
    let refusal = catalogue.stage("std", &scenario("channels/spmc-64"));
    let (kind, message) = failure(refusal.map(drop));
    assert_eq!(kind, FailureKind::Protocol);
    assert!(message.contains("std does not take part in channels/spmc-64"));
}

#[test]
fn a_stage_is_made_from_what_a_child_is_sent() {
    let catalogue = Catalogue::of(Tested);
    let sent = serde_json::to_value(scenario("channels/spsc-64")).expect("serialises");
    assert!(catalogue.stage_of("std", &sent).is_ok());
    let foreign = serde_json::json!({ "name": "x" });
    let (kind, _) = failure(catalogue.stage_of("std", &foreign).map(drop));
    assert_eq!(kind, FailureKind::Protocol);
}

#[test]
fn uncontended_costs_can_be_timed_turn_by_turn() {
    let catalogue = Catalogue::of(Tested);
    let uncontended = scenario("channels/uncontended-64");
    let timing = catalogue.timing("std", &uncontended).expect("one thread");
    let mut timing = timing.expect("std has fixed buffers");
    assert!(timing(1_000).expect("honest") > std::time::Duration::ZERO);
    let stream = scenario("channels/spsc-64");
    assert!(catalogue.timing("std", &stream).is_none(), "two threads");
}
