//! The line protocol between the engine and an implementation's process.
//!
//! An implementation is an executable. The engine starts it with pipes on its standard input and output. The engine writes
//! requests, one JSON object per line. The implementation answers each with one JSON object on one line, in UTF-8, ended by
//! `\n` and flushed. Only one request is outstanding at a time. Nothing else may appear on standard output. Standard
//! error is free; its last line is quoted when the process ends unexpectedly. Unknown keys are ignored on both sides.
//!
//! **When its standard input ends, the process ends**, at once and whatever it is doing. This leaves no orphans when
//! the engine is killed.
//!
//! | request | answer |
//! | --- | --- |
//! | `{"ask":"prepare","implementation":"kanal","scenario":{…}}` | `{"answer":"ready"}` |
//! | `{"ask":"prove"}` | `{"answer":"proved"}` |
//! | `{"ask":"window","ramp_nanos":20000000,"nanos":50000000,"slowed_percent":null,"seed":7}` | `{"answer":"sample","value":2.1e6,"operations":105000,"nanos":50004211,"cpu_nanos":98000000,"voluntary_switches":12,"involuntary_switches":3,"latency":null}` |
//! | `{"ask":"peak-memory"}` | `{"answer":"peak-memory","bytes":5304320}` |
//! | `{"ask":"allocations","ramp_nanos":10000000,"nanos":20000000,"seed":7}` | `{"answer":"allocated","operations":42000,"allocations":12,"bytes":640,"peak_live_bytes":512}` or `{"answer":"uncounted"}` |
//!
//! - `prepare` comes first and once. `implementation` is a name of the registry. `scenario` is what the scenario's file
//!   says, and is opaque to the engine.
//! - `prove` runs the workload untimed and verifies count, order and bounds.
//! - `window` works `ramp_nanos` untimed, then counts for `nanos`. With `slowed_percent` it stands still for that share
//!   of the time, on purpose. `seed` is the seed of the workload's random choices. `value` is in the scenario's unit
//!   and positive. `operations` and `nanos` count between the edges. Unknown values are `null`. In open-loop scenarios
//!   `latency` is `{"response":…,"service":…,"generator":…}`: histograms of nanoseconds, hdrhistogram V2
//!   (uncompressed), in standard base64 with padding. `unsustained` (share of the offered rate that was missed) and
//!   `generator_p99_nanos` (the generator's own lateness) may accompany it. `lateness`, `in_flight` and `excess`, of
//!   timers, pipelines and limiters, are as in the window record. So is `warm_up`, for a program that is compiled while
//!   it runs: it warms up in `prove`, until its values have settled. A histogram may also be given as buckets: a list
//!   of pairs of a value and its count, such as `[[1024,7],[2048,1]]`.
//! - `allocations` is sent to a process that receives no request for a timed window. It switches counting on for good,
//!   runs one window like any other, and answers the allocations and the operations between its edges. The answer is
//!   `uncounted` where the program counts no allocations.
//! - Any request may be answered by `{"answer":"error","kind":"count","message":"put 1000, took 999"}`. `kind` is one
//!   of `proof`, `panic`, `count`, `void`, `protocol`; the engine detects `hang` and `crash` by itself. The implementation
//!   then has no further windows in that scenario.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

use super::allocation::Allocated;
use super::{LatencySample, Sample, StageError, WindowSpec};
use flowmeter_records::{FailureKind, Findings, Latency};

/// At most `most` characters of the text, followed by an ellipsis if it is longer.
pub fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

/// A request of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// Prepare this implementation for this scenario.
    Prepare {
        /// Its name.
        implementation: String,
        /// The scenario, opaque to the engine.
        scenario: serde_json::Value,
    },
    /// Run the workload untimed and verify it.
    Prove,
    /// Run one timed window.
    Window {
        /// See [`WindowSpec::ramp_nanos`].
        ramp_nanos: u64,
        /// See [`WindowSpec::nanos`].
        nanos: u64,
        /// See [`WindowSpec::slowed_percent`].
        slowed_percent: Option<u32>,
        /// See [`WindowSpec::seed`].
        seed: u64,
    },
    /// Report the peak memory of the process.
    PeakMemory,
    /// Run one window with allocations counted.
    Allocations {
        /// See [`WindowSpec::ramp_nanos`].
        ramp_nanos: u64,
        /// See [`WindowSpec::nanos`].
        nanos: u64,
        /// See [`WindowSpec::seed`].
        seed: u64,
    },
}

impl From<WindowSpec> for Request {
    fn from(spec: WindowSpec) -> Request {
        Request::Window {
            ramp_nanos: spec.ramp_nanos,
            nanos: spec.nanos,
            slowed_percent: spec.slowed_percent,
            seed: spec.seed,
        }
    }
}

/// An answer of the implementation's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Request::Prepare`].
    Ready,
    /// To [`Request::Prove`].
    Proved,
    /// To [`Request::Window`].
    Sample(Box<WireSample>),
    /// To [`Request::PeakMemory`].
    PeakMemory {
        /// Bytes, where the system reports them.
        bytes: Option<u64>,
    },
    /// To [`Request::Allocations`].
    Allocated {
        /// Operations between the edges.
        operations: u64,
        /// What was allocated between the edges.
        #[serde(flatten)]
        allocated: Allocated,
    },
    /// To [`Request::Allocations`], where the program counts none.
    Uncounted,
    /// To any request.
    Error {
        /// What kind.
        kind: FailureKind,
        /// What was seen, in a sentence.
        message: String,
    },
}

impl From<StageError> for Answer {
    fn from(error: StageError) -> Answer {
        Answer::Error {
            kind: error.kind,
            message: error.message,
        }
    }
}

