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

/// Tasks of one run on an executor.
pub struct Tasks<'e, E, T> {
    executor: &'e E,
    panics_before: u64,
    count: usize,
    hearer: mpsc::Sender<Outcome<T>>,
    heard: mpsc::Receiver<Outcome<T>>,
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
    pub fn spawn(
        &mut self,
        task: impl Future<Output = Result<Done<T>, StageError>> + Send + 'static,
    ) {
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
        let mut answers: Vec<Option<Done<T>>> = (0..self.count).map(|_| None).collect();
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
