//! The search for an explanation: steps of the specification, in an order that respects precedence, after which every
//! operation has the outcome that its caller was answered.
//!
//! It is a depth-first search over the operations without unfinished predecessors (Wing and Gong 1993). It remembers
//! every failed state by its fingerprint (Lowe 2017). Four reductions keep it small; a test compares them with the
//! plain enumeration of all steps:
//!
//! - A request is made when it is used. An earlier request only forbids other operations to give up, so it is enough to
//!   request right before a meeting, and right before a close for the puts that are to survive it.
//! - Looks are taken as early as possible: having looked forbids nothing.
//! - A step that changes no channel (a refusal, an end, giving up) is taken as soon as it may be, without alternatives.
//!   The operation's answer is known, so no other operation needs the step.
//! - What the order of a queue forces is [deduced](super::precedence) before the search, and counts like the precedence
//!   in the history.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::precedence;
use crate::history::{Answer, Call, Clause, History, Storage};
use crate::spec::{Port, Rules, Spec, State, Step};

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The history is legal.
    Explained,
    /// The history is illegal.
    Nothing,
    /// Undecided: the budget ended first, or an alternative was skipped.
    Exhausted,
}

/// A hasher for fingerprints, which are hashes already.
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

/// The most puts per channel of which it may be open whether they waited at a close. With more of them not all
/// combinations are tried.
const MAX_UNSURE: usize = 12;

/// One search.
pub struct Search<'a> {
    history: &'a History,
    spec: Spec,
    predecessors: Vec<u64>,
    /// What must precede each operation; `None` if one would precede itself.
    forced: Option<Vec<u64>>,
    /// Operations by return time: likely orders are tried first.
    order: Vec<usize>,
    answered: u64,
    /// The operations for which an earlier look can matter.
    curious: u64,
    seen: HashSet<u128, BuildHasherDefault<AsItIs>>,
    budget: u64,
    /// Whether an alternative was skipped. If so, an unsuccessful search proves nothing.
    skipped: Cell<bool>,
    path: Vec<Step>,
    longest: (u32, Vec<Step>),
}

