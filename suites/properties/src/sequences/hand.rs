//! A thread of a sequence: its halves, its futures, its permits, and the books of what they were answered.

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Poll;

use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, ReserveError, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::history::{Answer, Call, Recorder, Value};

use super::act::{Act, Kind};
use super::rest::Rest;
use super::waiting::{self, Ended, Pool, Waiting, What, locked};
use super::{Scene, Subject};
use crate::design::{Rx, Tx};

const ACCEPTED: Answer = Answer::Accepted { clause: 0 };
const REFUSED: Answer = Answer::Refused { clause: 0 };
const ENDED: Answer = Answer::Ended { clause: 0 };

/// What all threads know of the channel. Plain relaxed atomics in every world, written before the call that they tell
/// of.
pub(super) struct Common {
    pub(super) closed: AtomicBool,
    pub(super) txs: AtomicUsize,
    pub(super) rxs: AtomicUsize,
}

impl Common {
    /// Whether takes may be told that the channel has ended.
    pub(super) fn may_end(&self) -> bool {
        self.closed.load(Relaxed) || self.txs.load(Relaxed) == 0
    }

    /// Whether no consumer is left.
    pub(super) fn is_deserted(&self) -> bool {
        self.rxs.load(Relaxed) == 0
    }

    /// Whether puts may be refused.
    pub(super) fn may_refuse(&self) -> bool {
        self.may_end() || self.is_deserted()
    }
}

/// What a thread has seen happen.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) accepted: usize,
    pub(super) taken: usize,
    /// Permits that were forgotten: their room is gone.
    pub(super) leaked: usize,
    /// Whether a future was dropped while it waited.
    pub(super) dropped: bool,
    /// Whether a put was dropped that was woken and had not heard its answer: its value may be in the channel.
    pub(super) unsure: bool,
    /// Whether a future was forgotten.
    pub(super) forgot: bool,
    /// Whether a put was a future: then the order in which puts took effect is not known.
    pub(super) unordered: bool,
    /// Whether something happened that the specification of histories does not have.
    pub(super) beyond: bool,
}

pub(super) struct Hand {
    pub(super) subject: Subject,
    pub(super) common: Arc<Common>,
    pub(super) txs: Pool<Tx<Token>>,
    pub(super) rxs: Pool<Rx<Token>>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) permits: Vec<Waiting>,
    pub(super) recorder: Recorder,
    pub(super) ledger: Ledger,
    pub(super) mint: Mint,
    pub(super) seen: Seen,
    /// Whether it is the only thread, so that answers are exact.
    pub(super) alone: bool,
    /// The values that offers and permits put, in their order.
    pub(super) put_at_once: Vec<usize>,
    /// What was taken without waiting, latest last.
    pub(super) taken_at_once: Vec<usize>,
    /// The values that are left to put.
    pub(super) ids: Range<usize>,
}

impl Hand {
    pub(super) fn new(
        subject: Subject,
        scene: &Scene,
        (tx, rx): (Tx<Token>, Option<Rx<Token>>),
        recorder: Recorder,
        ids: Range<usize>,
    ) -> Self {
        Hand {
            subject,
            common: Arc::clone(&scene.common),
            txs: Pool::of(Some(tx)),
            rxs: Pool::of(rx),
            waiting: Vec::new(),
            permits: Vec::new(),
            recorder,
            ledger: Ledger::new(scene.mint.count()),
            mint: scene.mint.clone(),
            seen: Seen::default(),
            alone: scene.alone,
            put_at_once: Vec::new(),
            taken_at_once: Vec::new(),
            ids,
        }
    }

    /// All that the other thread has left.
    pub(super) fn merge(&mut self, other: Hand) {
        self.txs.adopt(other.txs);
        self.rxs.adopt(other.rxs);
        self.waiting.extend(other.waiting);
        self.permits.extend(other.permits);
        self.recorder.join(other.recorder);
        self.ledger.merge(&other.ledger);
        let (mine, theirs) = (&mut self.seen, other.seen);
        mine.accepted += theirs.accepted;
        mine.taken += theirs.taken;
        mine.leaked += theirs.leaked;
        mine.dropped |= theirs.dropped;
        mine.unsure |= theirs.unsure;
        mine.forgot |= theirs.forgot;
        mine.unordered = true;
        mine.beyond |= theirs.beyond;
    }

    fn token(&mut self) -> Token {
        let id = self.ids.next().expect("as many values as acts");
        self.mint.token(id)
    }

