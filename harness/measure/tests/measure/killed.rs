//! A run that is killed leaves no process behind; resumed, it has lost nothing and measured nothing twice.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use flowmeter_measure::budget::Budget;
use flowmeter_measure::{Event, Plan, Silent, resume, run};
use flowmeter_records::{Record, RunData};

use crate::field::{Ground, assert_whole, entries, only_failure, plan, spawn};
use crate::{tests, this_program_as};

tests![
    a_killed_run_is_resumed_without_loss_or_doubling,
    killing_while_a_implementation_hangs_leaves_no_orphan,
    killing_while_a_implementation_spins_leaves_no_orphan,
    a_run_cut_off_at_any_byte_can_be_resumed,
    a_failure_in_an_unfinished_round_stays,
    a_resumed_run_may_be_resumed_again,
    a_resumed_run_has_what_is_left_of_its_budget,
];

const FOLDER: &str = "FLOWMETER_TEST_FOLDER";
const NAMES: &str = "FLOWMETER_TEST_NAMES";
const SCENARIOS: &[&str] = &["x/one", "x/two"];
/// A time limit that no step of these tests reaches.
const PATIENCE: Duration = Duration::from_secs(60);

fn plan_of(ground: &Path, names: &str) -> Plan {
    let names: Vec<&str> = names.split(',').collect();
    plan(ground, SCENARIOS, &entries(&names))
}

/// The parent that will be killed: it prints a line after every written record.
pub fn parent() -> ExitCode {
    let ground = PathBuf::from(std::env::var_os(FOLDER).expect("the test names a folder"));
    let names = std::env::var(NAMES).expect("the test names implementations");
    let mut say = |event: &Event<'_>| match event {
        Event::Window { .. } => println!("window"),
        Event::Failure { .. } => println!("failure"),
        Event::Round { .. } => println!("round"),
        _ => {}
    };
    run(
        &plan_of(&ground, &names),
        &ground.join("run"),
        spawn,
        &mut say,
    )
    .expect("it is measured");
    ExitCode::SUCCESS
}

struct Victim {
    process: Child,
    said: Box<dyn Iterator<Item = String>>,
}

fn start(ground: &Ground, names: &str) -> Victim {
    let mut process = this_program_as("parent")
        .env(FOLDER, ground.path())
        .env(NAMES, names)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be executed");
    let output = process.stdout.take().expect("piped above");
    let said = Box::new(BufReader::new(output).lines().map_while(Result::ok));
    Victim { process, said }
}

impl Victim {
    fn kill_after(mut self, line: &str, times: usize) {
        let heard = self.said.by_ref().filter(|said| said == line).take(times);
        assert_eq!(heard.count(), times, "it went on for so long");
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it has ended");
    }
}

/// Waits until no implementation is alive. Each holds a lock while it lives.
fn assert_no_orphans(ground: &Ground) {
    let alive = File::open(ground.path().join("alive")).unwrap();
    let (told, all_gone) = mpsc::channel();
    std::thread::spawn(move || {
        alive.lock().unwrap();
        let _ = told.send(());
    });
    all_gone
        .recv_timeout(PATIENCE)
        .expect("every implementation has ended");
    // An implementation that was killed during its turn could not remove this file.
    let _ = fs::remove_file(ground.path().join("turn"));
}

/// The windows of complete rounds, as they stand in the file.
fn settled(ground: &Ground) -> HashSet<String> {
    let lines = ground.lines();
    let records: Vec<Record> = lines
        .iter()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let mut rounds = HashSet::new();
    for record in &records {
        if let Record::Round(r) = record {
            rounds.insert((r.scenario.clone(), r.fork, r.round));
        }
    }
    let settled = lines
        .iter()
        .zip(&records)
        .filter(|(_, record)| match record {
            Record::Window(w) => rounds.contains(&(w.scenario.clone(), w.fork, w.round)),
            _ => false,
        });
    settled.map(|(line, _)| line.clone()).collect()
}

fn resumed(ground: &Ground, plan: &Plan) -> RunData {
    resume(plan, &ground.run_folder(), spawn, &mut Silent)
        .expect("it can be resumed")
        .expect("there is something to do");
    ground.read()
}

/// No fork continues after the cut: all its windows are from before the cut or all from after it.
fn assert_new_forks(before: &HashSet<String>, data: &RunData) {
    let key = |record: &Record| match record {
        Record::Window(w) => (w.scenario.clone(), w.fork),
        _ => unreachable!("only windows are settled"),
    };
    let parsed = |line: &String| serde_json::from_str::<Record>(line).unwrap();
    let old: HashSet<_> = before.iter().map(|line| key(&parsed(line))).collect();
    for window in &data.windows {
        let record = Record::Window(window.clone());
        let line = serde_json::to_string(&record).unwrap() + "\n";
        assert_eq!(
            old.contains(&key(&record)),
            before.contains(&line),
            "{line}"
        );
    }
}

