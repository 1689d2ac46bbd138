//! Workloads: what threads do while they are timed, one file each.
//!
//! Each is generic over the family of channels (and, for tasks, the executor) and monomorphic for each
//! message: no `dyn` call and no choice among kinds stands in a timed loop. The same loop runs untimed in a
//! proof, where every value is written down.

pub mod alts;
pub mod alts_contended;
pub mod burst;
mod casting;
pub mod chain;
pub mod close;
pub mod create;
mod crew;
pub mod executors;
mod fairness;
mod latencies;
mod lead;
mod ledger;
pub mod limiters;
pub mod one_shot;
pub mod open_loop;
pub mod payload;
mod pending;
mod pieces;
pub mod ping_pong;
pub mod pipelines;
pub mod solo;
mod start;
pub mod stream;
mod stream_async;
mod stream_mixed;
pub mod timers;
pub mod uncontended;
mod watch;

use flowmeter_harness::caps::Kind;
use flowmeter_harness::channel::{Buffer, Channels, Message, Offered, Polled};
use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::FailureKind;
use serde::{Deserialize, Serialize};

use crate::scenario::{Capacity, Facts, Form, Room};

pub use casting::{Casting, Timing};

/// A workload with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "workload", content = "params", rename_all = "kebab-case")]
pub enum Work {
    /// Producers and consumers as fast as they can.
    Stream(stream::Params),
    /// One thread puts and takes.
    Uncontended(uncontended::Params),
    /// A value there and back.
    PingPong(ping_pong::Params),
    /// Open and drop.
    Create(create::Params),
    /// Open, use once, drop.
    OneShot(one_shot::Params),
    /// Fill, then drain.
    Burst(burst::Params),
    /// A value through many channels.
    Chain(chain::Params),
    /// Many hear of a close.
    Close(close::Params),
    /// Choosing among ports on one thread.
    Alts(alts::Params),
    /// Choosing among ports that others feed.
    AltsContended(alts_contended::Params),
    /// Latency at a rate.
    OpenLoop(open_loop::Params),
    /// Arming, and nothing else.
    TimerArm(timers::arm::Params),
    /// Arming and calling off.
    TimerChurn(timers::churn::Params),
    /// How late timers call.
    TimerLateness(timers::lateness::Params),
    /// Arming anew at each call.
    TimerExpiry(timers::expiry::Params),
    /// Many deadlines at once.
    TimerStorm(timers::storm::Params),
    /// Many timers, and nothing happens.
    TimerIdle(timers::idle::Params),
    /// What timers cost that come at a steady rate.
    TimerTurnover(timers::turnover::Params),
    /// How long arming takes while a storm is due.
    TimerBystander(timers::bystander::Params),
    /// Items without work.
    PipelineFlow(pipelines::flow::Params),
    /// Items that take time.
    PipelineTasks(pipelines::tasks::Params),
    /// Asking for permits.
    LimiterTry(limiters::try_cost::Params),
    /// Acquirers that are always there.
    LimiterSteady(limiters::steady::Params),
    /// Everybody at once.
    LimiterBurst(limiters::burst::Params),
    /// How often those who wait are woken.
    LimiterWakes(limiters::wakes::Params),
    /// Several permits at once.
    LimiterWeighted(limiters::at_once::Weighted),
    /// Asking when it is too late.
    LimiterLate(limiters::at_once::Late),
    /// Tasks that end at once.
    SpawnJoin(executors::spawn_join::Params),
    /// Tasks that wait.
    Parked(executors::parked::Params),
    /// Tasks that wake each other.
    GoPingPong(executors::PingPong),
    /// Blocks that wait, written in two ways.
    GoBlocks(executors::go_blocks::Params),
}

/// What an implementation must be and have to take part in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A channel.
    Channel(ChannelNeeds),
    /// Something else.
    Other(Kind),
}

