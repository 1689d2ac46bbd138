//! The threads or tasks of one run: started together, heard out, their panics told as failures.
//!
//! The first that fails ends the run at once: the others may wait for it for ever, and are left behind
//! (the process of a failed cell is not used again).

use std::any::Any;
use std::future::Future;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::FailureKind;

/// What a thread does; an error ends the run.
pub type Job<T> = Box<dyn FnOnce() -> Result<T, StageError> + Send>;

/// How often a crew of tasks looks whether one has died.
const LOOK: Duration = Duration::from_millis(100);

/// Tells how a thread or task ended, also when it ended by a panic.
struct Herald<T> {
    place: usize,
    outcome: Option<Result<T, StageError>>,
    hearer: mpsc::Sender<(usize, Option<Result<T, StageError>>)>,
}

impl<T> Drop for Herald<T> {
    fn drop(&mut self) {
        // Nobody hears any more when another one has failed.
        let _ = self.hearer.send((self.place, self.outcome.take()));
    }
}

/// Runs each job on a thread of its own; the answers stand in the order of the jobs.
///
/// # Errors
/// The first error or panic.
pub fn threads<T: Send + 'static>(jobs: Vec<Job<T>>) -> Result<Vec<T>, StageError> {
    let (hearer, heard) = mpsc::channel();
    let count = jobs.len();
    let mut handles = Vec::with_capacity(count);
    for (place, job) in jobs.into_iter().enumerate() {
        let hearer = hearer.clone();
        let body = move || {
            let mut herald = Herald {
                place,
                outcome: None,
                hearer,
            };
            herald.outcome = Some(job());
        };
        let thread = thread::Builder::new().spawn(body);
        let thread =
            thread.map_err(|why| failed(FailureKind::Crash, format!("no thread: {why}")))?;
        handles.push(Some(thread));
    }
    let mut answers: Vec<Option<T>> = (0..count).map(|_| None).collect();
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
    answers
        .into_iter()
        .collect::<Option<_>>()
        .ok_or_else(silent)
}

/// Tasks of one run on an executor.
pub struct Tasks<'e, E, T> {
    executor: &'e E,
    panics_before: u64,
    count: usize,
    hearer: mpsc::Sender<(usize, Option<Result<T, StageError>>)>,
    heard: mpsc::Receiver<(usize, Option<Result<T, StageError>>)>,
}

impl<'e, E: Executors, T: Send + 'static> Tasks<'e, E, T> {
    /// None yet.
    pub fn on(executor: &'e E) -> Self {
        let (hearer, heard) = mpsc::channel();
        Tasks {
            executor,
            panics_before: executor.panics(),
            count: 0,
            hearer,
            heard,
        }
    }

    /// One more.
    pub fn spawn(&mut self, task: impl Future<Output = Result<T, StageError>> + Send + 'static) {
        let mut herald = Herald {
            place: self.count,
            outcome: None,
            hearer: self.hearer.clone(),
        };
        self.count += 1;
        self.executor.spawn(async move {
            herald.outcome = Some(task.await);
            drop(herald);
        });
    }

    /// Hears them all out; the answers stand in the order of spawning.
    ///
    /// # Errors
    /// The first error or panic.
    pub fn join(self) -> Result<Vec<T>, StageError> {
        let mut answers: Vec<Option<T>> = (0..self.count).map(|_| None).collect();
        let mut missing = self.count;
        while missing > 0 {
            match self.heard.recv_timeout(LOOK) {
                Ok((place, Some(answer))) => {
                    answers[place] = Some(answer?);
                    missing -= 1;
                }
                Ok((_, None)) => return Err(panicked(None)),
                Err(_) if self.executor.panics() > self.panics_before => {
                    return Err(panicked(None));
                }
                Err(_) => {}
            }
        }
        answers
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(silent)
    }
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
