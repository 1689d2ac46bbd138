//! SEMANTICS.md against the code: no property without a statement, no table row without its property.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use flowmeter_harness::caps::{Capability, Claim};
use flowmeter_harness::registry::{Registry, Visitor, own};
use flowmeter_harness::sync::panic_text;
use flowmeter_harness::sync::std::Std;
use flowmeter_impls::channel::mutex::MutexChannels;
use flowmeter_impls::channel::ordered_locks::OrderedLocks;
use flowmeter_impls::timer::heap::DaryHeap;
use flowmeter_impls::timer::service::TimerService;
use flowmeter_suites::properties::{Checks, PROPERTIES};

/// How many statements each letter has, counted from 1.
const STATEMENTS: [(char, usize); 8] = [
    ('C', 15),
    ('B', 4),
    ('A', 9),
    ('T', 9),
    ('P', 8),
    ('L', 4),
    ('G', 5),
    ('M', 15),
];

/// Letters with statements that implementations owe, which are therefore in the table.
const OWED: [char; 8] = ['C', 'B', 'A', 'T', 'P', 'L', 'G', 'M'];

fn text() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let path = root
        .expect("suites is in the workspace")
        .join("SEMANTICS.md");
    fs::read_to_string(path).expect("SEMANTICS.md stands beside the rooms")
}

/// Ids of the statements in order: list items that begin with an id in bold.
fn statements(text: &str) -> Vec<&str> {
    let items = text.lines().filter_map(|line| line.strip_prefix("- **"));
    items
        .map(|item| item.split_once("**").expect("bold text ends").0)
        .collect()
}

/// A row of the table.
struct Row<'a> {
    kind: &'a str,
    /// Names in backticks of the column of capabilities and claims.
    owed_by: Vec<&'a str>,
    /// Names in backticks of the column of properties.
    properties: Vec<&'a str>,
}

/// Rows by id.
fn table(text: &str) -> BTreeMap<&str, Row<'_>> {
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, id, kind, owed_by, properties, _, _] = cells[..] else {
            continue;
        };
        if !is_id(id) {
            continue;
        }
        let row = Row {
            kind,
            owed_by: in_backticks(owed_by),
            properties: in_backticks(properties),
        };
        assert!(rows.insert(id, row).is_none(), "{id} has two rows");
    }
    rows
}

/// A letter and a number.
fn is_id(cell: &str) -> bool {
    let mut characters = cell.chars();
    let letter = characters.next().is_some_and(|c| c.is_ascii_uppercase());
    letter && characters.as_str().parse::<usize>().is_ok()
}

fn in_backticks(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The statement of a property: `c1-conservation` checks C1.
fn id_of(property: &str) -> String {
    let prefix = property.split('-').next().expect("a name has a first part");
    prefix.to_ascii_uppercase()
}

#[test]
fn every_id_is_stated_once_and_in_order() {
    let expected: Vec<String> = STATEMENTS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")))
        .collect();
    assert_eq!(statements(&text()), expected);
}

#[test]
fn the_table_has_a_row_for_each_statement_that_is_owed() {
    let text = text();
    let stated: BTreeSet<&str> = statements(&text)
        .into_iter()
        .filter(|id| id.starts_with(OWED))
        .collect();
    let rows: BTreeSet<&str> = table(&text).into_keys().collect();
    assert_eq!(rows, stated);
}

#[test]
fn every_property_stands_in_the_row_of_its_statement() {
    let text = text();
    let table = table(&text);
    for property in PROPERTIES {
        let id = id_of(property.name);
        let row = table.get(id.as_str());
        let row = row.unwrap_or_else(|| panic!("{} holds {id}, which has no row", property.name));
        assert!(
            row.properties.contains(&property.name),
            "the row of {id} does not name {}",
            property.name
        );
    }
}

#[test]
fn every_property_that_the_table_names_exists() {
    let names: BTreeSet<&str> = PROPERTIES.iter().map(|property| property.name).collect();
    for (id, row) in table(&text()) {
        for named in row.properties {
            assert!(names.contains(named), "the row of {id} names {named}");
        }
    }
}

#[test]
fn every_owner_of_a_statement_is_a_capability_or_a_claim() {
    let capabilities = Capability::ALL.iter().map(|capability| capability.name());
    let claims = Claim::ALL.iter().map(|claim| claim.name());
    let names: BTreeSet<&str> = capabilities.chain(claims).collect();
    for (id, row) in table(&text()) {
        for named in row.owed_by {
            assert!(names.contains(named), "the row of {id} names {named}");
        }
    }
}

#[test]
fn every_kind_is_one_of_four() {
    for (id, row) in table(&text()) {
        let known = ["property", "compile-fail", "measured", "documentation"];
        assert!(
            known.contains(&row.kind),
            "{id} is of the kind {}",
            row.kind
        );
    }
}

#[derive(Clone, Copy)]
struct TimeoutsOverTwo;

impl Registry for TimeoutsOverTwo {
    fn timers<V: Visitor>(self, visitor: &mut V) {
        let timer = own::<TimerService<DaryHeap>, _>(visitor, "two").timer();
        let timer = timer.timeouts::<MutexChannels>();
        timer.timeouts::<OrderedLocks>().enter();
    }
}

/// The tables of a timer have room for one.
#[test]
fn timeouts_over_a_second_family_of_channels_are_refused() {
    let checks = catch_unwind(|| Checks::of::<Std>(TimeoutsOverTwo));
    let refused = panic_text(&*checks.expect_err("the first would not be checked"));
    assert!(refused.contains("one family of channels"), "{refused}");
}
