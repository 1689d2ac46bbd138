//! The threads and tasks of one run. They start together, their reports are collected, and their panics become
//! failures.
//!
//! No thread begins to work before all have arrived. The window, where there is one, begins when the last of them
//! runs.
//!
//! The first failure ends the run at once. The others may wait for the failed one for ever, so they are left behind;
//! the process of a failed cell is not reused.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::{Executors, give_way};
use flowmeter_measure::StageError;
use flowmeter_measure::edges::Edges;
use flowmeter_measure::pin::{self, Pinned};
use flowmeter_records::FailureKind;

/// Pins the calling thread to the core of its place, where threads should have one each.
///
/// # Errors
/// [`FailureKind::Void`] when the system refuses.
pub fn take_place(place: usize) -> Result<(), StageError> {
    match pin::worker(place) {
        Pinned::Done => Ok(()),
        other => {
            let message = format!("a thread was not pinned as asked: {other:?}");
            Err(failed(FailureKind::Void, message))
        }
    }
}

/// As [`take_place`], for a thread without a collected report. One thread was pinned successfully before anything
/// else, so the others can be pinned too.
pub fn settle(place: usize) {
    let _ = pin::worker(place);
}

/// An executor with as many threads as there are cores, each on its own core where that was requested.
///
/// # Errors
/// When that was requested, and the executor's threads cannot be pinned.
pub fn executor<E: Executors>(threads: NonZeroUsize) -> Result<E, StageError> {
    if !pin::of_process().is_by_thread() {
        return Ok(E::with_threads(threads));
    }
    let places = AtomicUsize::new(0);
    E::with_threads_beginning(threads, move || {
        // Relaxed: each number is handed out once, and nothing else matters. One thread was pinned successfully
        // before anything else, so the others can be pinned too.
        let _ = pin::worker(places.fetch_add(1, Ordering::Relaxed));
    })
    .ok_or_else(|| {
        let message = "its executor's threads cannot be pinned one by one".to_owned();
        failed(FailureKind::Void, message)
    })
}

/// The work of a thread; an error ends the run.
pub type Job<T> = Box<dyn FnOnce() -> Result<Done<T>, StageError> + Send>;

/// An answer, and the halves of its thread. The halves live until all threads have answered: a channel without
/// producers may answer "closed" although a sentinel is still in it.
pub struct Done<T> {
    answer: T,
    _halves: Box<dyn Any + Send>,
}

impl<T> Done<T> {
    /// An answer and the halves to keep.
    pub fn keeping(halves: impl Send + 'static, answer: T) -> Done<T> {
        Done {
            answer,
            _halves: Box::new(halves),
        }
    }

    /// The same halves with another answer.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Done<U> {
        Done {
            answer: with(self.answer),
            _halves: self._halves,
        }
    }
}

/// How the thread or task at a place ended; `None` means a panic.
type Outcome<T> = (usize, Option<Result<Done<T>, StageError>>);

/// How often a crew of tasks checks whether one has died.
const LOOK: Duration = Duration::from_millis(100);

/// Counts the threads that have not arrived yet.
struct Latch {
    missing: AtomicUsize,
    /// The window that begins when all have arrived.
    edges: Option<Edges>,
}

impl Latch {
    fn new(count: usize, edges: Option<&Edges>) -> Arc<Latch> {
        Arc::new(Latch {
            missing: AtomicUsize::new(count),
            edges: edges.cloned(),
        })
    }

    /// One more has arrived.
    fn arrive(&self) {
        // AcqRel: the last one is ordered after all others.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(edges) = &self.edges
        {
            edges.begin();
        }
    }

    fn is_open(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }
}

/// Reports how a thread or task ended, also after a panic.
struct Herald<T> {
    place: usize,
    outcome: Option<Result<Done<T>, StageError>>,
    hearer: mpsc::Sender<Outcome<T>>,
}

impl<T> Drop for Herald<T> {
    fn drop(&mut self) {
        // The receiver is gone when another one has failed.
        let _ = self.hearer.send((self.place, self.outcome.take()));
    }
}

/// Runs each job on a thread of its own, the i-th at the i-th place of [`take_place`]. The answers are in the order
/// of the jobs. The ramp of `edges` begins when the last of the threads runs.
///
/// # Errors
/// The first error or panic.
pub fn threads<T: Send + 'static>(
    jobs: Vec<Job<T>>,
    edges: Option<&Edges>,
) -> Result<Vec<T>, StageError> {
    let (hearer, heard) = mpsc::channel();
    let count = jobs.len();
    let (gate, latch) = (Arc::new(Barrier::new(count)), Latch::new(count, edges));
    let mut handles = Vec::with_capacity(count);
    for (place, job) in jobs.into_iter().enumerate() {
        let hearer = hearer.clone();
        let (gate, latch) = (gate.clone(), latch.clone());
        let body = move || {
            let mut herald = Herald {
                place,
                outcome: None,
                hearer,
            };
            let placed = take_place(place);
            gate.wait();
            // After the gate: a thread that passes it late is not at work yet.
            latch.arrive();
            herald.outcome = Some(placed.and_then(|()| job()));
        };
        let thread = thread::Builder::new().spawn(body);
        let thread =
            thread.map_err(|why| failed(FailureKind::Crash, format!("no thread: {why}")))?;
        handles.push(Some(thread));
    }
    let mut answers: Vec<Option<Done<T>>> = (0..count).map(|_| None).collect();
    for _ in 0..count {
        let (place, outcome) = heard.recv().map_err(|_| silent())?;
        match outcome {
            Some(answer) => answers[place] = Some(answer?),
            None => {
                let panic = handles[place].take().map(thread::JoinHandle::join);
                let said = panic.and_then(Result::err);
                return Err(panicked(said.as_deref()));
            }
        }
    }
    for handle in handles.into_iter().flatten() {
        // Each has already reported its outcome.
        let _ = handle.join();
    }
    complete(answers)
}

