//! A lane for each thread.

use flowmeter_records::{Span, Step, Timeline};

/// A thread, and what it did.
pub struct Lane<'a> {
    pub name: &'a String,
    pub bars: Vec<Bar<'a>>,
    pub marks: Vec<Mark>,
}

/// An operation.
pub struct Bar<'a> {
    pub span: &'a Span,
    /// Where it ends: the end of all for one that is pending.
    pub to: u64,
    pub text: String,
}

/// A step.
pub struct Mark {
    pub at: u64,
    pub what: String,
    /// What it did, and where.
    pub title: String,
}

pub fn of(timeline: &Timeline) -> Vec<Lane<'_>> {
    let bar = |span| Bar {
        span,
        to: span.to.unwrap_or(timeline.end()),
        text: said(span),
    };
    let mark = |step: &Step| Mark {
        at: step.at,
        what: step.what.clone(),
        title: done(step),
    };
    let lane = |(thread, name)| Lane {
        name,
        bars: (timeline.spans.iter())
            .filter(|span| span.thread == thread)
            .map(bar)
            .collect(),
        marks: (timeline.steps.iter())
            .filter(|step| step.thread == thread)
            .map(mark)
            .collect(),
    };
    timeline.threads.iter().enumerate().map(lane).collect()
}

/// The operation and its answer.
pub fn said(span: &Span) -> String {
    match &span.answer {
        Some(answer) => format!("{} → {answer}", span.call),
        None => format!("{} …", span.call),
    }
}

/// What a step did, and where.
pub fn done(step: &Step) -> String {
    match &step.site {
        Some(site) => format!("{} at {site}", step.what),
        None => step.what.clone(),
    }
}
