//! An implementation's process: the child's side of the [`protocol`](super::protocol).
//!
//! Invariants: the process ends when its standard input ends, even amid a window and even if the implementation hangs. A
//! panic is reported as an answer. Output that an implementation prints does not reach the protocol.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;

use super::protocol::{Answer, Request};
use super::{Sample, Stage, StageError, WindowSpec, allocation, clock, counters, usage};
use flowmeter_harness::sync::panic_text;
use flowmeter_records::FailureKind;

/// Serves the engine over this process's standard input and output, and returns when the input ends.
///
/// Afterwards standard output is redirected to standard error, so that only the protocol reaches the engine. Call it
/// first in `main`. A thread waits for the end of the input and then ends the process without unwinding or destructors.
///
/// `make_stage` gets the implementation's name and the scenario as the engine sent them.
pub fn serve_process(
    make_stage: impl FnMut(&str, &serde_json::Value) -> Result<Box<dyn Stage>, StageError>,
) -> ExitCode {
    let output = match take_stdout() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("the standard output cannot be set aside: {error}");
            return ExitCode::from(2);
        }
    };
    clock::calibrate();
    counters::begin();
    let (lines, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if line.is_err() || lines.send(line).is_err() {
                break;
            }
        }
        exit_now();
    });
    match answer_all(make_stage, requests.into_iter(), output) {
        Ok(()) => ExitCode::SUCCESS,
        // The engine is gone, so the error cannot be reported.
        Err(_) => ExitCode::from(2),
    }
}

/// Serves requests from `input` until it ends and writes answers to `output`.
///
/// This is [`serve_process`] without the process: no stream is redirected, and an implementation that hangs blocks the
/// caller.
///
/// # Errors
/// When `input` cannot be read or `output` cannot be written.
pub fn serve(
    make_stage: impl FnMut(&str, &serde_json::Value) -> Result<Box<dyn Stage>, StageError>,
    input: impl BufRead,
    output: impl Write,
) -> io::Result<()> {
    answer_all(make_stage, input.lines(), output)
}

fn answer_all(
    mut make_stage: impl FnMut(&str, &serde_json::Value) -> Result<Box<dyn Stage>, StageError>,
    requests: impl Iterator<Item = io::Result<String>>,
    mut output: impl Write,
) -> io::Result<()> {
    let mut stage = None;
    for line in requests {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => answer(&mut make_stage, &mut stage, request),
            Err(error) => protocol_error(format!("not a request: {error}")),
        };
        let mut line = serde_json::to_vec(&answer).map_err(io::Error::from)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

fn answer(
    make_stage: &mut impl FnMut(&str, &serde_json::Value) -> Result<Box<dyn Stage>, StageError>,
    stage: &mut Option<Box<dyn Stage>>,
    request: Request,
) -> Answer {
    let outcome = caught(|| match request {
        Request::Prepare {
            implementation,
            scenario,
        } => {
            *stage = None;
            *stage = Some(make_stage(&implementation, &scenario)?);
            Ok(Answer::Ready)
        }
        Request::PeakMemory => Ok(Answer::PeakMemory {
            bytes: usage::peak_bytes(),
        }),
        Request::Prove => match stage {
            None => Ok(not_prepared()),
            Some(stage) => stage.prove().map(|()| Answer::Proved),
        },
        Request::Window {
            ramp_nanos,
            nanos,
            slowed_percent,
            seed,
        } => match stage {
            None => Ok(not_prepared()),
            Some(stage) => stage
                .window(WindowSpec {
                    ramp_nanos,
                    nanos,
                    slowed_percent,
                    seed,
                })
                .map(|sample| Answer::Sample(Box::new(sample.into()))),
        },
        Request::Allocations {
            ramp_nanos,
            nanos,
            seed,
        } => match stage {
            None => Ok(not_prepared()),
            Some(_) if !allocation::switch_on() => Ok(Answer::Uncounted),
            Some(stage) => stage
                .window(WindowSpec {
                    ramp_nanos,
                    nanos,
                    slowed_percent: None,
                    seed,
                })
                .map(allocated),
        },
    });
    outcome.unwrap_or_else(Answer::from)
}

/// The allocations of a window; `uncounted` where its stage does not report them.
fn allocated(sample: Sample) -> Answer {
    match sample.allocated {
        Some(allocated) => Answer::Allocated {
            operations: sample.operations,
            allocated,
        },
        None => Answer::Uncounted,
    }
}

/// Turns a panic into an error of kind [`FailureKind::Panic`].
fn caught(work: impl FnOnce() -> Result<Answer, StageError>) -> Result<Answer, StageError> {
    // After a panic the engine sends no further request to this process, so broken state is not observed.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(StageError {
            kind: FailureKind::Panic,
            message: panic_text(&*panic),
        })
    })
}

