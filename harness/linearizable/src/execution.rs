//! One execution of a program, in a world.
//!
//! In the worlds shuttle and sim the threads are guests: an execution may end before them. When all threads wait, the
//! world tells so, the history is judged, and what still waits is left behind. Real threads and those of loom cannot be
//! left behind, so there the programs are those that no order of the specification leaves waiting.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flowmeter_harness::sync::shuttle::twin::{self, Wait};
use flowmeter_harness::sync::{Deadline, Note, panic_text, world};

use crate::Sequential;
use crate::finding::picture;
use crate::history::{History, Operation};
use crate::judge::{Verdict, judge};
use crate::program::{Phase, Program};
use crate::subject::{Instance, Subject};

/// No real thread of a correct program stands still for so long.
const HANGS: Duration = Duration::from_secs(3);

/// The answers of a legal history.
type Answers<P> = Vec<(usize, Option<<P as Sequential>::Ret>)>;

/// The histories that are known to be legal, by what precedes what and whether threads were left waiting.
pub(crate) type Legal<P> = HashMap<(Vec<u64>, bool), Vec<Answers<P>>>;

/// A program that is run many times.
pub(crate) struct Job<P: Sequential> {
    pub(crate) spec: P,
    pub(crate) subject: Subject<P>,
    pub(crate) program: Program<P::Op>,
    pub(crate) states: u64,
    /// Many schedules lead to the same history.
    pub(crate) legal: Mutex<Legal<P>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the first thread of an execution waits for those of a phase.
struct Gate {
    wait: Wait,
    left: AtomicUsize,
    rests: AtomicBool,
}

/// Runs the program once under shuttle or sim.
///
/// # Panics
/// With what was found.
pub(crate) fn explored<P: Sequential>(job: &Arc<Job<P>>) {
    let instance = job.subject.make();
    // Locks of std: no step of the model, and all its threads are one thread of the system.
    let log = Arc::new(Mutex::new(Vec::new()));
    let present: Arc<Mutex<Option<Arc<Gate>>>> = Arc::default();
    let rescued = Arc::clone(&present);
    world::on_quiescence(move || {
        let gate = locked(&rescued).clone();
        if let Some(gate) = gate {
            gate.rests.store(true, Relaxed);
            gate.wait.end();
        }
    });
    let mut rests = false;
    for phase in job.program.phases() {
        let threads: Vec<usize> = phase
            .filter(|thread| job.program.thread(*thread).next().is_some())
            .collect();
        if threads.is_empty() || rests {
            continue;
        }
        let gate = Arc::new(Gate {
            wait: Wait::here(),
            left: AtomicUsize::new(threads.len()),
            rests: AtomicBool::new(false),
        });
        *locked(&present) = Some(Arc::clone(&gate));
        for thread in threads {
            let (job, log) = (Arc::clone(job), Arc::clone(&log));
            let (instance, gate) = (Arc::clone(&instance), Arc::clone(&gate));
            twin::spawn(move || {
                for (number, op) in job.program.thread(thread) {
                    perform(&instance, &log, thread, number, op);
                }
                drop(instance);
                if gate.left.fetch_sub(1, Relaxed) == 1 {
                    gate.wait.end();
                }
            });
        }
        gate.wait.sit("the end of the program", Deadline::NEVER);
        rests = gate.rests.load(Relaxed);
    }
    drop(instance);
    let operations = locked(&log).clone();
    job.judge(operations, rests);
}

/// One operation of a guest.
fn perform<P: Sequential>(
    instance: &Instance<P>,
    log: &Mutex<Vec<Operation<P>>>,
    thread: usize,
    number: usize,
    op: P::Op,
) {
    let operation = Operation::called(thread, number, op.clone());
    world::note(|| Note::Called(operation.call()));
    let at = {
        let mut log = locked(log);
        log.push(operation);
        log.len() - 1
    };
    let ret = instance(&op);
    world::note(|| Note::Answered(format!("{number} {ret:?}")));
    let operation = &mut locked(log)[at];
    operation.returned = world::stamp();
    operation.ret = Some(ret);
}

/// Announces the end of a thread. It sends the index of the thread if that panics.
struct Ends(Sender<Option<usize>>, usize);

impl Drop for Ends {
    fn drop(&mut self) {
        // The receiver is gone once the program hangs.
        let _ = self.0.send(thread::panicking().then_some(self.1));
    }
}

/// Runs the program once on real threads or under loom.
///
/// # Panics
/// With what was found.
pub(crate) fn joined<P: Sequential>(job: &Arc<Job<P>>) {
    let instance = job.subject.make();
    let program = &job.program;
    let begun: Arc<[AtomicUsize]> = (0..program.size()).map(|_| AtomicUsize::new(0)).collect();
    let mut operations = Vec::new();
    for phase in program.phases() {
        // A real thread may hang, so another one watches it.
        let is_watched = world::name() == "std" && program.has_operations(&phase);
        if phase.len() == 1 && !is_watched {
            for thread in phase {
                operations.extend(acted(job, &instance, thread, &begun));
            }
            continue;
        }
        let (ends, ended) = channel();
        let mut threads: Vec<_> = (phase.clone().enumerate())
            .map(|(index, thread)| {
                let (job, instance) = (Arc::clone(job), Arc::clone(&instance));
                let (begun, ends) = (Arc::clone(&begun), Ends(ends.clone(), index));
                world::spawn(move || {
                    let acted = acted(&job, &instance, thread, &begun);
                    drop((instance, ends));
                    acted
                })
            })
            .collect();
        if is_watched {
            world::perturb();
            for _ in 0..threads.len() {
                match ended_one(program, &phase, &ended, &begun) {
                    Ok(None) => {}
                    // Its panic comes first: others may wait for what it has not done.
                    Ok(Some(panicked)) => {
                        world::join(threads.swap_remove(panicked));
                        break;
                    }
                    Err(tale) => panic!("{tale}"),
                }
            }
        }
        for thread in threads {
            operations.extend(world::join(thread));
        }
    }
    drop(instance);
    job.judge(operations, false);
}

/// The operations of one thread. The record is its own: a shared one would order what the structure does not.
fn acted<P: Sequential>(
    job: &Job<P>,
    instance: &Instance<P>,
    thread: usize,
    begun: &[AtomicUsize],
) -> Vec<Operation<P>> {
    let mut operations = Vec::with_capacity(8);
    for (number, op) in job.program.thread(thread) {
        world::perturb();
        begun[number].store(1, Relaxed);
        operations.push(Operation::called(thread, number, op.clone()));
        let at = operations.len() - 1;
        world::note(|| Note::Called(operations[at].call()));
        let ret = instance(&op);
        let operation = &mut operations[at];
        operation.returned = world::stamp();
        world::note(|| Note::Answered(format!("{number} {ret:?}")));
        operation.ret = Some(ret);
        begun[number].store(2, Relaxed);
    }
    operations
}

/// Waits for the end of one thread of the phase. Returns its index if it has panicked.
///
/// # Errors
/// With where the others are, if none moves any more.
fn ended_one<O: Clone + std::fmt::Debug>(
    program: &Program<O>,
    phase: &Phase,
    ended: &Receiver<Option<usize>>,
    begun: &[AtomicUsize],
) -> Result<Option<usize>, String> {
    let look = || -> Vec<usize> { begun.iter().map(|begun| begun.load(Relaxed)).collect() };
    loop {
        let before = look();
        match ended.recv_timeout(HANGS) {
            Ok(panicked) => return Ok(panicked),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if look() != before => {}
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    let mut tale = format!(
        "hang: no thread has moved for {} seconds, and no order of the specification leaves one waiting",
        HANGS.as_secs()
    );
    for thread in phase.clone() {
        let mut operations = program.thread(thread);
        if let Some((number, op)) = operations.find(|(number, _)| begun[*number].load(Relaxed) == 1)
        {
            tale += &format!("\n  {} is in {number} {op:?}", program.name(thread));
        }
    }
    Err(tale)
}

/// The text for a specification that panics.
pub(crate) fn specification_panicked(panic: &(dyn Any + Send)) -> String {
    format!(
        "undecided: the specification panicked: {}",
        panic_text(panic)
    )
}

impl<P: Sequential> Job<P> {
    /// Judges what was done.
    ///
    /// # Panics
    /// With what was found.
    fn judge(&self, operations: Vec<Operation<P>>, rests: bool) {
        let history = History::new(&self.program, operations, rests);
        let answers: Answers<P> = (history.operations.iter())
            .map(|operation| (operation.number, operation.ret.clone()))
            .collect();
        let key = (history.predecessors.clone(), rests);
        if let Some(known) = locked(&self.legal).get(&key)
            && known.contains(&answers)
        {
            return;
        }
        // A thread of the system: the specification must make no step of the model.
        let verdict = thread::scope(|scope| {
            let judging = scope.spawn(|| judge(&self.spec, &history, self.states));
            judging
                .join()
                .unwrap_or_else(|panic| panic!("{}", specification_panicked(&*panic)))
        });
        match verdict {
            Verdict::Legal => locked(&self.legal).entry(key).or_default().push(answers),
            Verdict::Undecided => panic!(
                "undecided: {} states did not suffice to judge a history of {} operations; states() allows more",
                self.states,
                history.operations.len()
            ),
            // Executions of real threads cannot be repeated, so the drawing is made now.
            Verdict::Illegal(why) if world::name() == "std" => {
                panic!("{why}\n{}", picture(&self.program, &history.marks()))
            }
            Verdict::Illegal(why) => panic!("{why}"),
        }
    }
}
