//! The search for an explanation: steps of the specification, in an order that respects what precedes what,
//! after which every operation came to what its caller was answered.
//!
//! Depth first over the operations that nothing unfinished precedes (Wing and Gong 1993), remembering every
//! state that led nowhere (Lowe 2017), by its fingerprint. Three things keep it small, and a test holds them
//! against the plain enumeration of all steps:
//!
//! - A request is made when it is used. Being found earlier only forbids others to give up, so it is enough to
//!   ask right before a meeting, and right before a close for the puts that are to survive it.
//! - Looks are taken whenever they can be: having looked forbids nothing.
//! - A step that changes no channel (a refusal, an end, giving up) is taken as soon as it may be, without
//!   looking at alternatives: the operation's answer is known, so nobody else can need it.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::history::{Answer, Call, Clause, History};
use crate::spec::{Port, Rules, Spec, State, Step};

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The history is legal.
    Explained,
    /// It is not.
    Nothing,
    /// The budget ended first, or some way was left out.
    Exhausted,
}

/// A fingerprint is a hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only fingerprints are kept")
    }
    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64;
    }
}

/// Of so many puts each may or may not have waited when one channel was closed; with more of them not all
/// combinations are tried.
const MAX_UNSURE: usize = 12;

/// One search.
pub struct Search<'a> {
    history: &'a History,
    spec: Spec,
    predecessors: Vec<u64>,
    /// Operations by the time of their return: likely orders are tried first.
    order: Vec<usize>,
    answered: u64,
    seen: HashSet<u128, BuildHasherDefault<AsItIs>>,
    budget: u64,
    /// Whether some way was left out, so that finding nothing says nothing.
    skipped: Cell<bool>,
    path: Vec<Step>,
    longest: (u32, Vec<Step>),
}

