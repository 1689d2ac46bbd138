//! Windows of whole pieces of work (a storm, a burst, a run). Pieces follow each other until the time of the window
//! is used up; there is at least one.

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{StageError, WindowSpec};

/// The total of a window's pieces.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    /// How many.
    pub count: u64,
    /// Time of their timed parts, nanoseconds.
    pub nanos: u64,
    /// What those parts cost.
    pub cost: Cost,
}

impl Pieces {
    /// Runs pieces. Each returns how long its timed part took, in nanoseconds, and the cost.
    ///
    /// # Errors
    /// The first error of a piece.
    pub fn of(
        spec: &WindowSpec,
        mut piece: impl FnMut() -> Result<(u64, Cost), StageError>,
    ) -> Result<Pieces, StageError> {
        let end = clock::now_nanos() + spec.nanos;
        let (nanos, cost) = piece()?;
        let mut all = Pieces {
            count: 1,
            nanos,
            cost,
        };
        while clock::now_nanos() < end {
            let (nanos, cost) = piece()?;
            all.count += 1;
            all.nanos += nanos;
            all.cost = all.cost.plus(cost);
        }
        Ok(all)
    }
}
