//! What a check says of structures that are right, wrong, and badly checked. They use the facade, so each is compiled for
//! one world.

use std::env;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::task::{Poll, Waker};
use std::time::Duration;

use flowmeter_harness::sync::{panic_text, shuttle};
use flowmeter_linearizable::{Check, Sequential, Subject, check, worlds};
use proptest::prelude::*;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Count(u64);

/// `true` adds one, and `false` reads.
impl Sequential for Count {
    type Op = bool;
    type Ret = u64;

    fn apply(&mut self, adds: &bool) -> u64 {
        self.0 += u64::from(*adds);
        self.0
    }
}

/// A counter in which another thread may count between the two locks of an addition.
struct Counter {
    count: shuttle::Mutex<u64>,
    tears: bool,
}

impl Counter {
    fn new(tears: bool) -> Counter {
        Counter {
            count: shuttle::Mutex::new(0),
            tears,
        }
    }

    fn apply(&self, adds: bool) -> u64 {
        let mut count = self.count.lock();
        if adds && self.tears {
            let before = *count;
            drop(count);
            count = self.count.lock();
            *count = before;
        }
        *count += u64::from(adds);
        *count
    }
}

check! {
    mod whole;
    spec: Count::default(),
    subject: Counter::new(false),
    calls: |counter, adds| counter.apply(*adds),
    operations: any::<bool>(),
    with: |check| check.threads(2..=2).each(1..=1).around(0, 0).programs(20),
    worlds: [shuttle, sim],
}

check! {
    mod torn;
    spec: Count::default(),
    subject: Counter::new(true),
    calls: |counter, adds| counter.apply(*adds),
    operations: any::<bool>(),
    with: |check| check.threads(2..=2).each(1..=1).around(0, 0),
    worlds: [#[should_panic(expected = "2 operations, ")] shuttle],
}

mod under_loom {
    use std::sync::Arc;

    use flowmeter_harness::sync::loom::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A value and a flag that says it is there.
    struct Post {
        value: AtomicU64,
        is_there: AtomicU64,
        stores: Ordering,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Posted(u64);

    /// `true` posts 1, and `false` reads.
    impl Sequential for Posted {
        type Op = bool;
        type Ret = u64;

        fn apply(&mut self, posts: &bool) -> u64 {
            self.0 |= u64::from(*posts);
            self.0
        }
    }

    impl Post {
        fn new(stores: Ordering) -> Arc<Post> {
            Arc::new(Post {
                value: AtomicU64::new(7),
                is_there: AtomicU64::new(0),
                stores,
            })
        }

        fn apply(&self, posts: bool) -> u64 {
            if posts {
                self.value.store(1, Ordering::Relaxed);
                self.is_there.store(1, self.stores);
                return 1;
            }
            match self.is_there.load(Ordering::Acquire) {
                0 => 0,
                _ => self.value.load(Ordering::Relaxed),
            }
        }
    }

    check! {
        mod released;
        spec: Posted::default(),
        subject: Post::new(Ordering::Release),
        calls: |post, posts| post.apply(*posts),
        operations: any::<bool>(),
        worlds: [loom],
    }

    check! {
        mod relaxed;
        spec: Posted::default(),
        subject: Post::new(Ordering::Relaxed),
        calls: |post, posts| post.apply(*posts),
        operations: any::<bool>(),
        worlds: [#[should_panic(expected = "not linearizable")] loom],
    }
}

/// What a check with such settings says, without a process of its own: it is refused before that.
fn refused(change: fn(Check<Count>) -> Check<Count>) -> String {
    let subject = Subject::calls(|| (), |(), adds| u64::from(*adds));
    let check = Check::new("tests::bad", "tests", Count(0), subject, any::<bool>);
    let told = catch_unwind(AssertUnwindSafe(|| worlds::std(change(check))));
    panic_text(&*told.expect_err("it is refused"))
}

#[test]
fn what_means_nothing_is_refused() {
    for (told, says) in [
        (refused(|check| check.threads(0..=2)), "at least one thread"),
        (refused(|check| check.each(0..=2)), "at least one operation"),
        (refused(|check| check.programs(0)), "must not be zero"),
        (
            refused(|check| check.time(Duration::ZERO)),
            "must not be zero",
        ),
        (
            refused(|check| check.threads(8..=8).each(8..=8)),
            "undecided: a program may have 70 operations",
        ),
    ] {
        assert!(
            told.starts_with("bad::std: ") && told.contains(says),
            "{told}"
        );
    }
}

check! {
    mod unseen;
    spec: Count::default(),
    subject: std::sync::Mutex::new(0),
    calls: |count, adds| {
        let mut count = count.lock().expect("no operation panics");
        *count += u64::from(*adds);
        *count
    },
    operations: any::<bool>(),
    with: |check| check.programs(50),
    worlds: [
        std,
        #[should_panic(expected = "undecided: shuttle sees no step")] shuttle,
        #[should_panic(expected = "undecided: loom sees no step")] loom,
    ],
}

/// The gate below with a lock of std.
#[derive(Default)]
struct UnseenGate(std::sync::Mutex<(bool, Vec<Waker>)>);

impl UnseenGate {
    async fn apply(&self, opens: bool) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("no operation panics");
            state.0 |= opens;
            if !state.0 {
                state.1.push(context.waker().clone());
                return Poll::Pending;
            }
            let waiting = mem::take(&mut state.1);
            drop(state);
            waiting.into_iter().for_each(Waker::wake);
            Poll::Ready(())
        })
        .await;
    }
}

