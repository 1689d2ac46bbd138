//! The files with which `new` begins: each implementation compiles as written, over the primitives of the std world,
//! and fails the property that it should fail.

#![expect(
    clippy::upper_case_acronyms,
    reason = "TYPE stands for the name that `new` is given"
)]

use flowmeter_harness::caps::Claim::WindowBound;
use flowmeter_harness::registry::{Registry, Visitor, mutant};
use flowmeter_harness::sync::std::Std;
use flowmeter_impls::channel::mutex::MutexChannels;
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::{Checks, judge};

use super::{judged, plan};

#[path = "../../src/cli/new/channel/implementation.txt"]
mod channel;
#[path = "../../src/cli/new/executor/implementation.txt"]
mod executor;
#[path = "../../src/cli/new/limiter/implementation.txt"]
mod limiter;
#[path = "../../src/cli/new/timer/implementation.txt"]
mod timer;

/// All of them, registered as the registry would. The registration is repeated here, since the one of `new` is text;
/// `scripts/begun` checks that the two agree.
#[derive(Clone, Copy)]
struct Begun;

impl Registry for Begun {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        let channel = mutant::<channel::TYPE, _>(visitor, "channel");
        channel.channel().blocking().enter();
    }

    fn timers<V: Visitor>(self, visitor: &mut V) {
        mutant::<timer::TYPE, _>(visitor, "timer").timer().enter();
    }

    fn limiters<V: Visitor>(self, visitor: &mut V) {
        let limiter = mutant::<limiter::TYPE, _>(visitor, "limiter");
        limiter
            .limiter()
            .blocking_limit()
            .claims(&[WindowBound])
            .enter();
    }

    fn executors<V: Visitor>(self, visitor: &mut V) {
        let executor = mutant::<executor::TYPE, _>(visitor, "executor");
        executor.executor::<MutexChannels>().enter();
    }
}

fn fails(name: &'static str, property: &'static str, says: &'static str) -> Model {
    Model::new(format!("std::begun-{name}::{property}"), move || {
        let checks = Checks::of::<Std>(Begun);
        let mut cells = checks.cells();
        let cell =
            cells.find(|cell| cell.implementation.name == name && cell.property.name == property);
        let cell = cell.expect("each implementation has a cell for each property of its kind");
        judged(judge::<Std>(&cell, &plan::<Std>()), says)
    })
}

pub fn models() -> Vec<Model> {
    vec![
        fails("channel", "c1-conservation", "C1: "),
        fails("timer", "t2-once", "T2: "),
        fails("limiter", "l1-window", "L1: "),
        fails("executor", "g1-go", "G1: "),
    ]
}