/// What a channel must have to take part in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelNeeds {
    /// Whether it must be able to wait on several channels at once.
    pub alts: bool,
    /// How its operations wait.
    pub form: Form,
    /// The buffer of its channels.
    pub buffer: Buffer,
    /// Producing halves of one channel.
    pub producers: usize,
    /// Consuming halves of one channel.
    pub consumers: usize,
    /// Whether the channel must end with its last producer.
    pub disconnects: bool,
}

impl Work {
    /// What it says of itself with these parameters.
    pub fn facts(&self) -> Facts {
        match self {
            Work::Stream(params) => params.facts(),
            Work::Uncontended(params) => params.facts(),
            Work::PingPong(params) => params.facts(),
            Work::Create(params) => params.facts(),
            Work::OneShot(params) => params.facts(),
            Work::Burst(params) => params.facts(),
            Work::Chain(params) => params.facts(),
            Work::Close(params) => params.facts(),
            Work::Alts(params) => params.facts(),
            Work::AltsContended(params) => params.facts(),
            Work::OpenLoop(params) => params.facts(),
            Work::TimerArm(params) => params.facts(),
            Work::TimerChurn(params) => params.facts(),
            Work::TimerLateness(params) => params.facts(),
            Work::TimerExpiry(params) => params.facts(),
            Work::TimerStorm(params) => params.facts(),
            Work::TimerIdle(params) => params.facts(),
            Work::TimerTurnover(params) => params.facts(),
            Work::TimerBystander(params) => params.facts(),
            Work::PipelineFlow(params) => params.facts(),
            Work::PipelineTasks(params) => params.facts(),
            Work::LimiterTry(params) => params.facts(),
            Work::LimiterSteady(params) => params.facts(),
            Work::LimiterBurst(params) => params.facts(),
            Work::LimiterWakes(params) => params.facts(),
            Work::LimiterWeighted(params) => params.facts(),
            Work::LimiterLate(params) => params.facts(),
            Work::SpawnJoin(params) => params.facts(),
            Work::Parked(params) => params.facts(),
            Work::GoPingPong(params) => params.facts(),
            Work::GoBlocks(params) => params.facts(),
        }
    }

    /// What an implementation must have for it.
    pub fn needs(&self) -> Needs {
        let pair = |room: Room| ChannelNeeds {
            alts: false,
            form: Form::Blocking,
            buffer: room.buffer(),
            producers: 1,
            consumers: 1,
            disconnects: false,
        };
        let fixed = |capacity: Capacity| pair(Room::Fixed(capacity));
        Needs::Channel(match self {
            Work::Stream(params) => ChannelNeeds {
                form: params.form,
                producers: params.producers.count(),
                consumers: params.consumers.count(),
                ..pair(params.buffer)
            },
            Work::Uncontended(params) => fixed(params.capacity),
            Work::PingPong(params) => ChannelNeeds {
                form: params.form,
                ..pair(params.buffer)
            },
            Work::Create(params) => pair(params.buffer),
            Work::OneShot(params) => fixed(params.capacity),
            Work::Burst(params) => fixed(params.capacity),
            Work::Chain(params) => pair(params.buffer),
            Work::Close(params) => ChannelNeeds {
                form: Form::Async,
                consumers: params.waiting.count(),
                disconnects: true,
                ..pair(params.buffer)
            },
            Work::Alts(params) => ChannelNeeds {
                alts: true,
                ..fixed(params.capacity)
            },
            Work::AltsContended(params) => ChannelNeeds {
                alts: true,
                ..pair(params.buffer)
            },
            Work::OpenLoop(params) => pair(params.buffer),
            Work::TimerArm(_)
            | Work::TimerChurn(_)
            | Work::TimerLateness(_)
            | Work::TimerExpiry(_)
            | Work::TimerStorm(_)
            | Work::TimerIdle(_)
            | Work::TimerTurnover(_)
            | Work::TimerBystander(_) => return Needs::Other(Kind::Timer),
            Work::PipelineFlow(_) | Work::PipelineTasks(_) => return Needs::Other(Kind::Pipeline),
            Work::LimiterTry(_)
            | Work::LimiterSteady(_)
            | Work::LimiterBurst(_)
            | Work::LimiterWakes(_)
            | Work::LimiterWeighted(_)
            | Work::LimiterLate(_) => return Needs::Other(Kind::Limiter),
            Work::SpawnJoin(_) | Work::Parked(_) | Work::GoPingPong(_) | Work::GoBlocks(_) => {
                return Needs::Other(Kind::Executor);
            }
        })
    }

