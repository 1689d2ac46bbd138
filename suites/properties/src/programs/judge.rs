//! Judges the history of a program: the books of its values, each of its channels as a queue, and, where it is short
//! enough, the whole specification.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::dual::{self, Verdict};
use flowmeter_harness::check::{Ledger, Mint, Violation, fifo, watch};
use flowmeter_harness::history::{Answer, Call, Clause, History, Operation, Stamps, columns};
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::{Note, world};

/// Longer histories are not checked against the whole specification.
const LONGEST: usize = 56;
/// How many states its search explores. Legal histories need a few for each operation.
const STATES: u64 = 20_000;
/// How many states a second search explores where the first came to no answer.
const MORE_STATES: u64 = 50 * STATES;

/// Counts histories without an answer. The judges of one case share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undecided(Arc<AtomicU64>);

impl Undecided {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count since the last call.
    pub(super) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// The judge of one program's executions.
#[derive(Clone)]
pub(crate) struct Judge(Arc<Bench>);

struct Bench {
    channels: Vec<Buffer>,
    rules: Rules,
    /// Whether room may be held for a waiting put that has not stored its value yet, so that an offer is refused
    /// although there is room. Some published crates keep their order of waiters that way. The specification allows
    /// it only where that put is cancelled.
    holds_room: bool,
    /// Whether threads of this world have stacks that are large enough for a search.
    deep: bool,
    /// How many states each search explores, the first one first.
    states: [u64; 2],
    undecided: Undecided,
    /// Fingerprints of legal histories: many schedules lead to the same history.
    legal: Mutex<HashSet<u64>>,
}

impl Judge {
    pub(crate) fn new(
        channels: &[Buffer],
        rules: Rules,
        holds_room: bool,
        world: &str,
        undecided: &Undecided,
    ) -> Judge {
        Judge(Arc::new(Bench {
            channels: channels.to_vec(),
            rules,
            holds_room,
            deep: world == "std",
            states: [STATES, MORE_STATES],
            undecided: undecided.clone(),
            legal: Mutex::default(),
        }))
    }

    /// Judges an execution in which all threads waited at the moment `rest_at`. Only `mint` is left of it.
    ///
    /// # Panics
    /// With the violation.
    pub(crate) fn judge(&self, history: History, rest_at: Option<u64>, mint: &Mint) {
        if let Err(violation) = Books::of(&history, &self.0, mint.count()).judge(mint) {
            watch::found(format_args!("{violation}\n{}", columns(&history)));
        }
        let fingerprint = fingerprint(&history, rest_at);
        if fingerprint.is_some_and(|fingerprint| self.0.legal().contains(&fingerprint)) {
            return;
        }
        let answer = if self.0.deep {
            self.0.hear(&history, rest_at)
        } else {
            // A real thread has enough stack. It exchanges only values, so the checker misses nothing.
            let bench = Arc::clone(&self.0);
            let search = thread::spawn(move || bench.hear(&history, rest_at));
            search.join().expect("judging does not panic")
        };
        match answer {
            Ok(true) => self.0.legal().extend(fingerprint),
            Ok(false) => self.0.undecided.add(),
            Err(refuted) => {
                if let Some(culprit) = refuted.culprit {
                    world::note(|| Note::Culprit(culprit));
                }
                world::note(|| Note::Explained(refuted.explained));
                watch::found(format_args!("{}", refuted.why));
            }
        }
    }
}

/// Why a history is not legal.
struct Refuted {
    why: String,
    /// The operation without an explanation of its answer, in the order of calls.
    culprit: Option<usize>,
    /// The explanation of all earlier operations.
    explained: Vec<String>,
}

impl Bench {
    /// Checks both tiers. Returns whether they gave an answer: the whole specification or, about a history that is too
    /// long for it, the queue of every channel.
    fn hear(&self, history: &History, rest_at: Option<u64>) -> Result<bool, Refuted> {
        let mut decided = true;
        for channel in 0..self.channels.len() {
            decided &= self.queue(history, channel)?;
        }
        if history.operations.len() > LONGEST {
            return Ok(decided);
        }
        decided = true;
        if let Some(stamp) = rest_at {
            let mut resting = history.until(stamp);
            resting.quiescent = true;
            decided &= self.whole(&resting)?;
        }
        Ok(decided & self.whole(history)?)
    }