impl<'a> Search<'a> {
    /// A search that looks at no more than `budget` states.
    ///
    /// # Panics
    /// With more than 64 operations, or 64 clauses of one.
    pub fn new(history: &'a History, rules: Rules, budget: u64) -> Search<'a> {
        let operations = &history.operations;
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by_key(|&op| operations[op].returned);
        let answered = (0..operations.len())
            .filter(|&op| operations[op].answer != Answer::Pending)
            .fold(0, |set, op| set | 1 << op);
        Search {
            history,
            spec: Spec::of(history, rules),
            predecessors: history.predecessors(),
            order,
            answered,
            seen: HashSet::default(),
            budget,
            skipped: Cell::new(false),
            path: Vec::new(),
            longest: (0, Vec::new()),
        }
    }

    /// Searches.
    pub fn run(&mut self) -> Found {
        let start = self.spec.start();
        match self.visit(start, 0) {
            Found::Nothing if self.skipped.get() => Found::Exhausted,
            found => found,
        }
    }

    /// The steps that explain the most answers, of all that were tried: all of them when the history is legal.
    pub fn longest(&self) -> &[Step] {
        &self.longest.1
    }

    fn visit(&mut self, mut state: State, done: u64) -> Found {
        if self.budget == 0 {
            return Found::Exhausted;
        }
        self.budget -= 1;
        self.look_around(&mut state, done);
        if !self.seen.insert(state.fingerprint()) {
            return Found::Nothing;
        }
        let explained = (done & self.answered).count_ones();
        if explained >= self.longest.0 {
            self.longest = (explained, self.path.clone());
        }
        if done & self.answered == self.answered
            && (!self.history.quiescent || rests(&self.spec, self.history, &state))
        {
            return Found::Explained;
        }
        let begun: Vec<usize> = (self.order.iter().copied())
            .filter(|&op| done & 1 << op == 0 && self.predecessors[op] & !done == 0)
            .collect();
        for &op in &begun {
            if let Some(step) = self.without_effect(&state, op) {
                return self.follow(&state, done, &[step]);
            }
        }
        for &op in &begun {
            for steps in self.branches(&state, op, &begun) {
                match self.follow(&state, done, &steps) {
                    Found::Nothing => {}
                    found => return found,
                }
            }
        }
        Found::Nothing
    }

    fn look_around(&self, state: &mut State, done: u64) {
        for op in 0..self.predecessors.len() {
            let begun = done & 1 << op == 0 && self.predecessors[op] & !done == 0;
            if begun && self.spec.may_need_to_look(op) {
                for clause in 0..self.spec.calls()[op].clauses().len() {
                    self.spec.apply(state, Step::Look((op, clause)));
                }
            }
        }
    }

    /// Takes these steps, all or none, and goes on from there.
    fn follow(&mut self, state: &State, mut done: u64, steps: &[Step]) -> Found {
        let mut next = state.clone();
        for &step in steps {
            if !self.spec.apply(&mut next, step) {
                return Found::Nothing;
            }
        }
        for op in 0..next.operations.len() {
            if let Some(outcome) = next.operations[op].outcome {
                if !is_answer(self.history, op, outcome) {
                    return Found::Nothing;
                }
                done |= 1 << op;
            }
        }
        self.path.extend_from_slice(steps);
        let found = self.visit(next, done);
        self.path.truncate(self.path.len() - steps.len());
        found
    }

    fn without_effect(&self, state: &State, op: usize) -> Option<Step> {
        let step = match self.history.operations[op].answer {
            Answer::Refused { clause } => Step::Refuse((op, clause)),
            Answer::Ended { clause } => Step::End((op, clause)),
            Answer::WouldWait | Answer::TimedOut => Step::GiveUp(op),
            Answer::Closed => match self.spec.calls()[op] {
                Call::Close(channel) if state.channels[channel].closed => Step::Close(op),
                _ => return None,
            },
            _ => return None,
        };
        self.spec.may(state, step).then_some(step)
    }

    /// The ways in which the operation can go on with an effect.
    fn branches(&self, state: &State, op: usize, begun: &[usize]) -> Vec<Vec<Step>> {
        let operation = &self.history.operations[op];
        let mut ways = Vec::new();
        match (operation.answer, &operation.call) {
            (Answer::Closed, Call::Close(channel)) => {
                self.closings(state, op, *channel, begun, &mut ways)
            }
            // It may have closed the channel already; what is at rest and has no answer has no effect.
            (Answer::Pending, Call::Close(channel)) if !self.history.quiescent => {
                self.closings(state, op, *channel, begun, &mut ways)
            }
            (Answer::Cancelled, _) => ways.push(vec![Step::Cancel(op)]),
            _ => {}
        }
        for (at, clause) in operation.call.clauses().iter().enumerate() {
            if !self.may_commit(op, at, *clause) {
                continue;
            }
            let port = (op, at);
            match clause {
                Clause::Put { channel, value } => {
                    ways.push(vec![Step::Store(port)]);
                    for &taker in begun.iter().filter(|taker| **taker != op) {
                        self.meetings(port, taker, (*channel, *value), state, &mut ways);
                    }
                }
                Clause::Take { channel } => {
                    let first = state.channels[*channel].first();
                    let expected = match operation.answer {
                        Answer::Took { value, .. } => first == Some(value),
                        _ => first.is_some(),
                    };
                    if expected {
                        ways.push(vec![Step::Receive(port)]);
                    }
                }
            }
        }
        ways
    }

    /// Whether the answer admits that this clause put or took a value.
    fn may_commit(&self, op: usize, at: usize, clause: Clause) -> bool {
        match self.history.operations[op].answer {
            Answer::Accepted { clause: won } => won == at && matches!(clause, Clause::Put { .. }),
            Answer::Took { clause: won, .. } => won == at && matches!(clause, Clause::Take { .. }),
            Answer::Cancelled => true,
            // What is at rest and has no answer has no effect.
            Answer::Pending => !self.history.quiescent,
            _ => false,
        }
    }

    /// The ways in which a put can meet a taker. Who is found waiting by whom matters to priority only.
    fn meetings(
        &self,
        put: Port,
        taker: usize,
        (channel, value): (usize, u32),
        state: &State,
        ways: &mut Vec<Vec<Step>>,
    ) {
        let operation = &self.history.operations[taker];
        for (at, clause) in operation.call.clauses().iter().enumerate() {
            let other = match operation.answer {
                Answer::Took { value: taken, .. } => taken != value,
                _ => false,
            };
            if other || *clause != Clause::take(channel) || !self.may_commit(taker, at, *clause) {
                continue;
            }
            let take = (taker, at);
            let meet = Step::Meet { put, take };
            let found = |port: Port| state.operations[port.0].requested & 1 << port.1 != 0;
            let calls = self.spec.calls();
            let one_way = !calls[put.0].has_priority() && !calls[taker].has_priority();
            if found(put) || found(take) {
                ways.push(vec![meet]);
                if one_way {
                    continue;
                }
            }
            for port in [take, put] {
                if self.spec.may(state, Step::Request(port)) {
                    ways.push(vec![Step::Request(port), meet]);
                    if one_way {
                        break;
                    }
                }
            }
        }
    }

    /// The ways to close: each with some of the puts found waiting.
    fn closings(
        &self,
        state: &State,
        op: usize,
        channel: usize,
        begun: &[usize],
        ways: &mut Vec<Vec<Step>>,
    ) {
        let (mut asked, mut unsure) = (Vec::new(), Vec::new());
        for &other in begun {
            for (at, clause) in self.spec.calls()[other].clauses().iter().enumerate() {
                let step = Step::Request((other, at));
                let is_put = matches!(clause, Clause::Put { channel: to, .. } if *to == channel);
                if !is_put || !self.spec.may(state, step) {
                    continue;
                }
                match self.history.operations[other].answer {
                    Answer::Accepted { clause } if clause == at => asked.push(step),
                    Answer::Pending if self.history.quiescent => asked.push(step),
                    Answer::Pending | Answer::Cancelled | Answer::TimedOut => unsure.push(step),
                    Answer::Refused { clause } if clause == at => {}
                    // An earlier clause may have to be unable.
                    _ if self.spec.calls()[other].has_priority() => unsure.push(step),
                    _ => {}
                }
            }
        }
        self.skipped
            .set(self.skipped.get() || unsure.len() > MAX_UNSURE);
        for chosen in 0..1u64 << unsure.len().min(MAX_UNSURE) {
            let mut steps = asked.clone();
            let of_chosen = |(at, step): (usize, &Step)| (chosen & 1 << at != 0).then_some(*step);
            steps.extend(unsure.iter().enumerate().filter_map(of_chosen));
            steps.push(Step::Close(op));
            ways.push(steps);
        }
    }
}

/// Whether the operation's answer admits that outcome.
pub fn is_answer(history: &History, op: usize, outcome: Answer) -> bool {
    match history.operations[op].answer {
        Answer::Pending => !history.quiescent,
        Answer::Cancelled => matches!(outcome, Answer::Cancelled | Answer::Accepted { .. }),
        answer => answer == outcome,
    }
}

/// Whether all that is pending has nothing left to do but wait, once it has asked for everything.
pub fn rests(spec: &Spec, history: &History, state: &State) -> bool {
    let pending = || {
        let all = history.operations.iter().enumerate();
        all.filter(|(_, o)| o.answer == Answer::Pending)
            .map(|(op, _)| op)
    };
    let mut state = state.clone();
    for op in pending() {
        for clause in 0..spec.calls()[op].clauses().len() {
            spec.apply(&mut state, Step::Request((op, clause)));
        }
    }
    pending().all(|op| spec.can_rest(&state, op))
}
