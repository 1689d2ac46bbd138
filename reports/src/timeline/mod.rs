//! A failing execution as one self-contained page: a lane for each thread, operations as bars, steps as marks, to be
//! zoomed; below it the same as a table, which reads without scripts and on paper. The same input gives the same
//! bytes.

mod lanes;
mod table;

use askama::Template;
use flowmeter_records::Timeline;

use crate::error::ReportError;

/// What is shown around the timeline.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What failed where, such as `mutex a1-exclusive under shuttle`.
    pub title: &'a str,
    /// What was violated, beginning with its id.
    pub violation: &'a str,
    /// The whole report of it, as a terminal shows it.
    pub told: &'a str,
    /// The command that shows it again.
    pub replay: Option<&'a str>,
    /// How the execution was found, such as its seed.
    pub found: &'a str,
}

#[derive(Template)]
#[template(path = "timeline.html", whitespace = "minimize")]
struct Page<'a> {
    about: About<'a>,
    style: &'static str,
    script: &'static str,
    timeline: &'a Timeline,
    lanes: Vec<lanes::Lane<'a>>,
    end: u64,
    rows: Vec<table::Row>,
}

/// Renders the page.
///
/// # Errors
/// [`ReportError`] when the page cannot be put together.
pub fn timeline_page(about: About<'_>, timeline: &Timeline) -> Result<String, ReportError> {
    let page = Page {
        about,
        style: include_str!("../../templates/timeline.css"),
        script: include_str!("../../templates/timeline.js"),
        timeline,
        lanes: lanes::of(timeline),
        end: timeline.end(),
        rows: table::of(timeline),
    };
    Ok(page.render()?)
}
