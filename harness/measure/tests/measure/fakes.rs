//! Implementations that behave as their names say. They do no work: a window takes no time.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use flowmeter_measure::allocation::Allocated;
use flowmeter_measure::child::serve_process;
use flowmeter_measure::{LatencySample, Sample, Stage, StageError, WindowSpec};
use flowmeter_records::FailureKind;
use hdrhistogram::Histogram;

pub fn serve() -> ExitCode {
    serve_process(|implementation, scenario| {
        let folder = PathBuf::from(
            scenario["folder"]
                .as_str()
                .expect("the spec names a folder"),
        );
        // Held until this process ends. A test that acquires the lock exclusively knows that no implementation is alive.
        let alive = File::open(folder.join("alive")).expect("the test made it");
        alive.lock_shared().expect("locks work here");
        let fake = Fake {
            name: implementation.to_owned(),
            folder,
            windows: 0,
            _alive: alive,
        };
        #[cfg(target_os = "linux")]
        if implementation == "watches" {
            let own = std::process::id().to_string();
            File::create(fake.folder.join(format!("pid-{own}"))).expect("it can be written");
        }
        match implementation {
            "unprepared" => Err(error(FailureKind::Protocol, "it knows no such scenario")),
            "panics-unprepared" => panic!("not like this"),
            _ => Ok(Box::new(fake)),
        }
    })
}

/// A process that stops speaking the protocol after the number of correct answers in its first argument.
pub fn talk_rubbish() -> ExitCode {
    let right: usize = std::env::args().nth(1).map_or(0, |n| n.parse().unwrap());
    let mut output = std::io::stdout();
    for (line, answer) in std::io::stdin().lock().lines().zip(0..) {
        let line = line.expect("the engine writes lines");
        let text = match () {
            () if answer >= right => "good morning\n".repeat(1000),
            () if line.contains("prepare") => "{\"answer\":\"ready\"}\n".to_owned(),
            () => "{\"answer\":\"proved\"}\n".to_owned(),
        };
        if output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .is_err()
        {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Length of the window in which allocations are counted, in nanoseconds. The fakes recognise the window by it.
pub const ALLOCATION_NANOS: u64 = 2_000;

struct Fake {
    name: String,
    folder: PathBuf,
    windows: u32,
    _alive: File,
}

fn error(kind: FailureKind, message: &str) -> StageError {
    StageError {
        kind,
        message: message.to_owned(),
    }
}

/// Waits until each other process that has left its number in this folder is stopped.
#[cfg(target_os = "linux")]
fn wait_until_others_rest(folder: &std::path::Path) {
    let files = std::fs::read_dir(folder).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name());
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    let own = std::process::id().to_string();
    let others = names.iter().filter_map(|name| name.strip_prefix("pid-"));
    for other in others.filter(|other| *other != own) {
        let is_stopped = || {
            let stat = std::fs::read_to_string(format!("/proc/{other}/stat")).unwrap_or_default();
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.starts_with(" T"))
        };
        while !is_stopped() {
            std::thread::yield_now();
        }
    }
}

fn park_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

impl Fake {
    /// Runs `work` under a file of its own: a second window at the same time would find the file.
    fn alone<T>(&self, work: impl FnOnce() -> T) -> Result<T, StageError> {
        let turn = self.folder.join("turn");
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&turn)
            .map_err(|_| error(FailureKind::Crash, "another process is being timed"))?;
        let done = work();
        std::fs::remove_file(turn).map_err(|e| error(FailureKind::Crash, &e.to_string()))?;
        Ok(done)
    }
}

impl Stage for Fake {
    fn prove(&mut self) -> Result<(), StageError> {
        match self.name.as_str() {
            "unproved" => Err(error(FailureKind::Proof, "C2: 7 came before 6")),
            "hangs-in-proof" => park_for_ever(),
            #[cfg(unix)]
            "out-of-reach" => {
                // SAFETY: these three calls only read process ids.
                let (own, parents) = unsafe { (libc::getpgrp(), libc::getpgid(libc::getppid())) };
                assert_ne!(
                    own, parents,
                    "an interrupt would reach it before its parent's end does"
                );
                Ok(())
            }
            "aborts-in-proof" => std::process::abort(),
            _ => Ok(()),
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        self.windows += 1;
        let mut sample = Sample {
            // The value depends on the seed, so that tests can tell which implementation received which seed.
            value: 1.0 + (spec.seed % 1_000) as f64,
            operations: 1_000 + u64::from(spec.slowed_percent.unwrap_or(0)),
            nanos: spec.nanos,
            cpu_nanos: Some(spec.ramp_nanos),
            voluntary_switches: Some(0),
            involuntary_switches: None,
            unsustained: None,
            generator_p99_nanos: None,
            latency: None,
            counters: None,
            findings: flowmeter_records::Findings::default(),
            allocated: Some(Allocated {
                allocations: 500,
                bytes: 8_000,
                peak_live_bytes: 64,
            }),
        };
        match (self.name.as_str(), self.windows) {
            ("hangs", _) => park_for_ever(),
            ("spins", _) => loop {
                std::hint::spin_loop();
            },
            ("panics", _) => panic!("three is not four"),
            ("aborts-later", 2..) => {
                eprintln!("the sky is falling");
                std::process::abort()
            }
            ("uncountable", _) if spec.nanos == ALLOCATION_NANOS => {
                return Err(error(FailureKind::Void, "not while it is watched"));
            }
            ("exits", _) => std::process::exit(0),
            ("lies", _) => return Err(error(FailureKind::Count, "put 1000, took 999")),
            ("void", _) => return Err(error(FailureKind::Void, "it cannot sustain that")),
            #[cfg(target_os = "linux")]
            ("watches", _) => wait_until_others_rest(&self.folder),
            ("not-a-number", _) => sample.value = f64::NAN,
            ("no-time", _) => sample.nanos = 0,
            ("prints", _) => println!("{{\"answer\":\"ready\"}}"),
            ("latency", _) => {
                sample.unsustained = Some(0.02);
                sample.generator_p99_nanos = Some(77);
                let mut histogram = Histogram::new(3).expect("three digits are possible");
                histogram.record(4_242).expect("it fits");
                sample.latency = Some(LatencySample {
                    response: histogram.clone(),
                    service: histogram.clone(),
                    generator: histogram,
                });
            }
            _ => {}
        }
        self.alone(|| sample)
    }
}
