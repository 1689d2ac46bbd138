//! The results of `check` for a failure: a file that `check --replay` runs again in every world that can, and a rate
//! where the machine decides.
//!
//! This program is both the command, over a timer that is randomly early, and the test that runs it. An environment
//! variable distinguishes the two, and the processes of the cells inherit it.

use std::env;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use flowmeter_harness::registry::{AsyncRegistry, Registered, Registry, Visitor, mutant};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Fired, Timers};
use flowmeter_impls::registry::All;
use flowmeter_models as _;
use flowmeter_records::{Proof, Verdict};
use flowmeter_suites::cli;
use flowmeter_suites::isolation::{self, Model};
use flowmeter_suites::worlds::Worlds;
use tempfile::TempDir;

/// A timer that fires a millisecond early, one time in eight. Under sim it does so every time: there a random choice
/// always has the same result.
struct Hasty<T, W>(T, PhantomData<W>);

impl<T: Timers, W: World> Timers for Hasty<T, W> {
    type Handle = T::Handle;

    fn start() -> Self {
        Hasty(T::start(), PhantomData)
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> T::Handle {
        let hasty = W::NAME == Sim::NAME || W::choose(8) == 7;
        let early = if hasty { 1_000_000 } else { 0 };
        let earlier = Deadline::from_nanos(deadline.as_nanos().saturating_sub(early));
        self.0.schedule(earlier, move |fired| {
            then(Fired {
                due: deadline,
                ..fired
            });
        })
    }
}

/// A hasty timer that also reads a clock.
struct Grown<T, W>(Hasty<T, W>);

impl<T: Timers, W: World> Timers for Grown<T, W> {
    type Handle = T::Handle;

    fn start() -> Self {
        Grown(Hasty::start())
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> T::Handle {
        W::now_nanos();
        self.0.schedule(deadline, then)
    }
}

/// A timer with a thread that panics, one time in eight.
struct Panicky<T, W>(T, PhantomData<W>);

impl<T: Timers, W: World> Timers for Panicky<T, W> {
    type Handle = T::Handle;

    fn start() -> Self {
        Panicky(T::start(), PhantomData)
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> T::Handle {
        let panics = W::choose(8) == 7;
        self.0.schedule(deadline, move |fired| {
            assert!(!panics, "T1: alas");
            then(fired);
        })
    }
}

/// The heap of a registry as hasty, as grown, as panicky, and unchanged.
struct With<R, W>(R, PhantomData<W>);

impl<R: Copy, W> Clone for With<R, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Copy, W> Copy for With<R, W> {}

impl<R: Registry, W: World> Registry for With<R, W> {
    fn timers<V: Visitor>(self, visitor: &mut V) {
        self.0.timers(&mut Spoiling::<V, W>(visitor, PhantomData));
    }
}

struct Spoiling<'h, V, W>(&'h mut V, PhantomData<W>);

impl<V: Visitor, W: World> Visitor for Spoiling<'_, V, W> {
    fn timer<T: Timers>(&mut self, implementation: &Registered) {
        if implementation.name == "heap" {
            mutant::<Hasty<T, W>, _>(self.0, "hasty").timer().enter();
            mutant::<Grown<T, W>, _>(self.0, "grown").timer().enter();
            mutant::<Panicky<T, W>, _>(self.0, "panicky")
                .timer()
                .enter();
            mutant::<T, _>(self.0, "sound").timer().enter();
        }
    }
}

impl AsyncRegistry for With<All, Std> {
    type Executor = <All as AsyncRegistry>::Executor;
    type Sleep = <All as AsyncRegistry>::Sleep;
}

/// Makes this program the command.
const AS_COMMAND: &str = "FLOWMETER_TEST_AS_COMMAND";
const EXPLORED: [&str; 3] = [Shuttle::NAME, Loom::NAME, Sim::NAME];

fn main() -> ExitCode {
    if env::var_os(AS_COMMAND).is_some() {
        use flowmeter_impls_loom::registry::All as InLoom;
        use flowmeter_impls_shuttle::registry::All as InShuttle;
        let worlds = Worlds::of(With(All, PhantomData::<Std>))
            .with::<Shuttle>(With(InShuttle, PhantomData::<Shuttle>))
            .with::<Loom>(With(InLoom, PhantomData::<Loom>))
            .with::<Sim>(With(InShuttle, PhantomData::<Sim>));
        return cli::main_in(&worlds);
    }
    let test = |name, test: fn()| {
        Model::new(name, move || {
            test();
            Ok(String::new())
        })
        .within(Duration::from_secs(300))
    };
    isolation::main(vec![
        test("a_kept_failure_comes_again", comes_again),
        test("a_failure_of_real_threads_has_a_rate", has_a_rate),
        test("what_does_not_fail_again_is_said_to", does_not_fail),
        test("files_that_cannot_be_replayed_are_refused", refused),
        test(
            "a_verdict_outlives_a_folder_that_cannot_be_written",
            unwritable,
        ),
        test("every_cell_is_in_one_shard", shards),
    ])
}

struct Ground(TempDir);

impl Ground {
    fn new() -> Ground {
        Ground(tempfile::tempdir().expect("there is a place for temporary files"))
    }

