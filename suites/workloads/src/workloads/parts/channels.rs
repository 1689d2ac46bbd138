//! Castings of channels.

use flowmeter_harness::channel::{Alts, Async, Blocking, Channels};
use flowmeter_harness::executor::Executors;

use super::Part;
use crate::scenario::{Form, MessageKind};
use crate::workloads::payload::{Words, Worked};
use crate::workloads::{
    Needs, Work, alts, alts_contended, burst, chain, close, create, one_shot, open_loop, opens,
    ping_pong, stream, stream_async, stream_mixed, uncontended,
};

/// A family with blocking operations.
pub fn blocking<C: Blocking>(work: &Work) -> Option<Part> {
    has::<C>(work, Form::Blocking, false).then_some(())?;
    Some(match *work {
        Work::Stream(params) => Part::new(move |_| {
            Ok(match params.message {
                MessageKind::Word => stream::stage::<C, u64>(params),
                MessageKind::Line => stream::stage::<C, Words<8>>(params),
                MessageKind::Lines => stream::stage::<C, Words<64>>(params),
                MessageKind::Pages => stream::stage::<C, Words<4096>>(params),
                MessageKind::Box => stream::stage::<C, Box<u64>>(params),
                MessageKind::Worked => stream::stage::<C, Worked<75>>(params),
                MessageKind::LongWorked => stream::stage::<C, Worked<750>>(params),
            })
        }),
        Work::PingPong(params) => Part::new(move |_| Ok(ping_pong::stage::<C>(params))),
        Work::Burst(params) => Part::new(move |_| Ok(burst::stage::<C>(params))),
        Work::Chain(params) => Part::new(move |_| Ok(chain::stage::<C>(params))),
        Work::OpenLoop(params) => Part::new(move |_| Ok(open_loop::stage::<C>(params))),
        Work::Uncontended(params) => Part::solo(move || uncontended::Uncontended::<C>::new(params)),
        Work::Create(params) => Part::solo(move || Ok(create::Create::<C>::new(params))),
        Work::OneShot(params) => Part::solo(move || Ok(one_shot::OneShot::<C>::new(params))),
        _ => return None,
    })
}

/// A family with futures, on that executor.
pub fn asynchronous<C: Async, E: Executors>(work: &Work) -> Option<Part> {
    has::<C>(work, Form::Async, false).then_some(())?;
    Some(match *work {
        Work::Stream(params) if params.message == MessageKind::Word => {
            Part::new(move |_| stream_async::stage::<C, u64, E>(params))
        }
        Work::PingPong(params) => Part::new(move |_| ping_pong::stage_async::<C, E>(params)),
        Work::Close(params) => Part::new(move |_| close::stage::<C, E>(params)),
        _ => return None,
    })
}

/// A family with channels for threads and tasks at once, on that executor.
pub fn mixed<C: Blocking + Async, E: Executors>(work: &Work) -> Option<Part> {
    has::<C>(work, Form::Mixed, false).then_some(())?;
    match *work {
        Work::Stream(params) if params.message == MessageKind::Word => {
            Some(Part::new(move |_| stream_mixed::stage::<C, u64, E>(params)))
        }
        _ => None,
    }
}

/// A family with alts.
pub fn alts<C: Alts>(work: &Work) -> Option<Part> {
    has::<C>(work, Form::Blocking, true).then_some(())?;
    Some(match *work {
        Work::Alts(params) => Part::solo(move || alts::AloneAtPorts::<C>::new(params)),
        Work::AltsContended(params) => Part::new(move |_| Ok(alts_contended::stage::<C>(params))),
        _ => return None,
    })
}

/// Whether the workload is one of channels in that form, with or without alts, and the family has what it needs.
fn has<C: Channels>(work: &Work, form: Form, alts: bool) -> bool {
    match work.needs() {
        Needs::Channel(needs) => needs.form == form && needs.alts == alts && opens::<C>(&needs),
        Needs::Other(_) => false,
    }
}
