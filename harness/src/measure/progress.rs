//! What a run tells while it goes on.

use std::time::Duration;

use crate::record::{Failure, Noise, Window};

/// Something happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A scenario begins.
    Scenario {
        /// Its name.
        name: &'a str,
        /// Which, from 0.
        index: usize,
        /// How many there are.
        of: usize,
        /// Length of its windows.
        window: Duration,
    },
    /// A generation of processes begins.
    Fork {
        /// Its scenario.
        scenario: &'a str,
        /// Which, from 0.
        fork: u32,
    },
    /// A contestant has proved itself and will be timed.
    Proved {
        /// Its scenario.
        scenario: &'a str,
        /// Who.
        implementation: &'a str,
    },
    /// A round begins.
    Round {
        /// Its scenario.
        scenario: &'a str,
        /// Which, from 0, through all forks.
        round: u32,
        /// How many there will be.
        of: u32,
    },
    /// A window was timed.
    Window {
        /// As it stands in the records.
        window: &'a Window,
        /// How far the run is.
        standing: Standing,
    },
    /// A cell has no number.
    Failure {
        /// As it stands in the records.
        failure: &'a Failure,
        /// How far the run is.
        standing: Standing,
    },
    /// A contestant's allocations could not be counted; its number stands.
    Uncounted {
        /// Its scenario.
        scenario: &'a str,
        /// Who.
        implementation: &'a str,
        /// Why, in a sentence.
        why: &'a str,
    },
    /// The machine's noise was looked at.
    Noise(&'a Noise),
    /// A scenario was dropped, since the budget does not reach ([`RULE`](super::budget::RULE)).
    Dropped {
        /// Its name.
        scenario: &'a str,
    },
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Windows timed, those of an earlier part of a resumed run included.
    pub done: u64,
    /// Windows still to come, as it looks now: a contestant that fails has none.
    pub to_come: u64,
    /// How long they will take, from what was seen so far.
    pub time_left: Duration,
}

/// Who is told.
pub trait Progress {
    /// Something happened. No window is under way meanwhile, so this may draw.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Progress for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}
