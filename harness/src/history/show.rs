//! Prints histories for people: one column per thread, with calls and answers from top to bottom.

use std::fmt::{self, Write};

use super::{Answer, Call, Clause, History, Operation};
use crate::channel::{Order, Patience};

/// Width of a page in characters.
const WIDTH: usize = 100;

/// A channel's name: `a` to `z`, and then with a number.
pub fn channel_name(channel: usize) -> String {
    let letter = char::from(b'a' + (channel % 26) as u8);
    match channel / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clause::Put { channel, value } => write!(f, "put({}, {value})", channel_name(*channel)),
            Clause::Take { channel } => write!(f, "take({})", channel_name(*channel)),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (clauses, order, patience) = match self {
            Call::Close(channel) => return write!(f, "close({})", channel_name(*channel)),
            Call::Alts {
                clauses,
                order,
                patience,
            } => (clauses, order, patience),
        };
        match (clauses.as_slice(), patience) {
            ([Clause::Put { channel, value }], Patience::Now) => {
                return write!(f, "offer({}, {value})", channel_name(*channel));
            }
            ([Clause::Take { channel }], Patience::Now) => {
                return write!(f, "poll({})", channel_name(*channel));
            }
            ([one], _) => write!(f, "{one}")?,
            _ => {
                let clauses: Vec<String> = clauses.iter().map(Clause::to_string).collect();
                write!(f, "alts[{}]", clauses.join(", "))?;
                if *order == Order::Priority {
                    f.write_str(" by priority")?;
                }
            }
        }
        match patience {
            Patience::Forever => Ok(()),
            Patience::Until(deadline) => write!(f, " until {deadline}"),
            Patience::Now => f.write_str(" or default"),
        }
    }
}

impl Operation {
    /// Its answer in words.
    pub fn answer_text(&self) -> String {
        let clauses = self.call.clauses();
        let won = |clause: usize, answer: &str| match clauses {
            [_] => answer.to_owned(),
            _ => format!("{}: {answer}", clauses[clause]),
        };
        match self.answer {
            Answer::Accepted { clause } => won(clause, "true"),
            Answer::Refused { clause } => won(clause, "false"),
            Answer::Took { clause, value } => won(clause, &value.to_string()),
            Answer::Ended { clause } => won(clause, "closed"),
            Answer::WouldWait if clauses.len() == 1 => "would wait".to_owned(),
            Answer::WouldWait => "default".to_owned(),
            Answer::TimedOut => "timed out".to_owned(),
            Answer::Closed => "done".to_owned(),
            Answer::Cancelled => "cancelled".to_owned(),
            Answer::Pending => "pending".to_owned(),
        }
    }
}

/// The history with one column per thread: `┌` marks a call, `└` its answer, each with the operation's number. An
/// operation that is still open at the end is pending.
pub fn columns(history: &History) -> String {
    let mut numbers: Vec<usize> = history.operations.iter().map(|o| o.thread).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut events = Vec::new();
    for (op, operation) in history.operations.iter().enumerate() {
        // At equal stamps nothing precedes anything: calls come first.
        events.push((operation.invoked, 0, op));
        if operation.answer != Answer::Pending {
            events.push((operation.returned, 1, op));
        }
    }
    events.sort_unstable();
    let mark = |(_, end, op): (u64, u32, usize)| {
        let operation = &history.operations[op];
        let (place, what) = match end {
            0 => (Place::Call, operation.call.to_string()),
            _ => (Place::Answer, operation.answer_text()),
        };
        Mark {
            column: numbers.binary_search(&operation.thread).expect("listed"),
            place,
            text: format!("{op} {what}"),
        }
    };
    let names: Vec<String> = numbers.iter().map(|t| format!("thread {t}")).collect();
    let marks: Vec<Mark> = events.into_iter().map(mark).collect();
    drawn(&names, &marks)
}

/// What a [`Mark`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The call of an operation.
    Call,
    /// A step of the operation that its thread is in.
    Step,
    /// The answer.
    Answer,
}

/// One line of a drawing: the event of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Index of the thread's column.
    pub column: usize,
    /// What it is.
    pub place: Place,
    /// Its text.
    pub text: String,
}

/// Draws threads as columns, with their events from top to bottom, at most 100 characters wide.
pub fn drawn(names: &[String], marks: &[Mark]) -> String {
    let threads = names.len();
    let width = (WIDTH / threads.max(1)).clamp(16, 48);
    let mut text = String::new();
    line(&mut text, names, width);
    let mut open = vec![false; threads];
    for mark in marks {
        let own = mark.column;
        let bracket = match mark.place {
            Place::Call => "┌",
            Place::Step => "│ ",
            Place::Answer => "└",
        };
        let chunks = wrapped(&format!("{bracket}{}", mark.text), width - 2);
        for (at, chunk) in chunks.iter().enumerate() {
            let cell = |thread: usize| match (thread == own, open[thread]) {
                (true, _) if at == 0 => chunk.clone(),
                (true, _) if mark.place == Place::Answer => format!("   {chunk}"),
                (true, _) => format!("│  {chunk}"),
                (false, true) => "│".to_owned(),
                (false, false) => String::new(),
            };
            let cells: Vec<String> = (0..threads).map(cell).collect();
            line(&mut text, &cells, width);
        }
        open[own] = mark.place != Place::Answer;
    }
    if open.contains(&true) {
        let cell = |open: &bool| if *open { "┆ pending" } else { "" }.to_owned();
        let cells: Vec<String> = open.iter().map(cell).collect();
        line(&mut text, &cells, width);
    }
    text
}

/// Wraps text to the width of a page; later lines are indented.
pub fn paragraph(text: &str) -> String {
    wrapped(text, WIDTH).join("\n   ")
}

fn line(text: &mut String, cells: &[String], width: usize) {
    let mut line = String::new();
    for cell in cells {
        let _ = write!(line, "{cell:<width$}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Breaks text at blanks into pieces of at most `width` characters. Later pieces are shown indented by three.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let room = if pieces.len() > 1 { width - 3 } else { width };
        match pieces.last_mut() {
            Some(piece) if piece.chars().count() + 1 + word.chars().count() <= room => {
                piece.push(' ');
                piece.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}