/// A [`Sample`] in its wire format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireSample {
    /// In the scenario's unit.
    pub value: f64,
    /// Operations between the edges.
    pub operations: u64,
    /// Time between the edges, nanoseconds.
    pub nanos: u64,
    /// CPU time of the process between the edges, nanoseconds.
    #[serde(default)]
    pub cpu_nanos: Option<u64>,
    /// Times a thread gave up its core to wait.
    #[serde(default)]
    pub voluntary_switches: Option<u64>,
    /// Times a thread was pushed off its core.
    #[serde(default)]
    pub involuntary_switches: Option<u64>,
    /// See [`Sample::unsustained`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsustained: Option<f64>,
    /// See [`Sample::generator_p99_nanos`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_p99_nanos: Option<u64>,
    /// Latencies, of open-loop scenarios.
    #[serde(default)]
    pub latency: Option<Latency>,
    /// Further observations of the window.
    #[serde(flatten)]
    pub findings: Findings,
}

impl From<Sample> for WireSample {
    fn from(sample: Sample) -> WireSample {
        WireSample {
            value: sample.value,
            operations: sample.operations,
            nanos: sample.nanos,
            cpu_nanos: sample.cpu_nanos,
            voluntary_switches: sample.voluntary_switches,
            involuntary_switches: sample.involuntary_switches,
            unsustained: sample.unsustained,
            generator_p99_nanos: sample.generator_p99_nanos,
            latency: sample.latency.as_ref().map(encode_latency),
            findings: Findings {
                counters: sample.counters,
                ..sample.findings
            },
        }
    }
}

impl WireSample {
    /// Whether this can be a measurement at all; the error says what is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(self.value.is_finite() && self.value > 0.0) {
            return Err(format!("the value {} is not a positive number", self.value));
        }
        if self.operations == 0 || self.nanos == 0 {
            return Err(format!(
                "{} operations in {} ns are no measurement",
                self.operations, self.nanos
            ));
        }
        if let Some(share) = self.unsustained
            && !(0.0..=1.0).contains(&share)
        {
            return Err(format!("a share of {share} cannot be missed"));
        }
        let latency = self.latency.iter();
        let latency = latency.flat_map(|l| [&l.response, &l.service, &l.generator]);
        let lateness = self.findings.lateness.iter();
        let lateness = lateness.flat_map(|l| std::iter::once(&l.called).chain(&l.claimed));
        for text in latency.chain(lateness) {
            decode_histogram(text)?;
        }
        Ok(())
    }
}

fn encode_latency(latency: &LatencySample) -> Latency {
    Latency {
        response: encode_histogram(&latency.response),
        service: encode_histogram(&latency.service),
        generator: encode_histogram(&latency.generator),
    }
}

/// Encodes a histogram for the wire: hdrhistogram V2 in base64.
pub fn encode_histogram(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram of u64 counts fits V2, and a vector takes any number of bytes");
    STANDARD.encode(bytes)
}

/// Decodes a histogram from the wire.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_histogram(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|e| format!("a histogram is not base64: {e}"))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| format!("a histogram is not hdrhistogram V2: {e:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_table() {
        let spec = WindowSpec {
            ramp_nanos: 1,
            nanos: 2,
            slowed_percent: None,
            seed: 7,
        };
        let lines = [
            serde_json::to_string(&Request::Prove).unwrap(),
            serde_json::to_string(&Request::PeakMemory).unwrap(),
            serde_json::to_string(&Request::from(spec)).unwrap(),
            serde_json::to_string(&Answer::Ready).unwrap(),
            serde_json::to_string(&Answer::from(StageError {
                kind: FailureKind::Count,
                message: "put 2, took 1".to_owned(),
            }))
            .unwrap(),
        ];
        assert_eq!(
            lines,
            [
                r#"{"ask":"prove"}"#,
                r#"{"ask":"peak-memory"}"#,
                r#"{"ask":"window","ramp_nanos":1,"nanos":2,"slowed_percent":null,"seed":7}"#,
                r#"{"answer":"ready"}"#,
                r#"{"answer":"error","kind":"count","message":"put 2, took 1"}"#,
            ]
        );
    }

    #[test]
    fn a_sample_may_leave_out_what_its_system_does_not_know() {
        let line = r#"{"answer":"sample","value":2.5,"operations":5,"nanos":2000000000}"#;
        let Answer::Sample(sample) = serde_json::from_str(line).unwrap() else {
            panic!("a sample");
        };
        assert_eq!(sample.cpu_nanos, None);
        assert_eq!(sample.check(), Ok(()));
    }

    #[test]
    fn a_histogram_survives_the_line() {
        let mut histogram = Histogram::new(3).unwrap();
        for value in [1, 1_000, 1_000_000, 60_000_000_000] {
            histogram.record(value).unwrap();
        }
        assert_eq!(
            decode_histogram(&encode_histogram(&histogram)),
            Ok(histogram)
        );
    }

    #[test]
    fn nonsense_is_no_sample() {
        let good = WireSample {
            value: 1.0,
            operations: 1,
            nanos: 1,
            cpu_nanos: None,
            voluntary_switches: None,
            involuntary_switches: None,
            unsustained: None,
            generator_p99_nanos: None,
            latency: None,
            findings: Findings::default(),
        };
        for bad in [
            WireSample {
                value: 0.0,
                ..good.clone()
            },
            WireSample {
                value: f64::NAN,
                ..good.clone()
            },
            WireSample {
                operations: 0,
                ..good.clone()
            },
            WireSample {
                nanos: 0,
                ..good.clone()
            },
            WireSample {
                latency: Some(Latency {
                    response: "?".to_owned(),
                    service: String::new(),
                    generator: String::new(),
                }),
                ..good.clone()
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
