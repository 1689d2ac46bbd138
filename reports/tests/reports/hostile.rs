//! Any input lines give a page or one clear error: never a panic, never markup.

use std::path::Path;
use std::sync::LazyLock;

use flowmeter_records::{Better, RunData, read_records};
use flowmeter_reports::statistics::ESTIMATES_FILE;
use flowmeter_reports::{
    DEFAULT_WIDTH, Estimates, Style, Texts, bencher, cmp_table, csv, diff, diff_table, estimate,
    github_action_benchmark, machines, rank_table, render, render_machines, sighting_table,
    sightings,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{self, Shape, kinds};

/// Lines of every kind, of a valid run.
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

/// Texts that would be visible in the page if they were ever more than text.
const MARKUP: [&str; 6] = [
    "<b id=gotcha>",
    "\"><b id=gotcha>",
    "' onclick='gotcha",
    "</svg></script><b id=gotcha>",
    "&lt;b id=gotcha",
    "--><![CDATA[<b id=gotcha>]]>",
];

/// A valid run, and its estimates.
static SOUND: LazyLock<([RunData; 1], String)> = LazyLock::new(|| {
    let run = read_records(&harmed(&[])[..], Path::new("runs/some/records.jsonl"));
    let runs = [run.expect("the fixture is sound")];
    let sound = estimate(&runs).expect("the fixture is sound");
    (runs, serde_json::to_string(&sound).expect("plain data"))
});

/// A change of a line.
#[derive(Clone, Debug)]
enum Harm {
    /// Left out.
    Gone,
    /// Twice.
    Doubled,
    /// Cut off at that share of its length, with or without its line end.
    Torn(f64, bool),
    /// Replaced by a line of another program.
    Foreign(String),
    /// Another value at that index, among the values that are no objects or lists.
    Changed(usize, Odd),
    /// Moved to that place.
    Moved(usize),
}

/// An unexpected value.
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
    // Most lines are windows; half of the changes concern the lines before them.
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

/// The bytes of a file with all these changes.
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

/// All output about runs; an error is one sentence.
fn said(files: &[Vec<u8>]) -> Result<String, String> {
    let read = |bytes: &Vec<u8>| read_records(&bytes[..], Path::new("runs/some/records.jsonl"));
    let runs: Result<Vec<RunData>, _> = files.iter().map(read).collect();
    let runs = runs.map_err(|why| why.to_string())?;
    let all = machines(runs.clone()).map_err(|why| why.to_string())?;
    for machine in &all {
        tables(machine.estimates());
    }
    // Each call computes all estimates again, so one cell of each machine is enough.
    for cell in all
        .iter()
        .filter_map(|machine| machine.estimates().cells.first())
    {
        let seen = sightings(&runs, &cell.scenario, &cell.implementation);
        sighting_table(&seen.map_err(|why| why.to_string())?, DEFAULT_WIDTH);
    }
    if let [base, new] = &runs[..] {
        let diff = diff(&[base.clone(), new.clone()], 0.05).map_err(|why| why.to_string())?;
        diff_table(&diff, true, DEFAULT_WIDTH, Style::Plain);
    }
    render_machines(&all, &Texts::default()).map_err(|why| why.to_string())
}

/// All output about estimates beside the page.
fn tables(estimates: &Estimates) {
    rank_table(estimates, DEFAULT_WIDTH, Style::Plain);
    cmp_table(estimates, DEFAULT_WIDTH, Style::Plain);
    csv(estimates);
    bencher(estimates);
    for better in [Better::Higher, Better::Lower] {
        github_action_benchmark(estimates, better);
    }
}

/// Every text of a record is text in the page: no element of ours has such a name, there is one script, and no tag
/// has an attribute from a value.
fn is_clean(page: &str) -> bool {
    let hints = ["<b id=gotcha", "<![CDATA["];
    hints.iter().all(|hint| !page.contains(hint))
        && page.matches("<script").count() == 1
        && tags(page).all(|tag| !unquoted(tag).contains("onclick"))
}

/// The contents between `<` and `>`; in the script no `<` is followed by a letter.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    let begins = page.match_indices('<').map(|(at, _)| &page[at + 1..]);
    let begins = begins.filter(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()));
    begins.map(|tag| {
        let mut quoted = false;
        let end = tag.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        &tag[..end.unwrap_or(tag.len())]
    })
}

/// A tag without the values in double quotes, the only quotes of the page.
fn unquoted(tag: &str) -> String {
    tag.split('"').step_by(2).collect()
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

#[test]
fn an_attribute_without_quotes_would_be_seen() {
    let quoted = "<script></script><td title=\"' onclick='gotcha\">' onclick='gotcha<br>";
    assert!(is_clean(quoted));
    assert!(!is_clean(&quoted.replace('"', "")));
}

/// Every finite number has a position in every picture.
#[test]
fn values_at_the_ends_of_floating_point_are_drawn() {
    let odd = [f64::MAX, f64::MIN_POSITIVE, 5e-324];
    let cells: [fn(&Value) -> bool; 2] = [
        |_| true,
        |w| w["implementation"] == "mutex" && w["placebo"] != true,
    ];
    for (value, of) in odd
        .into_iter()
        .flat_map(|value| cells.map(|of| (value, of)))
    {
        let lines = LINES.iter().map(|line| {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            if record["record"] == "window" && of(&record) {
                record["value"] = value.into();
            }
            format!("{record}\n")
        });
        let page = said(&[lines.collect::<String>().into_bytes()]).expect("a page");
        assert!(is_clean(&page), "{value:e}");
        assert!(page.len() < 1_000_000, "{value:e}: {}", page.len());
    }
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

    /// Estimates are stored beside the records, so a harmful change can affect either.
    #[test]
    fn harmed_estimates_are_tables_and_a_page_or_one_clear_error(
        changes in prop::collection::vec((any::<usize>(), odd()), 1..6),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (runs, mut text) = SOUND.clone();
        for (which, odd) in &changes {
            text = changed(&text, *which, odd);
        }
        std::fs::write(folder.path().join(ESTIMATES_FILE), text).expect("a file");
        match Estimates::read(folder.path()) {
            Ok(estimates) => {
                tables(&estimates);
                match render(&runs, &estimates) {
                    Ok(page) => prop_assert!(is_clean(&page), "markup of estimates is in the page"),
                    Err(why) => prop_assert_eq!(why.to_string().lines().count(), 1),
                }
            }
            Err(why) => prop_assert_eq!(why.to_string().lines().count(), 1, "{}", why),
        }
    }
}

/// Every text of every record at once; none of them prevents reading the run.
#[test]
fn no_text_of_any_record_becomes_markup() {
    for markup in MARKUP {
        let hostile = |line: &String| {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            soil(&mut record, markup, "");
            format!("{record}\n")
        };
        let lines: Vec<String> = LINES.iter().map(hostile).collect();
        let page = said(&[lines.concat().into_bytes()]).expect("a page");
        assert!(is_clean(&page), "{markup} is in the page");
        assert!(page.contains("gotcha"), "{markup} is shown, as text");
    }
}

/// Fields with a fixed set of words, or in another notation.
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

/// Appends the markup to every free text; where keys are free, adds it as a key.
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
