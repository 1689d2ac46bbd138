//! The checkers, and the specification of a queue in the form that each of them needs.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::fifo::{Operation, Outcome};
use flowmeter_harness::check::{Ledger, dual, fifo};
use flowmeter_harness::history;
use flowmeter_harness::history::{Answer, Call, History, Storage};
use flowmeter_harness::spec::Rules;
use lincheck::checker::LinearizabilityChecker;
use lincheck::recorder::{Recorder, record_init_part};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};
use todc_utils::{Action, WGLChecker};

/// A budget of states for tier three that no history here exhausts.
pub const BUDGET: u64 = 100_000_000;

/// The checkers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// Tiers one and two.
    Fifo,
    /// Tier three.
    Dual,
    /// `todc_utils::WGLChecker`.
    Todc,
    /// `stateright::semantics::LinearizabilityTester`.
    Stateright,
    /// `lincheck::checker::LinearizabilityChecker`.
    Lincheck,
}

/// Answers whether the history is linearizable.
type Question = Box<dyn Fn() -> bool>;

impl Checker {
    pub const ALL: [Checker; 5] = [
        Checker::Fifo,
        Checker::Dual,
        Checker::Todc,
        Checker::Stateright,
        Checker::Lincheck,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Checker::Fifo => "tiers 1 and 2",
            Checker::Dual => "tier 3",
            Checker::Todc => "todc-utils",
            Checker::Stateright => "stateright",
            Checker::Lincheck => "lincheck",
        }
    }

    pub fn is_rival(self) -> bool {
        !matches!(self, Checker::Fifo | Checker::Dual)
    }

    /// Whether the checker accepts histories of that length at all.
    pub fn takes(self, length: usize) -> bool {
        self != Checker::Dual || length <= 64
    }

    /// The question in the checker's own form. It may be asked any number of times.
    pub fn ask(self, operations: &[Operation]) -> Question {
        match self {
            Checker::Fifo => {
                let operations = operations.to_vec();
                Box::new(move || judge_fifo(&operations, Buffer::Unbounded))
            }
            Checker::Dual => {
                let history = whole(operations);
                Box::new(move || judge_dual(&history, Rules::STRICT))
            }
            Checker::Todc => {
                let history = todc_utils::History::from_actions(actions(operations));
                Box::new(move || WGLChecker::<Queue>::is_linearizable(history.clone()))
            }
            Checker::Stateright => {
                let tester = tester(operations);
                Box::new(move || tester.is_consistent())
            }
            Checker::Lincheck => {
                let execution = execution(operations);
                Box::new(move || LinearizabilityChecker::<Queue>::check(&execution))
            }
        }
    }
}

/// Tiers one and two, from what was recorded.
pub fn judge_fifo(operations: &[Operation], buffer: Buffer) -> bool {
    keep_books(operations)
        && fifo::History::new(operations)
            .expect("it is well formed")
            .judge(buffer)
            .is_ok()
}

/// Tier one.
pub fn keep_books(operations: &[Operation]) -> bool {
    let mut ledger = Ledger::new(operations.len());
    for operation in operations {
        match operation.outcome {
            Outcome::Put(value) => ledger.accepted(value as usize),
            Outcome::Take(value) => ledger.taken(value as usize),
            _ => {}
        }
    }
    black_box(ledger.judge_takes()).is_ok()
}

/// Tier three.
fn judge_dual(history: &History, rules: Rules) -> bool {
    dual::decide(history, rules, BUDGET).unwrap_or_else(|why| panic!("{why}"))
}

fn whole(operations: &[Operation]) -> History {
    let mut history = History::new([Storage::Unbounded]);
    let told = operations.iter().map(|operation| {
        let (call, answer) = match operation.outcome {
            Outcome::Put(value) => {
                let call = Call::put(0, value as u32);
                (call, Answer::Accepted { clause: 0 })
            }
            Outcome::Take(value) => {
                let value = value as u32;
                (Call::poll(0), Answer::Took { clause: 0, value })
            }
            Outcome::TakeEmpty => (Call::poll(0), Answer::WouldWait),
            other => unreachable!("{other:?} of a queue without a bound"),
        };
        history::Operation {
            thread: operation.thread as usize,
            call,
            answer,
            invoked: operation.invoke,
            returned: operation.returned,
        }
    });
    history.operations = told.collect();
    history
}

/// A call, as the published checkers are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Put(u64),
    Poll,
}

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    Done,
    Polled(Option<u64>),
}

