//! The schedulers of shuttle's executions: shuttle's own, and those that look at the accesses that tasks announce.

mod feedback;
mod paced;
mod pct;
mod pos;
mod reads;
mod surw;
mod turns;

use ::shuttle::scheduler::{RandomScheduler, Scheduler, UrwRandomScheduler};

use super::super::{Scheduling, scale, split_mix};
use feedback::Feedback;
pub(super) use paced::Paced;
use pct::Pct;
use pos::Pos;
use surw::Surw;
use turns::Turns;

/// A scheduler for so many executions.
pub(super) fn new(scheduling: Scheduling, seed: u64, executions: usize) -> Box<dyn Scheduler> {
    match scheduling {
        Scheduling::Turns => {
            let all = Scheduling::TURNS.map(|one| new(one, seed, executions));
            Box::new(Turns::new(all.into(), executions))
        }
        Scheduling::Random => Box::new(RandomScheduler::new_from_seed(seed, executions)),
        Scheduling::Urw => Box::new(UrwRandomScheduler::new_from_seed(seed, executions)),
        Scheduling::Pct2 => Box::new(Pct::new(seed, 2, executions)),
        Scheduling::Pct3 => Box::new(Pct::new(seed, 3, executions)),
        Scheduling::Pos => Box::new(Pos::new(seed, executions)),
        Scheduling::Surw => Box::new(Surw::new(seed, executions)),
        Scheduling::Feedback => Box::new(Feedback::new(seed, executions)),
    }
}

/// A sequence of random numbers.
#[derive(Debug)]
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw(split_mix(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        split_mix(self.0)
    }

    /// One of `0..n`.
    fn below(&mut self, n: usize) -> usize {
        scale(self.next(), n)
    }

    /// A place in the list, in proportion to its weight; `None` if all weights are 0.
    fn weighted(&mut self, weights: &[u64]) -> Option<usize> {
        let sum: u64 = weights.iter().sum();
        if sum == 0 {
            return None;
        }
        let mut left = self.below(usize::try_from(sum).unwrap_or(usize::MAX)) as u64;
        weights.iter().position(|weight| match left < *weight {
            true => true,
            false => {
                left -= weight;
                false
            }
        })
    }
}
