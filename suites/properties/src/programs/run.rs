//! One execution of a program. Its threads do and record their operations. Then waiting operations are settled, the
//! channels are drained, and the history is judged.
//!
//! Where schedules are explored, the world detects the moment when all threads wait. It is recorded, since from then
//! on no pending operation may have a clause that is able. Then every channel is closed and drained, which ends every
//! wait. Real threads do not show that moment. There the main thread looks for a thread that has not moved for a
//! while, and does what that thread waits for, as one more party of the history. If the thread was about to move by
//! itself, this does no harm.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use flowmeter_harness::channel::{Offered, Patience};
use flowmeter_harness::check::{Mint, Token, watch};
use flowmeter_harness::history::{Answer, Call, Recorder, Storage, Value};
use flowmeter_harness::sync::world;

use super::family::Generated;
use super::judge::Judge;
use super::program::{Port, Program};
use super::style::{Halves, Style};
use crate::design::{Channels, Rx, Tx};

/// How long no thread may move before the main thread helps, in nanoseconds.
const STILL: u64 = 30_000;
/// After this time without a move, in spite of the help, the program hangs.
const HANGS: u64 = 3_000_000_000;

/// How many values the main thread puts for waiting takes, at most, before the next thread moves.
const OFFERS: usize = 8;

/// A program in execution.
struct Run {
    program: Arc<Program>,
    mint: Mint,
    /// The halves of the main thread: of every channel, except the takers of a family that has only one.
    halves: Halves<Token>,
    recorder: Recorder,
    /// For each thread, how many operations it has begun; one more when it is done. Plain relaxed atomics in every
    /// world: reading them must order nothing.
    begun: Arc<[AtomicUsize]>,
}

/// What a thread returns.
struct Left {
    halves: Halves<Token>,
    recorder: Recorder,
    early: Option<String>,
}

/// Settles the waiting operations when all threads wait.
struct Rescuer {
    halves: Halves<Token>,
    recorder: Recorder,
    /// The moment, once it has come.
    at: Option<u64>,
}

/// The rescuer, shared with the world that calls it.
type Rescue = Arc<world::Mutex<Option<Rescuer>>>;

/// Runs the program once.
///
/// # Panics
/// With the violation.
pub(super) fn run(channels: Channels, style: Style, program: &Arc<Program>, judge: &Judge) {
    let mut run = Run::open(channels, program);
    let rescuer = run.rescuer();
    let threads: Vec<_> = (0..program.threads.len())
        .map(|thread| run.start(style, thread))
        .collect();
    if rescuer.is_none() {
        run.attend();
    }
    let mut halves = Vec::new();
    for thread in threads {
        let left = world::join(thread);
        if let Some(early) = left.early {
            watch::found(format_args!("{early}"));
        }
        run.recorder.join(left.recorder);
        halves.push(left.halves);
    }
    let mut rest_at = None;
    if let Some(rescuer) = rescuer.and_then(|rescuer| rescuer.with(Option::take)) {
        run.recorder.join(rescuer.recorder);
        rest_at = rescuer.at;
        halves.push(rescuer.halves);
    }
    for channel in 0..program.channels.len() {
        let rx = halves.iter_mut().find_map(|h| h.rxs[channel].take());
        if run.halves.rxs[channel].is_none() {
            run.halves.rxs[channel] = rx;
        }
        drain(&mut run.halves, &mut run.recorder, channel);
    }
    drop((halves, run.halves));
    let storages: Vec<Storage> = program.channels.iter().map(|b| (*b).into()).collect();
    judge.judge(run.recorder.finish(storages), rest_at, &run.mint);
}

/// Takes all values of a channel.
fn drain(halves: &mut Halves<Token>, recorder: &mut Recorder, channel: usize) {
    if halves.rxs[channel].is_none() {
        return;
    }
    loop {
        let called = recorder.invoke(Call::poll(channel));
        let answer = halves.poll(channel);
        recorder.answer(called, answer);
        if !matches!(answer, Answer::Took { .. }) {
            return;
        }
    }
}

