//! Random executions of the specification itself. Their histories are legal by construction, and most become illegal
//! when an answer is changed. They are the input of tests and benches of a judge.

use super::search::rests;
use crate::channel::{Order, Patience};
use crate::history::{Answer, Call, Clause, History, Operation, Storage};
use crate::spec::{Rules, Spec, State, Step};
use crate::sync::{Deadline, scale, split_mix};

/// A seeded random source, so that an execution can be repeated.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Every seed gives a different sequence, also adjacent seeds.
    pub fn new(seed: u64) -> Dice {
        Dice(split_mix(seed))
    }

    /// A number below `n`.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        scale(split_mix(self.0), n)
    }

    /// A random element.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const STORAGES: [Storage; 7] = [
    Storage::Rendezvous,
    Storage::Fixed(1),
    Storage::Fixed(2),
    Storage::Unbounded,
    Storage::Dropping(1),
    Storage::Sliding(1),
    Storage::Promise,
];

fn random_clause(dice: &mut Dice, channels: usize, value: &mut u32) -> Clause {
    let channel = dice.below(channels);
    if dice.below(2) == 0 {
        return Clause::take(channel);
    }
    *value += 1;
    Clause::put(channel, *value)
}

/// A call, and whether its future will be dropped.
fn random_call(dice: &mut Dice, channels: usize, value: &mut u32) -> (Call, bool) {
    let patience = match dice.below(8) {
        0 => Patience::Until(Deadline::from_nanos(1)),
        1 | 2 => Patience::Now,
        _ => Patience::Forever,
    };
    let width = if dice.below(3) == 0 { 2 } else { 1 };
    let clauses: Vec<Clause> = (0..width)
        .map(|_| random_clause(dice, channels, value))
        .collect();
    let order = dice.pick(&[Order::Random, Order::Priority]);
    match dice.below(25) {
        0 => (Call::Close(dice.below(channels)), false),
        cancelled => {
            let waits = patience == Patience::Forever;
            (Call::alts(clauses, order, patience), waits && cancelled < 3)
        }
    }
}

struct Run {
    spec: Spec,
    state: State,
    threads: Vec<usize>,
    cancelled: Vec<bool>,
    history: History,
    /// Index into the history of each operation that was invoked.
    called: Vec<Option<usize>>,
    now: u64,
}

impl Run {
    fn new(dice: &mut Dice, count: usize, rules: Rules) -> Run {
        let channels: Vec<Storage> = (0..1 + dice.below(2))
            .map(|_| dice.pick(&STORAGES))
            .collect();
        let threads = 3 + dice.below(2);
        let mut value = 0;
        let calls: Vec<(Call, bool)> = (0..count)
            .map(|_| random_call(dice, channels.len(), &mut value))
            .collect();
        let spec = Spec::new(channels.clone(), calls.clone(), rules);
        Run {
            state: spec.start(),
            spec,
            threads: (0..count).map(|op| op % threads).collect(),
            cancelled: calls.into_iter().map(|(_, cancelled)| cancelled).collect(),
            history: History::new(channels),
            called: vec![None; count],
            now: 0,
        }
    }

    /// Performs one possible event: a call, a step, or a return.
    fn act(&mut self, dice: &mut Dice) -> bool {
        let count = self.called.len();
        let first = dice.below(count);
        (0..count)
            .map(|at| (first + at) % count)
            .any(|op| match self.called[op] {
                None => self.call(op),
                Some(at) => self.give_back(op, at) || self.step(dice, op),
            })
    }

    fn call(&mut self, op: usize) -> bool {
        let returned = |at: Option<usize>| {
            at.is_some_and(|at| self.history.operations[at].answer != Answer::Pending)
        };
        let before = (0..op).filter(|before| self.threads[*before] == self.threads[op]);
        if !before
            .into_iter()
            .all(|before| returned(self.called[before]))
        {
            return false;
        }
        self.now += 1;
        self.called[op] = Some(self.history.operations.len());
        self.history.operations.push(Operation {
            thread: self.threads[op],
            call: self.spec.calls()[op].clone(),
            answer: Answer::Pending,
            invoked: self.now,
            returned: u64::MAX,
        });
        true
    }

    fn give_back(&mut self, op: usize, at: usize) -> bool {
        let (Some(outcome), u64::MAX) = (
            self.state.operations[op].outcome,
            self.history.operations[at].returned,
        ) else {
            return false;
        };
        self.now += 1;
        self.history.operations[at].returned = self.now;
        self.history.operations[at].answer = match self.cancelled[op] {
            true => Answer::Cancelled,
            false => outcome,
        };
        true
    }

