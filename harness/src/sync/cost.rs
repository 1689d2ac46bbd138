//! Modelled cost: what one execution under a fixed schedule does to the memory that its tasks share, and how often it
//! allocates.
//!
//! The schedule and the counts depend on the code alone. So they are the same on every machine and in every build, where
//! a measured time is not. `docs/cost.md` says what they leave out.

pub mod allocations;
#[cfg(feature = "shuttle")]
mod keeping;

#[cfg(feature = "shuttle")]
pub use keeping::Keeping;

/// A fixed schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Pace {
    /// A task runs until it waits, yields or ends. Then the next one runs.
    Bursts,
    /// A task makes one access to what tasks share. Then the next one runs.
    Steps,
}

impl Pace {
    /// Both.
    pub const ALL: [Pace; 2] = [Pace::Bursts, Pace::Steps];

    /// The name, as in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Pace::Bursts => "bursts",
            Pace::Steps => "steps",
        }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counts {
    /// Read-modify-writes of atomics, of the tokens of parked threads and of condition variables, also exchanges that
    /// fail.
    pub read_modify_writes: u64,
    /// Acquisitions of locks, and tries.
    pub locks: u64,
    /// Waits that another task ended: by an unpark, a notification or a waker.
    pub wakes: u64,
    /// Accesses to an atomic, a lock, a token or a condition variable that the task had no valid copy of, because
    /// another task had written it, or had read it before this write.
    pub moves: u64,
    /// Allocations on the heap, and reallocations, that the implementation made. `None` where the program's allocator
    /// is not `Keeping`, and in records of earlier builds.
    #[cfg_attr(feature = "serde", serde(default))]
    pub allocations: Option<u64>,
    /// Reads of atomics.
    pub loads: u64,
    /// Writes of atomics.
    pub stores: u64,
}

impl Counts {
    /// What was counted beyond `earlier`, which counted a shorter execution. `None` if that counted more of anything.
    pub fn since(self, earlier: Counts) -> Option<Counts> {
        Some(Counts {
            read_modify_writes: self
                .read_modify_writes
                .checked_sub(earlier.read_modify_writes)?,
            locks: self.locks.checked_sub(earlier.locks)?,
            wakes: self.wakes.checked_sub(earlier.wakes)?,
            moves: self.moves.checked_sub(earlier.moves)?,
            allocations: match self.allocations.zip(earlier.allocations) {
                Some((longer, shorter)) => Some(longer.checked_sub(shorter)?),
                None => None,
            },
            loads: self.loads.checked_sub(earlier.loads)?,
            stores: self.stores.checked_sub(earlier.stores)?,
        })
    }

    /// Name and number of each, in the order of tables; `None` where it was not counted.
    pub const fn each(self) -> [(&'static str, Option<u64>); 7] {
        [
            ("rmw", Some(self.read_modify_writes)),
            ("lock", Some(self.locks)),
            ("wake", Some(self.wakes)),
            ("move", Some(self.moves)),
            ("alloc", self.allocations),
            ("load", Some(self.loads)),
            ("store", Some(self.stores)),
        ]
    }
}
