//! Tasks: items with durations, up to the last one.
//!
//! The value is the makespan over the ideal. The ideal has as many servers as the pipeline claims to keep busy (n,
//! and n + 2 for core.async's). Each server takes the next item in input order as soon as it is free. So having more
//! items in flight than requested is no advantage. The number in flight is recorded too; more than claimed is a
//! failure. Runs over the same items follow each other until the time of the window is used up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::channel::{Async, Buffer, TakeError};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::Sleep;
use flowmeter_measure::reading::{Cost, Reading};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Findings, InFlight, Measure};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::course::Course;
use crate::scenario::{Facts, Form, Threads, Within, cores};
use crate::workloads::crew::{self, Done, Tasks};
use crate::workloads::ledger::{disproved, miscounted, void};
use crate::workloads::pieces::Pieces;
use crate::workloads::{open, refused};

/// How long items take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durations {
    /// Between half the mean and half as much again.
    Uniform,
    /// Exponentially distributed: many short ones, a few long ones.
    Exponential,
    /// The first takes 50 times the mean, all others the mean.
    SlowHead,
}

/// The parallelism, and the durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Items in work at a time.
    pub parallelism: Threads,
    /// How their durations are distributed.
    pub durations: Durations,
    /// Mean duration of an item.
    pub mean_micros: Within<100, 1_000_000>,
    /// Items of a run.
    pub items: Within<1, 1_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let durations = serde_json::to_value(self.durations).unwrap_or_default();
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "x ideal",
            axes: Axes {
                family: format!("pipeline-tasks/{}", durations.as_str().unwrap_or_default()),
                parallelism: Some(self.parallelism.count()),
                ..Axes::default()
            },
        }
    }

    /// Durations of the items of a run, nanoseconds.
    fn draw(&self, seed: u64) -> Vec<u64> {
        let mean = self.mean_micros.get() * 1_000;
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let one = |index| match self.durations {
            Durations::Uniform => random.random_range(mean / 2..=mean * 3 / 2),
            Durations::Exponential => {
                let uniform: f64 = random.random_range(f64::EPSILON..1.0);
                (-uniform.ln() * mean as f64) as u64
            }
            Durations::SlowHead if index == 0 => 50 * mean,
            Durations::SlowHead => mean,
        };
        (0..self.items.get()).map(one).collect()
    }
}

/// When the last of these is done, where each of `servers` takes the next one as soon as it is free.
fn ideal(durations: &[u64], servers: usize) -> u64 {
    let mut free: BinaryHeap<Reverse<u64>> = (0..servers).map(|_| Reverse(0)).collect();
    let mut last = 0;
    for duration in durations {
        let Some(Reverse(begins)) = free.pop() else {
            break;
        };
        last = last.max(begins + duration);
        free.push(Reverse(begins + duration));
    }
    last
}

enum Report {
    Fed,
    /// Items in order of arrival, and when the last one arrived.
    Taken(Vec<u64>, u64),
    Piped,
}

struct TaskStage<P, C, E, S> {
    params: Params,
    /// The tasks in flight that it claims beyond the requested number.
    over_n: usize,
    over: PhantomData<fn(P, C, E, S)>,
}

