//! Any lines give a page, or one clear error: never a panic, never markup.

mod fixture;

use std::path::Path;
use std::sync::LazyLock;

use fixture::{Shape, kinds};
use flowmeter_harness::record::{RunData, read_records};
use flowmeter_reports::{
    DEFAULT_WIDTH, Style, bencher, cmp_table, csv, machines, rank_table, render_machines,
};
use proptest::prelude::*;
use serde_json::Value;

/// Lines of a sound run, of every kind.
static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let shape = Shape {
        implementations: 3,
        scenarios: 3,
        forks: 2,
        rounds_per_fork: 2,
        ..Shape::default()
    };
    let mut run = fixture::run(&shape);
    kinds::add(&shape, &mut run);
    fixture::lines(&run).lines().map(str::to_owned).collect()
});

/// What would show if it ever stood in the page as more than text.
const MARKUP: [&str; 6] = [
    "<b id=gotcha>",
    "\"><b id=gotcha>",
    "' onclick='gotcha",
    "</svg></script><b id=gotcha>",
    "&lt;b id=gotcha",
    "--><![CDATA[<b id=gotcha>]]>",
];

/// What is done to a line.
#[derive(Clone, Debug)]
enum Harm {
    /// Left out.
    Gone,
    /// Twice.
    Doubled,
    /// Cut off there, as a share of its length, with its line end or without.
    Torn(f64, bool),
    /// Another program's.
    Foreign(String),
    /// A value in it is another one: which, of those that are no objects or lists.
    Changed(usize, Odd),
    /// Moved to that place.
    Moved(usize),
}

/// A value that nobody expects.
#[derive(Clone, Debug)]
enum Odd {
    Null,
    Number(f64),
    Whole(i64),
    Text(String),
    List,
}

impl Odd {
    fn value(&self) -> Value {
        match self {
            Odd::Null => Value::Null,
            Odd::Number(number) => Value::from(*number),
            Odd::Whole(number) => Value::from(*number),
            Odd::Text(text) => Value::from(text.as_str()),
            Odd::List => Value::from(vec![1]),
        }
    }
}

fn odd() -> impl Strategy<Value = Odd> {
    prop_oneof![
        Just(Odd::Null),
        Just(Odd::List),
        prop_oneof![
            any::<f64>(),
            Just(0.0),
            Just(-1.0),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE)
        ]
        .prop_map(Odd::Number),
        prop_oneof![any::<i64>(), Just(0), Just(i64::MAX), 0..4_i64].prop_map(Odd::Whole),
        prop_oneof![
            any::<String>(),
            proptest::sample::select(&MARKUP[..]).prop_map(str::to_owned)
        ]
        .prop_map(Odd::Text),
    ]
}

fn harm() -> impl Strategy<Value = (usize, Harm)> {
    let kind = prop_oneof![
        1 => Just(Harm::Gone),
        1 => Just(Harm::Doubled),
        1 => (0.0..1.0, any::<bool>()).prop_map(|(share, ended)| Harm::Torn(share, ended)),
        1 => any::<String>().prop_map(Harm::Foreign),
        6 => (any::<usize>(), odd()).prop_map(|(which, odd)| Harm::Changed(which, odd)),
        1 => any::<usize>().prop_map(Harm::Moved),
    ];
    // Most lines are windows; half of the harm is done to what stands before them.
    (prop_oneof![0..60_usize, any::<usize>()], kind)
}

/// Every value that is neither an object nor a list.
fn leaves<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Object(of) => of.values_mut().for_each(|value| leaves(value, found)),
        Value::Array(of) => of.iter_mut().for_each(|value| leaves(value, found)),
        leaf => found.push(leaf),
    }
}

fn changed(line: &str, which: usize, odd: &Odd) -> String {
    let Ok(mut record) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    let mut found = Vec::new();
    leaves(&mut record, &mut found);
    let place = which % found.len().max(1);
    if let Some(leaf) = found.into_iter().nth(place) {
        *leaf = odd.value();
    }
    record.to_string()
}

/// The bytes of a file to which all of that was done.
fn harmed(harms: &[(usize, Harm)]) -> Vec<u8> {
    let mut lines: Vec<String> = LINES.iter().map(|line| format!("{line}\n")).collect();
    for (at, harm) in harms {
        if lines.is_empty() {
            break;
        }
        let at = at % lines.len();
        match harm {
            Harm::Gone => drop(lines.remove(at)),
            Harm::Doubled => lines.insert(at, lines[at].clone()),
            Harm::Torn(share, ended) => {
                let line = &mut lines[at];
                let mut end = (line.len() as f64 * share) as usize;
                while !line.is_char_boundary(end) {
                    end -= 1;
                }
                line.truncate(end);
                if *ended {
                    line.push('\n');
                }
            }
            Harm::Foreign(text) => lines.insert(at, format!("{text}\n")),
            Harm::Changed(which, odd) => lines[at] = changed(&lines[at], *which, odd) + "\n",
            Harm::Moved(to) => {
                let line = lines.remove(at);
                lines.insert(to % (lines.len() + 1), line);
            }
        }
    }
    lines.concat().into_bytes()
}