    /// Threads, or tasks that run like threads, that it keeps busy or waiting at a time, the executor's own not counted.
    pub fn busy_threads(&self) -> usize {
        let axes = self.facts().axes;
        let streams = axes.producers.unwrap_or(0) + axes.consumers.unwrap_or(0);
        match self {
            Work::TimerLateness(params) => params.busy.count(),
            Work::LimiterSteady(params) if params.form == limiters::LimitForm::Blocking => {
                params.waiters.count()
            }
            Work::LimiterBurst(params) if params.form == limiters::LimitForm::Blocking => {
                params.waiters.count()
            }
            _ => streams,
        }
    }

    /// Whether a copy can be slowed on purpose: only where threads work in chunks.
    pub fn can_be_slowed(&self) -> bool {
        let counts_in_chunks = match self {
            // Where two threads share the work, slowing one of them slows nothing as long as the other is the slower.
            Work::TimerChurn(params) => params.is_of_one_thread(),
            Work::PipelineFlow(_)
            | Work::LimiterTry(_)
            | Work::LimiterWeighted(_)
            | Work::LimiterLate(_)
            | Work::SpawnJoin(_)
            | Work::GoPingPong(_)
            | Work::GoBlocks(_) => true,
            _ => false,
        };
        let is_a_channels = matches!(self.needs(), Needs::Channel(_));
        counts_in_chunks || (is_a_channels && !matches!(self, Work::Close(_)))
    }
}

/// Whether the family has such a channel, with that many halves.
fn opens<C: Channels>(needs: &ChannelNeeds) -> bool {
    C::open::<u64>(needs.buffer).is_some_and(|(tx, rx)| {
        (needs.producers <= 1 || C::another_tx(&tx).is_some())
            && (needs.consumers <= 1 || C::another_rx(&rx).is_some())
            && (!needs.disconnects || disconnects::<C>(tx, rx))
    })
}

/// Whether it hears at all of the end of its producer, when nobody waits.
fn disconnects<C: Channels>(tx: C::Tx<u64>, mut rx: C::Rx<u64>) -> bool {
    drop(tx);
    C::poll(&mut rx) == Polled::Closed
}

/// Both halves of a channel.
type Pair<C, P> = (<C as Channels>::Tx<P>, <C as Channels>::Rx<P>);

/// A channel of a family that was said to have it.
fn open<C: Channels, P: Message>(buffer: Buffer) -> Result<Pair<C, P>, StageError> {
    C::open::<P>(buffer).ok_or_else(|| refused("a channel of that kind"))
}

/// Something the scenario relies on was refused.
#[cold]
fn refused(what: &str) -> StageError {
    StageError {
        kind: FailureKind::Count,
        message: format!("it refused {what}"),
    }
}

/// Whether a channel takes more than it has room for when nobody takes.
///
/// # Errors
/// [`FailureKind::Proof`], with how many it took.
fn overfull<C: Channels>(buffer: Buffer) -> Result<(), StageError> {
    let capacity = match buffer {
        Buffer::Rendezvous => 0,
        Buffer::Fixed(capacity) => capacity.get(),
        Buffer::Unbounded | Buffer::Dropping(_) | Buffer::Sliding(_) => return Ok(()),
    };
    let (mut tx, _rx) = open::<C, u64>(buffer)?;
    let fits = |value: &u64| C::offer(&mut tx, *value) == Offered::Done;
    let taken_in = (0..=capacity as u64).take_while(fits).count();
    if taken_in > capacity {
        return Err(ledger::disproved(format!(
            "it took in {taken_in} values while nobody took, and its capacity is {capacity}"
        )));
    }
    Ok(())
}
