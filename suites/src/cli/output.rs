//! The output of verbs: lines of JSON or tables, to a reader that may have closed the pipe.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use clap::ValueEnum;
use flowmeter_reports::Style;
use serde::Serialize;

use super::failure::Failure;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for reading.
    #[default]
    Table,
    /// One JSON object a line, with stable keys.
    Json,
}

/// The error after which nothing more could be printed. There is one standard output for all writers.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// The standard output. A reader that closes the pipe (`| head`) is no error: later output is dropped. On a full disk
/// later output is dropped too, and [`lost`] reports it at the end.
#[derive(Debug, Default)]
pub(super) struct Output {
    closed: bool,
}

impl Output {
    /// One or several lines of text. Records may contain anything, so all text is [`clean`]ed here.
    pub(super) fn line(&mut self, text: &str) {
        let text = clean(text);
        self.write(|stdout| writeln!(stdout, "{text}"));
    }

    /// Text as it is, with its final line end.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.write(|stdout| stdout.write_all(text));
    }

    fn write(&mut self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.closed {
            return;
        }
        if let Err(why) = print(&mut anstream::stdout()) {
            self.closed = true;
            if why.kind() != io::ErrorKind::BrokenPipe {
                // The first error is kept; later ones have the same cause.
                let _ = LOST.set(why);
            }
        }
    }

    /// A line of JSON.
    pub(super) fn json(&mut self, row: &impl Serialize) {
        // Plain data with string keys: only a lack of memory is an error.
        let row = serde_json::to_string(row).expect("rows are plain data");
        self.line(&escaped(&row));
    }
}

/// The colours of tables (`flowmeter_reports::Style`).
const COLOURS: [&str; 5] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
];

/// Text for a terminal. Control characters, which could move the cursor or rename the window, become a replacement
/// character. Line ends and our own colours stay.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() && c != '\n') {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        let colour = COLOURS.iter().find(|colour| from.starts_with(**colour));
        clean.push_str(colour.map_or("\u{fffd}", |colour| colour));
        let first = from.chars().next().map_or(0, char::len_utf8);
        rest = &from[colour.map_or(first, |colour| colour.len())..];
    }
    clean.push_str(rest);
    clean
}

/// JSON with those control characters escaped that JSON itself permits in texts.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_control() {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    escaped
}

/// The error, if any output is lost.
pub(super) fn lost() -> Option<Failure> {
    let why = LOST.get()?;
    Some(Failure::input(format!(
        "standard output: {why}; the rest of the output is lost, so print to a place with room"
    )))
}

/// Colour if the output is a terminal and colour was not turned off.
pub(super) fn style() -> Style {
    let plain = anstream::stdout().current_choice() == anstream::ColorChoice::Never;
    if io::stdout().is_terminal() && !plain {
        Style::Colour
    } else {
        Style::Plain
    }
}

/// The number of columns for a table.
pub(super) fn width() -> usize {
    flowmeter_reports::DEFAULT_WIDTH
}

/// The words in lines of that width; a longer word has a line of its own. Control characters, which could move the
/// cursor, become a replacement character.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = word.replace(char::is_control, "\u{fffd}");
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_of_ours_reaches_a_terminal() {
        let coloured = "\u{1b}[1mheading\u{1b}[0m\n\u{1b}[31mfailed\u{1b}[0m";
        assert_eq!(clean(coloured), coloured);
        for (hostile, said) in [
            ("\u{1b}[2Jgone", "\u{fffd}[2Jgone"),
            ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}"),
            ("\u{1b}[8mhidden", "\u{fffd}[8mhidden"),
            ("\u{1b}\u{1b}[1mbold", "\u{fffd}\u{1b}[1mbold"),
            ("\u{9b}2J\r\u{7f}é", "\u{fffd}2J\u{fffd}\u{fffd}é"),
        ] {
            assert_eq!(clean(hostile), said);
        }
    }

    #[test]
    fn a_line_of_json_says_what_it_said() {
        let text = "\u{9b}2J \u{7f} \u{1b} é";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escaped(&json);
        assert_eq!(clean(&escaped), escaped);
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("a longer-than-it b", 4),
            ["a", "longer-than-it", "b"]
        );
        assert!(wrapped("", 4).is_empty());
        assert_eq!(wrapped("\u{1b}[2Jgone", 9), ["\u{fffd}[2Jgone"]);
    }
}
