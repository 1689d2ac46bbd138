//! One cell of the comparison: a child process that prints how long each history took. The parent kills it when it
//! prints nothing for too long.

use std::env;
use std::fmt;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::checker::Checker;
use crate::queue;

/// Time limit for one history.
const LIMIT: Duration = Duration::from_secs(10);

/// Histories per cell, the same for all checkers.
const HISTORIES: u64 = 21;

/// A short question is repeated until this much time has passed.
const REPEAT: Duration = Duration::from_millis(2);

/// One checker and the question that it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub checker: Checker,
    pub length: usize,
    pub legal: bool,
}

/// The result of a cell, in microseconds per history.
#[derive(Clone, Debug)]
pub enum Timing {
    /// All histories were judged: how long each took, in order.
    Judged(Vec<f64>),
    /// One history took too long, after `judged` histories that did not; or the process died.
    Stopped { judged: usize, why: &'static str },
    /// Not tried: too long for this checker, or a shorter history already exceeded the limit.
    Untried,
}

impl Timing {
    /// Median over all histories, if all were judged.
    pub fn median(&self) -> Option<f64> {
        match self {
            Timing::Judged(micros) => Some(micros[micros.len() / 2]),
            Timing::Stopped { .. } | Timing::Untried => None,
        }
    }

    /// Mean over all histories, from which a rate follows, if all were judged.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Timing::Judged(micros) => Some(micros.iter().sum::<f64>() / micros.len() as f64),
            Timing::Stopped { .. } | Timing::Untried => None,
        }
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timing::Judged(micros) => {
                let (least, most) = (micros[0], micros[micros.len() - 1]);
                let median = micros[micros.len() / 2];
                f.pad(&format!(
                    "{} ({} to {})",
                    digits(median),
                    digits(least),
                    digits(most)
                ))
            }
            Timing::Stopped { judged, why } => f.pad(&format!("{why} ({judged} of {HISTORIES})")),
            Timing::Untried => f.pad("-"),
        }
    }
}

/// Formats with three significant digits.
fn digits(micros: f64) -> String {
    match micros {
        ..10.0 => format!("{micros:.2}"),
        10.0..100.0 => format!("{micros:.1}"),
        _ => format!("{micros:.0}"),
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            checker,
            length,
            legal,
        } = self;
        write!(
            f,
            "{} {length} {legal}",
            checker.name().replace(' ', "-")
        )
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Cell, String> {
        let all = Checker::ALL.into_iter();
        let mut cells = all.flat_map(|checker| {
            let of_length = move |length| {
                [true, false].map(|legal| Cell {
                    checker,
                    length,
                    legal,
                })
            };
            crate::LENGTHS.into_iter().flat_map(of_length)
        });
        let cell = cells.find(|cell| cell.to_string() == text);
        cell.ok_or_else(|| format!("{text:?} is no cell"))
    }
}

impl Cell {
    /// The child: prints one line per history with its microseconds.
    pub fn run(self) {
        for seed in 0..HISTORIES {
            let history = queue::history(self.length, 1_000_000 + seed, self.legal);
            let question = self.checker.ask(&history);
            println!("asked");
            stdout().flush().expect("the parent reads");
            let started = Instant::now();
            let mut asked = 0;
            while asked == 0 || started.elapsed() < REPEAT {
                assert_eq!(black_box(question()), self.legal, "{self}, {seed}");
                asked += 1;
            }
            println!(
                "{}",
                started.elapsed().as_secs_f64() * 1e6 / f64::from(asked)
            );
            stdout().flush().expect("the parent reads");
        }
    }

    /// The parent: starts the child and collects its times.
    pub fn time(self) -> Timing {
        let program = env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args(["--cell", &self.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this program starts again");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, lines) = channel();
        let reader = thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut micros: Vec<f64> = Vec::new();
        let stopped = loop {
            match lines.recv_timeout(LIMIT) {
                Ok(line) => micros.extend(line.parse::<f64>().ok()),
                Err(RecvTimeoutError::Timeout) => break Some("over 10 s"),
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        if stopped.is_some() {
            child.kill().expect("it can be ended");
        }
        let status = child.wait().expect("it ends");
        drop(lines);
        reader.join().expect("it reads to the end");
        match stopped.or((!status.success()).then_some("died")) {
            Some(why) => Timing::Stopped {
                judged: micros.len(),
                why,
            },
            None => {
                micros.sort_by(f64::total_cmp);
                Timing::Judged(micros)
            }
        }
    }
}
