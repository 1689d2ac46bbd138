//! Every property of our implementations in every world: the same statements on real threads, under loom, under
//! shuttle and in virtual time. There is one test for each implementation, property and world. A cell is proved as
//! `cargo flowmeter check` proves it, in a process of its own.

use std::process::ExitCode;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::sites::{Breakage, Kind};
use flowmeter_harness::sync::std::Std;
use flowmeter_impls::registry::All;
use flowmeter_records::Verdict;
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::descriptions::{Owed, claimed};
use flowmeter_suites::process;
use flowmeter_suites::proving::{Effort, prove, test};
use flowmeter_suites::sites::{Row, hunt, list};
use libtest_mimic::{Arguments, Failed, Trial};

const WORLDS: [&str; 4] = [Std::NAME, Shuttle::NAME, Sim::NAME, Loom::NAME];

fn main() -> ExitCode {
    // It already contains every model.
    process::serve_in(env!("CARGO_BIN_EXE_flowmeter"));
    let mut implementations = introduced(All);
    // `flowmeter check` also has the published crates; their faults must not fail our tests.
    implementations.retain(|it| it.origin == Origin::Own);
    let owed = claimed(&implementations, &WORLDS).unwrap_or_else(|why| panic!("{why}"));
    let open = owed
        .iter()
        .find(|cell| cell.world == Loom::NAME && cell.property.name == "c1-conservation");
    let open = open
        .expect("an implementation owes c1-conservation")
        .clone();
    let mut trials = vec![Trial::test(
        "verdict::an_exploration_that_loom_breaks_off_is_inconclusive",
        move || broken_off(&open),
    )];
    trials.extend([Shuttle::NAME, Loom::NAME].map(|world| {
        let of_condvar = |cell: &&Owed| cell.implementation == "condvar" && cell.world == world;
        let mut cells = owed.iter().filter(of_condvar);
        let cell = cells.find(|cell| cell.property.name == "c1-conservation");
        let cell = cell.expect("condvar owes c1-conservation").clone();
        let name = format!("sites::a_notification_that_condvar_drops_is_found_by_{world}");
        Trial::test(name, move || dropped_notifications_are_found(cell))
    }));
    trials.extend(owed.into_iter().map(|cell| {
        let Owed {
            implementation,
            property,
            world,
            ..
        } = cell;
        let name = format!("{world}::{implementation}::{}", property.name);
        Trial::test(name, move || Ok(test(&cell)?))
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A space of more than ten executions, of which ten are explored.
fn broken_off(cell: &Owed) -> Result<(), Failed> {
    let ten = Effort {
        executions: 10,
        ..Effort::of_test(Loom::NAME)
    };
    let proof = prove(cell, ten);
    match (proof.verdict, proof.complete) {
        (Verdict::Inconclusive, false) => Ok(()),
        other => Err(format!("{other:?} after {} executions", proof.executions).into()),
    }
}

/// Every notification of a put or a take of `condvar` is needed, and each is broken by its line. That of a poll is not:
/// the property polls an unbounded channel alone, where no put waits for room.
fn dropped_notifications_are_found(cell: Owed) -> Result<(), Failed> {
    let mut passage = list(cell, Effort::EXPLORE)?;
    passage.sites.retain(|site| site.kind == Kind::NotifyOne);
    let mut rows: Vec<Row> = Vec::new();
    hunt(&[passage], Effort::of_test, |row| rows.push(row));
    let mut found = 0;
    for row in &rows {
        let of_condvar = row.site.file == "impls/src/channel/condvar.rs";
        match (row.breakage, row.outcome()) {
            (Some(Breakage::Dropped), "killed") if of_condvar => found += 1,
            (_, "survived") if of_condvar => {}
            (_, outcome) => return Err(format!("{outcome}: {row:?}").into()),
        }
    }
    // One of a put, one of a take and one of a poll, each broken in two ways.
    match (rows.len(), found) {
        (6, 2) => Ok(()),
        _ => Err(format!("{found} found: {rows:?}").into()),
    }
}