    pub(super) fn act(&mut self, act: Act) {
        let which = |of: &[Waiting], which: u8| usize::from(which).checked_rem(of.len());
        match act {
            Act::Start(kind, waker) => {
                if self.make(kind) {
                    self.poll(self.waiting.len() - 1, waker);
                }
            }
            Act::Make(kind) => drop(self.make(kind)),
            Act::Poll(at, waker) => {
                if let Some(at) = which(&self.waiting, at) {
                    self.poll(at, waker);
                }
            }
            Act::Drop(at) => {
                if let Some(at) = which(&self.waiting, at) {
                    self.drop_future(at);
                }
            }
            Act::DropWoken => {
                if let Some((at, _)) = self.next_woken() {
                    self.drop_future(at);
                }
            }
            Act::Forget(at) => {
                if let Some(at) = which(&self.waiting, at) {
                    let waiting = self.waiting.remove(at);
                    self.offered(&waiting.what);
                    self.seen.forgot = true;
                    mem::forget(waiting);
                }
            }
            Act::Settle => self.settle(),
            Act::Offer => self.offer(),
            Act::TryTake => drop(self.try_take()),
            Act::TryReserve => self.try_reserve(),
            Act::Fill(at) => {
                if let Some(at) = which(&self.permits, at) {
                    self.fill(at);
                }
            }
            Act::Release(at) => {
                if let Some(at) = which(&self.permits, at) {
                    drop(self.permits.remove(at));
                }
            }
            Act::ForgetPermit(at) => {
                if let Some(at) = which(&self.permits, at) {
                    mem::forget(self.permits.remove(at));
                    self.seen.leaked += 1;
                }
            }
            Act::CloneTx => {
                if let Some(tx) = self.txs.further(Tx::another) {
                    self.common.txs.fetch_add(1, Relaxed);
                    self.txs.push(tx);
                }
            }
            Act::CloneRx => {
                if let Some(rx) = self.rxs.further(Rx::another) {
                    self.common.rxs.fetch_add(1, Relaxed);
                    self.rxs.push(rx);
                }
            }
            Act::DropTx => self.drop_tx(),
            Act::DropRx => self.drop_rx(),
            Act::CloseTx => self.close_tx(),
            Act::CloseRx => self.close_rx(),
        }
    }

    /// Makes a future, if a half is free for it.
    fn make(&mut self, kind: Kind) -> bool {
        let made = match kind {
            Kind::Put => {
                self.seen.unordered = true;
                let token = self.token();
                let id = token.id();
                let put = waiting::put(&self.txs, token).ok();
                put.map(|put| Waiting::new(What::Put(id), put))
            }
            Kind::Take => {
                let take = waiting::take(&self.rxs);
                take.map(|take| Waiting::new(What::Take, take))
            }
            // It has no room that could be reserved.
            Kind::Reserve if self.subject.buffer == Buffer::Rendezvous => None,
            Kind::Reserve => {
                self.seen.beyond = true;
                let room = waiting::Shared::default();
                let reserve = waiting::reserve(&self.txs, true, &room);
                reserve.map(|reserve| Waiting::new(What::Reserve(room), reserve))
            }
            Kind::Closed => {
                let closed = waiting::closed(&self.txs);
                closed.map(|closed| Waiting::new(What::Closed, closed))
            }
        };
        let is_made = made.is_some();
        self.waiting.extend(made);
        is_made
    }

    /// Polls a future; whether it still waits.
    pub(super) fn poll(&mut self, at: usize, waker: u8) -> bool {
        let waiting = &mut self.waiting[at];
        if waiting.called.is_none() {
            let call = match waiting.what {
                What::Put(id) => Some(Call::put(0, id as Value)),
                What::Take => Some(Call::take(0)),
                What::Reserve(_) | What::Closed => None,
            };
            waiting.called = call.map(|call| {
                let mut recorder = self.recorder.fork();
                let called = recorder.invoke(call);
                (recorder, called)
            });
        }
        match waiting.poll(waker) {
            Poll::Pending => {
                let is_granted = match &waiting.what {
                    What::Reserve(room) => locked(room).granted,
                    _ => false,
                };
                if is_granted {
                    let permit = self.waiting.remove(at);
                    self.permits.push(permit);
                }
                !is_granted
            }
            Poll::Ready(ended) => {
                let waiting = self.waiting.remove(at);
                self.ended(waiting, ended);
                false
            }
        }
    }

    fn ended(&mut self, mut waiting: Waiting, ended: Ended) {
        let called = waiting.called.take();
        let what = mem::replace(&mut waiting.what, What::Closed);
        self.lets_go(waiting);
        let answer = match (what, ended) {
            (What::Put(id), Ended::Put(answer)) => self.put(id, answer),
            (_, Ended::Took(answer)) => self.took(answer),
            (_, Ended::NoRoom(why)) => {
                holds!(
                    why == ReserveError::Closed && self.common.may_refuse(),
                    "C15: a reservation on an open channel was answered {why:?}"
                );
                return;
            }
            (_, Ended::Filled(answer)) => return self.filled(answer),
            _ => {
                holds!(
                    self.common.may_refuse(),
                    "C6: an open channel is said to be closed"
                );
                return;
            }
        };
        if let Some((mut recorder, called)) = called {
            recorder.answer(called, answer);
            self.recorder.join(recorder);
        }
    }

