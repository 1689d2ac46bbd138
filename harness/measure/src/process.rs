//! The engine's end of an implementation's process: one request at a time, each with a time limit.
//!
//! Invariant: the process is dead when its [`Implementation`] is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::allocation::Allocated;
use super::buckets::condense;
use super::group;
use super::protocol::{Answer, Request, WireSample, excerpt};
use super::{StageError, WindowSpec};
use flowmeter_records::FailureKind;

/// The longest accepted line, in bytes. Three histograms take some 100 KB.
const LONGEST_LINE: u64 = 8 << 20;
/// How much is kept of the end of its standard error, in bytes, and of its error messages, in characters.
const COMPLAINT: usize = 4096;
/// How much of an invalid answer is quoted, in characters.
const EXCERPT: usize = 80;
/// How long to wait for the rest of its standard error after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

pub(super) struct Process {
    process: Child,
    /// Whether it has been waited for.
    has_ended: bool,
    /// Whether it is stopped.
    rests: bool,
    input: ChildStdin,
    answers: Receiver<Vec<u8>>,
    complaints: Receiver<String>,
}

impl Process {
    /// Starts the process. Requests may be sent at once. It does not outlive the thread that calls this.
    pub(super) fn start(mut command: Command) -> Result<Process, StageError> {
        // An interrupt from the terminal reaches only the engine, and the end of the engine ends the implementations.
        // Otherwise they would die first, and the records would blame them.
        group::of_its_own(&mut command);
        group::dies_with_its_starter(&mut command);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| StageError {
                kind: FailureKind::Crash,
                message: format!("its process cannot be started: {e}"),
            })?;
        let input = process.stdin.take().expect("piped above");
        let output = process.stdout.take().expect("piped above");
        let errors = process.stderr.take().expect("piped above");
        // At most one line is buffered, so the pipe blocks a process that floods its output.
        let (lines, answers) = mpsc::sync_channel(1);
        thread::spawn(move || read_answers(BufReader::new(output), &lines));
        let (last_words, complaints) = mpsc::sync_channel(1);
        thread::spawn(move || {
            // The receiver may be gone; then the text is dropped.
            let _ = last_words.send(tail_of(errors));
        });
        Ok(Process {
            process,
            has_ended: false,
            rests: false,
            input,
            answers,
            complaints,
        })
    }

    /// Sends a request without waiting for the answer.
    ///
    /// Fails if the process has written anything since its last answer: that would be taken for the next answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<(), StageError> {
        if let Ok(line) = self.answers.try_recv() {
            let said = shortened(&line, EXCERPT);
            return Err(rubbish(format!("it answered {said:?} and was not asked")));
        }
        if std::mem::take(&mut self.rests) {
            group::goes_on(&self.process);
        }
        let mut line = serde_json::to_vec(request).expect("a request is JSON");
        line.push(b'\n');
        let sent = self.input.write_all(&line);
        sent.map_err(|_| self.ended())
    }

    /// Stops it until it is asked again.
    pub(super) fn rest(&mut self) {
        self.rests = true;
        group::rests(&self.process);
    }

    /// Waits for the answer to the request to prepare.
    pub(super) fn ready(&mut self, limit: Duration) -> Result<(), StageError> {
        match self.answer(limit)? {
            Answer::Ready => Ok(()),
            other => Err(unexpected("ready", &other)),
        }
    }

    pub(super) fn prove(&mut self, limit: Duration) -> Result<(), StageError> {
        self.ask(&Request::Prove)?;
        match self.answer(limit)? {
            Answer::Proved => Ok(()),
            other => Err(unexpected("proved", &other)),
        }
    }

    pub(super) fn window(
        &mut self,
        spec: WindowSpec,
        limit: Duration,
    ) -> Result<WireSample, StageError> {
        self.ask(&Request::from(spec))?;
        match self.answer(limit)? {
            Answer::Sample(sample) => match sample.check() {
                Ok(()) => Ok(*sample),
                Err(message) => Err(rubbish(message)),
            },
            other => Err(unexpected("sample", &other)),
        }
    }

    pub(super) fn peak_memory(&mut self, limit: Duration) -> Result<Option<u64>, StageError> {
        self.ask(&Request::PeakMemory)?;
        match self.answer(limit)? {
            Answer::PeakMemory { bytes } => Ok(bytes),
            other => Err(unexpected("peak-memory", &other)),
        }
    }

    /// Operations of a window and their allocations; `None` where the program counts none.
    pub(super) fn allocations(
        &mut self,
        request: &Request,
        limit: Duration,
    ) -> Result<Option<(u64, Allocated)>, StageError> {
        self.ask(request)?;
        match self.answer(limit)? {
            Answer::Uncounted => Ok(None),
            Answer::Allocated { operations: 0, .. } => {
                Err(rubbish("0 operations allocate nothing".to_owned()))
            }
            Answer::Allocated {
                operations,
                allocated,
            } => Ok(Some((operations, allocated))),
            other => Err(unexpected("allocated", &other)),
        }
    }

    fn answer(&mut self, limit: Duration) -> Result<Answer, StageError> {
        let line = match self.answers.recv_timeout(limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(StageError {
                    kind: FailureKind::Hang,
                    message: format!("no answer within {:.1} s", limit.as_secs_f64()),
                });
            }
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
        };
        let rubbish_of = |_| rubbish(format!("it answered {:?}", shortened(&line, EXCERPT)));
        let mut answer: Value = serde_json::from_slice(&line).map_err(rubbish_of)?;
        condense(&mut answer).map_err(rubbish)?;
        match serde_json::from_value(answer).map_err(rubbish_of)? {
            Answer::Error { kind, message } => Err(StageError {
                kind,
                message: shortened(message.as_bytes(), COMPLAINT),
            }),
            answer => Ok(answer),
        }
    }

    /// The error for a process that has closed its output or its input.
    fn ended(&mut self) -> StageError {
        self.has_ended = true;
        let how = match group::end(&mut self.process) {
            Ok(status) => format!("its process ended ({status})"),
            Err(error) => format!("its process ended ({error})"),
        };
        let complaint = self.complaints.recv_timeout(LAST_WORDS).unwrap_or_default();
        let last = complaint.lines().rfind(|line| !line.trim().is_empty());
        StageError {
            kind: FailureKind::Crash,
            message: match last {
                None => how,
                Some(line) => format!("{how}: {}", line.trim()),
            },
        }
    }
}