fn not_prepared() -> Answer {
    protocol_error("asked to work before it was prepared".to_owned())
}

fn protocol_error(message: String) -> Answer {
    Answer::Error {
        kind: FailureKind::Protocol,
        message,
    }
}

/// A duplicate of standard output. Later prints go to standard error.
#[cfg(unix)]
fn take_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: dup2 only replaces the target of descriptor 1, which only the standard streams own.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(output.into())
}

/// Standard output itself: on this system an implementation that prints violates the protocol.
#[cfg(not(unix))]
fn take_stdout() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Ends the process without running any more of its code.
#[cfg(unix)]
fn exit_now() -> ! {
    // SAFETY: _exit takes any status and does not return; exit handlers must not run, since a hung
    // implementation may hold what they wait for.
    unsafe { libc::_exit(0) }
}

/// Ends the process.
#[cfg(not(unix))]
fn exit_now() -> ! {
    std::process::exit(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Cost;

    struct Fake(String);

    impl Stage for Fake {
        fn prove(&mut self) -> Result<(), StageError> {
            assert!(self.0 != "panics", "it was told to panic");
            Ok(())
        }
        fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
            Ok(Sample::new(2.0, 4, spec.nanos, Cost::default()))
        }
    }

    fn answers(requests: &str) -> Vec<Answer> {
        let mut output = Vec::new();
        let make = |name: &str, _: &serde_json::Value| match name {
            "absent" => Err(StageError {
                kind: FailureKind::Protocol,
                message: "no such implementation".to_owned(),
            }),
            name => Ok(Box::new(Fake(name.to_owned())) as Box<dyn Stage>),
        };
        serve(make, requests.as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn kind(answer: &Answer) -> Option<FailureKind> {
        match answer {
            Answer::Error { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    #[test]
    fn one_request_gets_one_answer() {
        let answers = answers(concat!(
            r#"{"ask":"prepare","implementation":"good","scenario":{}}"#,
            "\n",
            r#"{"ask":"prove"}"#,
            "\n",
            r#"{"ask":"window","ramp_nanos":0,"nanos":9,"slowed_percent":null,"seed":1}"#,
            "\n",
        ));
        assert_eq!(answers[..2], [Answer::Ready, Answer::Proved]);
        let Answer::Sample(sample) = &answers[2] else {
            panic!("{:?}", answers[2]);
        };
        assert_eq!((sample.operations, sample.nanos), (4, 9));
    }

    #[test]
    fn a_panic_is_an_answer() {
        let answers = answers(concat!(
            r#"{"ask":"prepare","implementation":"panics","scenario":null}"#,
            "\n",
            r#"{"ask":"prove"}"#,
            "\n",
        ));
        assert_eq!(
            answers[1],
            Answer::Error {
                kind: FailureKind::Panic,
                message: "it was told to panic".to_owned(),
            }
        );
    }

    #[test]
    fn what_is_no_request_is_answered_as_such() {
        let answers = answers("hello\n{\"ask\":\"prove\"}\n");
        assert_eq!(kind(&answers[0]), Some(FailureKind::Protocol));
        assert_eq!(
            kind(&answers[1]),
            Some(FailureKind::Protocol),
            "not prepared"
        );
    }

    #[test]
    fn an_implementation_that_cannot_be_prepared_says_why() {
        let answers =
            answers("{\"ask\":\"prepare\",\"implementation\":\"absent\",\"scenario\":1}\n");
        assert_eq!(kind(&answers[0]), Some(FailureKind::Protocol));
    }
}