    /// The exit code of the command here, its output and its errors.
    fn asked(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let answered = Command::new(env::current_exe().expect("this program is known"))
            .arg("check")
            .args(arguments)
            .env(AS_COMMAND, "1")
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .expect("this program can be executed");
        let text = |bytes| String::from_utf8(bytes).expect("it writes text");
        let [output, errors] = [answered.stdout, answered.stderr].map(text);
        (answered.status.code(), output, errors)
    }

    /// Its output, with that exit code expected.
    #[track_caller]
    fn check(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let (answered, output, errors) = self.asked(arguments);
        assert_eq!(answered, Some(code), "{output}{errors}");
        (output, errors)
    }

    #[track_caller]
    fn proofs(&self, code: i32, arguments: &[&str]) -> Vec<Proof> {
        let (output, _) = self.check(code, &[arguments, &["--format", "json"]].concat());
        let proof = |line| serde_json::from_str(line).expect("a line is a proof");
        output.lines().map(proof).collect()
    }

    /// The failure of the hasty timer in that world.
    #[track_caller]
    fn failure(&self, world: &str, more: &[&str]) -> Proof {
        self.failure_of("^hasty$", world, more)
    }

    #[track_caller]
    fn failure_of(&self, name: &str, world: &str, more: &[&str]) -> Proof {
        let cell = ["-i", name, "-p", "^t1-never-early$", "--under", world];
        let mut proofs = self.proofs(1, &[&cell, more].concat());
        let proof = proofs.pop().expect("it has a verdict");
        assert!(proofs.is_empty());
        assert_eq!(proof.verdict, Verdict::Fail, "{proof:?}");
        let detail = proof.detail.as_deref().unwrap_or_default();
        assert!(detail.contains("T1: "), "{proof:?}");
        proof
    }

    /// One sentence and exit code 2.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], parts: &[&str]) {
        let (output, errors) = self.check(2, arguments);
        assert_eq!(
            (output.as_str(), errors.lines().count()),
            ("", 1),
            "{errors}"
        );
        for part in ["flowmeter: "].iter().chain(parts) {
            assert!(errors.contains(part), "{part}: {errors}");
        }
    }

    fn read(&self, name: &Path) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("it is there")
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.0.path().join(name), content).expect("there is room");
    }
}