/// Whether that program speaks the [`protocol`](super::protocol). It is asked for its peak memory, which needs no
/// preparation.
///
/// # Errors
/// What it did in place of an answer.
pub fn speaks(command: Command, limit: Duration) -> Result<(), StageError> {
    Process::start(command)?.peak_memory(limit).map(|_| ())
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = group::end(&mut self.process);
        }
    }
}

fn read_answers(mut output: impl BufRead, lines: &mpsc::SyncSender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match (&mut output)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            // A truncated line means that the process ended, and is reported as that.
            Ok(_) if line.last() != Some(&b'\n') && (line.len() as u64) < LONGEST_LINE => return,
            Ok(_) => {
                if lines.send(line).is_err() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

fn tail_of(mut errors: impl Read) -> String {
    let mut tail = Vec::new();
    let mut buffer = [0; COMPLAINT];
    while let Ok(n @ 1..) = errors.read(&mut buffer) {
        tail.extend_from_slice(&buffer[..n]);
        let surplus = tail.len().saturating_sub(COMPLAINT);
        tail.drain(..surplus);
    }
    String::from_utf8_lossy(&tail).into_owned()
}

fn unexpected(wanted: &str, got: &Answer) -> StageError {
    let got = serde_json::to_vec(got).unwrap_or_default();
    rubbish(format!(
        "it answered {:?} where {wanted} was due",
        shortened(&got, EXCERPT)
    ))
}

fn rubbish(message: String) -> StageError {
    StageError {
        kind: FailureKind::Protocol,
        message,
    }
}

/// As [`excerpt`], for a raw line.
fn shortened(line: &[u8], most: usize) -> String {
    excerpt(String::from_utf8_lossy(line).trim_end(), most)
}
