//! Random executions of the specification itself: their histories are legal by construction, and most of them
//! are not any more once an answer is changed.

use std::time::{Duration, Instant};

use super::brute::enumerate;
use crate::channel::{Order, Patience};
use crate::check::dual::search::{Found, Search, rests};
use crate::check::dual::{Verdict, judge};
use crate::history::{Answer, Call, Clause, History, Operation, Storage};
use crate::spec::{Rules, Spec, State, Step};
use crate::sync::{Deadline, scale, split_mix};

const BUDGET: u64 = 2_000_000;

/// How many small histories are compared.
const SMALL: u64 = 1_500;

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        scale(split_mix(self.0), n)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
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
    /// The place in the history of each operation that was invoked.
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

    /// Something that can happen: a call, a step, or a return.
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
            steps.extend([Step::Receive(put), Step::Refuse(put), Step::End(put)]);
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

/// An execution until everything rests.
fn execute(dice: &mut Dice, count: usize, rules: Rules) -> History {
    let mut run = Run::new(dice, count, rules);
    let mut idle = 0;
    // A cancel has its chance only now and then.
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
    // Nothing more could happen, but for one thing: two alts that each prefer the other's later clause, and
    // have both asked for everything, never meet under strict priority. Real ones meet while they ask.
    history.quiescent = rests(&spec, &history, &state);
    history
}

/// Changes one thing about the history; whether it did.
fn corrupt(dice: &mut Dice, history: &mut History) -> bool {
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
        // It was over before another one began.
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

#[test]
fn executions_of_the_specification_are_legal() {
    for rules in [Rules::STRICT, Rules::WEAK] {
        for seed in 0..300 {
            let mut dice = Dice(seed << 20);
            let count = 1 + dice.below(24);
            let history = execute(&mut dice, count, rules);
            match judge(&history, rules, BUDGET) {
                Verdict::Legal => {}
                Verdict::Illegal(counterexample) => {
                    panic!("seed {seed} {rules:?}\n{counterexample}")
                }
                Verdict::Inconclusive(why) => panic!("seed {seed} {rules:?}: {why}"),
            }
        }
    }
}

#[test]
fn the_search_equals_enumeration_on_executions_and_corruptions_of_them() {
    let mut legal = 0;
    for seed in 0..SMALL {
        let mut dice = Dice(seed << 20 | 1 << 57);
        let rules = dice.pick(&[Rules::STRICT, Rules::WEAK]);
        let count = 2 + dice.below(4);
        let mut history = execute(&mut dice, count, rules);
        for _ in 0..dice.below(3) {
            corrupt(&mut dice, &mut history);
        }
        history.quiescent &= dice.below(2) == 0;
        let expected = enumerate(&history, rules);
        let found = Search::new(&history, rules, BUDGET).run();
        let text = crate::history::columns(&history);
        assert_eq!(
            found == Found::Explained,
            expected,
            "seed {seed} {rules:?}\n{text}"
        );
        legal += u64::from(expected);
    }
    println!("{legal} legal of {SMALL}");
    assert!((SMALL / 10..SMALL * 9 / 10).contains(&legal), "{legal}");
}

#[test]
fn most_corruptions_of_one_answer_are_found() {
    let (mut found, mut tried, mut unknown) = (0, 0, 0);
    for seed in 0..2_000 {
        let mut dice = Dice(seed << 20 | 1 << 60);
        let count = 4 + dice.below(12);
        let mut history = execute(&mut dice, count, Rules::STRICT);
        if !corrupt(&mut dice, &mut history) {
            continue;
        }
        tried += 1;
        match judge(&history, Rules::STRICT, BUDGET) {
            Verdict::Legal => {}
            Verdict::Illegal(_) => found += 1,
            Verdict::Inconclusive(_) => unknown += 1,
        }
    }
    println!("{found} of {tried} corrupted histories are illegal, {unknown} not decided");
    assert!(tried > 300 && found * 10 > tried * 7, "{found} of {tried}");
}

#[test]
#[ignore = "a measurement"]
fn histories_a_second() {
    for count in [10, 20, 40] {
        let histories: Vec<History> = (0..500)
            .map(|seed| execute(&mut Dice(seed << 20 | 1 << 59), count, Rules::STRICT))
            .filter(|history| history.operations.len() * 10 >= count * 8)
            .collect();
        let corrupted = |(at, history): (usize, &History)| {
            let mut history = history.clone();
            let mut dice = Dice((at as u64) << 20 | 1 << 58);
            (0..20).any(|_| corrupt(&mut dice, &mut history));
            history
        };
        let corrupted: Vec<History> = histories.iter().enumerate().map(corrupted).collect();
        for (what, histories) in [("legal", histories), ("corrupted", corrupted)] {
            let (mut worst, mut unknown) = (Duration::ZERO, 0);
            let started = Instant::now();
            for history in &histories {
                let started = Instant::now();
                let verdict = judge(history, Rules::STRICT, BUDGET);
                unknown += usize::from(matches!(verdict, Verdict::Inconclusive(_)));
                worst = worst.max(started.elapsed());
            }
            let (rate, of) = (
                histories.len() as f64 / started.elapsed().as_secs_f64(),
                histories.len(),
            );
            println!(
                "{count} operations, {what}: {rate:.0} a second of {of}, worst {worst:?}, {unknown} not decided"
            );
        }
    }
}
