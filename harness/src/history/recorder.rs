//! Records histories while real code runs, without adding synchronisation to the program. Every thread records by
//! itself, stamps share no state ([`world::stamp`]), and the records are merged where threads are joined anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Answer, Call, History, Operation, Stamps, Storage};
use crate::sync::{Note, world};

/// An operation before the merge: a thread, and the index among its operations.
type Id = (usize, usize);

/// The record of one thread.
///
/// A thread forks a recorder for each thread that it starts, and joins it when it joins the thread. This also records
/// the precedence that starts and joins imply.
#[derive(Debug)]
pub struct Recorder {
    thread: usize,
    /// The number of recorders over all threads; written when a thread is started.
    threads: Arc<AtomicUsize>,
    /// The number of operations that this thread has called.
    called: usize,
    /// What precedes this thread's next operation, besides its own operations.
    before: Vec<Id>,
    written: Vec<(Id, Operation)>,
    links: Vec<(Id, Id)>,
}

/// An operation that was called; its answer is still to be recorded.
#[derive(Debug)]
#[must_use = "what is not answered is pending"]
pub struct Called(usize);

/// Operations that a thread records without allocating.
const ROOM: usize = 64;

impl Recorder {
    /// The recorder of a model's first thread.
    pub fn new() -> Recorder {
        Recorder::of(Arc::new(AtomicUsize::new(0)), Vec::new())
    }

    fn of(threads: Arc<AtomicUsize>, before: Vec<Id>) -> Recorder {
        Recorder {
            // Relaxed: the numbers only have to differ.
            thread: threads.fetch_add(1, Ordering::Relaxed),
            threads,
            called: 0,
            before,
            written: Vec::with_capacity(ROOM),
            links: Vec::new(),
        }
    }

    /// The recorder of a thread that is about to be started.
    pub fn fork(&self) -> Recorder {
        Recorder::of(Arc::clone(&self.threads), self.past())
    }

    /// Merges the record of a thread that has been joined.
    pub fn join(&mut self, other: Recorder) {
        self.before.extend(other.past());
        self.written.extend(other.written);
        self.links.extend(other.links);
    }

    /// The operations that precede the next event.
    fn past(&self) -> Vec<Id> {
        let last = self.called.checked_sub(1).map(|last| (self.thread, last));
        self.before.iter().copied().chain(last).collect()
    }

    /// Call this right before the operation.
    pub fn invoke(&mut self, call: Call) -> Called {
        let id = (self.thread, self.called);
        self.called += 1;
        self.links
            .extend(self.before.drain(..).map(|before| (before, id)));
        let operation = Operation {
            thread: self.thread,
            call,
            answer: Answer::Pending,
            invoked: 0,
            returned: u64::MAX,
        };
        self.written.push((id, operation));
        let at = self.written.len() - 1;
        world::note(|| Note::Called(self.written[at].1.call.to_string()));
        self.written[at].1.invoked = world::stamp();
        Called(at)
    }

    /// Call this right after the operation.
    pub fn answer(&mut self, called: Called, answer: Answer) {
        let returned = world::stamp();
        let operation = &mut self.written[called.0].1;
        operation.returned = returned;
        operation.answer = answer;
        world::note(|| Note::Answered(operation.answer_text()));
    }

    /// Discards the operation called last, instead of [`Recorder::answer`]: it had no effect. A history that is legal
    /// with it is legal without it.
    pub fn leave_out(&mut self, called: Called) {
        debug_assert_eq!(called.0 + 1, self.written.len(), "it was called last");
        self.written.truncate(called.0);
        // Its predecessors precede the operation that gets its number next.
        self.called -= 1;
    }