    fn put(&mut self, id: usize, answer: Result<(), PutError<Token>>) -> Answer {
        match answer {
            Ok(()) => {
                self.seen.accepted += 1;
                self.ledger.accepted(id);
                ACCEPTED
            }
            Err(PutError::Closed(back)) => {
                holds!(
                    self.common.may_refuse(),
                    "C1: a put on an open channel was refused"
                );
                holds!(
                    back.is_none_or(|token| token.id() == id),
                    "C1: a refused put gives back another's value"
                );
                self.ledger.refused(id);
                REFUSED
            }
            Err(PutError::TooManyWaiters(_)) => {
                violated!("C7: a put was one too many among few")
            }
        }
    }

    fn took(&mut self, answer: Result<Token, TakeError>) -> Answer {
        match answer {
            Ok(token) => {
                self.seen.taken += 1;
                self.ledger.taken(token.id());
                let value = token.id() as Value;
                Answer::Took { clause: 0, value }
            }
            Err(TakeError::Closed) => {
                holds!(
                    self.common.may_end(),
                    "C2: a take found an open channel closed"
                );
                ENDED
            }
            Err(TakeError::TooManyWaiters) => {
                violated!("C7: a take was one too many among few")
            }
        }
    }

    fn filled(&mut self, answer: Result<(), Token>) {
        match answer {
            Ok(()) => self.seen.accepted += 1,
            Err(_) => {
                holds!(
                    self.common.may_refuse(),
                    "C15: a permit of an open channel was refused"
                );
            }
        }
    }

    /// Enters the value of a put that has no answer.
    fn offered(&mut self, what: &What) {
        if let What::Put(id) = what {
            self.ledger.offered(*id);
        }
    }

    /// Drops a future before its answer.
    pub(super) fn drop_future(&mut self, at: usize) {
        let mut waiting = self.waiting.remove(at);
        self.offered(&waiting.what);
        let called = waiting.called.take();
        self.seen.dropped |= waiting.waits();
        // Another thread may let it commit meanwhile.
        let may_commit = waiting.waits() && (waiting.woken().is_some() || !self.alone);
        self.seen.unsure |= may_commit && matches!(waiting.what, What::Put(_));
        let put = match &waiting.what {
            // One that has not committed has its value. One that was refused too.
            What::Put(id) if self.alone && (!may_commit || self.common.is_deserted()) => Some(*id),
            _ => None,
        };
        self.lets_go(waiting);
        if let Some(id) = put {
            let drops = self.mint.drops(id);
            holds_eq!(drops, 1, "C9: drops of the value of a put that was dropped");
        }
        if let Some((mut recorder, called)) = called {
            recorder.answer(called, Answer::Cancelled);
            self.recorder.join(recorder);
        }
    }

    /// Drops a future, which leaves nothing behind. Another thread may be about to wake it.
    fn lets_go(&self, waiting: Waiting) {
        let left = waiting.leaves_a_waker();
        holds!(
            !left || !self.alone || !self.subject.lets_wakers_go,
            "C11: a future that is gone has left a waker"
        );
    }

    /// Polls what was woken until nothing is.
    pub(super) fn settle(&mut self) {
        let mut polls = 64 * (self.waiting.len() + 1);
        while let Some((at, waker)) = self.next_woken() {
            polls -= 1;
            if polls == 0 {
                violated!("C4: waiting futures wake each other without end");
            }
            self.poll(at, waker);
        }
    }

    pub(super) fn next_woken(&self) -> Option<(usize, u8)> {
        let mut waiting = self.waiting.iter().enumerate();
        waiting.find_map(|(at, waiting)| Some((at, waiting.woken()?)))
    }

    /// A take that waits, or that was made.
    pub(super) fn next_take(&self) -> Option<usize> {
        let is_take = |waiting: &Waiting| matches!(waiting.what, What::Take);
        self.waiting.iter().position(is_take)
    }

    fn offer(&mut self) {
        let Some(mut tx) = self.txs.pop() else {
            return;
        };
        let token = self.token();
        let id = token.id();
        let rest = Rest::of(self);
        let called = self.recorder.invoke(Call::offer(0, id as Value));
        let (answer, told) = match tx.offer(token) {
            Offered::Done => {
                self.put_at_once.push(id);
                (self.put(id, Ok(())), "done")
            }
            Offered::WouldWait(token) => {
                holds_eq!(token.id(), id, "C5: an offer gives back another's value");
                self.ledger.refused(id);
                (Answer::WouldWait, "would wait")
            }
            Offered::Closed(token) => {
                let closed = PutError::Closed(Some(token));
                (self.put(id, Err(closed)), "closed")
            }
        };
        self.recorder.answer(called, answer);
        self.txs.push(tx);
        if let Some(expected) = rest.and_then(|rest| rest.offer()) {
            holds_eq!(told, expected, "C5: an offer while nothing was under way");
        }
    }