/// Everything that is said of runs; what goes wrong is one sentence.
fn said(files: &[Vec<u8>]) -> Result<String, String> {
    let read = |bytes: &Vec<u8>| read_records(&bytes[..], Path::new("runs/some/records.jsonl"));
    let runs: Result<Vec<RunData>, _> = files.iter().map(read).collect();
    let runs = runs.map_err(|why| why.to_string())?;
    let all = machines(runs).map_err(|why| why.to_string())?;
    for machine in &all {
        let estimates = machine.estimates();
        rank_table(estimates, DEFAULT_WIDTH, Style::Plain);
        cmp_table(estimates, DEFAULT_WIDTH, Style::Plain);
        csv(estimates);
        bencher(estimates);
    }
    render_machines(&all).map_err(|why| why.to_string())
}

/// Whatever a record says stands in the page as text: nothing of ours has such a name, and there is one script.
fn is_clean(page: &str) -> bool {
    let hints = ["<b id=gotcha", "onclick='", "<![CDATA["];
    hints.iter().all(|hint| !page.contains(hint)) && page.matches("<script").count() == 1
}

fn check(files: &[Vec<u8>]) -> Result<(), TestCaseError> {
    match said(files) {
        Ok(page) => {
            prop_assert!(is_clean(&page), "markup of a record is in the page");
            prop_assert!(page.ends_with("</html>") || page.trim_end().ends_with("</html>"));
        }
        Err(why) => {
            prop_assert!(!why.trim().is_empty());
            prop_assert!(why.contains("runs/some"), "names no file: {why}");
            prop_assert_eq!(why.lines().count(), 1, "more than a sentence: {}", why);
        }
    }
    Ok(())
}

#[test]
fn lines_without_harm_are_a_page() {
    let page = said(&[harmed(&[])]).expect("the fixture is sound");
    assert!(is_clean(&page) && page.contains("<section id=history>"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn harmed_lines_are_a_page_or_one_clear_error(harms in prop::collection::vec(harm(), 1..6)) {
        check(&[harmed(&harms)])?;
    }

    #[test]
    fn two_harmed_runs_are_a_page_or_one_clear_error(
        one in prop::collection::vec(harm(), 0..4),
        other in prop::collection::vec(harm(), 1..4),
    ) {
        check(&[harmed(&one), harmed(&other)])?;
    }

    #[test]
    fn any_bytes_are_one_clear_error_or_a_page(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut after = harmed(&[]);
        after.truncate(LINES[0].len() + 1);
        after.extend(&bytes);
        check(&[bytes])?;
        check(&[after])?;
    }

    /// Every text of every record at once, none of which keeps a run from being read.
    #[test]
    fn no_text_of_any_record_becomes_markup(markup in proptest::sample::select(&MARKUP[..])) {
        let hostile = |line: &String| {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            soil(&mut record, markup, "");
            format!("{record}\n")
        };
        let lines: Vec<String> = LINES.iter().map(hostile).collect();
        let page = said(&[lines.concat().into_bytes()]);
        let page = page.map_err(|why| TestCaseError::fail(format!("no page: {why}")))?;
        prop_assert!(is_clean(&page), "markup of a record is in the page");
        prop_assert!(page.contains("gotcha"), "it is shown, as text");
    }
}

/// What a record says by one of a few words, or in another notation.
const WORDS: [&str; 14] = [
    "record",
    "origin",
    "verdict",
    "measure",
    "kind",
    "called",
    "claimed",
    "response",
    "service",
    "generator",
    "better",
    "holds",
    "started",
    "path",
];

/// Appends the markup to every text that may be any; where keys may be any, it is one.
fn soil(value: &mut Value, markup: &str, key: &str) {
    match value {
        Value::Object(of) => {
            of.iter_mut()
                .for_each(|(key, value)| soil(value, markup, key));
            if key == "params" {
                of.insert(markup.to_owned(), markup.into());
            }
        }
        Value::Array(of) => of.iter_mut().for_each(|value| soil(value, markup, key)),
        Value::String(text) if !WORDS.contains(&key) => text.push_str(markup),
        _ => {}
    }
}
