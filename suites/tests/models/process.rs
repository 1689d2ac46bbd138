//! The isolation itself: a fault that would stop the whole test run is one failed line. Each of these runs this
//! executable again on a faulty model, which is hidden unless requested by name.

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use flowmeter_suites::isolation::Model;

const ASKED: &str = "FLOWMETER_MISBEHAVE";

/// The models.
pub fn models() -> Vec<Model> {
    let mut models = vec![
        Model::new("process::a_hang_is_one_failed_line", || {
            let began = Instant::now();
            let said = run_apart("misbehave::hangs")?;
            expect(&said, "took longer than 0.5 s")?;
            expect(&said, "1 failed")?;
            match began.elapsed() {
                took if took < Duration::from_secs(20) => Ok(said),
                took => Err(format!("the hang was ended only after {took:?}")),
            }
        }),
        Model::new("process::an_abort_is_one_failed_line", || {
            let said = run_apart("misbehave::aborts")?;
            expect(&said, "ended by signal: 6")?;
            expect(&said, "1 failed")?;
            Ok(said)
        }),
        Model::new("process::a_stack_overflow_is_one_failed_line", || {
            let said = run_apart("misbehave::overflows")?;
            expect(&said, "ended by signal")?;
            expect(&said, "1 failed")?;
            Ok(said)
        }),
        Model::new("process::a_panic_is_one_failed_line_with_its_text", || {
            let said = run_apart("misbehave::panics")?;
            expect(&said, "alas")?;
            expect(&said, "1 failed")?;
            Ok(said)
        }),
    ];
    if env::var_os(ASKED).is_some() {
        models.extend([
            Model::new("misbehave::hangs", || {
                loop {
                    std::thread::park();
                }
            })
            .within(Duration::from_millis(500)),
            Model::new("misbehave::aborts", || std::process::abort()),
            Model::new("misbehave::overflows", || Ok(deep(1).to_string())),
            Model::new("misbehave::panics", || panic!("alas")),
        ]);
    }
    models
}

#[allow(unconditional_recursion, reason = "the stack is to overflow")]
fn deep(n: u64) -> u64 {
    let here = std::hint::black_box([n; 64]);
    deep(here[0] + 1) + here[1]
}

fn run_apart(name: &str) -> Result<String, String> {
    let run = || {
        Command::new(env::current_exe()?)
            .args(["--exact", name])
            .env(ASKED, "1")
            .output()
    };
    let output = run().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Err(format!("it passed:\n{said}")),
        false => Ok(said),
    }
}

fn expect(said: &str, needle: &str) -> Result<(), String> {
    match said.contains(needle) {
        true => Ok(()),
        false => Err(format!("{needle:?} is not in:\n{said}")),
    }
}
