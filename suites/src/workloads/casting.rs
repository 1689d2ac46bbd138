//! From a family and a workload to code that is compiled for both: the one place where kinds of workloads
//! and messages are told apart, once for each stage.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::{Stage, StageError};

use super::payload::Words;
use super::solo::{Alone, Solo, time};
use super::{Work, opens, refused};
use super::{
    alts, alts_contended, burst, chain, create, one_shot, open_loop, ping_pong, stream,
    stream_async, uncontended,
};
use crate::scenario::{Form, MessageKind};

/// Runs so many turns and says how long they took.
pub type Timing = Box<dyn FnMut(u64) -> Result<Duration, StageError>>;

/// What one family can play in, as functions compiled for it.
#[derive(Clone, Copy, Debug)]
pub struct Casting {
    /// Whether it can run a workload, found out by asking the family.
    pub takes_part: fn(&Work) -> bool,
    /// The workload about to be run.
    pub stage: fn(&Work) -> Result<Box<dyn Stage>, StageError>,
    /// A workload of a single thread, for criterion.
    pub timing: fn(&Work) -> Option<Result<Timing, StageError>>,
}

impl Casting {
    /// A family with blocking operations.
    pub fn blocking<C: Blocking>() -> Casting {
        Casting {
            takes_part: |work| {
                let needs = work.needs();
                needs.form == Form::Blocking && !needs.alts && opens::<C>(&needs)
            },
            stage: stage_blocking::<C>,
            timing: |work| match *work {
                Work::Uncontended(params) => {
                    Some(timing(uncontended::Uncontended::<C>::new(params)))
                }
                Work::Create(params) => Some(timing(Ok(create::Create::<C>::new(params)))),
                Work::OneShot(params) => Some(timing(Ok(one_shot::OneShot::<C>::new(params)))),
                _ => None,
            },
        }
    }

    /// A family with futures, on that executor.
    pub fn asynchronous<C: Async, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| {
                let needs = work.needs();
                needs.form == Form::Async && !needs.alts && opens::<C>(&needs)
            },
            stage: stage_async::<C, E>,
            timing: |_| None,
        }
    }

    /// A family with alts.
    pub fn alts<C: Alts>() -> Casting {
        Casting {
            takes_part: |work| {
                let needs = work.needs();
                needs.alts && opens::<C>(&needs)
            },
            stage: stage_alts::<C>,
            timing: |work| match *work {
                Work::Alts(params) => Some(timing(alts::AloneAtPorts::<C>::new(params))),
                _ => None,
            },
        }
    }
}

fn stage_blocking<C: Blocking>(work: &Work) -> Result<Box<dyn Stage>, StageError> {
    Ok(match *work {
        Work::Stream(params) => match params.message {
            MessageKind::Word => stream::stage::<C, u64>(params),
            MessageKind::Line => stream::stage::<C, Words<8>>(params),
            MessageKind::Lines => stream::stage::<C, Words<64>>(params),
            MessageKind::Pages => stream::stage::<C, Words<4096>>(params),
            MessageKind::Box => stream::stage::<C, Box<u64>>(params),
        },
        Work::PingPong(params) => ping_pong::stage::<C>(params),
        Work::Burst(params) => burst::stage::<C>(params),
        Work::Chain(params) => chain::stage::<C>(params),
        Work::OpenLoop(params) => open_loop::stage::<C>(params),
        Work::Uncontended(params) => Box::new(Alone(uncontended::Uncontended::<C>::new(params)?)),
        Work::Create(params) => Box::new(Alone(create::Create::<C>::new(params))),
        Work::OneShot(params) => Box::new(Alone(one_shot::OneShot::<C>::new(params))),
        Work::Alts(_) | Work::AltsContended(_) => {
            return Err(refused("to wait on several channels"));
        }
    })
}

fn stage_async<C: Async, E: Executors>(work: &Work) -> Result<Box<dyn Stage>, StageError> {
    match *work {
        Work::Stream(params) => match params.message {
            MessageKind::Word => stream_async::stage::<C, u64, E>(params),
            _ => Err(refused("a message of that size in a task")),
        },
        Work::PingPong(params) => ping_pong::stage_async::<C, E>(params),
        _ => Err(refused("to run that workload in tasks")),
    }
}

fn stage_alts<C: Alts>(work: &Work) -> Result<Box<dyn Stage>, StageError> {
    match *work {
        Work::Alts(params) => Ok(Box::new(Alone(alts::AloneAtPorts::<C>::new(params)?))),
        Work::AltsContended(params) => Ok(alts_contended::stage::<C>(params)),
        _ => Err(refused("to run that workload with alts")),
    }
}

fn timing<S: Solo + 'static>(solo: Result<S, StageError>) -> Result<Timing, StageError> {
    let mut solo = solo?;
    Ok(Box::new(move |turns| time(&mut solo, turns)))
}