    /// Takes without waiting; whether there was a value.
    pub(super) fn try_take(&mut self) -> bool {
        let Some(mut rx) = self.rxs.pop() else {
            return false;
        };
        let rest = Rest::of(self);
        let called = self.recorder.invoke(Call::poll(0));
        let (answer, told) = match rx.poll() {
            Polled::Done(token) => {
                self.taken_at_once.push(token.id());
                (self.took(Ok(token)), "done")
            }
            Polled::WouldWait => (Answer::WouldWait, "would wait"),
            Polled::Closed => (self.took(Err(TakeError::Closed)), "closed"),
        };
        self.recorder.answer(called, answer);
        self.rxs.push(rx);
        if let Some(expected) = rest.and_then(|rest| rest.poll()) {
            holds_eq!(told, expected, "C5: a poll while nothing was under way");
        }
        matches!(answer, Answer::Took { .. })
    }

    fn try_reserve(&mut self) {
        if self.subject.buffer == Buffer::Rendezvous {
            return;
        }
        let rest = Rest::of(self);
        let room = waiting::Shared::default();
        let Some(reserve) = waiting::reserve(&self.txs, false, &room) else {
            return;
        };
        self.seen.beyond = true;
        let mut waiting = Waiting::new(What::Reserve(room), reserve);
        let told = match waiting.poll(0) {
            Poll::Pending => {
                self.permits.push(waiting);
                "done"
            }
            Poll::Ready(Ended::NoRoom(ReserveError::WouldWait)) => "would wait",
            Poll::Ready(Ended::NoRoom(ReserveError::Closed)) => "closed",
            Poll::Ready(_) => "something else",
        };
        if let Some(expected) = rest.and_then(|rest| rest.reserve()) {
            holds_eq!(
                told,
                expected,
                "C15: a reservation while nothing was under way"
            );
        }
    }

    fn fill(&mut self, at: usize) {
        let token = self.token();
        let mut permit = self.permits.remove(at);
        let What::Reserve(room) = &permit.what else {
            unreachable!("a permit was reserved");
        };
        let id = token.id();
        locked(room).filling = Some(token);
        let Poll::Ready(Ended::Filled(answer)) = permit.poll(0) else {
            unreachable!("it goes on once it has its value");
        };
        match &answer {
            Ok(()) => {
                self.put_at_once.push(id);
                self.ledger.accepted(id);
            }
            Err(back) => {
                holds_eq!(back.id(), id, "C15: a permit gives back another's value");
                self.ledger.refused(id);
            }
        }
        self.filled(answer);
    }

    fn drop_tx(&mut self) {
        let is_last = self.common.txs.load(Relaxed) == 1;
        if is_last && !self.subject.disconnects {
            return;
        }
        let Some(tx) = self.txs.pop() else {
            return;
        };
        self.common.txs.fetch_sub(1, Relaxed);
        match is_last && self.alone {
            true => {
                let called = self.recorder.invoke(Call::Close(0));
                drop(tx);
                self.recorder.answer(called, Answer::Closed);
            }
            false => {
                // Which of two threads drops the last one is not known.
                self.seen.beyond |= !self.alone;
                drop(tx);
            }
        }
    }

    pub(super) fn drop_rx(&mut self) {
        let is_last = self.common.rxs.load(Relaxed) == 1;
        if is_last && !self.subject.disconnects {
            return;
        }
        if let Some(rx) = self.rxs.pop() {
            self.seen.beyond |= is_last || !self.alone;
            self.common.rxs.fetch_sub(1, Relaxed);
            drop(rx);
        }
    }

    pub(super) fn close_tx(&mut self) {
        if let Some(tx) = self.txs.pop() {
            self.common.closed.store(true, Relaxed);
            let called = self.recorder.invoke(Call::Close(0));
            assert!(tx.close(), "asked before");
            self.recorder.answer(called, Answer::Closed);
            self.txs.push(tx);
        }
    }

    pub(super) fn close_rx(&mut self) {
        if let Some(mut rx) = self.rxs.pop() {
            self.common.closed.store(true, Relaxed);
            let called = self.recorder.invoke(Call::Close(0));
            assert!(rx.close(), "asked before");
            self.recorder.answer(called, Answer::Closed);
            self.rxs.push(rx);
        }
    }
}
