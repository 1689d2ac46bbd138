//! Implementations that hang, abort, panic or lose values, through the whole command. Each becomes a row that says so
//! and has no number, and the rest finishes.
//!
//! This program is the command over a registry of such implementations, the process of the cells that hang, and the
//! test that runs both. An environment variable selects the command, and the processes of the implementations inherit
//! it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::env;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor, mutant};
use flowmeter_impls::registry::All;
use flowmeter_models as _;
use flowmeter_records::{FailureKind, Proof, Verdict, read_run};
use flowmeter_suites::cli;
use flowmeter_suites::isolation::{self, Model};
use flowmeter_suites::process;

#[path = "hostile/foreign.rs"]
mod foreign;
#[path = "hostile/hung.rs"]
mod hung;

/// A bounded queue behind one lock; `FAULT` selects its fault.
struct Queue<const FAULT: u8>;

/// Opening a channel panics, ends the process, or never returns.
const PANICS_AT_OPEN: u8 = 6;
const ABORTS_AT_OPEN: u8 = 7;
const HANGS_AT_OPEN: u8 = 8;

const NONE: u8 = 0;
/// The third value and those after it overtake others, so that the quick proof sees it.
const REORDERS: u8 = 1;
/// A put never returns.
const HANGS: u8 = 2;
/// A put panics.
const PANICS: u8 = 3;
/// A put ends the process.
const ABORTS: u8 = 4;
/// A value is lost, once it is late enough.
const LOSES: u8 = 5;

const EARLY: u64 = 3;
/// More than any proof puts into one channel, and less than a window does.
const LATE: u64 = 6_000;

struct Handle<T>(Arc<Shared<T>>);

struct Shared<T> {
    room: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    values: VecDeque<T>,
    puts: u64,
}

impl<const FAULT: u8> Queue<FAULT> {
    fn try_put<T: Message>(handle: &Handle<T>, value: T) -> Result<(), T> {
        let shared = &*handle.0;
        let mut state = shared
            .state
            .lock()
            .expect("no thread panics while it holds the lock");
        if state.values.len() >= shared.room {
            return Err(value);
        }
        state.puts += 1;
        let puts = state.puts;
        match FAULT {
            REORDERS if puts >= EARLY => state.values.push_front(value),
            LOSES if puts == LATE => drop(value),
            _ => state.values.push_back(value),
        }
        drop(state);
        shared.changed.notify_all();
        match FAULT {
            HANGS if puts == LATE => loop {
                thread::park();
            },
            PANICS if puts == LATE => panic!("the six thousandth value"),
            ABORTS if puts == LATE => std::process::abort(),
            _ => Ok(()),
        }
    }

    fn wait_while<T: Message>(handle: &Handle<T>, unable: impl Fn(usize) -> bool) {
        let shared = &*handle.0;
        let state = shared
            .state
            .lock()
            .expect("no thread panics while it holds the lock");
        let waited = shared.changed.wait_while(state, |s| unable(s.values.len()));
        drop(waited.expect("no thread panics while it holds the lock"));
    }
}

impl<const FAULT: u8> Channels for Queue<FAULT> {
    type Tx<T: Message> = Handle<T>;
    type Rx<T: Message> = Handle<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Handle<T>, Handle<T>)> {
        match FAULT {
            PANICS_AT_OPEN => panic!("no channel today"),
            ABORTS_AT_OPEN => std::process::abort(),
            HANGS_AT_OPEN => loop {
                thread::park();
            },
            _ => {}
        }
        let Buffer::Fixed(capacity) = buffer else {
            return None;
        };
        let shared = Arc::new(Shared {
            room: capacity.get(),
            state: Mutex::new(State {
                values: VecDeque::new(),
                puts: 0,
            }),
            changed: Condvar::new(),
        });
        Some((Handle(shared.clone()), Handle(shared)))
    }

    fn offer<T: Message>(tx: &mut Handle<T>, value: T) -> Offered<T> {
        match Self::try_put(tx, value) {
            Ok(()) => Offered::Done,
            Err(value) => Offered::WouldWait(value),
        }
    }

    fn poll<T: Message>(rx: &mut Handle<T>) -> Polled<T> {
        let taken =
            rx.0.state
                .lock()
                .expect("no thread panics while it holds the lock")
                .values
                .pop_front();
        rx.0.changed.notify_all();
        taken.map_or(Polled::WouldWait, Polled::Done)
    }
}

