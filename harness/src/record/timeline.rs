//! One execution as people look at it: threads side by side, what they called and were answered, and the steps in
//! between.

use serde::{Deserialize, Serialize};

/// What happened in an execution. Moments are positions in the order in which it happened, from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Names of the threads.
    pub threads: Vec<String>,
    /// Operations, where the model wrote them down.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// Steps, where the world can tell them.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Who waits for what at the end, a sentence each.
    #[serde(default)]
    pub waits: Vec<String>,
    /// The longest explanation of what was seen, a sentence each; what comes next is what nothing explains.
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
    /// When it was answered; nothing for one that is pending.
    pub to: Option<u64>,
    /// What was called.
    pub call: String,
    /// What came back.
    pub answer: Option<String>,
    /// Whether it is the one that nothing explains.
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
