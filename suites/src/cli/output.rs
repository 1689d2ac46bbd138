//! What verbs print: lines of JSON or tables, to a reader who may have gone away.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use flowmeter_reports::Style;
use serde::Serialize;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for people.
    #[default]
    Table,
    /// One JSON object a line, with stable keys.
    Json,
}

/// The standard output. A reader that closes the pipe (`| head`) is no error: what follows is dropped.
#[derive(Debug, Default)]
pub(super) struct Output {
    closed: bool,
}

impl Output {
    /// A line of text.
    pub(super) fn line(&mut self, text: &str) {
        if !self.closed {
            self.closed = writeln!(anstream::stdout(), "{text}").is_err();
        }
    }

    /// A line of JSON.
    pub(super) fn json(&mut self, row: &impl Serialize) {
        // Plain data with string keys: there is no error but a lack of memory.
        self.line(&serde_json::to_string(row).expect("rows are plain data"));
    }
}

/// Colour where somebody looks at a terminal and has not asked for none.
pub(super) fn style() -> Style {
    let plain = anstream::stdout().current_choice() == anstream::ColorChoice::Never;
    if io::stdout().is_terminal() && !plain {
        Style::Colour
    } else {
        Style::Plain
    }
}

/// Columns that a table may take.
pub(super) fn width() -> usize {
    flowmeter_reports::DEFAULT_WIDTH
}
