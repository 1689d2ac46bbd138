//! Every outcome that the [specification](crate::spec) allows a small program: all combinations of answers of its
//! operations. The set is enumerated once and then judges any number of executions of which only the answers are known.
//! There are no stamps, so no recorder can hide a fault.
//!
//! The enumeration is depth first over the steps of all threads. It remembers by fingerprint what can follow from a
//! state. Two reductions keep it small, as in the search of [`dual`](super::dual): a request is made when it is used,
//! and looks are taken as early as possible. A test compares them with the plain enumeration of all steps.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::history::{Answer, Call, Clause, Storage};
use crate::spec::{Rules, Spec, State, Step};

/// The answer of every operation, thread by thread; [`Answer::Pending`] for one that waits forever.
pub type Outcome = Vec<Answer>;

/// All outcomes of a program. Each of its threads calls its operations one after the other.
///
/// # Panics
/// When a call has more than 64 clauses.
pub fn allowed(channels: &[Storage], threads: &[Vec<Call>], rules: Rules) -> HashSet<Outcome> {
    let mut enumeration = Enumeration::new(channels, threads, rules, true);
    enumeration.all().expect("it may come to rest")
}

/// As [`allowed`], for a program in which no thread can be left waiting; `None` for any other program.
///
/// # Panics
/// As [`allowed`].
pub fn allowed_to_end(
    channels: &[Storage],
    threads: &[Vec<Call>],
    rules: Rules,
) -> Option<HashSet<Outcome>> {
    Enumeration::new(channels, threads, rules, false).all()
}

/// The outcomes that can follow. Operations that are done earlier are [`Answer::Pending`] in them.
type Following = Option<Rc<HashSet<Outcome>>>;

struct Enumeration {
    spec: Spec,
    /// The operations of each thread.
    threads: Vec<std::ops::Range<usize>>,
    may_rest: bool,
    known: HashMap<u128, Rc<HashSet<Outcome>>>,
}

impl Enumeration {
    fn new(channels: &[Storage], threads: &[Vec<Call>], rules: Rules, may_rest: bool) -> Self {
        let calls: Vec<(Call, bool)> = threads
            .iter()
            .flatten()
            .map(|c| (c.clone(), false))
            .collect();
        let mut first = 0;
        let range = |calls: &Vec<Call>| {
            first += calls.len();
            first - calls.len()..first
        };
        let threads = threads.iter().map(range).collect();
        Enumeration {
            spec: Spec::new(channels.to_vec(), calls, rules),
            threads,
            may_rest,
            known: HashMap::new(),
        }
    }

    fn all(&mut self) -> Option<HashSet<Outcome>> {
        let following = self.following(self.spec.start())?;
        Some(Rc::unwrap_or_clone(following))
    }

    fn following(&mut self, mut state: State) -> Following {
        let begun: Vec<usize> = (self.threads.iter())
            .filter_map(|ops| {
                ops.clone()
                    .find(|op| state.operations[*op].outcome.is_none())
            })
            .collect();
        for &op in begun.iter().filter(|op| self.spec.may_need_to_look(**op)) {
            for clause in 0..self.spec.calls()[op].clauses().len() {
                self.spec.apply(&mut state, Step::Look((op, clause)));
            }
        }
        if let Some(known) = self.known.get(&state.fingerprint()) {
            return Some(Rc::clone(known));
        }
        let mut outcomes = HashSet::new();
        for steps in self.ways(&state, &begun) {
            let mut next = state.clone();
            if !steps.iter().all(|step| self.spec.apply(&mut next, *step)) {
                continue;
            }
            let done = |op: &&usize| next.operations[**op].outcome.is_some();
            let done: Vec<(usize, Answer)> = (begun.iter().filter(done))
                .map(|op| (*op, next.operations[*op].outcome.expect("it is done")))
                .collect();
            for outcome in self.following(next)?.iter() {
                let mut outcome = outcome.clone();
                done.iter().for_each(|(op, answer)| outcome[*op] = *answer);
                outcomes.insert(outcome);
            }
        }
        if outcomes.is_empty() {
            if !begun.is_empty() && !self.may_rest {
                return None;
            }
            outcomes.insert(vec![Answer::Pending; self.spec.calls().len()]);
        }
        let outcomes = Rc::new(outcomes);
        self.known.insert(state.fingerprint(), Rc::clone(&outcomes));
        Some(outcomes)
    }

