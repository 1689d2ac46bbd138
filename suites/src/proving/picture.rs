//! A failing execution as a page: it is replayed once more with full recording.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmeter_harness::sync::Note;
use flowmeter_harness::sync::trace::{Event, What, traced};
use flowmeter_records::{Span, Step, Timeline};
use flowmeter_reports::{About, timeline_page};

use super::again::model;
use super::counterexample::Counterexample;
use crate::process::{self, Request};
use crate::worlds::Worlds;

/// For one execution, and under loom those before it, on a busy machine.
const GRACE: Duration = Duration::from_secs(60);

/// Writes the page beside the counterexample's file; returns its path.
///
/// # Errors
/// When it cannot be written, or the execution could not be reproduced.
pub(crate) fn draw(example: &Counterexample, file: &Path, replay: &str) -> io::Result<PathBuf> {
    let limit = Duration::try_from_secs_f64(2.0 * example.seconds).unwrap_or_default() + GRACE;
    let answer: Result<Option<Timeline>, String> =
        process::ask(&Request::Draw(example.clone()), limit);
    let timeline = answer
        .map_err(io::Error::other)?
        .ok_or_else(|| io::Error::other("it did not fail this time"))?;
    let Counterexample {
        implementation,
        property,
        world,
        case,
        seed,
        failure,
        ..
    } = example;
    let title = format!("{implementation} {property} under {world}");
    let told = failure.to_string();
    let sentence = told.split("\n\n").next().unwrap_or_default();
    let about = About {
        title: &title,
        violation: sentence,
        told: &told,
        replay: Some(replay),
        found: &format!("case: {case}; seed {seed}"),
    };
    let page = timeline_page(about, &timeline).map_err(io::Error::other)?;
    let path = file.with_extension("html");
    fs::write(&path, page)?;
    Ok(path)
}

/// The process that draws: the events of that execution, or none when it does not fail.
pub(crate) fn serve(worlds: &Worlds, example: Counterexample) -> Option<Timeline> {
    let (prover, model) = model(worlds, &example).ok()?;
    let schedule = example.failure.schedule.as_ref()?;
    let (replayed, events) = traced(|| prover.replay(model, schedule));
    let failure = replayed.ok()?.failure?;
    Some(timeline(events, &failure.message))
}

/// The events, side by side.
fn timeline(events: Vec<Event>, message: &str) -> Timeline {
    let mut numbers: Vec<Option<usize>> = events.iter().map(|event| event.thread).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut timeline = Timeline {
        threads: numbers.iter().map(named).collect(),
        waits: waits(message),
        ..Timeline::default()
    };
    // For each thread its last operation, by its index among all spans.
    let mut latest: Vec<Option<usize>> = vec![None; numbers.len()];
    let mut at = 0;
    for Event { thread, what } in events {
        let thread = numbers.binary_search(&thread).expect("all are listed");
        match what {
            What::Step { what, at: site } => timeline.steps.push(Step {
                thread,
                at,
                what,
                site,
            }),
            What::Said(Note::Called(call)) => {
                latest[thread] = Some(timeline.spans.len());
                timeline.spans.push(Span {
                    thread,
                    from: at,
                    to: None,
                    call,
                    answer: None,
                    fault: false,
                });
            }
            What::Said(Note::Answered(answer)) => {
                if let Some(last) = latest[thread] {
                    let span = &mut timeline.spans[last];
                    (span.to, span.answer) = (Some(at), Some(answer));
                }
            }
            What::Said(Note::Culprit(nth)) => {
                if let Some(span) = timeline.spans.get_mut(nth) {
                    span.fault = true;
                }
                continue;
            }
            What::Said(Note::Explained(steps)) => {
                timeline.explained = steps;
                continue;
            }
        }
        at += 1;
    }
    timeline
}

fn named(number: &Option<usize>) -> String {
    match number {
        None => "outside".to_owned(),
        Some(0) => "main".to_owned(),
        Some(number) => format!("thread {number}"),
    }
}

/// The lines of the report of a deadlock or a livelock that say what each thread waits for.
fn waits(message: &str) -> Vec<String> {
    let tale = ["deadlock: ", "livelock: "]
        .iter()
        .find_map(|title| message.split_once(title))
        .map_or("", |(_, tale)| tale);
    let lines = tale.lines().skip(1).map(str::trim);
    let lines = lines.take_while(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: usize, what: What) -> Event {
        Event {
            thread: Some(thread),
            what,
        }
    }

    #[test]
    fn operations_are_spans_and_what_nothing_explains_is_marked() {
        let said = |thread, note| event(thread, What::Said(note));
        let step = What::Step {
            what: "lock".to_owned(),
            at: None,
        };
        let events = vec![
            said(2, Note::Called("take(a)".to_owned())),
            event(2, step),
            said(0, Note::Called("put(a, 1)".to_owned())),
            said(2, Note::Answered("closed".to_owned())),
            said(0, Note::Culprit(0)),
            said(0, Note::Explained(vec!["nothing".to_owned()])),
        ];
        let timeline = timeline(events, "deadlock: every thread waits\n  main waits\n");
        assert_eq!(timeline.threads, ["main", "thread 2"]);
        assert_eq!(timeline.waits, ["main waits"]);
        assert_eq!(timeline.explained, ["nothing"]);
        let spans: Vec<_> = (timeline.spans.iter())
            .map(|span| (span.thread, span.from, span.to, span.fault))
            .collect();
        assert_eq!(spans, [(1, 0, Some(3), true), (0, 2, None, false)]);
        assert_eq!(timeline.steps[0].at, 1);
    }

    #[test]
    fn a_deadlock_and_a_livelock_say_what_each_thread_does() {
        for report in [
            "one case: deadlock: every thread waits\n  main waits\n",
            "livelock: every thread waits, or yields\n  main waits\n\nother",
        ] {
            assert_eq!(waits(report), ["main waits"], "{report}");
        }
        assert!(waits("C1: a value was lost\n  left: 1").is_empty());
    }
}
