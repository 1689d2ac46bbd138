//! Flow: items without work, as fast as possible.
//!
//! One task feeds the pipeline, and one takes and counts. The value is the cost of the pipeline for each item.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Async, Buffer, TakeError};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_measure::edges::Edges;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Threads, cores};
use crate::workloads::crew::{self, Done, Tasks};
use crate::workloads::ledger::{Tally, disproved, void};
use crate::workloads::{open, refused};

/// Items of a proof.
const PROOF_ITEMS: u64 = 2_000;

/// The parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Items in work at a time.
    pub parallelism: Threads,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Throughput,
            unit: "items/s",
            axes: Axes {
                family: "pipeline-flow".to_owned(),
                parallelism: Some(self.parallelism.count()),
                ..Axes::default()
            },
        }
    }
}

enum Report {
    Fed(Tally),
    Taken(Tally, Box<Result<Sample, StageError>>, Vec<u64>),
    Piped,
}

struct Flow<P, C, E> {
    params: Params,
    over: PhantomData<fn(P, C, E)>,
}

/// The result of a run.
struct Outcome {
    sample: Result<Sample, StageError>,
    /// In order of arrival; only where the input was finite.
    items: Vec<u64>,
}

impl<C: Async, E: Executors, P: Pipelines<C, E> + Default> Flow<P, C, E> {
    /// Feeds so many items, or until the window ends.
    fn run(&self, edges: &Edges, items: Option<u64>) -> Result<Outcome, StageError> {
        let n = self.params.parallelism.non_zero();
        let executor: E = crew::executor(cores())?;
        let (mut feed, from) = open::<C, u64>(Buffer::Fixed(n))?;
        let (to, mut results) = open::<C, u64>(Buffer::Fixed(n))?;
        let mut crew = Tasks::on(&executor, 3, Some(edges));
        let mut laps = edges.laps();
        crew.spawn(async move {
            let mut put = Tally::default();
            'open: while items.is_none_or(|items| put.count < items) {
                for _ in 0..laps.chunk() {
                    if items.is_some_and(|items| put.count == items) {
                        break 'open;
                    }
                    let item = put.count;
                    let done = C::put_async(&mut feed, item).await;
                    done.map_err(|_| refused("a put on an open channel"))?;
                    put.add(item);
                }
                if laps.lap().is_break() && items.is_none() {
                    break;
                }
            }
            // Where a family has no close, dropping the half ends the input.
            C::close(&feed);
            drop(feed);
            Ok(Done::keeping((), Report::Fed(put)))
        });
        let (mut counter, window) = (edges.counter(), edges.clone());
        crew.spawn(async move {
            let (mut taken, mut seen) = (Tally::default(), Vec::new());
            'open: loop {
                let mut turns = 0;
                for _ in 0..counter.chunk() {
                    match C::take_async(&mut results).await {
                        Ok(item) => {
                            taken.add(item);
                            if items.is_some() {
                                seen.push(item);
                            }
                        }
                        Err(TakeError::Closed) => break 'open,
                        Err(TakeError::TooManyWaiters) => return Err(refused("a single taker")),
                    }
                    turns += 1;
                }
                // The feeder decides when the window ends.
                let _ = counter.lap(turns);
            }
            let sample = window.sample(&[counter.finish()]);
            Ok(Done::keeping(
                results,
                Report::Taken(taken, Box::new(sample), seen),
            ))
        });
        let spawner = executor.spawner();
        crew.spawn(async move {
            let af = |item: u64, mut port: ResultPort<C, u64, P::Permit>| async move {
                // Refused once the pipeline is gone; the books then show it.
                let _ = port.put(item).await;
            };
            P::default()
                .start(spawner, n, from, to, af, AtEnd::Close)
                .await;
            Ok(Done::keeping((), Report::Piped))
        });
        let (mut put, mut came) = (Tally::default(), None);
        for report in crew.join()? {
            match report {
                Report::Fed(tally) => put = tally,
                Report::Taken(tally, sample, items) => came = Some((tally, sample, items)),
                Report::Piped => {}
            }
        }
        let (taken, sample, items) = came.ok_or_else(|| void("no result was taken"))?;
        Tally::agree(put, taken)?;
        Ok(Outcome {
            sample: *sample,
            items,
        })
    }
}

impl<C: Async, E: Executors, P: Pipelines<C, E> + Default> Stage for Flow<P, C, E> {
    fn prove(&mut self) -> Result<(), StageError> {
        let untimed = WindowSpec {
            ramp_nanos: 0,
            nanos: 1,
            slowed_percent: None,
            seed: 1,
        };
        let outcome = self.run(&Edges::new(&untimed, 1), Some(PROOF_ITEMS))?;
        if P::ORDERED && !outcome.items.is_sorted() {
            return Err(disproved("results left in another order than their inputs"));
        }
        Ok(())
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        self.run(&Edges::new(&spec, 1), None)?.sample
    }
}

/// A stage.
pub fn stage<P, C, E>(params: Params) -> Box<dyn Stage>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E> + Default,
{
    Box::new(Flow::<P, C, E> {
        params,
        over: PhantomData,
    })
}
