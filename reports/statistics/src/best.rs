//! Which entries may be the best, by one procedure for the scenario and for the group: multiple comparisons with the
//! best.
//!
//! Every pair of entries has a lead: the mean over forks of the per-fork median of log ratios within rounds, with a t
//! statistic. A pair has its own variance, so a noisy entry widens no interval but its own. An entry stops being a
//! candidate for the best when a candidate is ahead of it: the one-sided t test at 5 % over the number of ordered pairs
//! of the candidates that are left. Far entries leave first, which makes the test of the close ones sharper. Where
//! several entries are equally good, at most one family in twenty loses any of them.
//!
//! An interval is of the ratio to the best, whichever candidate that is. It begins at the lowest end of the 95 % t
//! intervals against each candidate. It ends where the interval against the leading entry ends, since no entry is closer
//! to the best than to another one. That one is corrected for the number of candidates, as the leading entry is one of
//! them by luck. It ends at 1 for a candidate.
//!
//! Source: Hsu, *Simultaneous confidence intervals for all distances from the "best"* (1981); Holm, *A simple sequentially
//! rejective multiple test procedure* (1979). The lab page `statistics-simulated` compares it with three others.

use std::cmp::Ordering;

use super::RELEVANT;
use super::forks::{CONFIDENCE, Statistic};

/// Fewer forks do not show how forks vary.
pub const LEAST_FORKS: usize = 3;

/// Accepted probability that a family loses an entry that is as good as the best.
const ERROR: f64 = 0.05;

/// How far one entry is ahead of another, as a logarithm.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// The estimate.
    pub log: f64,
    /// What its interval is made of; `None` of a single round.
    shown: Option<Statistic>,
    /// What a test is made of; `None` where the forks cannot tell.
    statistic: Option<Statistic>,
}

impl Lead {
    /// From one value a fork. With a single fork the interval is of its rounds: it says how far one process wandered.
    /// Fewer than [`LEAST_FORKS`] are not tested.
    pub fn of(forks: &[f64], rounds: &[f64]) -> Option<Lead> {
        let statistic = Statistic::of(&[forks.to_vec()]);
        (!forks.is_empty()).then(|| Lead {
            log: forks.iter().sum::<f64>() / forks.len() as f64,
            shown: statistic.or_else(|| Statistic::of(&[rounds.to_vec()])),
            statistic: statistic.filter(|_| forks.len() >= LEAST_FORKS),
        })
    }

    /// Whether there are forks enough for a test.
    pub fn is_tested(self) -> bool {
        self.statistic.is_some()
    }

    /// From the statistic of several scenarios.
    pub fn of_statistic(statistic: Statistic) -> Lead {
        Lead {
            log: statistic.sum,
            shown: Some(statistic),
            statistic: Some(statistic),
        }
    }

    fn reversed(self) -> Lead {
        Lead {
            log: -self.log,
            shown: self.shown.map(Statistic::negated),
            statistic: self.statistic.map(Statistic::negated),
        }
    }

    /// The ends of an interval, as logarithms.
    fn ends(self, confidence: f64) -> (f64, f64) {
        let shown = self.shown.map(|it| it.interval(confidence));
        let (lo, hi) = shown.unwrap_or((self.log, self.log));
        (lo.min(self.log), hi.max(self.log))
    }

    /// Its interval, as ratios.
    pub fn interval(self) -> (f64, f64) {
        let (lo, hi) = self.ends(CONFIDENCE);
        (bounded(lo), bounded(hi))
    }

    /// Two-sided p-value of "no difference"; 1 where the forks cannot tell.
    pub fn p(self) -> f64 {
        self.statistic.map_or(1.0, |statistic| statistic.p(1.0))
    }
}

/// The ratio of a logarithm, finite however wide an interval of two forks is.
fn bounded(log: f64) -> f64 {
    log.clamp(-600.0, 600.0).exp()
}

/// Entries that compete, with their leads over each other.
pub struct Contest {
    leads: Vec<Vec<Option<Lead>>>,
    /// Whether each entry may be the best.
    candidates: Vec<bool>,
    /// The corrected p-value of "it is as good as the best".
    p: Vec<f64>,
}

/// An entry against the best of its contest, as ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The lead over the entry that is estimated to be the best, at most 1 for an entry of the contest.
    pub ratio: f64,
    /// Lower end of the interval of the ratio to the best.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

/// The verdict about an entry of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Every other one is slower.
    Best,
    /// It is not the best, and behind by the margin or more.
    Slower,
    /// It is within the margin of the best.
    Level,
    /// None of these is shown.
    Undecided,
}

impl Contest {
    /// A contest of so many entries. `lead` is of the first over the second, `None` if they never met. One that does not
    /// conclude leaves all undecided, and takes its leader for the best.
    pub fn new(
        entries: usize,
        concludes: bool,
        lead: impl Fn(usize, usize) -> Option<Lead>,
    ) -> Contest {
        let lower = |i: usize| (0..i).map(|j| lead(i, j)).collect();
        let once: Vec<Vec<Option<Lead>>> = (0..entries).map(lower).collect();
        let of = |i: usize, j: usize| match i.cmp(&j) {
            Ordering::Greater => once[i][j],
            Ordering::Equal => None,
            Ordering::Less => once[j][i].map(Lead::reversed),
        };
        let row = |i: usize| (0..entries).map(|j| of(i, j)).collect();
        let leads: Vec<Vec<Option<Lead>>> = (0..entries).map(row).collect();
        let mut contest = Contest {
            leads,
            candidates: vec![true; entries],
            p: vec![1.0; entries],
        };
        match concludes {
            true => contest.eliminate(),
            false => {
                let leader = contest.leader();
                let candidates = contest.candidates.iter_mut().enumerate();
                candidates.for_each(|(i, is_candidate)| *is_candidate = Some(i) == leader);
            }
        }
        contest
    }