    /// Tier two: one channel as a queue. Returns whether it can be judged as one.
    fn queue(&self, history: &History, channel: usize) -> Result<bool, Refuted> {
        let Stamps::Order { margin } = history.stamps else {
            return Ok(false);
        };
        if history.closes(channel) && !self.rules.keeps_buffered {
            return Ok(false);
        }
        let there = |operation: &Operation| match self.is_unasked(operation) {
            true => Seen::Nothing,
            false => at_channel(operation, channel, margin),
        };
        let Some(operations) = history
            .operations
            .iter()
            .map(there)
            .filter_map(Seen::judged)
            .collect::<Option<Vec<fifo::Operation>>>()
        else {
            return Ok(false);
        };
        let queue = fifo::History::new(&operations).expect("every value is put once");
        queue
            .judge(self.channels[channel])
            .map(|()| true)
            .map_err(|rejection| Refuted {
                why: format!("{rejection}\n{}", columns(history)),
                culprit: None,
                explained: Vec::new(),
            })
    }

    /// Tier three: the whole specification.
    fn whole(&self, history: &History) -> Result<bool, Refuted> {
        let history = &match self.holds_room {
            true => Cow::Owned(self.without_refusals(history)),
            false => Cow::Borrowed(history),
        };
        let [few, more] = self.states;
        let judged = match dual::judge(history, self.rules, few) {
            Verdict::Inconclusive(_) => dual::judge(history, self.rules, more),
            judged => judged,
        };
        match judged {
            Verdict::Illegal(counterexample) => Err(Refuted {
                why: counterexample.to_string(),
                culprit: counterexample.culprit_by_call(),
                explained: counterexample.explained(),
            }),
            Verdict::Legal => Ok(true),
            // An undecided history is neither a failure nor a proof.
            Verdict::Inconclusive(_) => Ok(false),
        }
    }

    /// The history with refused offers as cancelled ones, so that their answers are not checked.
    fn without_refusals(&self, history: &History) -> History {
        let mut history = history.clone();
        for operation in &mut history.operations {
            if self.is_unasked(operation) {
                operation.answer = Answer::Cancelled;
            }
        }
        history
    }

    /// Whether it is a refused offer on a channel where room may be held.
    fn is_unasked(&self, operation: &Operation) -> bool {
        let bounded = |channel: usize| matches!(self.channels[channel], Buffer::Fixed(_));
        let [Clause::Put { channel, .. }] = operation.call.clauses() else {
            return false;
        };
        self.holds_room && operation.answer == Answer::WouldWait && bounded(*channel)
    }

