//! Workloads of a single thread: what an operation costs when nobody is in the way.
//!
//! Such a workload is a batch of turns, run by the engine between two edges and by criterion over and over;
//! each turn checks its own outcome.

use std::time::{Duration, Instant};

use flowmeter_harness::measure::edges::Edges;
use flowmeter_harness::measure::{Sample, Stage, StageError, WindowSpec};

use super::crew::take_place;

/// Turns of a proof, and of each batch in it: who reads the clock once a batch must not see two seconds go by in one.
const PROOF_TURNS: u64 = 2_000;
const PROOF_BATCH: u64 = 50;

/// A workload of a single thread.
pub trait Solo {
    /// Operations of a turn.
    fn operations(&self) -> u64 {
        1
    }

    /// Does so many turns, checking each.
    ///
    /// # Errors
    /// What came out wrong.
    fn batch(&mut self, turns: u64) -> Result<(), StageError>;

    /// Waits for what others still do for the turns, after a window and not in its time: the next begins with nothing
    /// left over.
    ///
    /// # Errors
    /// When they do not come to an end.
    fn settle(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    /// Checks what single turns cannot show.
    ///
    /// # Errors
    /// What was violated.
    fn prove(&mut self) -> Result<(), StageError> {
        Ok(())
    }
}

/// Times a batch: what criterion's `iter_custom` asks for. The answer is never dynamic inside the batch.
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

/// A workload of a single thread as a stage; its value is nanoseconds an operation.
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
        let sample = edges.sample(&[tally])?;
        Ok(Sample {
            // From a second's operations, which hold the shares of the chunks at the edges.
            value: 1e9 / sample.value,
            ..sample
        })
    }
}
