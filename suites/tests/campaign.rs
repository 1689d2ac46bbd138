//! What a campaign proves, times and leaves out.

use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::registry::Registered;
use flowmeter_impls::registry::All;
use flowmeter_measure::budget::{Demand, Overhead, SHORTEST_WINDOW, allot};
use flowmeter_models as _;
use flowmeter_records::{FailureKind, Proof, Verdict};
use flowmeter_suites::campaign::{Selection, Settings, kept_out, plan, relied_on};
use flowmeter_suites::descriptions::{Descriptions, Due, Owed};
use flowmeter_suites::foreign::Foreigners;
use flowmeter_suites::scenario::{ScenarioSpec, built_in};
use flowmeter_suites::worlds::Worlds;
use flowmeter_timed::catalogue;

fn scenario(name: &str) -> ScenarioSpec {
    let mut scenarios = built_in().into_iter();
    let scenario = scenarios.find(|scenario| scenario.name == name);
    scenario.expect("it is built in")
}

fn implementation(name: &str) -> Registered {
    let catalogue = catalogue();
    let mut all = catalogue.implementations().iter();
    let implementation = all.find(|implementation| implementation.name == name);
    implementation.expect("it takes part").clone()
}

fn proof(property: &str, verdict: Verdict, detail: Option<&str>) -> Proof {
    Proof {
        implementation: "mutex".to_owned(),
        property: property.to_owned(),
        world: "std".to_owned(),
        verdict,
        complete: false,
        executions: 1,
        seconds: 1.0,
        counterexample: None,
        detail: detail.map(str::to_owned),
        replay: None,
        bound: None,
    }
}

#[test]
fn what_failed_hung_or_broke_off_has_no_number() {
    let hung = "async, 2:2: no answer within 10 s, three times, twice of these alone";
    let held = || proof("c3-capacity", Verdict::Pass, None);
    let (mutex, stream) = (implementation("mutex"), scenario("channels-async/spsc-64"));
    let why = |verdict, detail| {
        let told = proof("c1-conservation-async", verdict, Some(detail));
        let why = kept_out(&[held(), told], &mutex, &stream).expect("it did not pass");
        (why.kind, why.message)
    };
    let told = format!("hung: c1-conservation-async: {hung}");
    assert_eq!(why(Verdict::Hung, hung), (FailureKind::Proof, told));
    let told = "undecided: c1-conservation-async: 2 histories were too much".to_owned();
    assert_eq!(
        why(Verdict::Inconclusive, "2 histories were too much"),
        (FailureKind::Unproved, told)
    );
    for verdict in [Verdict::Fail, Verdict::Error] {
        let message = "c1-conservation-async: a value was lost".to_owned();
        assert_eq!(
            why(verdict, "a value was lost"),
            (FailureKind::Proof, message)
        );
    }
    // A failure says more than what is undecided, wherever it stands.
    let proofs = [
        proof("c1-conservation-async", Verdict::Inconclusive, Some(hung)),
        proof("c2-order-async", Verdict::Fail, Some("out of order")),
    ];
    let why = kept_out(&proofs, &mutex, &stream).expect("neither passed");
    assert_eq!(why.message, "c2-order-async: out of order");
    // Found in an explored world.
    let explored = Proof {
        world: "shuttle".to_owned(),
        ..proofs[1].clone()
    };
    let why = kept_out(&[held(), explored], &mutex, &stream).expect("it failed there");
    assert_eq!(why.message, "c2-order-async under shuttle: out of order");
    // The blocking form is other code.
    let blocking = [proofs.to_vec(), vec![held()]].concat();
    let threads = scenario("channels/spsc-64");
    assert_eq!(kept_out(&blocking, &mutex, &threads), None);
}

#[test]
fn what_is_not_promised_keeps_no_number_away() {
    let (mutex, stream) = (implementation("mutex"), scenario("channels-async/spsc-64"));
    let held = proof("c3-capacity", Verdict::Pass, None);
    for verdict in [Verdict::NotPromisedBroken, Verdict::NotPromisedUnbroken] {
        let proofs = [
            held.clone(),
            proof("c1-conservation-async", verdict, Some("a value was lost")),
        ];
        assert_eq!(kept_out(&proofs, &mutex, &stream), None, "{verdict:?}");
        // Nor does it give one.
        assert!(kept_out(&proofs[1..], &mutex, &stream).is_some());
    }
}

