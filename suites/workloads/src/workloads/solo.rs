//! Workloads of a single thread: the cost of an operation without contention.
//!
//! Such a workload is a batch of turns, which the engine runs between two edges and criterion runs repeatedly. Each
//! turn checks its own result.

use std::hint::black_box;
use std::time::{Duration, Instant};

use flowmeter_measure::edges::Edges;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};

use super::bare;
use super::crew::take_place;

/// The turns of a proof, and of each batch in it. An implementation that reads the clock once a batch must not see
/// two seconds pass in one.
const PROOF_TURNS: u64 = 2_000;
const PROOF_BATCH: u64 = 50;

/// A workload of a single thread.
pub trait Solo {
    /// Operations of a turn.
    fn operations(&self) -> u64 {
        1
    }

    /// Runs so many turns, checking each.
    ///
    /// # Errors
    /// The wrong result.
    fn batch(&mut self, turns: u64) -> Result<(), StageError>;

    /// Runs so many turns without the implementation.
    fn bare(&mut self, turns: u64);

    /// Waits for what other threads still do for the turns, after a window and outside its time. The next window then
    /// begins without leftovers.
    ///
    /// # Errors
    /// When they do not end.
    fn settle(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    /// Checks what single turns cannot show.
    ///
    /// # Errors
    /// The violation.
    fn prove(&mut self) -> Result<(), StageError> {
        Ok(())
    }
}

/// So many turns that do nothing, for a workload that only calls the implementation.
pub fn nothing(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

/// Times a batch, for criterion's `iter_custom`. There is no dynamic dispatch inside the batch.
///
/// # Errors
/// As [`Solo::batch`].
pub fn time(solo: &mut impl Solo, turns: u64) -> Result<Duration, StageError> {
    let begins = Instant::now();
    solo.batch(turns)?;
    let took = begins.elapsed();
    solo.settle()?;
    Ok(took)
}

/// A workload of a single thread as a stage; its value is nanoseconds per operation.
pub struct Alone<S>(pub S);

impl<S: Solo> Stage for Alone<S> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.0.prove()?;
        let mut left = (PROOF_TURNS / self.0.operations()).max(1);
        while left > 0 {
            let turns = left.min(PROOF_BATCH);
            self.0.batch(turns)?;
            left -= turns;
        }
        Ok(())
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        take_place(0)?;
        let edges = Edges::new(&spec, 1);
        let mut counter = edges.counter();
        edges.begin();
        loop {
            let turns = u64::from(counter.chunk());
            self.0.batch(turns)?;
            if counter.lap(turns * self.0.operations()).is_break() {
                break;
            }
        }
        let tally = counter.finish();
        self.0.settle()?;
        let mut sample = edges.sample(&[tally])?;
        let bare = bare::nanos(self.0.operations(), |turns| self.0.bare(turns));
        sample.findings.bare_nanos = Some(bare);
        Ok(Sample {
            // From the operations per second, which include the partial chunks at the edges.
            value: 1e9 / sample.value,
            ..sample
        })
    }
}