    /// The alternatives to proceed. The steps of one alternative are taken all or not at all.
    fn ways(&self, state: &State, begun: &[usize]) -> Vec<Vec<Step>> {
        let mut ways = Vec::new();
        for &op in begun {
            let call = &self.spec.calls()[op];
            if let Call::Close(channel) = *call {
                self.closings(state, op, channel, begun, &mut ways);
                continue;
            }
            ways.push(vec![Step::GiveUp(op)]);
            for (at, clause) in call.clauses().iter().enumerate() {
                let port = (op, at);
                match clause {
                    Clause::Put { .. } => {
                        ways.extend([vec![Step::Store(port)], vec![Step::Refuse(port)]]);
                        for &taker in begun.iter().filter(|taker| **taker != op) {
                            for clause in 0..self.spec.calls()[taker].clauses().len() {
                                let (put, take) = (port, (taker, clause));
                                let meet = Step::Meet { put, take };
                                ways.push(vec![meet]);
                                ways.push(vec![Step::Request(take), meet]);
                                ways.push(vec![Step::Request(put), meet]);
                            }
                        }
                    }
                    Clause::Take { .. } => {
                        ways.extend([vec![Step::Receive(port)], vec![Step::End(port)]]);
                    }
                }
            }
        }
        ways
    }

