//! A transform that follows a script and records its inputs.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Emit, Panic, Transform};

/// What a transform makes of numbers: of `n` the values `10 n`, `10 n + 1` and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    /// Whether a number emits anything.
    pub(super) keeps: fn(u32) -> bool,
    /// How many values each kept number emits.
    pub(super) times: u32,
    /// After how many numbers the channel ends.
    pub(super) ends_after: usize,
    /// How many values come at the end: [`LAST`] and so on.
    pub(super) at_end: u32,
}

/// The first value that comes at the end.
pub(super) const LAST: u32 = 9_000;

impl Script {
    /// One value for each number.
    pub(super) const PLAIN: Script = Script {
        keeps: |_| true,
        times: 1,
        ends_after: usize::MAX,
        at_end: 0,
    };
}

/// A record of the calls of a transform. It uses no primitive of a world, so it orders nothing between a model's
/// threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<Mutex<Written>>);

#[derive(Debug, Default)]
struct Written {
    steps: Vec<u32>,
    completions: usize,
}

impl Log {
    /// Its inputs, in order.
    pub(super) fn steps(&self) -> Vec<u32> {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .steps
            .clone()
    }

    /// How often it was completed.
    pub(super) fn completions(&self) -> usize {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .completions
    }
}

/// A transform that follows a script.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    script: Script,
    stepped: usize,
    log: Log,
}

impl Scripted {
    pub(super) fn new(script: Script, log: &Log) -> Self {
        Scripted {
            script,
            stepped: 0,
            log: log.clone(),
        }
    }
}

impl Transform<u32> for Scripted {
    fn step(&mut self, number: u32, emit: Emit<'_, u32>) -> ControlFlow<()> {
        self.stepped += 1;
        self.log
            .0
            .lock()
            .expect("no thread panics while it holds the lock")
            .steps
            .push(number);
        if (self.script.keeps)(number) {
            for nth in 0..self.script.times {
                emit(10 * number + nth)?;
            }
        }
        if self.stepped == self.script.ends_after {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn complete(&mut self, emit: Emit<'_, u32>) {
        self.log
            .0
            .lock()
            .expect("no thread panics while it holds the lock")
            .completions += 1;
        for nth in 0..self.script.at_end {
            let _ = emit(LAST + nth);
        }
    }
}

/// A handler for models without a panic.
pub(super) fn unasked(_: Panic) -> Option<u32> {
    unreachable!("B3: a handler was asked, and nothing had panicked")
}
