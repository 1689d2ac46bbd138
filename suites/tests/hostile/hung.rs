//! A cell without an answer is repeated alone, twice, before it counts as hung. One that crashes has failed.
//!
//! The number of attempts at an implementation is kept in files of the current folder, which the processes of its cells
//! inherit.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor, mutant};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_impls::channel::mutex::MutexChannels;
use flowmeter_impls::registry::All;
use flowmeter_records::{Proof, Verdict};
use flowmeter_suites::descriptions::{Due, Owed};
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::PROPERTIES;
use flowmeter_suites::proving::{Effort, prove};
use flowmeter_suites::worlds::Worlds;
use tempfile::TempDir;

/// A channel of ours with a fault in its first offer.
struct Spoiled<const FAULT: u8>;

const NONE: u8 = 0;
/// Each attempt hangs.
const ALWAYS: u8 = 1;
/// The first attempt hangs.
const ONCE: u8 = 2;
/// The first attempt hangs, and the next ones lose a value.
const LOSES: u8 = 3;
/// The first attempt hangs, and the next ones abort.
const HANGS_THEN_ABORTS: u8 = 4;
/// Each attempt aborts.
const ABORTS: u8 = 5;
/// The first attempt hangs. The next ones look for other cells, and fail where they find one.
const LOOKS: u8 = 6;

/// The file in which correct cells record that they run.
const LOG: &str = "log";
/// Longer than a cell takes to start.
const A_WHILE: Duration = Duration::from_millis(1_500);

/// How many processes attempted that implementation before this one.
fn attempts_before<const FAULT: u8>() -> usize {
    let attempt = |n: &usize| File::create_new(format!("{FAULT}-{n}")).is_ok();
    (0..).find(attempt).expect("there is always a next")
}

fn lines() -> usize {
    fs::read_to_string(LOG).map_or(0, |text| text.lines().count())
}

/// In the first offer of a process; returns whether its value is lost.
fn spoils<const FAULT: u8>() -> bool {
    match (FAULT, attempts_before::<FAULT>()) {
        (ALWAYS, _) | (ONCE | LOSES | HANGS_THEN_ABORTS | LOOKS, 0) => loop {
            thread::park();
        },
        (HANGS_THEN_ABORTS | ABORTS, _) => std::process::abort(),
        (LOSES, _) => true,
        (LOOKS, _) => {
            let (before, began) = (lines(), Instant::now());
            while began.elapsed() < A_WHILE {
                assert_eq!(lines(), before, "another cell runs beside");
                thread::yield_now();
            }
            false
        }
        _ => {
            let log = OpenOptions::new().create(true).append(true).open(LOG);
            let written = log.and_then(|mut log| writeln!(log, "runs"));
            written.expect("the folder can be written");
            false
        }
    }
}

type Inner = MutexChannels;

impl<const FAULT: u8> Channels for Spoiled<FAULT> {
    type Tx<T: Message> = <Inner as Channels>::Tx<T>;
    type Rx<T: Message> = <Inner as Channels>::Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        Inner::open(buffer)
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        static SPOILED: OnceLock<()> = OnceLock::new();
        let mut lost = false;
        SPOILED.get_or_init(|| lost = spoils::<FAULT>());
        if lost {
            return Offered::Done;
        }
        Inner::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        Inner::poll(rx)
    }
}

impl<const FAULT: u8> Blocking for Spoiled<FAULT> {
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        Inner::put(tx, value)
    }

    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        Inner::take(rx)
    }
}

#[derive(Clone, Copy)]
struct Spoiling;

impl Registry for Spoiling {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        fn enter<const FAULT: u8>(visitor: &mut impl Visitor, name: &'static str) {
            mutant::<Spoiled<FAULT>, _>(visitor, name)
                .channel()
                .blocking()
                .enter();
        }
        enter::<NONE>(visitor, "sound");
        enter::<ALWAYS>(visitor, "always");
        enter::<ONCE>(visitor, "once");
        enter::<LOSES>(visitor, "loses");
        enter::<HANGS_THEN_ABORTS>(visitor, "hangs-then-aborts");
        enter::<ABORTS>(visitor, "aborts");
        enter::<LOOKS>(visitor, "looks");
    }
}

impl AsyncRegistry for Spoiling {
    type Executor = <All as AsyncRegistry>::Executor;
    type Sleep = <All as AsyncRegistry>::Sleep;
}

/// The other worlds explore the same implementations. Their faults are outside of any world.
pub fn worlds() -> Worlds {
    Worlds::of(Spoiling)
        .with::<Shuttle>(Spoiling)
        .with::<Loom>(Spoiling)
        .with::<Sim>(Spoiling)
}