/// Tasks of one run on an executor, and further threads.
pub struct Tasks<'e, E, T> {
    executor: &'e E,
    panics_before: u64,
    count: usize,
    latch: Arc<Latch>,
    hearer: mpsc::Sender<Outcome<T>>,
    heard: mpsc::Receiver<Outcome<T>>,
    /// The threads among them, by place.
    threads: BTreeMap<usize, thread::JoinHandle<()>>,
}

impl<'e, E: Executors, T: Send + 'static> Tasks<'e, E, T> {
    /// `count` tasks, none of them spawned yet. The ramp of `edges` begins when the last of them runs.
    pub fn on(executor: &'e E, count: usize, edges: Option<&Edges>) -> Self {
        let (hearer, heard) = mpsc::channel();
        Tasks {
            executor,
            panics_before: executor.panics(),
            count: 0,
            latch: Latch::new(count, edges),
            hearer,
            heard,
            threads: BTreeMap::new(),
        }
    }

    /// One more. It is boxed: else the executor's code would be compiled for each task of each workload over each channel,
    /// and a poll of the whole task costs an indirect call more.
    pub fn spawn(
        &mut self,
        task: impl Future<Output = Result<Done<T>, StageError>> + Send + 'static,
    ) {
        self.enter(Box::pin(task));
    }

    fn enter(&mut self, task: Pin<Box<dyn Future<Output = Result<Done<T>, StageError>> + Send>>) {
        let mut herald = Herald {
            place: self.count,
            outcome: None,
            hearer: self.hearer.clone(),
        };
        self.count += 1;
        let latch = self.latch.clone();
        self.executor.spawn(async move {
            latch.arrive();
            // It yields, since the others may need this thread to arrive.
            while !latch.is_open() {
                give_way().await;
            }
            herald.outcome = Some(task.await);
            drop(herald);
        });
    }

    /// Spawns one more as a thread instead of a task.
    ///
    /// # Errors
    /// [`FailureKind::Crash`] when the system cannot start a thread.
    pub fn spawn_thread(&mut self, job: Job<T>) -> Result<(), StageError> {
        let place = self.count;
        let mut herald = Herald {
            place,
            outcome: None,
            hearer: self.hearer.clone(),
        };
        self.count += 1;
        let latch = self.latch.clone();
        let body = move || {
            latch.arrive();
            while !latch.is_open() {
                thread::yield_now();
            }
            herald.outcome = Some(job());
            drop(herald);
        };
        let thread = thread::Builder::new().spawn(body);
        let thread =
            thread.map_err(|why| failed(FailureKind::Crash, format!("no thread: {why}")))?;
        self.threads.insert(place, thread);
        Ok(())
    }

    /// Waits for all of them; the answers are in the order of spawning.
    ///
    /// # Errors
    /// The first error or panic.
    pub fn join(mut self) -> Result<Vec<T>, StageError> {
        let mut answers: Vec<Option<Done<T>>> = (0..self.count).map(|_| None).collect();
        let mut missing = self.count;
        while missing > 0 {
            match self.heard.recv_timeout(LOOK) {
                Ok((place, Some(answer))) => {
                    answers[place] = Some(answer?);
                    missing -= 1;
                }
                Ok((place, None)) => {
                    let panic = self.threads.remove(&place).map(thread::JoinHandle::join);
                    let said = panic.and_then(Result::err);
                    return Err(panicked(said.as_deref()));
                }
                Err(_) if self.executor.panics() > self.panics_before => {
                    return Err(panicked(None));
                }
                Err(_) => {}
            }
        }
        for thread in self.threads.into_values() {
            // Each has already reported its outcome.
            let _ = thread.join();
        }
        complete(answers)
    }
}

/// The bare answers, once all are there.
fn complete<T>(answers: Vec<Option<Done<T>>>) -> Result<Vec<T>, StageError> {
    let answers: Option<Vec<Done<T>>> = answers.into_iter().collect();
    let answers = answers.ok_or_else(silent)?;
    Ok(answers.into_iter().map(|done| done.answer).collect())
}

fn failed(kind: FailureKind, message: String) -> StageError {
    StageError { kind, message }
}

fn silent() -> StageError {
    failed(
        FailureKind::Crash,
        "a thread ended without a word".to_owned(),
    )
}

fn panicked(said: Option<&(dyn Any + Send)>) -> StageError {
    let text = said.and_then(|said| {
        let literal = said.downcast_ref::<&str>().map(|s| (*s).to_owned());
        literal.or_else(|| said.downcast_ref::<String>().cloned())
    });
    let message = match text {
        Some(text) => format!("it panicked: {text}"),
        None => "it panicked".to_owned(),
    };
    failed(FailureKind::Panic, message)
}