fn comes_again() {
    let ground = Ground::new();
    for world in EXPLORED {
        let found = ground.failure(world, &["-o", "kept here"]);
        let path = found.counterexample.as_deref().expect("it is kept");
        let path = path.to_str().expect("it is text");
        assert!(path.starts_with("kept here/"), "{path}");
        let command = format!("cargo flowmeter check --replay '{path}'");
        assert_eq!(found.replay.as_deref(), Some(command.as_str()));
        let text = include_str!("../../harness/records/src/record.md");
        let keys: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&ground.read(Path::new(path))).expect("it is an object");
        for key in keys.keys() {
            assert!(text.contains(&format!("`{key}`")), "{key} is documented");
        }
        let told = found.detail.expect("it failed");
        let first = told.lines().next().expect("it says something");
        let told_switches = told.contains(" switches between threads");
        assert_eq!(told_switches, world == Shuttle::NAME, "{told}");
        let times = if world == Shuttle::NAME { 20 } else { 3 };
        for _ in 0..times {
            let (output, _) = ground.check(1, &["--replay", path]);
            assert!(output.contains(first), "{first}: {output}");
            assert!(output.contains("as it failed before"), "{output}");
        }
        // Another build may make the same steps, with its checks on other lines.
        let kept = ground.read(Path::new(path));
        let (output, _) = ground.check(1, &["--replay", path]);
        assert!(!output.contains("found by another build"), "{output}");
        let elsewhere = kept.replacen("\"build\":\"", "\"build\":\"9.", 1);
        let elsewhere = elsewhere.replacen(".rs:", ".rs:9", 1);
        assert_ne!(elsewhere.find(".rs:9"), None, "{elsewhere}");
        ground.write("elsewhere.json", &elsewhere);
        let (output, _) = ground.check(1, &["--replay", "elsewhere.json"]);
        assert!(output.contains("    as it failed before"), "{output}");
        assert!(output.contains("found by another build"), "{output}");
        if world == Shuttle::NAME {
            // To its schedule, the model seems to have grown by a thousand steps.
            let outgrown = kept.replacen("\"runs\":[[0,", "\"runs\":[[0,1000", 1);
            ground.write("outgrown.json", &outgrown);
            let (_, output, _) = ground.asked(&["--replay", "outgrown.json"]);
            assert!(output.contains("the schedule no longer fits"), "{output}");
        }
        if world == Loom::NAME {
            // One read more, elsewhere: that number is another execution.
            ground.write("grown.json", &kept.replace("\"hasty\"", "\"grown\""));
            let (_, output, _) = ground.asked(&["--replay", "grown.json"]);
            assert!(output.contains("the schedule no longer fits"), "{output}");
            for word in ["mended", "same schedule"] {
                assert!(!output.contains(word), "{output}");
            }
        }
        let again = ground.proofs(1, &["--replay", path]).pop();
        let again = again.expect("a line");
        let cell = (found.implementation, found.property, found.world);
        assert_eq!((again.implementation, again.property, again.world), cell);
        assert_eq!(again.verdict, Verdict::Fail);
        assert!(!again.complete);
    }
    // The default folder, among build output.
    let kept = ground.failure(Sim::NAME, &[]).counterexample;
    let kept = kept.expect("it is kept");
    assert!(
        kept.starts_with("target/flowmeter/counterexamples"),
        "{kept:?}"
    );
    assert!(!ground.read(&kept).is_empty());
    let (table, _) = ground.check(1, &["-i", "^hasty$", "-p", "^t1-never", "--under", "sim"]);
    let command = format!("cargo flowmeter check --replay '{}'", kept.display());
    assert!(table.contains(&command), "{table}");
}

/// Some of the executions fail, and not all of them; also where a failure ends the process.
fn has_a_rate() {
    let ground = Ground::new();
    for name in ["^hasty$", "^panicky$"] {
        let found = ground.failure_of(name, Std::NAME, &[]);
        assert_eq!(found.counterexample, None);
        let command = found.replay.expect("a command");
        assert!(command.contains("--under std --seed"), "{command}");
        let told = found.detail.expect("it failed");
        let rate = told.lines().last().expect("it says something").trim();
        let words: Vec<&str> = rate.split(' ').collect();
        let [failed, "of", all, "executions", "failed", ..] = words[..] else {
            panic!("{told}");
        };
        let [failed, all] = [failed, all].map(|count| count.parse::<u64>().expect("a count"));
        assert!(0 < failed && failed < all && all <= 200, "{told}");
    }
}

/// The same program has a correct case of that name.
fn does_not_fail() {
    let ground = Ground::new();
    for world in EXPLORED {
        let kept = ground.failure(world, &["-o", "kept"]).counterexample;
        let example = ground.read(&kept.expect("it is kept"));
        ground.write("sound.json", &example.replace("\"hasty\"", "\"sound\""));
        let (output, _) = ground.check(0, &["--replay", "sound.json"]);
        assert!(output.contains("it did not fail this time"), "{output}");
        // It chooses nothing, so its steps are others. Sim has one schedule, which fits every model.
        let fits = !output.contains("the schedule no longer fits");
        assert_eq!(fits, world == Sim::NAME, "{output}");
        let proofs = ground.proofs(0, &["--replay", "sound.json"]);
        assert_eq!(proofs[0].verdict, Verdict::Inconclusive, "no pass either");
    }
}

