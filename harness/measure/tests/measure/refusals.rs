//! A plan that cannot be measured is refused with one sentence, and nothing is overwritten.

use std::fs;
use std::time::Duration;

use flowmeter_measure::{MeasureError, Plan, Silent, resume, run};

use crate::field::{Ground, entries, plan, spawn};
use crate::tests;

tests![
    a_plan_that_asks_for_nothing_is_refused,
    a_run_is_never_overwritten,
    a_folder_that_cannot_be_made_is_refused,
    nothing_to_resume_is_said,
    a_foreign_file_is_refused_and_left_alone,
    a_plan_that_differs_is_refused_and_the_run_left_alone,
    a_finished_run_has_nothing_to_do,
    two_processes_do_not_write_one_run,
    a_strict_run_wants_a_quiet_machine_or_says_so,
];

/// The expected sentence, and the change to a good plan that provokes it.
type Change = (&'static str, fn(&mut Plan));

fn one(ground: &Ground) -> Plan {
    plan(ground.path(), &["x/one"], &entries(&["ant"]))
}

fn refused(ground: &Ground, plan: &Plan) -> MeasureError {
    let folder = ground.run_folder();
    let error = run(plan, &folder, spawn, &mut Silent).expect_err("it is refused");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    error
}

fn refused_to_resume(ground: &Ground, plan: &Plan) -> MeasureError {
    let folder = ground.run_folder();
    let error = resume(plan, &folder, spawn, &mut Silent).expect_err("it is refused");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    error
}

fn a_plan_that_asks_for_nothing_is_refused() {
    let ground = Ground::new();
    let spoilers: [Change; 10] = [
        ("0 forks", |p| p.run.forks = 0),
        ("0 rounds", |p| p.run.rounds = 0),
        ("more than can be counted", |p| p.run.forks = u32::MAX),
        ("window of length 0", |p| p.run.window_nanos = 0),
        ("no scenario", |p| p.planned_scenarios.clear()),
        ("no implementation is left", |p| {
            p.planned_scenarios[0].entries.clear()
        }),
        ("stands twice", |p| {
            p.planned_scenarios.push(p.planned_scenarios[0].clone())
        }),
        ("entered twice", |p| {
            p.planned_scenarios[0].entries.extend(entries(&["ant"]))
        }),
        ("does not take part", |p| p.implementations.clear()),
        ("slowed", |p| {
            p.planned_scenarios[0].entries[0].slowed_percent = Some(100)
        }),
    ];
    for (sentence, spoil) in spoilers {
        let mut plan = one(&ground);
        spoil(&mut plan);
        let error = refused(&ground, &plan);
        assert!(matches!(error, MeasureError::Plan(_)), "{error}");
        assert!(error.to_string().contains(sentence), "{error}");
    }
    assert!(!ground.run_folder().exists(), "nothing was begun");
}

fn a_run_is_never_overwritten() {
    let ground = Ground::new();
    let plan = one(&ground);
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let before = ground.lines();
    let error = refused(&ground, &plan);
    assert!(error.to_string().contains("--resume"), "{error}");
    assert_eq!(ground.lines(), before);
}

fn a_folder_that_cannot_be_made_is_refused() {
    let ground = Ground::new();
    // A file occupies the path of the folder.
    fs::write(ground.run_folder(), "not a folder").unwrap();
    let error = refused(&ground, &one(&ground));
    assert!(matches!(error, MeasureError::Folder { .. }), "{error}");
    assert_eq!(fs::read(ground.run_folder()).unwrap(), b"not a folder");
}

fn nothing_to_resume_is_said() {
    let ground = Ground::new();
    let error = refused_to_resume(&ground, &one(&ground));
    assert!(
        matches!(error, MeasureError::NothingToResume { .. }),
        "{error}"
    );
    assert!(!ground.run_folder().exists());
}

fn a_foreign_file_is_refused_and_left_alone() {
    let ground = Ground::new();
    fs::create_dir(ground.run_folder()).unwrap();
    let foreign = "{\"some\":\"json\"}\nand a line\n";
    fs::write(ground.records(), foreign).unwrap();
    let error = refused_to_resume(&ground, &one(&ground));
    assert!(error.to_string().contains("records.jsonl:1"), "{error}");
    refused(&ground, &one(&ground));
    assert_eq!(fs::read_to_string(ground.records()).unwrap(), foreign);
}

fn a_plan_that_differs_is_refused_and_the_run_left_alone() {
    let ground = Ground::new();
    run(&one(&ground), &ground.run_folder(), spawn, &mut Silent).unwrap();
    let before = ground.lines();
    let others: [Change; 9] = [
        ("seed 7, and this one asks for 8", |p| p.run.seed = 8),
        ("rounds 3", |p| p.run.rounds = 4),
        ("forks 2", |p| p.run.forks = 3),
        ("windows of 1000 ns", |p| p.run.window_nanos = 2_000),
        ("layouts 1", |p| p.run.layouts = 2),
        ("the build", |p| p.run.commit = "another".to_owned()),
        (
            "the entries ant, and this one asks for ant (placebo)",
            |p| {
                p.planned_scenarios[0].entries[0].placebo = true;
            },
        ),
        ("the scenarios x/one", |p| {
            p.planned_scenarios[0].scenario.name = "x/two".to_owned()
        }),
        ("the scenario", |p| {
            p.planned_scenarios[0].scenario.unit = "s".to_owned()
        }),
    ];
    for (sentence, change) in others {
        let mut plan = one(&ground);
        change(&mut plan);
        let error = refused_to_resume(&ground, &plan);
        assert!(matches!(error, MeasureError::Differs { .. }), "{error}");
        assert!(error.to_string().contains(sentence), "{error}");
    }
    assert_eq!(ground.lines(), before);
}

fn a_finished_run_has_nothing_to_do() {
    let ground = Ground::new();
    let plan = one(&ground);
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let before = ground.lines();
    let nothing = |_: &str, _: &_, _| panic!("no process is started");
    assert_eq!(
        resume(&plan, &ground.run_folder(), nothing, &mut Silent).unwrap(),
        None
    );
    assert_eq!(ground.lines(), before);
}

fn two_processes_do_not_write_one_run() {
    let ground = Ground::new();
    let plan = one(&ground);
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let other = fs::File::open(ground.records()).unwrap();
    other.lock().unwrap();
    let error = refused_to_resume(&ground, &plan);
    assert!(matches!(error, MeasureError::Busy { .. }), "{error}");
}

fn a_strict_run_wants_a_quiet_machine_or_says_so() {
    let ground = Ground::new();
    let mut plan = one(&ground);
    plan.strict = true;
    plan.noise_watch = Duration::from_millis(50);
    match run(&plan, &ground.run_folder(), spawn, &mut Silent) {
        Ok(_) => assert!(ground.read().noise[0].quiet),
        Err(MeasureError::Noisy(noise)) => {
            assert!(!noise.quiet);
            assert!(!ground.run_folder().exists(), "nothing was begun");
        }
        Err(other) => panic!("{other}"),
    }
}
