//! Requests to a language outside a measurement: a process, a time limit, lines of its standard output.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_measure::{group, protocol};

/// To report its version, on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);
/// How long to wait for the rest of its standard error once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// A longer line is cut; in bytes.
const LONGEST_LINE: u64 = 1 << 16;
/// A version is shorter. Of another line this many characters are quoted.
const EXCERPT: usize = 80;

/// A running process that answers with lines. It is killed when this is dropped.
pub(crate) struct Asking {
    process: Child,
    /// It has been waited for.
    has_ended: bool,
    lines: Receiver<String>,
    complaint: Receiver<String>,
    until: Instant,
    limit: Duration,
}

impl Asking {
    /// Starts it; `limit` applies to all of its output.
    pub(crate) fn begin(mut command: Command, limit: Duration) -> Result<Asking, String> {
        group::of_its_own(&mut command);
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut process = started.map_err(|why| format!("it cannot be started: {why}"))?;
        let output = process.stdout.take().expect("piped above");
        let errors = process.stderr.take().expect("piped above");
        // One line is buffered at most, so that the pipe blocks a process that floods its output.
        let (told, lines) = mpsc::sync_channel(1);
        thread::spawn(move || each_line(output, |line| told.send(line).is_ok()));
        let (last_words, complaint) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let mut last = String::new();
            each_line(errors, |line| {
                if !line.trim().is_empty() {
                    last = line;
                }
                true
            });
            // The receiver may be gone.
            let _ = last_words.send(last);
        });
        Ok(Asking {
            process,
            has_ended: false,
            lines,
            complaint,
            until: Instant::now() + limit,
            limit,
        })
    }

    /// The next line; `None` once it has ended well.
    ///
    /// # Errors
    /// When it ended otherwise, with the last line of its standard error, or took too long.
    pub(crate) fn next(&mut self) -> Result<Option<String>, String> {
        let left = self.until.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "it said nothing for {:.0} s",
                self.limit.as_secs_f64()
            )),
            Err(RecvTimeoutError::Disconnected) => self.ended(),
        }
    }

    fn ended(&mut self) -> Result<Option<String>, String> {
        // It has closed its output and may still run: it is not waited for long.
        let last = self.complaint.recv_timeout(LAST_WORDS).unwrap_or_default();
        match self.wait() {
            Ok(Some(status)) if status.success() => Ok(None),
            Ok(Some(_)) if !last.trim().is_empty() => Err(last.trim().to_owned()),
            Ok(Some(status)) => Err(format!("its process ended ({status})")),
            Ok(None) => Err("it closed its output and did not end".to_owned()),
            Err(why) => Err(format!("it cannot be waited for: {why}")),
        }
    }
}

impl Asking {
    /// It ends shortly after its output. The system has no wait with a limit.
    fn wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(None) if began.elapsed() < LAST_WORDS => thread::sleep(LOOK_AGAIN),
                ended => {
                    self.has_ended = matches!(ended, Ok(Some(_)));
                    return ended;
                }
            }
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // The children of a script are killed too, unless it has been waited for: then it has ended by itself.
        if !self.has_ended {
            let _ = group::end(&mut self.process);
        }
    }
}

/// Calls `heard` with each line until it returns `false`.
fn each_line(output: impl Read, mut heard: impl FnMut(String) -> bool) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut output)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            Ok(1..) if heard(String::from_utf8_lossy(&line).trim_end().to_owned()) => {}
            _ => return,
        }
    }
}

/// As much of a line as fits into a table.
pub(crate) fn excerpt(line: &str) -> String {
    protocol::excerpt(line, EXCERPT)
}

/// The first line of its version.
pub(super) fn version(command: Command) -> Result<String, String> {
    let mut asking = Asking::begin(command, LIMIT)?;
    let first = asking.next()?;
    match first.filter(|line| !line.trim().is_empty()) {
        Some(version) => match asking.next()? {
            None if version.chars().count() > EXCERPT => {
                Err(format!("its version is {:?}", excerpt(&version)))
            }
            None => Ok(version),
            Some(_) => Err("it says more than its version".to_owned()),
        },
        None => Err("it does not say its version".to_owned()),
    }
}