// The world awaits operations in steps of its own.
check! {
    mod unseen_awaits;
    spec: Gate::default(),
    subject: UnseenGate::default(),
    awaits: async |gate, opens| gate.apply(*opens).await,
    operations: any::<bool>(),
    with: |check| check.programs(50),
    worlds: [#[should_panic(expected = "undecided: shuttle sees no step")] shuttle],
}

check! {
    mod aborts;
    spec: Count::default(),
    subject: (),
    calls: |(), _| std::process::abort(),
    operations: any::<bool>(),
    worlds: [#[should_panic(expected = "crash: the process of the test has ended, signal: 6")] std],
}

check! {
    mod too_many_states;
    spec: Count::default(),
    subject: Counter::new(false),
    calls: |counter, adds| counter.apply(*adds),
    operations: any::<bool>(),
    with: |check| check.states(2),
    worlds: [#[should_panic(expected = "undecided: 2 states did not suffice")] shuttle],
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Gate(bool);

/// `true` opens the gate, and `false` waits until it is open.
impl Sequential for Gate {
    type Op = bool;
    type Ret = ();

    fn waits(&self, opens: &bool) -> bool {
        !opens && !self.0
    }

    fn apply(&mut self, opens: &bool) {
        self.0 |= opens;
    }
}

check! {
    mod never_opens;
    spec: Gate::default(),
    subject: (),
    calls: |(), opens| if !opens {
        loop {
            std::thread::park();
        }
    },
    operations: any::<bool>().no_shrink(), // each step would wait for a hang
    with: |check| check.threads(2..=2).each(1..=1).around(0, 0),
    worlds: [#[should_panic(expected = "hang: no thread has moved for 3 seconds")] std],
}

// A thread that runs alone.
check! {
    mod never_answers;
    spec: Count::default(),
    subject: (),
    calls: |(), _| loop {
        std::thread::park();
    },
    operations: Just(true),
    with: |check| check.threads(1..=1).each(1..=1).around(0, 0),
    worlds: [#[should_panic(expected = "thread 1 is in 0 true")] std],
}

check! {
    mod panics_before_it_opens;
    spec: Gate::default(),
    subject: (),
    calls: |(), opens: &bool| {
        assert!(!opens, "it is stuck");
        loop {
            std::thread::park();
        }
    },
    operations: any::<bool>(),
    with: |check| check.threads(2..=2).each(1..=1).around(0, 0),
    worlds: [#[should_panic(expected = "a panic: it is stuck")] std],
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Faulty(u64);

impl Sequential for Faulty {
    type Op = bool;
    type Ret = u64;

    fn apply(&mut self, adds: &bool) -> u64 {
        assert!(!adds, "it cannot add");
        self.0
    }
}

check! {
    mod panicking_specification;
    spec: Faulty::default(),
    subject: Counter::new(false),
    calls: |counter, adds| counter.apply(*adds),
    operations: any::<bool>(),
    worlds: [
        #[should_panic(expected = "undecided: the specification panicked: it cannot add")] std,
        #[should_panic(expected = "undecided: the specification panicked: it cannot add")] shuttle,
    ],
}

check! {
    mod only_waits;
    spec: Gate::default(),
    subject: (),
    calls: |(), _| (),
    operations: Just(false),
    worlds: [#[should_panic(expected = "undecided: no program was run")] std],
}

/// What this program prints when it runs one of its tests, with such a finding to replay.
fn printed(test: &str, replay: Option<&str>) -> String {
    let mut program = Command::new(env::current_exe().expect("it runs"));
    program.args([test, "--exact", "--nocapture"]);
    if let Some(word) = replay {
        program.env("FLOWMETER_REPLAY", format!("{test} {word}"));
    }
    let output = program.output().expect("it is run again");
    [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat()
}

// Each program would take 100 executions of two milliseconds at least.
check! {
    mod sleeps;
    spec: Count::default(),
    subject: Counter::new(false),
    calls: |counter, adds| {
        std::thread::sleep(Duration::from_millis(2));
        counter.apply(*adds)
    },
    operations: any::<bool>(),
    with: |check| {
        let check = check.threads(1..=1).each(1..=1).around(0, 0);
        check.programs(2).time(Duration::from_millis(300))
    },
    worlds: [shuttle],
}

#[test]
fn the_last_program_ends_when_the_time_is_over() {
    let told = printed("sleeps::shuttle", None);
    let executions = told
        .split(", ")
        .find_map(|part| part.strip_suffix(" executions"));
    let executions: u64 = executions
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{told}"));
    assert!(executions <= 151, "{told}");
}

#[test]
fn a_finding_is_replayed_by_its_last_line() {
    let test = "torn::shuttle";
    let (found, begin) = (printed(test, None), format!("FLOWMETER_REPLAY='{test} "));
    let word = found
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split_once('\''));
    let (word, _) = word.unwrap_or_else(|| panic!("no line replays it: {found}"));
    let again = printed(test, Some(word));
    let drawing = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .skip_while(|line| !line.starts_with("thread 1"));
        lines
            .take_while(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(drawing(&again), drawing(&found), "{again}");
    assert!(drawing(&found).len() > 6, "{found}");

    // The same program and schedule, of a structure that makes other steps.
    let other = printed("whole::shuttle", Some(word));
    assert!(
        other.contains("undecided: the program makes other steps"),
        "{other}"
    );
    let none = printed(test, Some("x"));
    assert!(none.contains("\"x\" is no word of a failure"), "{none}");
}
