//! Several runs together, and stored estimates.

use flowmeter_records::RunData;
use flowmeter_reports::{Estimates, estimate, estimates_of};

use super::{estimated, small};
use crate::fixture::{self, Shape};

#[test]
fn several_runs_pool_their_rounds() {
    let (one, two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    let pooled = estimate(&[one, two]).unwrap();
    assert_eq!(pooled.sources.len(), 2);
    assert!(
        pooled
            .cells
            .iter()
            .all(|c| c.measured().unwrap().rounds == 60)
    );
}

#[test]
fn entries_that_never_met_in_a_round_have_no_ratio() {
    let (mut one, mut two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    one.windows.retain(|w| w.implementation != "kanal");
    two.windows.retain(|w| w.implementation == "kanal");
    let estimates = estimate(&[one, two]).unwrap();
    let kanal = estimates.cell("channels/spsc-64", "kanal").unwrap();
    assert!(kanal.error().unwrap().contains("no round together with"));
}

#[test]
fn runs_that_mean_different_things_by_one_name_are_refused() {
    let (one, mut two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    two.scenarios.get_mut("channels/spsc-64").unwrap().unit = "ns".to_owned();
    let error = estimate(&[one, two]).unwrap_err().to_string();
    assert!(
        error.contains("channels/spsc-64 is not the same"),
        "{error}"
    );
    assert!(
        estimate(&[])
            .unwrap_err()
            .to_string()
            .contains("no run was named")
    );
}

#[test]
fn estimates_survive_their_file_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = fixture::run(&Shape {
        histograms: true,
        failures: true,
        ..small(1)
    });
    run.folder = folder.path().to_owned();
    let estimates = estimated(&run);
    estimates.write(folder.path()).unwrap();
    assert_eq!(Estimates::read(folder.path()).unwrap(), estimates);
    assert_eq!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
    // Those of another method are ignored.
    let other = Estimates {
        method: 1,
        ..estimates.clone()
    };
    other.write(folder.path()).unwrap();
    assert_eq!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
    // Once the run has continued, the file is stale and ignored.
    run.rounds.pop();
    assert_ne!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
}

#[test]
fn a_foreign_or_unwritable_file_of_estimates_is_one_clear_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Estimates::read(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("estimates.json"), "{missing}");
    std::fs::write(folder.path().join("estimates.json"), "{\"schema\":1}").unwrap();
    let foreign = Estimates::read(folder.path()).unwrap_err().to_string();
    assert!(
        foreign.contains("not a file of estimates of this build"),
        "{foreign}"
    );
    assert_eq!(foreign.lines().count(), 1);
    let unwritable = estimated(&fixture::run(&small(1))).write(&folder.path().join("no/such"));
    assert!(
        unwritable
            .unwrap_err()
            .to_string()
            .contains("estimates.json")
    );
}

#[test]
fn groups_come_as_the_run_names_them() {
    let mut run = fixture::run(&Shape {
        scenarios: 60,
        forks: 1,
        rounds_per_fork: 2,
        ..small(1)
    });
    let groups = |run: &RunData| {
        let estimates = estimated(run);
        let rankings = estimates.rankings.iter();
        let mut groups: Vec<String> = rankings.map(|ranking| ranking.group.clone()).collect();
        groups.dedup();
        groups
    };
    assert_eq!(groups(&run), ["channels", "alts"]);
    run.groups.reverse();
    assert_eq!(groups(&run), ["alts", "channels"]);
}
