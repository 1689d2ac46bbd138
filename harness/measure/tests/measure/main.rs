//! The measuring engine against implementations that answer correctly and implementations that misbehave.
//!
//! This program is its own implementation. Executed with [`ROLE`] set, it is a child that serves fakes, or a parent that
//! measures and will be killed.

mod allocations;
mod fakes;
mod field;
mod killed;
mod misfits;
mod refusals;
mod rounds;

use std::process::{Command, ExitCode};

use flowmeter_measure::allocation::Counting;
use libtest_mimic::{Arguments, Trial};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Set in the environment of an execution that plays a role instead of running tests.
const ROLE: &str = "FLOWMETER_TEST_ROLE";

/// This program in another role.
fn this_program_as(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program knows where it is"));
    command.env(ROLE, role);
    command
}

fn main() -> ExitCode {
    match std::env::var(ROLE).as_deref() {
        Ok("contestant") => fakes::serve(),
        Ok("rubbish") => fakes::talk_rubbish(),
        Ok("parent") => killed::parent(),
        Ok(other) => panic!("no such role: {other}"),
        Err(_) => run_tests(),
    }
}

fn run_tests() -> ExitCode {
    let mut trials = Vec::new();
    for (name, test) in [
        allocations::TESTS,
        rounds::TESTS,
        misfits::TESTS,
        refusals::TESTS,
        killed::TESTS,
    ]
    .concat()
    {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test by name.
type Test = (&'static str, fn());

/// Lists the tests of a module.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub const TESTS: &[crate::Test] = &[$((stringify!($name), $name)),*];
    };
}
use tests;