    fn step(&mut self, dice: &mut Dice, op: usize) -> bool {
        let mut steps = vec![Step::GiveUp(op), Step::Close(op)];
        if dice.below(4) == 0 {
            steps.push(Step::Cancel(op));
        }
        for clause in 0..self.spec.calls()[op].clauses().len() {
            let put = (op, clause);
            steps.extend([Step::Request(put), Step::Look(put), Step::Store(put)]);
            steps.extend([Step::Reserve(put), Step::Receive(put)]);
            steps.extend([Step::Refuse(put), Step::End(put)]);
            for other in (0..self.called.len()).filter(|other| self.called[*other].is_some()) {
                for take in 0..self.spec.calls()[other].clauses().len() {
                    let take = (other, take);
                    steps.push(Step::Meet { put, take });
                }
            }
        }
        let first = dice.below(steps.len());
        let mut turns = (0..steps.len()).map(|at| steps[(first + at) % steps.len()]);
        turns.any(|step| self.spec.apply(&mut self.state, step))
    }
}

/// The history of an execution of `count` operations, run until nothing more could happen.
pub fn execute(dice: &mut Dice, count: usize, rules: Rules) -> History {
    let mut run = Run::new(dice, count, rules);
    let mut idle = 0;
    // A cancel happens only with a low probability, hence the many attempts.
    while idle < 100 {
        idle = if run.act(dice) { 0 } else { idle + 1 };
    }
    let mut history = run.history;
    let spec = Spec::of(&history, rules);
    let mut state = run.state;
    let mut operations = vec![Default::default(); history.operations.len()];
    for (op, at) in run.called.iter().enumerate() {
        if let Some(at) = at {
            operations[*at] = state.operations[op];
        }
    }
    state.operations = operations;
    // Nothing more can happen, with one exception. Two alts that each prefer the other's later clause, and have both
    // requested all clauses, never meet under strict priority. Real ones meet while they request.
    history.quiescent = rests(&spec, &history, &state);
    history
}

/// Changes one thing about the history, which most often makes it illegal. Returns whether it changed anything.
pub fn corrupt(dice: &mut Dice, history: &mut History) -> bool {
    let at = dice.below(history.operations.len());
    let other = dice.below(history.operations.len());
    let (other_answer, other_invoked) = {
        let other = &history.operations[other];
        (other.answer, other.invoked)
    };
    let operation = &mut history.operations[at];
    let before = operation.answer;
    let weaker = match operation.call.waits() {
        true => Answer::Pending,
        false => Answer::WouldWait,
    };
    operation.answer = match (before, dice.below(4)) {
        (Answer::Took { clause, .. }, 0) => match other_answer {
            Answer::Took { value, .. } => Answer::Took { clause, value },
            _ => before,
        },
        (Answer::Took { clause, .. }, 1) => Answer::Ended { clause },
        (Answer::Accepted { clause }, 1) => Answer::Refused { clause },
        (Answer::Refused { clause }, 1) => Answer::Accepted { clause },
        (Answer::Took { .. } | Answer::Accepted { .. } | Answer::Refused { .. }, 2) => weaker,
        (Answer::Ended { .. }, 2) => weaker,
        (Answer::WouldWait | Answer::TimedOut | Answer::Pending, 0) => {
            let is_put = |clause: &Clause| matches!(clause, Clause::Put { .. });
            match operation.call.clauses().iter().position(is_put) {
                Some(clause) => Answer::Accepted { clause },
                None => Answer::Ended { clause: 0 },
            }
        }
        // It had returned before another one began.
        (Answer::Took { .. } | Answer::Accepted { .. }, 3)
            if (operation.invoked..operation.returned).contains(&other_invoked) && other != at =>
        {
            operation.returned = other_invoked - 1;
            return true;
        }
        _ => before,
    };
    if operation.answer == before {
        return false;
    }
    match operation.answer {
        // Only a thread's last operation may be pending.
        Answer::Pending => {
            let thread = operation.thread;
            operation.returned = u64::MAX;
            history.operations[at + 1..]
                .iter()
                .all(|o| o.thread != thread)
        }
        _ => {
            if before == Answer::Pending {
                operation.returned = u64::MAX - 1;
            }
            true
        }
    }
}