    fn legal(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.legal
            .lock()
            .expect("no thread panics while it holds the lock")
    }
}

/// A hash of all that a verdict depends on: the calls and answers of each thread, the order of precedence, and where
/// all threads were at rest. The times of deadlines are left out. `None` for a long history.
fn fingerprint(history: &History, rest_at: Option<u64>) -> Option<u64> {
    if history.operations.len() > LONGEST {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    history.predecessors().hash(&mut hasher);
    for operation in &history.operations {
        operation.thread.hash(&mut hasher);
        operation.answer.hash(&mut hasher);
        let before = |stamp: u64| (operation.invoked <= stamp, operation.returned <= stamp);
        rest_at.map(before).hash(&mut hasher);
        match &operation.call {
            Call::Close(channel) => channel.hash(&mut hasher),
            Call::Alts { clauses, .. } => clauses.hash(&mut hasher),
        }
    }
    Some(hasher.finish())
}

/// What one channel sees of an operation.
enum Seen {
    Nothing,
    One(fifo::Operation),
    /// An operation that a queue does not have (C9).
    Unlike,
}

impl Seen {
    /// `None` for nothing; `Some(None)` for an operation that a queue does not have.
    fn judged(self) -> Option<Option<fifo::Operation>> {
        match self {
            Seen::Nothing => None,
            Seen::One(operation) => Some(Some(operation)),
            Seen::Unlike => Some(None),
        }
    }
}

/// A completed alts is one operation on the channel of its winner, and none on the others. Stamps of real threads may
/// differ by `margin`, so every interval ends later by that.
fn at_channel(operation: &Operation, channel: usize, margin: u64) -> Seen {
    use fifo::Outcome;

    let clauses = operation.call.clauses();
    let here = |clause: usize| clauses[clause].channel() == channel;
    let outcome = match operation.answer {
        Answer::Accepted { clause } if here(clause) => match clauses[clause] {
            Clause::Put { value, .. } => Outcome::Put(value.into()),
            Clause::Take { .. } => return Seen::Nothing,
        },
        Answer::Took { clause, value } if here(clause) => Outcome::Take(value.into()),
        Answer::Refused { clause } if here(clause) => Outcome::PutClosed,
        Answer::Ended { clause } if here(clause) => Outcome::TakeClosed,
        Answer::Closed if operation.call == Call::Close(channel) => Outcome::Close,
        Answer::WouldWait => match clauses {
            [Clause::Put { channel: to, .. }] if *to == channel => Outcome::PutFull,
            [Clause::Take { channel: from }] if *from == channel => Outcome::TakeEmpty,
            _ => return Seen::Nothing,
        },
        Answer::Cancelled | Answer::Pending => match clauses {
            [Clause::Put { channel: to, value }] if *to == channel => Outcome::Put((*value).into()),
            clauses if clauses.iter().any(|c| c.channel() == channel) => return Seen::Unlike,
            _ => return Seen::Nothing,
        },
        _ => return Seen::Nothing,
    };
    let unsure = matches!(operation.answer, Answer::Cancelled | Answer::Pending);
    let returned = match unsure {
        true => fifo::NEVER,
        false => operation.returned.saturating_add(margin),
    };
    Seen::One(fifo::Operation {
        thread: operation.thread as u32,
        invoke: operation.invoked,
        returned,
        outcome,
    })
}

/// Tier one: the values of channels that keep all values, and those of the others.
struct Books {
    kept: Ledger,
    other: Ledger,
}

impl Books {
    fn of(history: &History, bench: &Bench, count: usize) -> Books {
        let (mut kept, mut other) = (Ledger::new(count), Ledger::new(count));
        let keeps: Vec<bool> = bench
            .channels
            .iter()
            .enumerate()
            .map(|(channel, buffer)| {
                let closed = history.closes(channel) && !bench.rules.keeps_buffered;
                buffer.keeps_everything() && !closed
            })
            .collect();
        for operation in &history.operations {
            for (at, clause) in operation.call.clauses().iter().enumerate() {
                let book = match keeps[clause.channel()] {
                    true => &mut kept,
                    false => &mut other,
                };
                match (*clause, operation.answer) {
                    (Clause::Put { value, .. }, Answer::Accepted { clause }) if clause == at => {
                        book.accepted(value as usize);
                    }
                    (Clause::Put { value, .. }, Answer::Cancelled | Answer::Pending) => {
                        book.offered(value as usize);
                    }
                    (Clause::Put { value, .. }, _) => book.refused(value as usize),
                    (Clause::Take { .. }, Answer::Took { clause, value }) if clause == at => {
                        book.taken(value as usize);
                    }
                    (Clause::Take { .. }, _) => {}
                }
            }
        }
        Books { kept, other }
    }

    fn judge(&self, mint: &Mint) -> Result<(), Violation> {
        self.kept.judge_drained()?;
        self.other.judge_takes()?;
        self.kept.judge_drops(mint)?;
        self.other.judge_drops(mint)
    }
}

#[cfg(test)]
impl Judge {
    /// A judge of a channel whose searches end before they begin.
    pub(super) fn without_states(buffer: Buffer, world: &str, undecided: &Undecided) -> Judge {
        let Judge(bench) = Judge::new(&[buffer], Rules::STRICT, false, world, undecided);
        let mut bench = Arc::into_inner(bench).expect("it is new");
        bench.states = [0; 2];
        Judge(Arc::new(bench))
    }

    /// Judges a put that was accepted, and its take.
    pub(super) fn judge_one_put(&self) {
        use flowmeter_harness::history::Storage;

        let operation = |call, answer, invoked| Operation {
            thread: 0,
            call,
            answer,
            invoked,
            returned: invoked + 1,
        };
        let mint = Mint::new(1);
        let value = 0;
        drop(mint.token(0));
        let mut history = History::new([Storage::from(self.0.channels[0])]);
        history.operations = vec![
            operation(Call::put(0, value), Answer::Accepted { clause: 0 }, 1),
            operation(Call::take(0), Answer::Took { clause: 0, value }, 3),
        ];
        self.judge(history, None, &mint);
    }
}
