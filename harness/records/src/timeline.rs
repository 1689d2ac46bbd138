//! One execution for display: threads side by side, their calls and answers, and the steps in between.

use serde::{Deserialize, Serialize};

/// The events of an execution. Moments are positions in the order of events, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Names of the threads.
    pub threads: Vec<String>,
    /// Operations, where the model recorded them.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// Steps, where the world reports them.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What each thread waits for at the end, one sentence each.
    #[serde(default)]
    pub waits: Vec<String>,
    /// The longest explanation of the history, one sentence per step. The next answer has no explanation.
    #[serde(default)]
    pub explained: Vec<String>,
}

/// An operation, from its call to its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Index of its thread.
    pub thread: usize,
    /// When it was called.
    pub from: u64,
    /// When it was answered; `None` while it is pending.
    pub to: Option<u64>,
    /// What was called.
    pub call: String,
    /// What came back.
    pub answer: Option<String>,
    /// Whether it is the operation without an explanation.
    #[serde(default)]
    pub fault: bool,
}

/// A step of a thread: a lock, an atomic, a wait, a wake-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Index of its thread.
    pub thread: usize,
    /// When.
    pub at: u64,
    /// What it did.
    pub what: String,
    /// The line that did it, such as `channel/mutex/state.rs:210`.
    pub site: Option<String>,
}

impl Timeline {
    /// One moment after the last.
    pub fn end(&self) -> u64 {
        let spans = self.spans.iter().map(|span| span.to.unwrap_or(span.from));
        let steps = self.steps.iter().map(|step| step.at);
        spans.chain(steps).max().map_or(0, |last| last + 1)
    }
}
