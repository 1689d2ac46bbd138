//! The threads and tasks of one run: started together, heard out, their panics told as failures.
//!
//! None begins to work before all have come; the window, where there is one, begins when the last of them runs.
//!
//! The first that fails ends the run at once: the others may wait for it for ever, and are left behind
//! (the process of a failed cell is not used again).

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
use flowmeter_harness::measure::StageError;
use flowmeter_harness::measure::edges::Edges;
use flowmeter_harness::measure::pin::{self, Pinned, Pinning};
use flowmeter_harness::record::FailureKind;

/// Puts the calling thread on the core of its place, where threads were asked to have one each.
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

/// As [`take_place`], of a thread that nobody hears out: where one could be pinned, as is tried before anything else,
/// the others can.
pub fn settle(place: usize) {
    let _ = pin::worker(place);
}

/// An executor with as many threads as there are cores, each on its own where that was asked for.
///
/// # Errors
/// [`FailureKind::Void`] when it was, and the executor's threads cannot be pinned.
pub fn executor<E: Executors>(threads: NonZeroUsize) -> Result<E, StageError> {
    if pin::of_process() != Pinning::CorePerThread {
        return Ok(E::with_threads(threads));
    }
    let places = AtomicUsize::new(0);
    E::with_threads_beginning(threads, move || {
        // Relaxed: each number is handed out once, nothing else matters. Where one thread could be pinned, as
        // was tried before anything else, the others can.
        let _ = pin::worker(places.fetch_add(1, Ordering::Relaxed));
    })
    .ok_or_else(|| {
        let message = "its executor's threads cannot be pinned one by one".to_owned();
        failed(FailureKind::Void, message)
    })
}

/// What a thread does; an error ends the run.
pub type Job<T> = Box<dyn FnOnce() -> Result<Done<T>, StageError> + Send>;

/// An answer, and the halves that its thread had: they live until all have answered, because a channel
/// whose producers are gone may say "closed" though a sentinel is still in it.
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

/// How the thread or task at a place ended; `None`: by a panic.
type Outcome<T> = (usize, Option<Result<Done<T>, StageError>>);

/// How often a crew of tasks looks whether one has died.
const LOOK: Duration = Duration::from_millis(100);

/// Who has not come yet.
struct Latch {
    missing: AtomicUsize,
    /// The window that begins when nobody is missing.
    edges: Option<Edges>,
}

impl Latch {
    fn new(count: usize, edges: Option<&Edges>) -> Arc<Latch> {
        Arc::new(Latch {
            missing: AtomicUsize::new(count),
            edges: edges.cloned(),
        })
    }

    /// One has come.
    fn arrive(&self) {
        // AcqRel: who is last comes after all others.
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

/// Tells how a thread or task ended, also when it ended by a panic.
struct Herald<T> {
    place: usize,
    outcome: Option<Result<Done<T>, StageError>>,
    hearer: mpsc::Sender<Outcome<T>>,
}

impl<T> Drop for Herald<T> {
    fn drop(&mut self) {
        // Nobody hears any more when another one has failed.
        let _ = self.hearer.send((self.place, self.outcome.take()));
    }
}

/// Runs each job on a thread of its own, the i-th at the i-th place of [`take_place`]; the answers stand in the order of the jobs. The ramp of `edges` begins
/// when the last of the threads runs.
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
            // After the gate: who comes late through it is not yet at work.
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
        // Each has told its outcome already.
        let _ = handle.join();
    }
    complete(answers)
}

/// Tasks of one run on an executor, and threads beside them.
pub struct Tasks<'e, E, T> {
    executor: &'e E,
    panics_before: u64,
    count: usize,
    latch: Arc<Latch>,
    hearer: mpsc::Sender<Outcome<T>>,
    heard: mpsc::Receiver<Outcome<T>>,
    /// Those that are threads, by their places.
    threads: BTreeMap<usize, thread::JoinHandle<()>>,
}

impl<'e, E: Executors, T: Send + 'static> Tasks<'e, E, T> {
    /// So many, none of them spawned yet. The ramp of `edges` begins when the last of them runs.
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
            // Yielding, since the others may need this thread to come.
            while !latch.is_open() {
                give_way().await;
            }
            herald.outcome = Some(task.await);
            drop(herald);
        });
    }

    /// One more, which is a thread and no task.
    ///
    /// # Errors
    /// [`FailureKind::Crash`] when the system has no thread.
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

    /// Hears them all out; the answers stand in the order of spawning.
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
            // Each has told its outcome already.
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
