//! Elsewhere: one thread arms timers, and another cancels them.
//!
//! A request is sent by one thread and answered on another. The two run in parallel, so the value is the cost of a
//! timer on the slower one. Timers are handed over a thousand at a time; otherwise the hand-over would be measured.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;
use flowmeter_records::FailureKind;

use super::arming::{Arming, Cancelling};
use super::calls::Calls;
use super::churn::{Params, keep, prove_firing};
use super::deadlines::Deadlines;
use crate::workloads::crew;
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// Timers handed over at a time.
const HANDFUL: usize = 1_024;
/// How many such batches are under way, at most.
const HANDFULS: usize = 4;

/// Timers that another thread cancels.
pub struct Elsewhere<A: Arming> {
    arming: Arc<A>,
    _kept: Vec<A::Armed>,
    deadlines: Deadlines,
    /// The count of the timer that is due.
    due: &'static Calls,
    /// Armed timers that are not handed over yet.
    full: Vec<A::Armed>,
    /// Empty buffers.
    empty: Vec<Vec<A::Armed>>,
    /// To the other thread, which ends when this is dropped.
    over: SyncSender<Vec<A::Armed>>,
    /// From that thread: an empty buffer, and how many of its timers had fired.
    back: Receiver<(Vec<A::Armed>, usize)>,
}

impl<A: Cancelling> Elsewhere<A> {
    /// With the outstanding timers armed.
    pub fn new(params: Params) -> Self {
        let arming = Arc::new(A::start());
        let (over, taken) = mpsc::sync_channel::<Vec<A::Armed>>(HANDFULS);
        let (give, back) = mpsc::sync_channel(HANDFULS);
        let other = arming.clone();
        thread::spawn(move || {
            crew::settle(1);
            for mut handful in taken {
                let answers = handful.drain(..).map(|armed| other.cancel(armed));
                let fired = answers.filter(|cancelled| !cancelled).count();
                if give.send((handful, fired)).is_err() {
                    return;
                }
            }
        });
        let room = || Vec::with_capacity(HANDFUL);
        Elsewhere {
            _kept: keep(&*arming, params.outstanding.count()),
            arming,
            deadlines: Deadlines::far(),
            due: Calls::new(false),
            full: room(),
            empty: (1..HANDFULS).map(|_| room()).collect(),
            over,
            back,
        }
    }

    /// A batch that was handed over and cancelled.
    fn called_off(&self) -> Result<Vec<A::Armed>, StageError> {
        let answer = self.back.recv().map_err(|_| ended())?;
        match answer {
            (handful, 0) => Ok(handful),
            (_, fired) => Err(disproved(format!("{fired} timers fired a minute early"))),
        }
    }

    fn hand_over(&mut self) -> Result<(), StageError> {
        let room = match self.empty.pop() {
            Some(room) => room,
            None => self.called_off()?,
        };
        let full = std::mem::replace(&mut self.full, room);
        self.over.send(full).map_err(|_| ended())
    }
}

impl<A: Cancelling> Solo for Elsewhere<A> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        let now = clock::now_nanos();
        for _ in 0..turns {
            let deadline = self.deadlines.after(now);
            self.full.push(self.arming.arm(deadline));
            if self.full.len() == HANDFUL {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn bare(&mut self, turns: u64) {
        let now = clock::now_nanos();
        // Nothing is handed over: without a timer there is none to cancel.
        for _ in 0..turns {
            black_box(self.deadlines.after(now));
        }
    }

    fn settle(&mut self) -> Result<(), StageError> {
        self.arming.catch_up(self.due)
    }

    /// Shows that timers fire while others are cancelled, and that all of the others are reported.
    fn prove(&mut self) -> Result<(), StageError> {
        let arming = self.arming.clone();
        prove_firing(&*arming, || self.batch(300))?;
        self.hand_over()?;
        while self.empty.len() + 1 < HANDFULS {
            let room = self.called_off()?;
            self.empty.push(room);
        }
        Ok(())
    }
}

fn ended() -> StageError {
    StageError {
        kind: FailureKind::Crash,
        message: "the thread that calls timers off has ended".to_owned(),
    }
}