pub fn models() -> Vec<Model> {
    let model = |name, check: fn()| {
        Model::new(name, move || {
            check();
            Ok(String::new())
        })
        .within(Duration::from_secs(120))
    };
    vec![
        model("a_cell_that_hangs_three_times_has_hung", always),
        model("a_hang_is_confirmed_under_shuttle", || {
            always_under(Shuttle::NAME)
        }),
        model("a_hang_is_confirmed_under_loom", || {
            always_under(Loom::NAME)
        }),
        model("a_hang_is_confirmed_under_sim", || always_under(Sim::NAME)),
        model("a_cell_that_holds_twice_alone_passes_with_a_note", once),
        model("a_failure_of_a_repetition_decides", loses),
        model("an_abort_is_a_failure_with_its_signal_and_case", aborts),
        model("no_cell_runs_beside_one_that_is_repeated", alone),
    ]
}

/// An empty folder, which is the current folder of this process and its children.
fn ground() -> TempDir {
    let ground = tempfile::tempdir().expect("there is a place for temporary files");
    env::set_current_dir(ground.path()).expect("it is there");
    ground
}

/// The cell of an implementation in a folder of its own, and how often it was attempted.
fn attempted(name: &'static str, fault: u8) -> (Proof, usize) {
    attempted_under(Std::NAME, name, fault)
}

fn attempted_under(world: &'static str, name: &'static str, fault: u8) -> (Proof, usize) {
    let ground = ground();
    let proof = proved_under(world, name);
    let files = fs::read_dir(ground.path()).expect("the folder is there");
    let of_it = files.filter(|file| {
        let file = file.as_ref().expect("the folder can be read").file_name();
        file.to_string_lossy().starts_with(&format!("{fault}-"))
    });
    (proof, of_it.count())
}

fn proved(name: &'static str) -> Proof {
    proved_under(Std::NAME, name)
}

fn proved_under(world: &'static str, name: &'static str) -> Proof {
    let mut properties = PROPERTIES.iter();
    let property = properties.find(|property| property.name == "c3-capacity");
    let cell = Owed {
        implementation: name,
        property: property.expect("it is a property"),
        world,
        due: Due::Owed,
    };
    let effort = Effort {
        executions: 1,
        time: Duration::from_millis(100),
        grace: Duration::from_secs(4),
        ..Effort::CHECK
    };
    prove(&cell, effort)
}

fn always() {
    always_under(Std::NAME);
}

fn always_under(world: &'static str) {
    let (proof, attempts) = attempted_under(world, "always", ALWAYS);
    assert_eq!(proof.verdict, Verdict::Hung, "{proof:?}");
    assert_eq!(attempts, 3, "{world}");
    let detail = proof.detail.expect("it says where");
    assert_eq!(
        detail,
        "fixed(1): no answer within 4 s, three times, twice of these alone"
    );
    assert!(proof.replay.is_some(), "it can be looked at again");
}

fn once() {
    let (proof, attempts) = attempted("once", ONCE);
    assert_eq!(proof.verdict, Verdict::Pass, "{proof:?}");
    assert_eq!(attempts, 3);
    let detail = proof.detail.expect("it says that it hung");
    assert!(
        detail.starts_with("fixed(1): no answer within 4 s, once; it held twice"),
        "{detail}"
    );
}

fn loses() {
    let (proof, attempts) = attempted("loses", LOSES);
    assert_eq!(proof.verdict, Verdict::Fail, "{proof:?}");
    assert_eq!(attempts, 2);
    let detail = proof.detail.expect("it says what failed");
    assert!(detail.contains("C3: room for more than 1"), "{detail}");
}

fn aborts() {
    for (world, name, fault, attempts) in [
        (Std::NAME, "aborts", ABORTS, 1),
        (Std::NAME, "hangs-then-aborts", HANGS_THEN_ABORTS, 2),
        (Shuttle::NAME, "aborts", ABORTS, 1),
        (Loom::NAME, "aborts", ABORTS, 1),
        (Sim::NAME, "aborts", ABORTS, 1),
    ] {
        let (proof, attempted) = attempted_under(world, name, fault);
        assert_eq!(proof.verdict, Verdict::Fail, "{proof:?}");
        assert_eq!(attempted, attempts, "{name}");
        let detail = proof.detail.expect("it says how it ended");
        let told = "fixed(1): the process crashed with SIGABRT (signal: 6)";
        assert!(detail.starts_with(told), "{world}: {detail}");
    }
}

/// Correct cells are proved in turn on another thread. They run before the other cell is repeated, so the repetitions
/// would see one.
fn alone() {
    let _ground = ground();
    let done = AtomicBool::new(false);
    let (looked, sound) = thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let mut proofs = Vec::new();
            while !done.load(Ordering::Relaxed) {
                proofs.push(proved("sound"));
            }
            proofs
        });
        let looked = proved("looks");
        done.store(true, Ordering::Relaxed);
        let proofs = beside.join().expect("a proof does not panic");
        (looked, proofs)
    });
    assert_eq!(looked.verdict, Verdict::Pass, "{looked:?}");
    assert!(looked.detail.is_some(), "it was repeated: {looked:?}");
    assert!(!sound.is_empty());
    for proof in sound {
        assert_eq!(proof.verdict, Verdict::Pass, "{proof:?}");
    }
}
