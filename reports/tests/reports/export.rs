//! The output for other tools.

use flowmeter_records::Better;
use flowmeter_reports::{
    Estimates, Sighting, bencher, cmp_rows, csv, estimate, github_action_benchmark, sightings,
};
use serde_json::Value;

use crate::fixture::{self, Shape};

fn estimates() -> Estimates {
    let mut run = fixture::run(&Shape {
        scenarios: 26,
        forks: 2,
        ..Shape::default()
    });
    // The message of a failure is an arbitrary text.
    run.failures[0].message = "it said \"no\", and\nthen nothing".to_owned();
    estimate(&[run]).expect("the fixture is sound")
}

#[test]
fn every_cell_is_a_line_of_csv_that_reads_back() {
    let estimates = estimates();
    let text = csv(&estimates);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("it has names").clone();
    let at = |name: &str| header.iter().position(|h| h == name).expect("a column");
    let (scenario, median, error) = (at("scenario"), at("median"), at("error"));
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let rows = cmp_rows(&estimates);
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!(line[scenario], *row.cell.scenario);
        assert_eq!(
            line[median].parse().ok(),
            row.cell.median,
            "to the last digit"
        );
        assert_eq!(&line[error], row.cell.error.as_deref().unwrap_or(""));
    }
    assert!(rows.iter().any(|row| row.cell.error.is_some()));
}

#[test]
fn no_text_of_csv_is_a_formula() {
    let mut run = fixture::run(&Shape {
        scenarios: 4,
        implementations: 3,
        ..Shape::default()
    });
    let formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"];
    for (scenario, formula) in run.scenarios.values_mut().zip(formulas) {
        scenario.unit = formula.to_owned();
    }
    for (failure, formula) in run.failures.iter_mut().zip(formulas) {
        failure.message = formula.to_owned();
    }
    let name = "=HYPERLINK(\"file\")";
    let mut it = run.implementations.remove("mutex").unwrap();
    it.name = name.to_owned();
    run.implementations.insert(it.name.clone(), it);
    for w in run
        .windows
        .iter_mut()
        .filter(|w| w.implementation == "mutex")
    {
        w.implementation = name.to_owned();
    }
    let text = csv(&estimate(&[run]).unwrap());
    assert!(text.contains("'=HYPERLINK"), "{text}");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for line in reader.records() {
        let line = line.unwrap();
        let live = |field: &&str| field.starts_with(['=', '+', '-', '@', '\t', '\r']);
        assert_eq!(line.iter().find(live), None, "{line:?}");
    }
}

#[test]
fn what_points_one_way_is_in_one_file() {
    let estimates = estimates();
    let read = |better| -> Vec<Value> {
        serde_json::from_str(&github_action_benchmark(&estimates, better)).expect("an array")
    };
    let (up, down) = (read(Better::Higher), read(Better::Lower));
    let numbers = cmp_rows(&estimates);
    let numbers = numbers
        .iter()
        .filter(|row| row.cell.median.is_some())
        .count();
    assert_eq!(up.len() + down.len(), numbers);
    assert!(!up.is_empty() && !down.is_empty());
    for entry in up.iter().chain(&down) {
        assert!(entry["name"].as_str().unwrap().matches('/').count() >= 2);
        assert!(entry["value"].as_f64().unwrap() > 0.0);
        assert!(entry["unit"].is_string() && entry["range"].is_string());
    }
    assert!(up.iter().all(|entry| entry["unit"] == "messages/s"));
}

#[test]
fn bencher_has_a_measure_and_its_bounds_for_each_number() {
    let estimates = estimates();
    let benchmarks: Value = serde_json::from_str(&bencher(&estimates)).expect("an object");
    let benchmarks = benchmarks.as_object().unwrap();
    let numbers = cmp_rows(&estimates);
    for row in numbers.iter().filter(|row| row.cell.median.is_some()) {
        let benchmark = &benchmarks[&format!("{}/{}", row.cell.scenario, row.cell.implementation)];
        let measure = match row.cell.better {
            Better::Higher => &benchmark["messages/s"],
            Better::Lower => &benchmark["latency"],
        };
        assert_eq!(measure["value"].as_f64(), row.cell.median);
        assert_eq!(measure["lower_value"].as_f64(), row.cell.lo);
        assert_eq!(measure["upper_value"].as_f64(), row.cell.hi);
    }
}

#[test]
fn a_cell_of_show_has_the_keys_that_are_documented() {
    let run = fixture::run(&Shape {
        implementations: 2,
        scenarios: 1,
        ..Shape::default()
    });
    let scenario = run.scenarios.keys().next().unwrap().clone();
    let seen = sightings(&[run], &scenario, "mutex").unwrap();
    let row = serde_json::to_value(&seen[0]).unwrap();
    let mut keys: Vec<&str> = row
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    let expected = [
        "better",
        "command",
        "commit",
        "error",
        "hi",
        "implementation",
        "lo",
        "median",
        "ratio_to_best",
        "rounds",
        "run",
        "scenario",
        "started",
        "unit",
    ];
    assert_eq!(keys, expected);
    assert_eq!(serde_json::from_value::<Sighting>(row).unwrap(), seen[0]);
}