fn a_killed_run_is_resumed_without_loss_or_doubling() {
    // A scenario has 18 windows. The cuts: before any window, amid a round, at the end of a round, amid the second
    // fork, and in the second scenario.
    for windows in [0, 1, 3, 5, 9, 14, 18, 23] {
        let ground = Ground::new();
        let names = "ant,bee,cat";
        match windows {
            0 => start(&ground, names).kill_after("round", 1),
            _ => start(&ground, names).kill_after("window", windows),
        }
        assert_no_orphans(&ground);
        let before = settled(&ground);
        assert!(
            before.len() + 3 >= windows,
            "what it said was measured is on record"
        );
        let plan = plan_of(ground.path(), names);
        let data = resumed(&ground, &plan);
        assert_whole(&data, &plan);
        let after = settled(&ground);
        assert!(before.is_subset(&after), "nothing was lost");
        assert_new_forks(&before, &data);
        let again = resume(&plan, &ground.run_folder(), spawn, &mut Silent);
        assert_eq!(again.unwrap(), None, "then there is nothing left to do");
    }
}

fn killing_while_a_implementation_hangs_leaves_no_orphan() {
    let ground = Ground::new();
    start(&ground, "hangs").kill_after("round", 1);
    assert_no_orphans(&ground);
}

fn killing_while_a_implementation_spins_leaves_no_orphan() {
    let ground = Ground::new();
    start(&ground, "spins").kill_after("round", 1);
    assert_no_orphans(&ground);
}

fn a_run_cut_off_at_any_byte_can_be_resumed() {
    let whole = Ground::new();
    let plan = plan_of(whole.path(), "ant,bee");
    run(&plan, &whole.run_folder(), spawn, &mut Silent).unwrap();
    let bytes = fs::read(whole.records()).unwrap();
    let cuts = (0..bytes.len() - 1).step_by(bytes.len() / 13);
    for cut in cuts.chain([bytes.len() - 1]) {
        let ground = Ground::new();
        let plan = plan_of(ground.path(), "ant,bee");
        fs::create_dir(ground.run_folder()).unwrap();
        fs::write(ground.records(), &bytes[..cut]).unwrap();
        let before = settled(&ground);
        let data = resumed(&ground, &plan);
        assert_whole(&data, &plan);
        assert!(
            before.is_subset(&settled(&ground)),
            "cut at {cut}: nothing was lost"
        );
    }
}

fn a_failure_in_an_unfinished_round_stays() {
    let ground = Ground::new();
    // Killed right after the first failure, with that round unfinished.
    start(&ground, "lies,ant,bee,cat").kill_after("failure", 1);
    assert_no_orphans(&ground);
    let plan = plan_of(ground.path(), "lies,ant,bee,cat");
    let cut = ground.lines();
    let line = cut
        .iter()
        .find(|l| l.contains("\"failure\""))
        .expect("it was recorded");
    let mut data = resumed(&ground, &plan);
    assert!(ground.lines().contains(line), "as it stood");
    data.failures.retain(|f| f.scenario == "x/one");
    only_failure(&data, "lies");
    assert_eq!(data.windows.len(), 2 * 6 * 3);
}

fn a_resumed_run_may_be_resumed_again() {
    let ground = Ground::new();
    let names = "ant,bee";
    let plan = plan_of(ground.path(), names);
    start(&ground, names).kill_after("window", 5);
    assert_no_orphans(&ground);
    // The second part has failed to its end too. Its last three and a half lines are removed.
    resumed(&ground, &plan);
    let first = settled(&ground);
    let lines = ground.lines();
    let mut cut = lines[..lines.len() - 4].concat();
    cut.push_str(&lines[lines.len() - 4][..20]);
    fs::write(ground.records(), cut).unwrap();
    let second = settled(&ground);
    let data = resumed(&ground, &plan);
    assert_whole(&data, &plan);
    assert!(second.is_subset(&first) && second.is_subset(&settled(&ground)));
}

fn a_resumed_run_has_what_is_left_of_its_budget() {
    let ground = Ground::new();
    let mut plan = plan_of(ground.path(), "ant");
    // The fakes claim some 8 s for each of 12 windows without spending them.
    plan.budget = Some(Budget {
        total: Duration::from_secs(100),
        longest_window: Duration::from_secs(60),
    });
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let lines = ground.lines();
    let first =
        |line: &String| line.contains("\"round\":5") && line.contains("\"record\":\"round\"");
    let end = lines
        .iter()
        .position(first)
        .expect("the first scenario ends");
    fs::write(ground.records(), lines[..=end].concat()).unwrap();
    let data = resumed(&ground, &plan);
    assert_whole(&data, &plan);
    let seconds = |w: &flowmeter_records::Window| w.nanos / 1_000_000_000;
    let last = data.windows.last().expect("it was measured");
    assert!((5..10).contains(&seconds(last)), "{last:?}");
}
