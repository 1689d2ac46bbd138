//! The pass that counts allocations. After a scenario has been timed, each of its implementations runs one short window
//! in a process of its own, in which counting is on and nothing is timed.
//!
//! A failure in this pass leaves the implementation's timed results in place: its allocations are missing, and the
//! progress says so.

use std::time::Instant;

use super::error::MeasureError;
use super::order::round_seed;
use super::parent::Parent;
use super::plan::{Entry, EntryKey, PlannedScenario};
use super::process::Process;
use super::progress::Event;
use super::protocol::Request;
use flowmeter_records::{Allocation, Record};

impl<'a> Parent<'a> {
    /// The entries of the scenario with allocations still to be counted: all with timed results, except placebos,
    /// slowed copies and base builds.
    pub(super) fn uncounted<'c>(
        &self,
        planned: &'c PlannedScenario,
        is_excluded: impl Fn(&EntryKey) -> bool,
    ) -> Vec<&'c Entry> {
        if self.plan.allocation_window.is_none() {
            return Vec::new();
        }
        let counted = self.standpoint(planned).counted;
        let entries = planned.entries.iter();
        entries
            .filter(|e| !e.placebo && e.slowed_percent.is_none() && e.build.is_none())
            .filter(|e| e.kept_out.is_none())
            .filter(|e| !is_excluded(&e.key()) && !counted.contains(&e.implementation))
            .collect()
    }

    /// Counts what these entries allocate.
    pub(super) fn count_allocations(
        &mut self,
        planned: &PlannedScenario,
        entries: &[&Entry],
    ) -> Result<(), MeasureError> {
        let window = self.plan.allocation_window.filter(|_| !entries.is_empty());
        let Some(window) = window else {
            return Ok(());
        };
        let scenario = planned.scenario.name.as_str();
        let request = Request::Allocations {
            ramp_nanos: super::course::nanos(self.plan.ramp),
            nanos: super::course::nanos(window),
            seed: round_seed(self.plan.run.seed, scenario, 0),
        };
        let limit = self.plan.ramp + window + self.plan.window_limit;
        let began = Instant::now();
        // All processes are started before waiting for the first, and all are ready before the first one works.
        let started: Vec<_> = entries
            .iter()
            .map(|entry| self.start(planned, entry, 0))
            .collect();
        let ready: Vec<_> = started
            .into_iter()
            .map(|started| {
                let mut process: Process = started?;
                process.ready(self.plan.prove_limit)?;
                Ok(process)
            })
            .collect();
        for (entry, ready) in entries.iter().zip(ready) {
            let implementation = entry.implementation.as_str();
            let counted = ready.and_then(|mut process| process.allocations(&request, limit));
            match counted {
                Ok(None) => {}
                Ok(Some((operations, allocated))) => {
                    self.book.append(&Record::Allocation(Allocation {
                        scenario: scenario.to_owned(),
                        implementation: implementation.to_owned(),
                        operations,
                        allocations: allocated.allocations,
                        bytes: allocated.bytes,
                        peak_live_bytes: allocated.peak_live_bytes,
                    }))?;
                }
                Err(error) => self.progress.event(&Event::Uncounted {
                    scenario,
                    implementation,
                    why: &error.message,
                }),
            }
        }
        let at = self.before.scenarios.entry(planned.scenario.name.clone());
        let counted = entries.iter().map(|entry| entry.implementation.clone());
        at.or_default().counted.extend(counted);
        self.pace.processes_took(began.elapsed(), entries.len());
        Ok(())
    }
}