impl<const FAULT: u8> Blocking for Queue<FAULT> {
    fn put<T: Message>(tx: &mut Handle<T>, mut value: T) -> Result<(), PutError<T>> {
        while let Err(back) = Self::try_put(tx, value) {
            value = back;
            let room = tx.0.room;
            Self::wait_while(tx, |length| length >= room);
        }
        Ok(())
    }

    fn take<T: Message>(rx: &mut Handle<T>) -> Result<T, TakeError> {
        loop {
            match Self::poll(rx) {
                Polled::Done(value) => return Ok(value),
                _ => Self::wait_while(rx, |length| length == 0),
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Hostile;

impl Registry for Hostile {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        mutant::<Queue<NONE>, _>(visitor, "sound")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<REORDERS>, _>(visitor, "reorders")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<HANGS>, _>(visitor, "hangs")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<PANICS>, _>(visitor, "panics")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<ABORTS>, _>(visitor, "aborts")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<LOSES>, _>(visitor, "loses")
            .channel()
            .blocking()
            .enter();
    }
}

/// Implementations that cannot even be asked about their capabilities, beside one that can.
#[derive(Clone, Copy)]
struct Unaskable;

impl Registry for Unaskable {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        mutant::<Queue<PANICS_AT_OPEN>, _>(visitor, "panics")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<ABORTS_AT_OPEN>, _>(visitor, "aborts")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<HANGS_AT_OPEN>, _>(visitor, "hangs")
            .channel()
            .blocking()
            .enter();
        mutant::<Queue<NONE>, _>(visitor, "sound")
            .channel()
            .blocking()
            .enter();
    }
}

impl AsyncRegistry for Unaskable {
    type Sleep = <All as AsyncRegistry>::Sleep;
    type Executor = <All as AsyncRegistry>::Executor;
}

impl AsyncRegistry for Hostile {
    type Executor = <All as AsyncRegistry>::Executor;
    type Sleep = <All as AsyncRegistry>::Sleep;
}

/// Selects the implementations over which this program is the command.
const AS_COMMAND: &str = "FLOWMETER_TEST_AS_COMMAND";
const HOSTILE: &str = "hostile";
const UNASKABLE: &str = "unaskable";

fn main() -> ExitCode {
    match env::var(AS_COMMAND).as_deref() {
        Ok(HOSTILE) => return cli::main(Hostile),
        Ok(_) => return cli::main(Unaskable),
        Err(_) => {}
    }
    if let Some(code) = process::serve_if_asked(&hung::worlds()) {
        return code;
    }
    let model = |name, check: fn()| {
        Model::new(name, move || {
            check();
            Ok(String::new())
        })
    };
    let mut models = hung::models();
    models.extend([
        model(
            "a_failure_is_a_row_without_a_number_and_the_rest_finishes",
            rows_of_failures,
        ),
        model(
            "an_implementation_that_cannot_be_asked_has_a_row_and_the_rest_finishes",
            rows_of_the_unaskable,
        ),
        model(
            "a_program_of_another_language_that_fails_is_a_row_and_the_run_goes_on",
            foreign::rows_of_failures,
        ),
    ]);
    isolation::main_of_waiting(models)
}

fn command(folder: &Path, registry: &str, code: i32, arguments: &[&str]) -> String {
    let answered = Command::new(env::current_exe().expect("this program is known"))
        .args(arguments)
        .env(AS_COMMAND, registry)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("this program can be executed");
    let errors = String::from_utf8_lossy(&answered.stderr);
    let ended = answered.status.code();
    assert_eq!(ended, Some(code), "{arguments:?}: {errors}");
    String::from_utf8(answered.stdout).expect("it writes text")
}

fn rows_of_the_unaskable() {
    let ground = tempfile::tempdir().expect("there is a place for temporary files");
    let command = |code, arguments: &[&str]| command(ground.path(), UNASKABLE, code, arguments);
    // In parallel: each waits until one of them is known to hang.
    let [listed, checked] = thread::scope(|scope| {
        let listed = scope.spawn(|| command(0, &["list", "--format", "json"]));
        let checked = ["check", "-p", "^c3-capacity$", "--format", "json"];
        let checked = scope.spawn(move || command(1, &checked));
        let scenario = "^channels/spsc-64$";
        command(0, &["measure", "--quick", "-s", scenario, "-o", "run"]);
        [listed, checked].map(|written| written.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });

    let names = BTreeSet::from(["aborts", "hangs", "panics"]);
    for name in names.iter().chain(&["sound"]) {
        assert!(listed.contains(&format!("\"{name}\"")), "{listed}");
    }

    for line in checked.lines() {
        let proof: Proof = serde_json::from_str(line).expect("a line is a proof");
        let detail = proof.detail.unwrap_or_default();
        match proof.implementation.as_str() {
            "sound" => assert_eq!(proof.verdict, Verdict::Pass, "{detail}"),
            name => {
                assert_eq!(proof.verdict, Verdict::Error, "{name}: {detail}");
                assert!(detail.contains("cannot be asked what it has"), "{detail}");
                let why = match name {
                    "panics" => "no channel today",
                    "aborts" => "signal: 6",
                    _ => "no answer within",
                };
                assert!(detail.contains(why), "{name}: {detail}");
            }
        }
    }
    assert_eq!(checked.lines().count(), 4);

    let run = read_run(&ground.path().join("run")).expect("it is a run");
    assert!(run.end.is_some(), "the rest finishes");
    let failed = run.failures.iter();
    let failed: BTreeMap<&str, FailureKind> = failed
        .map(|failure| (failure.implementation.as_str(), failure.kind))
        .collect();
    let expected = names.iter().map(|name| (*name, FailureKind::Proof));
    assert_eq!(failed, expected.collect(), "{:?}", run.failures);
    let mut windows = run.windows.iter();
    assert!(windows.any(|window| window.implementation == "sound"));
}

fn rows_of_failures() {
    let ground = tempfile::tempdir().expect("there is a place for temporary files");
    let measure = [
        "measure",
        "--quick",
        "-s",
        "^channels/spsc-64$",
        "-o",
        "run",
    ];
    let command = |arguments: &[&str]| command(ground.path(), HOSTILE, 0, arguments);
    command(&measure);
    let run = read_run(&ground.path().join("run")).expect("it is a run");
    assert!(run.end.is_some(), "the rest finishes");

    let failed = run.failures.iter().filter(|failure| !failure.placebo);
    let kinds: BTreeMap<&str, FailureKind> = failed
        .map(|failure| (failure.implementation.as_str(), failure.kind))
        .collect();
    let expected = BTreeMap::from([
        ("aborts", FailureKind::Crash),
        ("reorders", FailureKind::Proof),
        ("hangs", FailureKind::Hang),
        ("loses", FailureKind::Count),
        ("panics", FailureKind::Panic),
    ]);
    assert_eq!(kinds, expected, "{:?}", run.failures);
    let sound = run
        .windows
        .iter()
        .filter(|w| w.implementation == "sound" && !w.placebo);
    assert_eq!(sound.count(), 5, "one window in each round");

    let compared = command(&["cmp", "run", "--format", "json"]);
    let table = command(&["cmp", "run"]);
    let ranked = command(&["rank", "run", "--format", "json"]);
    command(&["report", "run"]);
    let page = std::fs::read_to_string(ground.path().join("run/report.html")).expect("written");
    assert_eq!(compared.lines().count(), 6);
    for line in compared.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let name = row["implementation"].as_str().expect("it has a name");
        assert_eq!(row["median"].is_null(), kinds.contains_key(name), "{row}");
        assert_eq!(row["error"].is_string(), kinds.contains_key(name), "{row}");
    }
    assert_eq!(ranked.lines().count(), 1, "{ranked}");
    for failure in run.failures.iter().filter(|failure| !failure.placebo) {
        assert!(table.contains(&failure.implementation), "{table}");
        assert!(
            page.contains(&failure.implementation),
            "{}",
            failure.implementation
        );
    }
    // Text in place of the numbers. The proof of `reorders` fails at its order.
    for words in [
        "proof failed: ",
        "hung: no answer within",
        "wrong count: ",
        "panicked: it panicked: the six thousandth value",
    ] {
        assert!(page.contains(words), "{words}");
        assert!(table.contains(&words[..12]), "{words}: {table}");
    }
}