    /// The alternatives of a close: each with a different set of begun puts found waiting.
    fn closings(
        &self,
        state: &State,
        op: usize,
        channel: usize,
        begun: &[usize],
        ways: &mut Vec<Vec<Step>>,
    ) {
        let ports = begun.iter().flat_map(|&other| {
            let clauses = self.spec.calls()[other].clauses().iter().enumerate();
            clauses.map(move |(at, clause)| ((other, at), *clause))
        });
        let asked: Vec<Step> = ports
            .filter(
                |(_, clause)| matches!(clause, Clause::Put { channel: to, .. } if *to == channel),
            )
            .map(|(port, _)| Step::Request(port))
            .filter(|step| self.spec.may(state, *step))
            .collect();
        for chosen in 0..1_u32 << asked.len() {
            let is_chosen = |at: &usize| chosen & 1 << at != 0;
            let mut steps: Vec<Step> = (0..asked.len())
                .filter(is_chosen)
                .map(|at| asked[at])
                .collect();
            steps.push(Step::Close(op));
            ways.push(steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::channel::{Order, Patience};

    /// Takes every step of the specification one by one and remembers nothing.
    fn plainly(
        spec: &Spec,
        threads: &[std::ops::Range<usize>],
        state: &State,
        outcomes: &mut HashSet<Outcome>,
        budget: &mut u32,
    ) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let undecided = |op: &usize| state.operations[*op].outcome.is_none();
        let begun: Vec<usize> = (threads.iter())
            .filter_map(|t| t.clone().find(undecided))
            .collect();
        let mut steps = Vec::new();
        for &op in &begun {
            steps.extend([Step::GiveUp(op), Step::Close(op)]);
            for at in 0..spec.calls()[op].clauses().len() {
                let port = (op, at);
                steps.extend([Step::Request(port), Step::Refuse(port), Step::End(port)]);
                if spec.may_need_to_look(op) {
                    steps.push(Step::Look(port));
                }
                steps.extend([Step::Store(port), Step::Receive(port)]);
                for &other in &begun {
                    for clause in 0..spec.calls()[other].clauses().len() {
                        let take = (other, clause);
                        steps.push(Step::Meet { put: port, take });
                    }
                }
            }
        }
        let mut rests = true;
        for step in steps {
            let mut next = state.clone();
            if spec.apply(&mut next, step) {
                // A look changes nothing for other operations, so it is no progress.
                rests &= matches!(step, Step::Look(_));
                plainly(spec, threads, &next, outcomes, budget);
            }
        }
        if rests {
            let of = |o: &crate::spec::Progress| o.outcome.unwrap_or(Answer::Pending);
            outcomes.insert(state.operations.iter().map(of).collect());
        }
    }

    /// A call as it is drawn: its clauses, whether it has priority, whether it waits.
    type Drawn = (Vec<(bool, usize)>, bool, bool);

    fn clause() -> impl Strategy<Value = (bool, usize)> {
        (any::<bool>(), 0..2_usize)
    }

    fn call() -> impl Strategy<Value = Drawn> {
        prop_oneof![
            4 => (vec(clause(), 1..=2), any::<bool>(), any::<bool>()),
            1 => (Just(Vec::new()), any::<bool>(), Just(false)),
        ]
    }

    /// Values are numbered from 0.
    fn calls(drawn: Vec<Vec<Drawn>>) -> Vec<Vec<Call>> {
        let mut value = 0;
        let mut of = |(clauses, priority, waits): Drawn| {
            if clauses.is_empty() {
                return Call::Close(usize::from(priority));
            }
            let clauses: Vec<Clause> = clauses
                .into_iter()
                .map(|(puts, channel)| {
                    value += u32::from(puts);
                    if puts {
                        Clause::put(channel, value - 1)
                    } else {
                        Clause::take(channel)
                    }
                })
                .collect();
            let order = if priority {
                Order::Priority
            } else {
                Order::Random
            };
            let patience = if waits {
                Patience::Forever
            } else {
                Patience::Now
            };
            Call::alts(clauses, order, patience)
        };
        drawn
            .into_iter()
            .map(|thread| thread.into_iter().map(&mut of).collect())
            .collect()
    }

    const STORAGES: [Storage; 6] = [
        Storage::Rendezvous,
        Storage::Fixed(1),
        Storage::Unbounded,
        Storage::Dropping(1),
        Storage::Sliding(1),
        Storage::Promise,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn they_are_those_of_the_plain_enumeration(
            channels in vec(select(STORAGES.to_vec()), 2),
            drawn in prop_oneof![vec(vec(call(), 1..=2), 2), vec(vec(call(), 1), 3)],
            strict in any::<bool>(),
        ) {
            let threads = calls(drawn);
            let rules = if strict { Rules::STRICT } else { Rules::WEAK };
            let enumeration = Enumeration::new(&channels, &threads, rules, true);
            let (mut outcomes, mut budget) = (HashSet::new(), 20_000);
            let start = enumeration.spec.start();
            plainly(&enumeration.spec, &enumeration.threads, &start, &mut outcomes, &mut budget);
            prop_assume!(budget > 0);
            let rests = outcomes.iter().any(|outcome| outcome.contains(&Answer::Pending));
            let to_end = allowed_to_end(&channels, &threads, rules);
            prop_assert_eq!(to_end, (!rests).then(|| outcomes.clone()));
            prop_assert_eq!(allowed(&channels, &threads, rules), outcomes);
        }
    }

    #[test]
    fn one_of_two_polls_has_the_value() {
        let threads = [
            vec![Call::offer(0, 7)],
            vec![Call::poll(0)],
            vec![Call::poll(0)],
        ];
        let outcomes = allowed(&[Storage::Fixed(1)], &threads, Rules::STRICT);
        let done = Answer::Accepted { clause: 0 };
        let took = Answer::Took {
            clause: 0,
            value: 7,
        };
        let wait = Answer::WouldWait;
        let expected = [[done, wait, wait], [done, took, wait], [done, wait, took]];
        assert_eq!(outcomes, expected.map(Vec::from).into());
    }
}
