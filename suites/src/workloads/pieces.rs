//! Windows of whole pieces of work (a storm, a burst, a run), which follow each other until the window's time is used
//! up: one at least.

use flowmeter_harness::measure::reading::Cost;
use flowmeter_harness::measure::{StageError, WindowSpec};
use flowmeter_harness::sync::std::clock;

/// What the pieces of a window came to together.
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
    /// Does pieces, each of which answers how long its timed part took, nanoseconds, and what that cost.
    ///
    /// # Errors
    /// The first that a piece ends with.
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
