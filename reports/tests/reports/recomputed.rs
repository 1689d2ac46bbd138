//! The separate program in `scripts/` computes the same medians, tails, ratios and intervals.

use std::path::Path;
use std::process::{Command, Output};

use flowmeter_records::{FailureKind, read_run};
use flowmeter_reports::estimate;
use flowmeter_reports::statistics::{Cell, Outcome};

use crate::fixture::{self, Shape};

fn check(folder: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/recompute_medians");
    let mut command = Command::new("python3");
    command.arg(script).arg("--check").arg(folder);
    command.output().expect("python3 was found above")
}

#[test]
fn every_number_is_recomputed_from_the_records() {
    // The tests need only a Rust toolchain; without Python there is no other program to compare
    // with.
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("python3 is not here: nothing was recomputed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut run = fixture::run(&Shape {
        scenarios: 26,
        ..Shape::default()
    });
    for w in &mut run.windows {
        let its = w.implementation == "kanal" && w.scenario == "channels/latency-10000";
        w.unsustained = (its && w.round < 12).then_some(0.03);
    }
    std::fs::write(folder.path().join("records.jsonl"), fixture::lines(&run)).unwrap();
    let run = read_run(folder.path()).unwrap();
    let unsustained = |c: &Cell| matches!(c.outcome, Outcome::Unsustained { .. });
    let mut estimates = estimate(&[run]).unwrap();
    assert!(estimates.cells.iter().any(unsustained));
    estimates.write(folder.path()).unwrap();
    let output = check(folder.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.ends_with(&format!("{} cells, 0 differ\n", estimates.cells.len())),
        "{said}"
    );

    let Outcome::Measured(m) = &mut estimates.cells[0].outcome else {
        panic!("the first cell has a number");
    };
    m.median *= 1.0 + 1e-8;
    estimates.write(folder.path()).unwrap();
    assert_eq!(check(folder.path()).status.code(), Some(1));

    let mut estimates = estimate(&[read_run(folder.path()).unwrap()]).unwrap();
    let ratios = estimates.cells.iter_mut().filter(|cell| cell.competes());
    let behind = ratios.filter_map(|cell| match &mut cell.outcome {
        Outcome::Measured(m) if m.ratio_hi < 1.0 => Some(m),
        _ => None,
    });
    for m in behind.take(3) {
        m.ratio_lo *= 1.0 + 1e-5;
    }
    estimates.write(folder.path()).unwrap();
    let said = check(folder.path());
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.ends_with(" cells, 3 differ\n"), "{said}");

    // A number cannot be left out without a reason in the records.
    for outcome in [
        Outcome::Failed {
            kind: FailureKind::Void,
            message: "it was not to our liking".to_owned(),
            rounds: 30,
        },
        Outcome::Unsustained {
            disturbed: 7,
            windows: 30,
            rate: None,
        },
    ] {
        estimates.cells[0].outcome = outcome;
        estimates.write(folder.path()).unwrap();
        assert_eq!(check(folder.path()).status.code(), Some(1));
    }

    std::fs::remove_file(folder.path().join("records.jsonl")).unwrap();
    assert_eq!(check(folder.path()).status.code(), Some(2));
}
