//! The terms of scenario files: numbers within bounds, buffers, messages, forms.
//!
//! Each refuses senseless values while the file is read, so that no workload gets one.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::Buffer;
use serde::{Deserialize, Serialize};

/// A whole number between two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "u64")]
pub struct Within<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Within<MIN, MAX> {
    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// A number that is known to be within the bounds.
    ///
    /// # Panics
    /// When it is not.
    pub const fn known(number: u64) -> Self {
        assert!(MIN <= number && number <= MAX);
        Within(number)
    }

    /// The number, as a count of objects in memory.
    pub const fn count(self) -> usize {
        self.0 as usize
    }
}

/// The smallest number.
impl<const MIN: u64, const MAX: u64> Default for Within<MIN, MAX> {
    fn default() -> Self {
        Within(MIN)
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<i64> for Within<MIN, MAX> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match u64::try_from(number) {
            Ok(n) if (MIN..=MAX).contains(&n) => Ok(Within(n)),
            _ => Err(format!(
                "expected a number from {MIN} to {MAX}, not {number}"
            )),
        }
    }
}

impl<const MIN: u64, const MAX: u64> From<Within<MIN, MAX>> for u64 {
    fn from(number: Within<MIN, MAX>) -> u64 {
        number.0
    }
}

/// Producing or consuming threads or tasks. A file may also say `"cores"`, as many as this machine runs in parallel, or
/// `"half-cores"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "NumberOrWord")]
pub struct Threads(Within<1, 1024>);

impl Threads {
    /// A single one.
    pub const ONE: Threads = Threads(Within(1));

    /// The number.
    pub const fn count(self) -> usize {
        self.0.count()
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The number, which is never zero.
    pub fn non_zero(self) -> NonZeroUsize {
        NonZeroUsize::new(self.count()).unwrap_or(NonZeroUsize::MIN)
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, \"cores\" or \"half-cores\"")]
enum NumberOrWord {
    Number(i64),
    Word(String),
}

impl TryFrom<NumberOrWord> for Threads {
    type Error = String;

    fn try_from(term: NumberOrWord) -> Result<Self, String> {
        let cores = cores().get().min(1024) as i64;
        let number = match term {
            NumberOrWord::Number(number) => number,
            NumberOrWord::Word(word) => match &*word {
                "cores" => cores,
                "half-cores" => (cores / 2).max(1),
                _ => {
                    return Err(format!(
                        r#"expected a number, "cores" or "half-cores", not "{word}""#
                    ));
                }
            },
        };
        Within::try_from(number).map(Threads)
    }
}

/// Room for that many values.
pub type Capacity = Within<1, 1_048_576>;

impl Capacity {
    /// As a buffer.
    pub const fn buffer(self) -> Buffer {
        Buffer::fixed(self.count())
    }
}

/// Messages per second.
pub type Rate = Within<1, 10_000_000>;

/// What an open loop offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "NumberOrPercent", into = "NumberOrPercent")]
pub enum Load {
    /// So many messages a second.
    Rate(Rate),
    /// `{ percent = 50 }`: of what each implementation itself can take.
    OfCapacity(Within<1, 100>),
}

/// As scenario files and records have it.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a number or { percent = 50 }"
)]
enum NumberOrPercent {
    Number(i64),
    Share { percent: i64 },
}

impl TryFrom<NumberOrPercent> for Load {
    type Error = String;

    fn try_from(term: NumberOrPercent) -> Result<Self, String> {
        match term {
            NumberOrPercent::Number(number) => Within::try_from(number).map(Load::Rate),
            NumberOrPercent::Share { percent } => Within::try_from(percent).map(Load::OfCapacity),
        }
    }
}

impl From<Load> for NumberOrPercent {
    fn from(load: Load) -> NumberOrPercent {
        match load {
            Load::Rate(rate) => NumberOrPercent::Number(rate.get() as i64),
            Load::OfCapacity(share) => NumberOrPercent::Share {
                percent: share.get() as i64,
            },
        }
    }
}

/// A buffer that keeps all values: dropped ones would be missing in the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Room {
    /// No buffer.
    Rendezvous,
    /// No bound.
    Unbounded,
    /// `{ fixed = 64 }`
    Fixed(Capacity),
}

impl Room {
    /// As a buffer.
    pub const fn buffer(self) -> Buffer {
        match self {
            Room::Rendezvous => Buffer::Rendezvous,
            Room::Unbounded => Buffer::Unbounded,
            Room::Fixed(capacity) => capacity.buffer(),
        }
    }

    /// Values that fit; `None` without a bound.
    pub const fn capacity(self) -> Option<usize> {
        match self {
            Room::Rendezvous => Some(0),
            Room::Unbounded => None,
            Room::Fixed(capacity) => Some(capacity.count()),
        }
    }
}

/// The type of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageKind {
    /// One word.
    #[default]
    #[serde(rename = "8B")]
    Word,
    /// A cache line.
    #[serde(rename = "64B")]
    Line,
    /// Eight cache lines.
    #[serde(rename = "512B")]
    Lines,
    /// Eight pages.
    #[serde(rename = "32KiB")]
    Pages,
    /// A word on the heap, allocated by the producer and freed by the consumer.
    Box,
    /// A word for which each side works some 100 ns: 75 steps, each of which needs the one before.
    #[serde(rename = "8B+100ns")]
    Worked,
    /// The same of some microsecond: 750 steps.
    #[serde(rename = "8B+1us")]
    LongWorked,
}

impl MessageKind {
    /// Bytes that move through the channel.
    pub const fn bytes(self) -> usize {
        match self {
            MessageKind::Word | MessageKind::Box => 8,
            MessageKind::Worked | MessageKind::LongWorked => 8,
            MessageKind::Line => 64,
            MessageKind::Lines => 512,
            MessageKind::Pages => 32 * 1024,
        }
    }
}

/// How operations wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// By blocking their thread.
    Blocking,
    /// As futures, in tasks of an executor.
    Async,
    /// Threads put and tasks take.
    Mixed,
    /// By a callback on the completing thread.
    Callback,
    /// They do not wait; no scenario file has it.
    #[serde(skip)]
    Never,
}

impl Form {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Blocking => "blocking",
            Form::Async => "async",
            Form::Mixed => "mixed",
            Form::Callback => "callback",
            Form::Never => "never",
        }
    }
}

/// How many threads the machine runs in parallel.
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