impl Run {
    fn open(channels: Channels, program: &Arc<Program>) -> Self {
        let (mut txs, mut rxs) = (Vec::new(), Vec::new());
        for buffer in &program.channels {
            let (tx, rx) = channels.open::<Token>(*buffer).expect("asked before");
            txs.push(Some(tx));
            rxs.push(Some(rx));
        }
        let threads = program.threads.len();
        Run {
            program: Arc::clone(program),
            // The values that the main thread may offer come after those of the program.
            mint: Mint::new(program.puts() + helps(program)),
            halves: Halves { txs, rxs },
            recorder: Recorder::new(),
            begun: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    /// Halves of the requested channels. A taker that has no other is handed over itself.
    fn further(&mut self, asked: impl Fn(usize) -> bool) -> Halves<Token> {
        let channels = 0..self.program.channels.len();
        let (mut txs, mut rxs) = (Vec::new(), Vec::new());
        for channel in channels {
            let asked = asked(channel);
            let tx = self.halves.txs[channel].as_ref().filter(|_| asked);
            txs.push(tx.and_then(Tx::another));
            let rx = self.halves.rxs[channel].as_ref().filter(|_| asked);
            rxs.push(rx.and_then(Rx::another));
            if asked && rxs[channel].is_none() {
                rxs[channel] = self.halves.rxs[channel].take();
            }
        }
        Halves { txs, rxs }
    }

    /// The rescuer, where schedules are explored and an operation may wait for ever.
    fn rescuer(&mut self) -> Option<Rescue> {
        if world::name() == "std" || !self.program.may_rest() {
            return None;
        }
        let rescuer = Rescuer {
            halves: self.further(|_| true),
            recorder: self.recorder.fork(),
            at: None,
        };
        // A thread that it frees may end before it does, so the lock is held meanwhile.
        let rescuer = Arc::new(world::Mutex::new(Some(rescuer)));
        let theirs = Arc::clone(&rescuer);
        world::on_quiescence(move || {
            theirs.with(|rescuer| {
                if let Some(rescuer) = rescuer {
                    rescuer.settle();
                }
            });
        });
        Some(rescuer)
    }

    fn start(&mut self, style: Style, thread: usize) -> world::JoinHandle<Left> {
        let program = Arc::clone(&self.program);
        let before = program.threads[..thread].iter().flatten();
        let mut value: usize = before.map(|operation| operation.puts()).sum();
        let operations = &program.threads[thread];
        let mut used: Vec<usize> = operations.iter().flat_map(|o| o.channels()).collect();
        // The only consumer serves all channels.
        let alone = thread == 0 && self.lacks_consumers();
        if alone {
            used.extend(0..program.channels.len());
        }
        let mut halves = self.further(|channel| used.contains(&channel));
        let mut recorder = self.recorder.fork();
        let (mint, begun) = (self.mint.clone(), Arc::clone(&self.begun));
        world::spawn(move || {
            let mut early = None;
            for (index, operation) in program.threads[thread].iter().enumerate() {
                world::perturb();
                let tokens: Vec<Token> = (value..value + operation.puts())
                    .map(|id| mint.token(id))
                    .collect();
                let now = world::now_nanos();
                let call = operation.call(value, now);
                let patience = match &call {
                    Call::Alts { patience, .. } => *patience,
                    Call::Close(_) => Patience::Now,
                };
                value += operation.puts();
                let called = recorder.invoke(call);
                begun[thread].store(index + 1, Relaxed);
                let answer = style.act(&mut halves, operation, patience, tokens);
                recorder.answer(called, answer);
                early = early.or_else(|| too_early(patience, answer));
            }
            begun[thread].store(program.threads[thread].len() + 1, Relaxed);
            while alone && !is_done(&program, &begun) {
                for channel in 0..program.channels.len() {
                    poll(&mut halves, &mut recorder, channel);
                }
                world::yield_now();
            }
            Left {
                halves,
                recorder,
                early,
            }
        })
    }

    fn lacks_consumers(&self) -> bool {
        let rxs = self.halves.rxs.iter().flatten();
        rxs.map(Rx::another).any(|another| another.is_none())
    }

    /// Makes sure that every thread ends.
    ///
    /// # Panics
    /// When a thread no longer moves in spite of the help.
    fn attend(&mut self) {
        if world::name() != "std" {
            return;
        }
        world::perturb();
        let program = Arc::clone(&self.program);
        let look = |run: &Self| run.begun.iter().map(|b| b.load(Relaxed)).collect();
        let mut seen: Vec<usize> = look(self);
        let (mut since, mut helped, mut offered) = (world::now_nanos(), 0, 0);
        let mut values = self.program.puts()..self.mint.count();
        let mut spare = None;
        while !is_done(&self.program, &self.begun) {
            world::yield_now();
            let now: Vec<usize> = look(self);
            if now != seen {
                (seen, since, helped, offered) = (now, world::now_nanos(), 0, 0);
                continue;
            }
            let still = world::now_nanos() - since;
            if still > HANGS {
                // No check of a property: in the other worlds the world itself finds it, and std has no such report.
                panic!("{}", self.tale(&seen));
            }
            // Each time it waits twice as long, so that a lost wake-up does not fill the history.
            if still < STILL << helped {
                continue;
            }
            helped += 1;
            for (thread, begun) in seen.iter().enumerate() {
                let Some(at) = begun.checked_sub(1) else {
                    continue;
                };
                let Some(operation) = program.threads[thread].get(at) else {
                    continue;
                };
                for port in operation.ports() {
                    match *port {
                        Port::Put(channel) => poll(&mut self.halves, &mut self.recorder, channel),
                        // A second value beside one not yet taken would be too many. But a poll by the main thread
                        // itself may have taken the first.
                        Port::Take(channel) if offered < OFFERS => {
                            spare = spare.or_else(|| values.next().map(|id| self.mint.token(id)));
                            if let Some(token) = spare.take() {
                                spare = self.offer(channel, token);
                                offered += usize::from(spare.is_none());
                            }
                        }
                        Port::Take(_) => {}
                    }
                }
            }
        }
    }

    /// Puts for waiting takes. Where no take waits, the value comes back and nothing is recorded.
    fn offer(&mut self, channel: usize, token: Token) -> Option<Token> {
        let called = self
            .recorder
            .invoke(Call::offer(channel, token.id() as Value));
        match self.halves.tx(channel).offer(token) {
            Offered::Done => {
                let done = Answer::Accepted { clause: 0 };
                self.recorder.answer(called, done);
                None
            }
            Offered::WouldWait(token) | Offered::Closed(token) => {
                self.recorder.leave_out(called);
                Some(token)
            }
        }
    }

    /// Which threads wait, and in which operation.
    fn tale(&self, begun: &[usize]) -> String {
        let mut tale =
            "C3: for three seconds no thread moved, though the main thread met waiting takes with puts and \
                        waiting puts with takes:"
                .to_owned();
        for (thread, begun) in begun.iter().enumerate() {
            let operations = &self.program.threads[thread];
            let at = begun.checked_sub(1).and_then(|at| operations.get(at));
            if let Some(operation) = at {
                tale += &format!(
                    "\n  thread {} waits in {operation}, its operation {begun}",
                    thread + 1
                );
            }
        }
        tale
    }
}

impl Rescuer {
    fn settle(&mut self) {
        self.at = Some(world::stamp());
        for channel in 0..self.halves.txs.len() {
            let called = self.recorder.invoke(Call::Close(channel));
            let answer = self.halves.close(channel);
            self.recorder.answer(called, answer);
            drain(&mut self.halves, &mut self.recorder, channel);
        }
    }
}

/// Takes a value if there is one; otherwise nothing is recorded.
fn poll(halves: &mut Halves<Token>, recorder: &mut Recorder, channel: usize) {
    if halves.rxs[channel].is_none() {
        return;
    }
    let called = recorder.invoke(Call::poll(channel));
    match halves.poll(channel) {
        done @ Answer::Took { .. } => recorder.answer(called, done),
        _ => recorder.leave_out(called),
    }
}

fn is_done(program: &Program, begun: &[AtomicUsize]) -> bool {
    let mut threads = program.threads.iter().zip(begun);
    threads.all(|(operations, begun)| begun.load(Relaxed) > operations.len())
}

/// How many values the main thread has for waiting takes: enough for every move of a thread.
fn helps(program: &Program) -> usize {
    if program.may_rest() {
        OFFERS * (program.size() + program.threads.len() + 1)
    } else {
        0
    }
}

fn too_early(patience: Patience, answer: Answer) -> Option<String> {
    let Patience::Until(deadline) = patience else {
        return None;
    };
    let early = deadline.as_nanos().saturating_sub(world::now_nanos());
    (answer == Answer::TimedOut && early > 0)
        .then(|| format!("C8: timed out {early} ns before the deadline"))
}
