//! Histograms of a window, allocated and touched before the window begins.

use flowmeter_measure::StageError;
use hdrhistogram::Histogram;

use super::ledger::void;

/// The longest latency that a histogram distinguishes: a minute. Longer ones count as a minute.
const LONGEST: u64 = 60_000_000_000;
/// Decimal digits that a histogram keeps.
const DIGITS: u8 = 3;
/// Latencies, nanoseconds.
pub struct Latencies(pub Histogram<u64>);

impl Latencies {
    /// An allocated and touched histogram.
    ///
    /// # Errors
    /// [`FailureKind::Void`](flowmeter_records::FailureKind::Void) when there is no memory for it.
    pub fn new() -> Result<Self, StageError> {
        let mut histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS)
            .map_err(|why| void(format!("no histogram: {why}")))?;
        // Touches every page of the counts now, a quarter of an octave at a time. No page fault of a first record
        // then falls into the window.
        let mut nanos = 1;
        while nanos <= LONGEST {
            histogram.saturating_record(nanos);
            nanos += (nanos / 4).max(1);
        }
        histogram.reset();
        Ok(Latencies(histogram))
    }

    /// Records one more.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos.max(1));
    }

    /// 99th percentile.
    pub fn p99(&self) -> u64 {
        self.0.value_at_quantile(0.99)
    }
}
