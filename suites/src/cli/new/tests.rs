use flowmeter_harness::caps::Kind;

use super::*;

/// This checkout.
fn this() -> &'static Path {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR"));
    suites.parent().expect("suites is in the workspace")
}

fn of(kind: Kind) -> &'static Beginning {
    let of = BEGINNINGS.iter().find(|it| it.kind == kind);
    of.expect("a kind that begins here")
}

fn new(what: What, name: &str, of: Option<&'static Beginning>) -> Result<Draft<'static>, Failure> {
    let new = New {
        what,
        name: name.to_owned(),
        of,
        root: None,
    };
    let mut draft = Draft::of(this());
    new.begun(&mut draft).map(|_| draft)
}

#[track_caller]
fn refused(what: What, of: Option<Kind>, name: &str, says: &str) {
    let begun = new(what, name, of.map(self::of));
    let told = format!("{:?}", begun.err().expect("it cannot begin"));
    assert!(told.contains(says), "{name}: {told}");
}

/// The lines that a file gains.
fn gained(draft: &Draft, path: &str) -> Vec<String> {
    let old = fs::read_to_string(this().join(path)).unwrap_or_default();
    let mut old = old.lines().peekable();
    let mut gained = Vec::new();
    for line in draft.read(path).unwrap().lines() {
        match old.next_if_eq(&line) {
            Some(_) => {}
            None => gained.push(line.to_owned()),
        }
    }
    assert_eq!(old.next(), None, "{path} lost a line");
    gained
}

#[test]
fn an_implementation_is_known_wherever_one_has_to_be() {
    for (kind, offers, has) in [
        (None, "channel().blocking()", "fixed blocking"),
        (Some(Kind::Timer), "timer()", "schedule"),
        (
            Some(Kind::Limiter),
            "limiter().blocking_limit().claims(&[WindowBound])",
            "blocking try-acquire window-bound",
        ),
        (Some(Kind::Executor), "executor::<MutexChannels>()", "tasks"),
    ] {
        let draft = new(What::Implementation, "two_locks", kind.map(of)).unwrap();
        let kind = kind.unwrap_or(Kind::Channel);
        let text = draft
            .read(&format!("impls/src/{kind}/two_locks.rs"))
            .unwrap();
        assert!(text.contains(" for TwoLocks {"), "{kind}");
        assert!(!text.contains("NAME") && !text.contains("TYPE"));
        let modules = gained(&draft, &format!("impls/src/{kind}/mod.rs"));
        assert_eq!(modules, ["pub mod two_locks;"]);
        let registry = gained(&draft, "impls/src/registry.rs");
        let entry = format!("        own::<TwoLocks, _>(visitor, \"two_locks\").{offers}.enter();");
        let named = format!("use crate::{kind}::two_locks::TwoLocks;");
        assert_eq!(registry, [&*named, &entry]);
        let registry = draft.read("impls/src/registry.rs").unwrap();
        let (of_kind, _) = registry.split_once(&entry).unwrap();
        let (_, of_kind) = of_kind.rsplit_once("    fn ").unwrap();
        assert!(
            of_kind.starts_with(&format!("{kind}s<V: Visitor>")),
            "{of_kind}"
        );
        let row = format!("    (\"two_locks\", Origin::Own, \"{has}\"),");
        assert_eq!(gained(&draft, "impls/tests/capabilities.rs"), [row]);
    }
}

#[test]
fn a_name_that_means_something_else_is_free() {
    // A capability of another implementation, and an associated type in the registry.
    for (kind, name) in [(Kind::Timer, "sleep"), (Kind::Executor, "tasks")] {
        new(What::Implementation, name, Some(of(kind))).unwrap();
    }
}

#[test]
fn an_implementation_that_is_there_or_would_not_compile_is_refused() {
    let there = "is there already; choose another name";
    let no_name = "a name is small letters";
    let of_rust = "is a word of Rust itself; choose";
    for (kind, name, says) in [
        (Kind::Channel, "condvar", there),
        (Kind::Channel, "mutex", there),
        (Kind::Channel, "heap", there),
        (Kind::Channel, "batch", there),
        (Kind::Timer, "service", there),
        (Kind::Timer, "wheel", "Wheel, which impls/src/registry.rs"),
        (Kind::Channel, "TwoLocks", no_name),
        (Kind::Channel, "../escape", no_name),
        (Kind::Channel, "", no_name),
        (Kind::Timer, "loop", of_rust),
        (Kind::Limiter, "self", of_rust),
        (Kind::Executor, "yield", of_rust),
        (Kind::Channel, "std", "is a crate"),
        (Kind::Timer, "core", "is a crate"),
        (Kind::Limiter, "alloc", "is a crate"),
        (Kind::Executor, "libc", "is a crate"),
        (Kind::Channel, "flowmeter_harness", "is a crate"),
        (Kind::Channel, "option", "Option, a name of Rust itself"),
        (Kind::Limiter, "vec", "Vec, a name of Rust itself"),
        (Kind::Channel, "state", "every channel begins with"),
        (Kind::Timer, "deadline", "every timer begins with"),
        (Kind::Limiter, "quota", "every limiter begins with"),
        (Kind::Executor, "spawner", "every executor begins with"),
    ] {
        refused(What::Implementation, Some(kind), name, says);
    }
}

#[test]
fn only_an_implementation_is_told_what_it_is() {
    for (what, name) in [
        (What::Scenario, "timers/my-load"),
        (What::Property, "t2-mine"),
    ] {
        refused(what, Some(Kind::Timer), name, "--of timer: ");
    }
}

#[test]
fn a_scenario_can_be_read_and_is_of_what_its_folder_says() {
    for (name, workload, form) in [
        ("alterations/first-of-all", "stream", "blocking"),
        ("channels/my-load", "stream", "blocking"),
        ("channels/spsc-128", "stream", "blocking"),
        ("channels-async/my-load", "stream", "async"),
        ("channels-mixed/my-load", "stream", "mixed"),
        ("timers/my-load", "timer-churn", "callback"),
        ("timers/churn-2k", "timer-churn", "callback"),
        ("timers-async/my-load", "timer-churn", "async"),
        ("timers-idle/2k", "timer-churn", "callback"),
        ("limiters/my-load", "limiter-burst", "blocking"),
        ("limiters-async/my-load", "limiter-burst", "async"),
        ("executors/my-load", "spawn-join", "async"),
        ("mine/my-load", "stream", "blocking"),
    ] {
        let draft = new(What::Scenario, name, None).unwrap();
        let path = format!("suites/scenarios/{name}.toml");
        let text = draft.read(&path).unwrap();
        let scenario = crate::scenario::parse(name, Path::new(&path), &text);
        let record = scenario.unwrap().record();
        assert_eq!(record.group, name.split('/').next().unwrap());
        assert_eq!(record.params["workload"], workload, "{name}");
        assert_eq!(record.form, form, "{name}");
        let list = "suites/workloads/src/scenario/curated.rs";
        assert_eq!(gained(&draft, list), [format!("    \"{name}\",")]);
        let list = draft.read(list).unwrap();
        let list = list.lines().filter(|line| line.starts_with("    \""));
        assert!(list.is_sorted());
    }
}

#[test]
fn a_scenario_that_is_there_or_is_of_something_else_is_refused() {
    let no_name = "a name is the folder and the file";
    let elsewhere = "begin as a copy of their neighbour in suites/scenarios";
    for (name, says) in [
        ("channels/spsc-64", "is there already"),
        ("no-folder", no_name),
        ("channels/", no_name),
        ("channels/two--dashes", no_name),
        ("channels/Capital", no_name),
        ("channels/../../escape", no_name),
        ("alts/mine", elsewhere),
        ("pipelines/mine", elsewhere),
        ("pipelines-async/mine", elsewhere),
        ("combinators/mine", elsewhere),
    ] {
        refused(What::Scenario, None, name, says);
    }
}

#[test]
fn a_property_is_owed_listed_and_stated() {
    for (name, folder, last, row) in [
        ("c3-begun", "", "c3_capacity", "`c3-capacity`, `c3-begun` |"),
        (
            "c2-begun",
            "",
            "c2_order",
            "`c2-outcomes` (std world), `c2-begun` |",
        ),
        (
            "t2-begun",
            "timers/",
            "timers::t2_sequences",
            "`t2-sequences`, `t2-begun` |",
        ),
        (
            "l3-begun",
            "limiters/",
            "limiters::l3_sequences",
            "`l3-sequences`, `l3-begun` |",
        ),
        (
            "g2-begun",
            "executors/",
            "executors::g2_turns",
            "`g2-turns`, `g2-begun` |",
        ),
    ] {
        let draft = new(What::Property, name, None).unwrap();
        let module = name.replace('-', "_");
        let path = format!("suites/properties/src/{folder}{module}.rs");
        let text = draft.read(&path).unwrap();
        assert!(text.contains(&format!("name: \"{name}\"")));
        // It is not a Rust keyword.
        assert_eq!(text.matches(name).count(), 1, "{name}");
        let id = name[..2].to_ascii_uppercase();
        assert!(text.contains(&format!("\"{id}: nothing is checked yet\"")));
        let edited = draft.files.iter().filter(|(other, _)| *other != path);
        let all: Vec<String> = edited
            .filter(|(path, _)| path != STATEMENTS)
            .flat_map(|(path, _)| gained(&draft, path))
            .collect();
        let has = |what: &str| all.iter().filter(|line| line.contains(what)).count();
        assert_eq!(has(&format!("mod {module};")), 1, "{all:?}");
        assert_eq!(has(&format!("{module}::PROPERTY,")), 1, "{all:?}");
        let list = draft.read("suites/properties/src/lib.rs").unwrap();
        let list: Vec<&str> = list.lines().collect();
        let listed = format!("{module}::PROPERTY,");
        let at = list.iter().position(|line| line.ends_with(&listed));
        let line_before = list[at.expect("it is listed") - 1];
        assert!(line_before.starts_with(&format!("    &{last}::")), "{name}");
        assert!(draft.read(STATEMENTS).unwrap().contains(row), "{name}");
    }
}

#[test]
fn a_property_that_is_there_or_not_owed_by_all_is_refused() {
    let there = "is there already; choose another name";
    let no_name = "a name is the id of a statement";
    let of_some = "begin with a copy of its neighbour";
    for (name, says) in [
        ("c2-order", there),
        ("t2-once", there),
        ("t1-in-alts", there),
        ("c4-waiter-fifo", there),
        ("p1-something", no_name),
        ("é1-something", no_name),
        ("c3", no_name),
        ("c3-Capital", no_name),
        ("", no_name),
        ("c99-not-stated", "SEMANTICS.md has no statement C99"),
        ("t9-mine", "the row of T9 in SEMANTICS.md says measured"),
        ("a8-mine", "the row of A8 in SEMANTICS.md says measured"),
        (
            "g4-mine",
            "the row of G4 in SEMANTICS.md says documentation",
        ),
        ("b4-mine", "the row of B4 in SEMANTICS.md says compile-fail"),
        ("c12-mine", of_some),
        ("a1-mine", of_some),
        ("t7-mine", of_some),
        ("l1-mine", of_some),
        ("g3-mine", of_some),
        ("g5-mine", of_some),
    ] {
        refused(What::Property, None, name, says);
    }
}