    /// The merged history of all joined threads.
    pub fn finish(mut self, channels: impl Into<Vec<Storage>>) -> History {
        self.written.sort_by_key(|(id, _)| *id);
        let at = |id: Id| self.written.binary_search_by_key(&id, |(id, _)| *id).ok();
        // Records of threads that were not joined are missing.
        let link = |(before, after): &(Id, Id)| Some((at(*before)?, at(*after)?));
        let links = self.links.iter().filter_map(link).collect();
        History {
            channels: channels.into(),
            links,
            operations: self
                .written
                .into_iter()
                .map(|(_, operation)| operation)
                .collect(),
            stamps: match world::stamp_margin() {
                Some(margin) => Stamps::Order { margin },
                None => Stamps::Schedule,
            },
            quiescent: false,
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::check::dual::{Verdict, judge};
    use crate::spec::Rules;

    const ACCEPTED: Answer = Answer::Accepted { clause: 0 };

    #[test]
    fn a_start_and_a_join_precede_what_comes_after_them() {
        let mut main = Recorder::new();
        let put = main.invoke(Call::put(0, 1));
        main.answer(put, ACCEPTED);
        let mut idle = main.fork();
        let mut child = idle.fork();
        let take = child.invoke(Call::take(0));
        child.answer(
            take,
            Answer::Took {
                clause: 0,
                value: 1,
            },
        );
        idle.join(child);
        let mut beside = main.fork();
        let poll = beside.invoke(Call::poll(0));
        beside.answer(poll, Answer::WouldWait);
        main.join(idle);
        let close = main.invoke(Call::Close(0));
        main.answer(close, Answer::Closed);
        main.join(beside);
        let mut history = main.finish([Storage::Fixed(1)]);
        history.stamps = Stamps::Schedule;
        let texts: Vec<String> = history
            .operations
            .iter()
            .map(|o| o.call.to_string())
            .collect();
        assert_eq!(texts, ["put(a, 1)", "close(a)", "take(a)", "poll(a)"]);
        assert_eq!(history.predecessors(), [0, 0b101, 0b1, 0b1]);
    }

    #[test]
    fn what_is_left_out_hands_on_what_preceded_it() {
        let mut main = Recorder::new();
        let put = main.invoke(Call::put(0, 1));
        main.answer(put, ACCEPTED);
        let mut other = main.fork();
        let vain = other.invoke(Call::poll(1));
        other.leave_out(vain);
        let poll = other.invoke(Call::poll(0));
        other.answer(poll, Answer::WouldWait);
        main.join(other);
        let mut history = main.finish([Storage::Fixed(1), Storage::Fixed(1)]);
        history.stamps = Stamps::Schedule;
        let calls: Vec<String> = history
            .operations
            .iter()
            .map(|o| o.call.to_string())
            .collect();
        assert_eq!(calls, ["put(a, 1)", "poll(a)"]);
        assert_eq!(history.predecessors(), [0, 0b1]);
    }

    /// std's own channel, by two producers and a consumer.
    #[test]
    fn a_real_channel_is_legal() {
        for _ in 0..200 {
            let mut main = Recorder::new();
            let (tx, rx) = sync_channel::<u32>(1);
            let putting = [0, 1].map(|producer| {
                let (mut mine, tx) = (main.fork(), tx.clone());
                world::spawn(move || {
                    for value in [10 * producer, 10 * producer + 1] {
                        let put = mine.invoke(Call::put(0, value));
                        tx.send(value).expect("the consumer waits for all");
                        mine.answer(put, ACCEPTED);
                    }
                    mine
                })
            });
            for _ in 0..4 {
                world::perturb();
                let take = main.invoke(Call::take(0));
                let value = rx.recv().expect("a producer is there");
                main.answer(take, Answer::Took { clause: 0, value });
            }
            for handle in putting {
                main.join(world::join(handle));
            }
            let history = main.finish([Storage::Fixed(1)]);
            match judge(&history, Rules::STRICT, 100_000) {
                Verdict::Legal => {}
                Verdict::Illegal(counterexample) => panic!("{counterexample}"),
                Verdict::Inconclusive(why) => panic!("{why}"),
            }
            // If the two values of each producer are exchanged it is illegal, whatever the threads did.
            let mut reordered = history.clone();
            for operation in &mut reordered.operations {
                if let Answer::Took { value, .. } = &mut operation.answer {
                    *value ^= 1;
                }
            }
            let verdict = judge(&reordered, Rules::STRICT, 100_000);
            assert!(matches!(verdict, Verdict::Illegal(_)), "{verdict:?}");
        }
    }

    /// A queue behind a lock, as an unbounded channel. If `forgetful`, it loses the value offered last.
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    fn model(forgetful: bool) {
        use std::collections::VecDeque;

        let mut main = Recorder::new();
        let channel = Arc::new(world::Mutex::<VecDeque<u32>>::new(VecDeque::new()));
        let offer = |recorder: &mut Recorder, value| {
            let call = recorder.invoke(Call::offer(0, value));
            channel.with(|queue| queue.push_back(value));
            recorder.answer(call, ACCEPTED);
        };
        offer(&mut main, 1);
        let mut other = main.fork();
        let theirs = Arc::clone(&channel);
        let handle = world::spawn(move || {
            for _ in 0..2 {
                let call = other.invoke(Call::poll(0));
                let answer = match theirs.with(VecDeque::pop_front) {
                    Some(value) => Answer::Took { clause: 0, value },
                    None => Answer::WouldWait,
                };
                other.answer(call, answer);
            }
            other
        });
        offer(&mut main, 2);
        main.join(world::join(handle));
        if forgetful {
            channel.with(VecDeque::clear);
        }
        let call = main.invoke(Call::poll(0));
        let answer = match channel.with(VecDeque::pop_front) {
            Some(value) => Answer::Took { clause: 0, value },
            None => Answer::WouldWait,
        };
        main.answer(call, answer);
        let history = main.finish([Storage::Unbounded]);
        if let Verdict::Illegal(counterexample) = judge(&history, Rules::STRICT, 10_000) {
            panic!("{}", counterexample.violation);
        }
    }

    #[cfg(any(feature = "loom", feature = "shuttle"))]
    fn is_recorded<W: crate::sync::World>() {
        let plan = crate::sync::Exploration {
            executions: 200,
            ..Default::default()
        };
        assert_eq!(W::explore(&plan, || model(false)).failure, None);
        let lost = W::explore(&plan, || model(true)).failure;
        assert!(
            lost.as_ref().is_some_and(|lost| lost.violated() == "C1"),
            "{} {lost:?}",
            W::NAME
        );
    }

    #[cfg(feature = "loom")]
    #[test]
    fn loom_is_recorded() {
        is_recorded::<crate::sync::loom::Loom>();
    }

    #[cfg(feature = "shuttle")]
    #[test]
    fn shuttle_is_recorded() {
        is_recorded::<crate::sync::shuttle::Shuttle>();
    }
}