#[test]
fn what_holds_nothing_that_a_scenario_relies_on_is_not_timed() {
    let (mutex, stream) = (implementation("mutex"), scenario("channels/spsc-64"));
    let none_of_these = [
        vec![],
        vec![proof("c3-capacity", Verdict::Unclaimed, None)],
        // No scenario relies on it.
        vec![proof("c4-waiters", Verdict::Pass, None)],
    ];
    for proofs in none_of_these {
        let why = kept_out(&proofs, &mutex, &stream).expect("nothing held");
        assert_eq!(why.kind, FailureKind::Unproved, "{proofs:?}");
    }
    let held = [proof("c3-capacity", Verdict::Pass, None)];
    assert_eq!(kept_out(&held, &mutex, &stream), None);
    let foreign = Registered {
        origin: Origin::Foreign,
        ..mutex
    };
    assert_eq!(kept_out(&[], &foreign, &stream), None, "it proves itself");
}

#[test]
fn every_implementation_but_one_claims_what_its_scenarios_rely_on() {
    let worlds = Worlds::timing(catalogue(), All);
    let scenarios = built_in();
    let descriptions = Descriptions::ask_here(&worlds, &scenarios);
    let owed: Vec<Owed> = descriptions
        .owed()
        .filter(|cell| cell.due == Due::Owed)
        .collect();
    let claims = |implementation: &Registered, scenario: &ScenarioSpec| {
        let mut its = owed
            .iter()
            .filter(|cell| cell.implementation == implementation.name);
        its.any(|cell| relied_on(scenario, cell.property.name))
    };
    let mut without = BTreeSet::new();
    for implementation in descriptions.iter() {
        let mut its = scenarios
            .iter()
            .filter(|it| descriptions.supports(implementation.name, it));
        if its.any(|scenario| !claims(implementation, scenario)) {
            without.insert(implementation.name);
        }
    }
    // Its crate promises no bound in any window: see its adapter.
    assert_eq!(without, BTreeSet::from(["leaky-bucket"]));
}

fn held(cell: Owed) -> Proof {
    Proof {
        implementation: cell.implementation.to_owned(),
        property: cell.property.name.to_owned(),
        world: cell.world.to_owned(),
        verdict: Verdict::Pass,
        complete: false,
        executions: 1,
        seconds: 0.0,
        counterexample: None,
        detail: None,
        replay: None,
        bound: None,
    }
}

#[test]
fn two_hundred_cells_of_five_forks_fit_into_the_budget() {
    let worlds = Worlds::timing(catalogue(), All);
    let mut scenarios = built_in();
    scenarios.retain(|scenario| scenario.priority.is_some());
    let selection = Selection {
        descriptions: Descriptions::ask_here(&worlds, &scenarios),
        foreign: Foreigners::default(),
        scenarios,
    };
    let settings = Settings::of_bench(Settings::BENCH_BUDGET, String::new());
    let owed = selection.descriptions.owed();
    let proofs = owed
        .filter(|cell| cell.due == Due::Owed)
        .map(held)
        .collect();
    let plan = plan(&selection, proofs, Vec::new(), &settings);
    assert!(plan.planned_scenarios.len() <= 50);
    assert!(plan.total_rounds() >= 5);
    let cells: Vec<u64> = plan
        .planned_scenarios
        .iter()
        .map(|c| c.entries.len() as u64)
        .collect();
    assert!(cells.iter().sum::<u64>() >= 200, "{cells:?}");
    let demands: Vec<Demand> = cells
        .iter()
        .map(|cells| Demand {
            windows: cells * u64::from(plan.total_rounds()),
            // Timed in one a fork, and counted in another.
            processes: (u64::from(plan.run.forks) + 1) * cells,
        })
        .collect();
    // As in the sample run: twice the ramp, and 60 ms to start and prove.
    let overhead = Overhead {
        window: 2 * plan.ramp,
        process: Duration::from_millis(60),
    };
    let budget = plan.budget.expect("it has one");
    let allotment = allot(budget.total, budget.longest_window, &demands, overhead);
    assert_eq!(allotment.kept, demands.len(), "none is dropped");
    assert!(allotment.window >= SHORTEST_WINDOW);
}
