//! Castings of channels.

use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;

use super::{Casting, timing};
use crate::scenario::{Form, MessageKind};
use crate::workloads::payload::Words;
use crate::workloads::solo::Alone;
use crate::workloads::{
    ChannelNeeds, Needs, Work, alts, alts_contended, burst, chain, close, create, one_shot,
    open_loop, opens, ping_pong, refused, stream, stream_async, stream_mixed, uncontended,
};

impl Casting {
    /// A family with blocking operations.
    pub fn blocking<C: Blocking>() -> Casting {
        Casting {
            takes_part: |work| {
                needs(work).is_some_and(|needs| {
                    needs.form == Form::Blocking && !needs.alts && opens::<C>(&needs)
                })
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
                needs(work).is_some_and(|needs| {
                    needs.form == Form::Async && !needs.alts && opens::<C>(&needs)
                })
            },
            stage: stage_async::<C, E>,
            timing: |_| None,
        }
    }

    /// A family whose threads and tasks, on that executor, meet on one channel.
    pub fn mixed<C: Blocking + Async, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| {
                needs(work).is_some_and(|needs| needs.form == Form::Mixed && opens::<C>(&needs))
            },
            stage: stage_mixed::<C, E>,
            timing: |_| None,
        }
    }

    /// A family with alts.
    pub fn alts<C: Alts>() -> Casting {
        Casting {
            takes_part: |work| needs(work).is_some_and(|needs| needs.alts && opens::<C>(&needs)),
            stage: stage_alts::<C>,
            timing: |work| match *work {
                Work::Alts(params) => Some(timing(alts::AloneAtPorts::<C>::new(params))),
                _ => None,
            },
        }
    }
}

fn stage_blocking<C: Blocking>(
    work: &Work,
    _who: &Contestant,
) -> Result<Box<dyn Stage>, StageError> {
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
        _ => return Err(refused("to run that workload in threads")),
    })
}

fn stage_async<C: Async, E: Executors>(
    work: &Work,
    _who: &Contestant,
) -> Result<Box<dyn Stage>, StageError> {
    match *work {
        Work::Stream(params) => match params.message {
            MessageKind::Word => stream_async::stage::<C, u64, E>(params),
            _ => Err(refused("a message of that size in a task")),
        },
        Work::PingPong(params) => ping_pong::stage_async::<C, E>(params),
        Work::Close(params) => close::stage::<C, E>(params),
        _ => Err(refused("to run that workload in tasks")),
    }
}

fn stage_mixed<C: Blocking + Async, E: Executors>(
    work: &Work,
    _who: &Contestant,
) -> Result<Box<dyn Stage>, StageError> {
    match *work {
        Work::Stream(params) if params.message == MessageKind::Word => {
            stream_mixed::stage::<C, u64, E>(params)
        }
        _ => Err(refused("to run that workload between threads and tasks")),
    }
}

fn stage_alts<C: Alts>(work: &Work, _who: &Contestant) -> Result<Box<dyn Stage>, StageError> {
    match *work {
        Work::Alts(params) => Ok(Box::new(Alone(alts::AloneAtPorts::<C>::new(params)?))),
        Work::AltsContended(params) => Ok(alts_contended::stage::<C>(params)),
        _ => Err(refused("to run that workload with alts")),
    }
}

/// What it needs of channels, if it is a workload of theirs.
fn needs(work: &Work) -> Option<ChannelNeeds> {
    match work.needs() {
        Needs::Channel(needs) => Some(needs),
        Needs::Other(_) => None,
    }
}