fn refused() {
    let ground = Ground::new();
    let kept = ground
        .failure(Shuttle::NAME, &["-o", "kept"])
        .counterexample;
    let kept = kept.expect("it is kept");
    let path = kept.to_str().expect("it is text");
    let good = ground.read(&kept);
    let replay = ["--replay", "bad.json"];
    let replaced = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}: {good}");
        good.replacen(from, to, 1)
    };
    let end = good.len() / 2;
    for (content, parts) in [
        (String::new(), &["bad.json: not a counterexample"][..]),
        ("hello".to_owned(), &["bad.json: not a counterexample"]),
        ("{}".to_owned(), &["bad.json: not a counterexample"]),
        (good[..end].to_owned(), &["bad.json: not a counterexample"]),
        (
            replaced("\"format\":2", "\"format\":9"),
            &["of format 9, and this build reads format 2"],
        ),
        (
            replaced("\"format\":2", "\"format\":1"),
            &["of format 1, and", "look for its failure again with `cargo"],
        ),
        (
            replaced("\"hasty\"", "\"nosuch\""),
            &["there is no implementation 'nosuch' here"],
        ),
        (
            replaced("t1-never-early", "t99"),
            &["there is no property 't99' here"],
        ),
        (
            replaced("\"case\":\"", "\"case\":\"no"),
            &["there is no case 'no"],
        ),
        (
            replaced("\"shuttle\"", "\"mars\""),
            &["there is no world 'mars' here"],
        ),
        (
            replaced("\"shuttle\"", "\"loom\""),
            &["no schedule of the loom world"],
        ),
        (
            replaced("\"shuttle\"", "\"std\""),
            &["nothing repeats an execution"],
        ),
    ] {
        ground.write("bad.json", &content);
        ground.refuses(&replay, parts);
    }
    ground.refuses(&["--replay", "nowhere.json"], &["nowhere.json: "]);
    ground.refuses(&["--replay", "kept"], &["kept: "]);
    for option in [
        ["-i", "hasty"],
        ["-p", "t1"],
        ["--under", "shuttle"],
        ["--seed", "1"],
        ["--budget", "1"],
        ["--shard", "1/2"],
        ["-o", "kept"],
    ] {
        let arguments = [&["--replay", path][..], &option].concat();
        ground.refuses(&arguments, &["--replay", "leave out", option[0]]);
    }
    assert_eq!(ground.read(&kept), good, "left alone");
}

fn unwritable() {
    let ground = Ground::new();
    ground.write("file", "precious");
    let found = ground.failure(Sim::NAME, &["-o", "file/below"]);
    assert_eq!(found.counterexample, None);
    let told = found.detail.expect("it failed");
    assert!(told.contains("could not be kept: file/below"), "{told}");
    assert!(
        found
            .replay
            .expect("a command")
            .contains("--under sim --seed")
    );
    assert_eq!(ground.read(Path::new("file")), "precious");
}

fn shards() {
    let ground = Ground::new();
    let cells = |more: &[&str]| {
        let cells = ["-i", "^sound$", "-p", "^t[1-4]", "--under", "sim,std"];
        let proofs = ground.proofs(0, &[&cells[..], &["--budget", "0.01"], more].concat());
        let cell = |proof: Proof| (proof.implementation, proof.property, proof.world);
        proofs.into_iter().map(cell).collect::<Vec<_>>()
    };
    let mut all = cells(&[]);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| cells(&["--shard", shard]));
    assert_eq!(cells(&["--shard", "2/3"]), shards[1], "the same every time");
    let mut dealt = shards.concat();
    dealt.sort();
    all.sort();
    assert_eq!(dealt, all);
    assert!(all.len() >= 10, "{all:?}");
    for shard in ["0/3", "4/3", "x"] {
        ground.refuses(&["--shard", shard], &["--shard", shard, "give k/n"]);
    }
}