impl<'a> Search<'a> {
    /// A search that visits at most `budget` states.
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
        let spec = Spec::of(history, rules);
        let curious = (0..operations.len())
            .filter(|&op| spec.may_need_to_look(op))
            .fold(0, |set, op| set | 1 << op);
        Search {
            history,
            spec,
            curious,
            predecessors: history.predecessors(),
            forced: precedence::deduced(history, rules),
            order,
            answered,
            seen: HashSet::with_capacity_and_hasher(4 * operations.len(), Default::default()),
            budget,
            skipped: Cell::new(false),
            path: Vec::new(),
            longest: (0, Vec::new()),
        }
    }

    /// Searches.
    pub fn run(&mut self) -> Found {
        let Some(forced) = self.forced.take() else {
            return Found::Nothing;
        };
        let start = self.spec.start();
        match self.visit(start, 0, &forced) {
            Found::Nothing if self.skipped.get() => Found::Exhausted,
            found => found,
        }
    }

    /// The steps that explain the most answers, of all that were tried; all answers if the history is legal.
    pub fn longest(&self) -> &[Step] {
        &self.longest.1
    }

    fn visit(&mut self, mut state: State, done: u64, forced: &[u64]) -> Found {
        if self.budget == 0 {
            return Found::Exhausted;
        }
        self.budget -= 1;
        self.look_around(&mut state, done);
        if !self.seen.insert(state.fingerprint()) {
            return Found::Nothing;
        }
        if done & self.answered == self.answered
            && (!self.history.quiescent || rests(&self.spec, self.history, &state))
        {
            self.remember(done);
            return Found::Explained;
        }
        let begun = open(&self.predecessors, done);
        let ready = begun & open(forced, done);
        for at in 0..self.order.len() {
            let op = self.order[at];
            if ready & 1 << op != 0
                && let Some(step) = self.without_effect(&state, op)
            {
                return self.follow(&state, done, &[step], forced);
            }
        }
        for at in 0..self.order.len() {
            let op = self.order[at];
            if ready & 1 << op == 0 {
                continue;
            }
            for way in self.branches(&state, op, begun, ready) {
                match self.follow(&state, done, way.steps(), forced) {
                    Found::Nothing => {}
                    found => return found,
                }
            }
        }
        self.remember(done);
        Found::Nothing
    }

    /// Keeps the path if it is the longest so far. Called where there is no further alternative, deepest first.
    fn remember(&mut self, done: u64) {
        let explained = (done & self.answered).count_ones();
        if explained > self.longest.0 || self.longest.1.is_empty() {
            self.longest = (explained, self.path.clone());
        }
    }

    fn look_around(&self, state: &mut State, done: u64) {
        if self.curious == 0 {
            return;
        }
        for op in members(self.curious & open(&self.predecessors, done)) {
            for clause in 0..self.spec.calls()[op].clauses().len() {
                self.spec.apply(state, Step::Look((op, clause)));
            }
        }
    }

    /// Takes these steps, all or none, and goes on from there.
    fn follow(&mut self, state: &State, mut done: u64, steps: &[Step], forced: &[u64]) -> Found {
        let mut next = state.clone();
        for &step in steps {
            if !self.spec.apply(&mut next, step) {
                return Found::Nothing;
            }
        }
        for op in steps.iter().flat_map(|step| step.operations()) {
            if let Some(outcome) = next.operations[op].outcome {
                if !is_answer(self.history, op, outcome) {
                    return Found::Nothing;
                }
                done |= 1 << op;
            }
        }
        self.path.extend_from_slice(steps);
        let found = self.visit(next, done, forced);
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

    /// The alternatives in which the operation can proceed with an effect.
    fn branches(&self, state: &State, op: usize, begun: u64, ready: u64) -> Vec<Way> {
        let operation = &self.history.operations[op];
        let mut ways = Vec::new();
        match (operation.answer, &operation.call) {
            (Answer::Closed, Call::Close(channel)) => {
                self.closings(state, op, *channel, begun, &mut ways)
            }
            // The close may have happened already. In a quiescent history a pending operation has no effect.
            (Answer::Pending, Call::Close(channel)) if !self.history.quiescent => {
                self.closings(state, op, *channel, begun, &mut ways)
            }
            (Answer::Cancelled, _) => ways.push(Way::One([Step::Cancel(op)])),
            _ => {}
        }
        for (at, clause) in operation.call.clauses().iter().enumerate() {
            if !self.may_commit(op, at, *clause) {
                continue;
            }
            let port = (op, at);
            match clause {
                Clause::Put { channel, value } => {
                    if self.spec.storage(*channel) != Storage::Rendezvous {
                        ways.push(Way::One([Step::Store(port)]));
                        // On other channels a put always has room, so it does not matter which operations hold some.
                        let bounded = matches!(self.spec.storage(*channel), Storage::Fixed(_));
                        if bounded && operation.answer == Answer::Cancelled {
                            ways.push(Way::One([Step::Reserve(port)]));
                        }
                        continue;
                    }
                    for taker in members(ready & !(1 << op)) {
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
                        ways.push(Way::One([Step::Receive(port)]));
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
            // In a quiescent history a pending operation has no effect.
            Answer::Pending => !self.history.quiescent,
            _ => false,
        }
    }

    /// The alternatives in which a put can meet a taker. Which of the two was found waiting matters only to priority.
    fn meetings(
        &self,
        put: Port,
        taker: usize,
        (channel, value): (usize, u32),
        state: &State,
        ways: &mut Vec<Way>,
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
                ways.push(Way::One([meet]));
                if one_way {
                    continue;
                }
            }
            for port in [take, put] {
                if self.spec.may(state, Step::Request(port)) {
                    ways.push(Way::Two([Step::Request(port), meet]));
                    if one_way {
                        break;
                    }
                }
            }
        }
    }

    /// The alternatives of a close: each with a different set of puts found waiting.
    fn closings(&self, state: &State, op: usize, channel: usize, begun: u64, ways: &mut Vec<Way>) {
        let (mut asked, mut unsure) = (Vec::new(), Vec::new());
        for other in members(begun) {
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
            ways.push(Way::Many(steps));
        }
    }
}

/// Steps that are taken all or none.
enum Way {
    One([Step; 1]),
    Two([Step; 2]),
    Many(Vec<Step>),
}

impl Way {
    fn steps(&self) -> &[Step] {
        match self {
            Way::One(step) => step,
            Way::Two(steps) => steps,
            Way::Many(steps) => steps,
        }
    }
}

/// The operations that are not done and that nothing unfinished precedes.
fn open(predecessors: &[u64], done: u64) -> u64 {
    let free = predecessors.iter().enumerate();
    free.fold(0, |set, (op, before)| {
        set | u64::from(before & !done == 0) << op
    }) & !done
}

fn members(mut of: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = of.trailing_zeros() as usize;
        of &= of.wrapping_sub(1);
        (first < 64).then_some(first)
    })
}

/// Whether the operation's answer admits that outcome.
pub fn is_answer(history: &History, op: usize, outcome: Answer) -> bool {
    match history.operations[op].answer {
        Answer::Pending => !history.quiescent,
        Answer::Cancelled => matches!(outcome, Answer::Cancelled | Answer::Accepted { .. }),
        answer => answer == outcome,
    }
}

/// Whether every pending operation can only wait, once it has requested all its clauses.
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