impl<C, E, P, S> TaskStage<P, C, E, S>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E> + Default,
    S: Sleep,
{
    /// One run: makespan and ideal in nanoseconds, the cost, and the tasks in flight.
    fn run(&self, seed: u64) -> Result<(u64, u64, Cost, Option<InFlight>), StageError> {
        let n = self.params.parallelism.non_zero();
        let durations: Arc<[u64]> = self.params.draw(seed).into();
        let items = durations.len() as u64;
        let course = Arc::new(Course::with_room(durations.len()));
        let executor: E = crew::executor(cores())?;
        let (mut feed, from) = open::<C, u64>(Buffer::Fixed(n))?;
        let (to, mut results) = open::<C, u64>(Buffer::Fixed(n))?;

        let first = Reading::first(clock::now_nanos());
        let mut crew = Tasks::on(&executor, 3, None);
        crew.spawn(async move {
            for item in 0..items {
                let put = C::put_async(&mut feed, item).await;
                put.map_err(|_| refused("a put on an open channel"))?;
            }
            C::close(&feed);
            drop(feed);
            Ok(Done::keeping((), Report::Fed))
        });
        crew.spawn(async move {
            let mut taken = Vec::with_capacity(items as usize);
            loop {
                match C::take_async(&mut results).await {
                    Ok(item) => taken.push(item),
                    Err(TakeError::Closed) => break,
                    Err(TakeError::TooManyWaiters) => return Err(refused("a single taker")),
                }
            }
            let ended = clock::now_nanos();
            Ok(Done::keeping(results, Report::Taken(taken, ended)))
        });
        let (spawner, work, watch) = (executor.spawner(), durations.clone(), course.clone());
        crew.spawn(async move {
            // Inside the executor, which may own the timer.
            let sleep = Arc::new(S::start());
            let af = move |item: u64, mut port: ResultPort<C, u64, P::Permit>| {
                watch.begin();
                let (sleep, watch) = (sleep.clone(), watch.clone());
                let takes = Duration::from_nanos(work[item as usize]);
                async move {
                    sleep.sleep_until(clock::after(takes)).await;
                    // Refused once the pipeline is gone; the books then show it.
                    let _ = port.put(item).await;
                    watch.end();
                }
            };
            P::default()
                .start(spawner, n, from, to, af, AtEnd::Close)
                .await;
            Ok(Done::keeping((), Report::Piped))
        });
        let taken = crew.join()?.into_iter().find_map(|report| match report {
            Report::Taken(items, ended) => Some((items, ended)),
            Report::Fed | Report::Piped => None,
        });
        let (taken, ended) = taken.ok_or_else(|| void("no result was taken"))?;
        let last = Reading::last(clock::now_nanos());
        every_item_once::<C, E, P>(taken, items)?;
        let makespan = ended.saturating_sub(first.nanos);
        let claimed = n.get() + self.over_n;
        let in_flight = course.in_flight(n.get() as u64);
        if let Some(seen) = in_flight.as_ref().filter(|seen| seen.peak > claimed as u64) {
            let peak = seen.peak;
            return Err(disproved(format!(
                "{peak} tasks were in flight, and {claimed} is what it keeps to"
            )));
        }
        let ideal = ideal(&durations, claimed).max(1);
        let cost = last.since(&first, last.nanos - first.nanos);
        Ok((makespan, ideal, cost, in_flight))
    }
}

fn every_item_once<C, E, P>(mut taken: Vec<u64>, items: u64) -> Result<(), StageError>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E>,
{
    if P::ORDERED && !taken.is_sorted() {
        return Err(disproved("results left in another order than their inputs"));
    }
    let came = taken.len();
    taken.sort_unstable();
    if taken.into_iter().ne(0..items) {
        return Err(miscounted(format!(
            "{items} items went in and {came} results came out, not each once"
        )));
    }
    Ok(())
}

impl<C, E, P, S> Stage for TaskStage<P, C, E, S>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E> + Default,
    S: Sleep,
{
    fn prove(&mut self) -> Result<(), StageError> {
        self.run(1).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let (mut ideally, mut seen) = (0, None);
        let runs = Pieces::of(&spec, || {
            let (makespan, ideal, cost, in_flight) = self.run(spec.seed)?;
            ideally += ideal;
            // The first run's timeline is shown; all are judged.
            seen = seen.take().or(in_flight);
            Ok((makespan, cost))
        })?;
        let value = runs.nanos as f64 / ideally as f64;
        let items = runs.count * self.params.items.get();
        Ok(Sample {
            findings: Findings {
                in_flight: seen,
                ..Findings::default()
            },
            ..Sample::new(value, items, runs.nanos, runs.cost)
        })
    }
}

/// A stage of a pipeline that claims `over_n` tasks in flight beyond the requested number.
pub fn stage<P, C, E, S>(params: Params, over_n: usize) -> Box<dyn Stage>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E> + Default,
    S: Sleep,
{
    Box::new(TaskStage::<P, C, E, S> {
        params,
        over_n,
        over: PhantomData,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ideal_is_the_greedy_schedule_in_input_order() {
        assert_eq!(ideal(&[5, 1, 1, 1], 1), 8);
        assert_eq!(ideal(&[5, 1, 1, 1], 2), 5);
        assert_eq!(ideal(&[1, 1, 1, 5], 2), 6);
        assert_eq!(ideal(&[], 3), 0);
    }
}