    /// The entry that no other is ahead of. In a cycle it is the one that is behind by least.
    pub fn leader(&self) -> Option<usize> {
        // One that never met another is no leader.
        let worst = |i: usize| {
            let leads = self.leads[i].iter().flatten();
            let least = leads.map(|lead| lead.log).reduce(f64::min);
            least.unwrap_or(f64::NEG_INFINITY)
        };
        // The first of equal ones.
        (0..self.leads.len())
            .rev()
            .max_by(|&a, &b| worst(a).total_cmp(&worst(b)))
    }

    /// Removes candidates until no test tells another one apart.
    fn eliminate(&mut self) {
        let leader = self.leader();
        let mut most: f64 = 0.0;
        loop {
            let left: Vec<usize> = self.candidates().collect();
            let pairs = (left.len() * left.len().saturating_sub(1)) as f64;
            let mut is_over = true;
            for &j in left.iter().filter(|&&j| Some(j) != leader) {
                let ahead = left.iter().filter_map(|&i| self.leads[i][j]?.statistic);
                let least = ahead.map(Statistic::p_not_above).fold(1.0, f64::min);
                self.p[j] = (least * pairs).clamp(most, 1.0);
                if self.p[j] <= ERROR {
                    self.candidates[j] = false;
                    is_over = false;
                }
            }
            if is_over {
                return;
            }
            let removed = left.iter().filter(|&&j| !self.candidates[j]);
            most = removed.map(|&j| self.p[j]).fold(most, f64::max);
        }
    }

    fn candidates(&self) -> impl Iterator<Item = usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, is_candidate)| **is_candidate)
            .map(|(i, _)| i)
    }

    /// The corrected p-value of "this entry is as good as the best".
    pub fn p(&self, entry: usize) -> f64 {
        self.p[entry]
    }

    /// An entry against the best; `None` if it never met the leader.
    pub fn distance(&self, entry: usize) -> Option<Distance> {
        let leader = self.leader()?;
        let log = match entry == leader {
            true => 0.0,
            false => self.leads[entry][leader]?.log.min(0.0),
        };
        let others = self.candidates().filter(|&other| other != entry);
        let lo = lowest(others.filter_map(|other| self.leads[entry][other]), log);
        let hi = self.leads[entry][leader].map_or(0.0, |lead| self.highest(lead));
        let hi = if self.candidates[entry] { 0.0 } else { hi };
        Some(Distance {
            ratio: log.exp(),
            lo: bounded(lo.min(0.0)),
            hi: bounded(hi.clamp(log, 0.0)),
        })
    }

    /// The upper end of a lead over the leading entry.
    fn highest(&self, over_leader: Lead) -> f64 {
        let candidates = self.candidates().count() as f64;
        over_leader.ends(1.0 - (1.0 - CONFIDENCE) / candidates).1
    }

    /// What does not compete, against the best. `lead` is its lead over an entry of the contest.
    pub fn beside(&self, lead: impl Fn(usize) -> Option<Lead>) -> Option<Distance> {
        let over_leader = lead(self.leader()?)?;
        let log = over_leader.log;
        Some(Distance {
            ratio: log.exp(),
            lo: bounded(lowest(self.candidates().filter_map(lead), log)),
            hi: bounded(self.highest(over_leader)),
        })
    }

    fn is_tested(&self, entry: usize, other: usize) -> bool {
        self.leads[entry][other].is_some_and(Lead::is_tested)
    }

    /// Whether it was tested against every other one that may be the best.
    fn is_tested_by_all(&self, entry: usize) -> bool {
        let mut others = self.candidates().filter(|&other| other != entry);
        others.all(|other| self.is_tested(entry, other))
    }

    /// The verdicts, by entry. None is the best, slower or level unless the contest concludes.
    pub fn places(&self, concludes: bool) -> Vec<Place> {
        let entries = 0..self.leads.len();
        if !concludes {
            return entries.map(|_| Place::Undecided).collect();
        }
        let mut places: Vec<Place> = entries
            .map(|entry| match self.distance(entry) {
                Some(d) if !self.candidates[entry] && d.hi < 1.0 && d.ratio <= 1.0 - RELEVANT => {
                    match self
                        .leader()
                        .is_some_and(|leader| self.is_tested(entry, leader))
                    {
                        true => Place::Slower,
                        false => Place::Undecided,
                    }
                }
                Some(d) if d.lo >= 1.0 - RELEVANT && self.is_tested_by_all(entry) => Place::Level,
                _ => Place::Undecided,
            })
            .collect();
        // A leader is level with another one, or best, or not decided.
        if let Some(leader) = self.leader() {
            let others = || (places.iter().enumerate()).filter(|(entry, _)| *entry != leader);
            let is_best = others().all(|(_, place)| *place == Place::Slower);
            let has_equal = others().any(|(_, place)| *place == Place::Level);
            places[leader] = match places[leader] {
                _ if is_best => Place::Best,
                Place::Level if has_equal => Place::Level,
                _ => Place::Undecided,
            };
        }
        places
    }
}

/// The lowest end of these intervals, at most the estimate.
fn lowest(leads: impl Iterator<Item = Lead>, log: f64) -> f64 {
    leads
        .map(|lead| lead.ends(CONFIDENCE).0)
        .fold(log, f64::min)
}

#[cfg(test)]
mod tests;