fn tell(outcome: Outcome) -> (Asked, Answered) {
    match outcome {
        Outcome::Put(value) => (Asked::Put(value), Answered::Done),
        Outcome::Take(value) => (Asked::Poll, Answered::Polled(Some(value))),
        Outcome::TakeEmpty => (Asked::Poll, Answered::Polled(None)),
        other => unreachable!("{other:?} of a queue without a bound"),
    }
}

/// The specification of the queue for all three published checkers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Queue(VecDeque<u64>);

impl Queue {
    fn step(&mut self, asked: Asked) -> Answered {
        match asked {
            Asked::Put(value) => {
                self.0.push_back(value);
                Answered::Done
            }
            Asked::Poll => Answered::Polled(self.0.pop_front()),
        }
    }
}

impl todc_utils::Specification for Queue {
    type State = VecDeque<u64>;
    type Operation = (Asked, Answered);

    fn init() -> Self::State {
        VecDeque::new()
    }

    fn apply(&(asked, answered): &Self::Operation, state: &Self::State) -> (bool, Self::State) {
        // Rejects impossible answers before the state is copied.
        if let Answered::Polled(value) = answered
            && state.front().copied() != value
        {
            return (false, VecDeque::new());
        }
        let mut queue = Queue(state.clone());
        let possible = queue.step(asked) == answered;
        (possible, queue.0)
    }
}

impl stateright::semantics::SequentialSpec for Queue {
    type Op = Asked;
    type Ret = Answered;

    fn invoke(&mut self, asked: &Asked) -> Answered {
        self.step(*asked)
    }
}

impl lincheck::SequentialSpec for Queue {
    type Op = Asked;
    type Ret = Answered;

    fn exec(&mut self, asked: Asked) -> Answered {
        self.step(asked)
    }
}

/// The calls (`true`) and returns in their order, by operation.
fn events(operations: &[Operation]) -> Vec<(usize, bool)> {
    let mut events: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * operations.len());
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.invoke, false, at));
        events.push((operation.returned, true, at));
    }
    events.sort_unstable();
    let event = |(_, returns, at): (u64, bool, usize)| (at, !returns);
    events.into_iter().map(event).collect()
}

fn actions(operations: &[Operation]) -> Vec<(usize, Action<(Asked, Answered)>)> {
    let action = |(at, calls): (usize, bool)| {
        let (thread, told) = (operations[at].thread as usize, tell(operations[at].outcome));
        let action = match calls {
            true => Action::Call(told),
            false => Action::Response(told),
        };
        (thread, action)
    };
    events(operations).into_iter().map(action).collect()
}

fn tester(operations: &[Operation]) -> LinearizabilityTester<u32, Queue> {
    let mut tester = LinearizabilityTester::new(Queue::default());
    for (at, calls) in events(operations) {
        let (thread, (asked, answered)) = (operations[at].thread, tell(operations[at].outcome));
        match calls {
            true => tester.on_invoke(thread, asked).map(drop),
            false => tester.on_return(thread, answered).map(drop),
        }
        .expect("every call has its return");
    }
    tester
}

/// `lincheck` can only record executions, so threads replay the history event by event.
fn execution(operations: &[Operation]) -> lincheck::Execution<Asked, Answered> {
    let mut moments = vec![[0; 2]; operations.len()];
    for (moment, (at, calls)) in events(operations).into_iter().enumerate() {
        moments[at][usize::from(!calls)] = moment;
    }
    let turn = AtomicUsize::new(0);
    let wait_for = |moment: usize| {
        while turn.load(Ordering::Acquire) != moment {
            thread::yield_now();
        }
    };
    let over = |moment: usize| turn.store(moment + 1, Ordering::Release);
    let recorder = record_init_part().record_parallel_part();
    let threads = operations.iter().map(|o| o.thread + 1).max().unwrap_or(0);
    thread::scope(|scope| {
        for thread in 0..threads {
            let mut recorder = recorder.record_thread();
            let (moments, wait_for, over) = (&moments, &wait_for, &over);
            scope.spawn(move || {
                for (at, operation) in operations.iter().enumerate() {
                    if operation.thread != thread {
                        continue;
                    }
                    let [called, returned] = moments[at];
                    let (asked, answered) = tell(operation.outcome);
                    wait_for(called);
                    recorder.record(asked, || {
                        over(called);
                        wait_for(returned);
                        answered
                    });
                    over(returned);
                }
            });
        }
    });
    recorder.finish()
}
