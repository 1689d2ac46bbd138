//! Makes a failing program smaller. First as proptest shrinks its parts, then by leaving out single operations until none
//! can be left out: a program that fails rarely may have kept some that do not matter.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use flowmeter_harness::sync::Failure;

use crate::draw::Draw;
use crate::program::Program;

/// How many smaller programs are tried.
const ATTEMPTS: usize = 300;

/// The smallest program that was found to fail, and how to find it again.
pub(crate) struct Least<O> {
    pub(crate) program: Program<O>,
    /// The steps of shrinking, as those of [`Draw::step`].
    pub(crate) path: Vec<bool>,
    /// The operations that were left out after these, each with its number in the program of that moment.
    pub(crate) left_out: Vec<usize>,
    pub(crate) failure: Failure,
}

/// Shrinks a program that has failed, in each of the two ways for a limited time. `fails` runs a smaller one.
pub(crate) fn shrunk<O: Clone + Debug>(
    mut draw: Draw<O>,
    failure: Failure,
    limit: Duration,
    fails: impl Fn(&Program<O>) -> Option<Failure>,
) -> Least<O> {
    let began = Instant::now();
    let kind = failure.violated().to_owned();
    let fails = |program: &Program<O>| fails(program).filter(|other| other.violated() == kind);
    let mut least = Least {
        program: draw.program(),
        path: Vec::new(),
        left_out: Vec::new(),
        failure,
    };
    let mut more = draw.step(true);
    for _ in 0..ATTEMPTS {
        if !more || began.elapsed() >= limit {
            break;
        }
        let program = draw.program();
        // What was taken back is known to fail.
        let is_known = format!("{program:?}") == format!("{:?}", least.program);
        let failure = if is_known { None } else { fails(&program) };
        let simplify = is_known || failure.is_some();
        if let Some(failure) = failure {
            least = Least {
                program,
                path: draw.path().to_vec(),
                failure,
                ..least
            };
        }
        more = draw.step(simplify);
    }
    let began = Instant::now();
    let mut number = 0;
    while number < least.program.size() && began.elapsed() < limit {
        let program = least.program.without(number);
        match fails(&program) {
            Some(failure) => {
                least.left_out.push(number);
                (least.program, least.failure) = (program, failure);
                number = 0;
            }
            None => number += 1,
        }
    }
    least
}
