//! Histograms of a window, allocated and touched before it begins.

use flowmeter_harness::measure::StageError;
use hdrhistogram::Histogram;

use super::ledger::void;

/// The longest latency that a histogram tells apart: a minute; later ones count as that.
const LONGEST: u64 = 60_000_000_000;
/// Decimal digits that a histogram keeps.
const DIGITS: u8 = 3;
/// Latencies, nanoseconds.
pub struct Latencies(pub Histogram<u64>);

impl Latencies {
    /// Allocated and touched.
    ///
    /// # Errors
    /// [`FailureKind::Void`](flowmeter_harness::record::FailureKind::Void) when there is no memory for it.
    pub fn new() -> Result<Self, StageError> {
        let mut histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS)
            .map_err(|why| void(format!("no histogram: {why}")))?;
        // Touches every page of the counts now, a quarter of an octave at a time, so that no page fault of a
        // first record falls into the window.
        let mut nanos = 1;
        while nanos <= LONGEST {
            histogram.saturating_record(nanos);
            nanos += (nanos / 4).max(1);
        }
        histogram.reset();
        Ok(Latencies(histogram))
    }

    /// One more.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos.max(1));
    }

    /// 99th percentile.
    pub fn p99(&self) -> u64 {
        self.0.value_at_quantile(0.99)
    }
}
