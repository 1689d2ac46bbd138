//! Workloads: the work of threads while they are timed, one file each.
//!
//! Each is generic over the family of channels (and, for tasks, the executor), and monomorphic for each message. No
//! `dyn` call and no choice among kinds is inside a timed loop. The same loop runs untimed in a proof, which records
//! every value.

pub mod alts;
pub mod alts_contended;
mod bare;
pub mod burst;
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
pub(crate) mod parts;
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
use flowmeter_measure::StageError;
use flowmeter_records::FailureKind;
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Room, ScenarioError, Source};

pub use parts::Timing;

/// The list of workloads, by kind of implementation. Each entry has its parameters and, for channels, what it needs
/// with them.
macro_rules! workloads {
    (
        Channel { $($(#[$about:meta])* $name:ident($params:ty) |$with:ident| $needs:expr;)* }
        $($kind:ident { $($(#[$other_about:meta])* $other:ident($other_params:ty);)* })*
    ) => {
        /// A workload with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "workload", content = "params", rename_all = "kebab-case")]
        pub enum Work {
            $($(#[$about])* $name($params),)*
            $($($(#[$other_about])* $other($other_params),)*)*
        }

        /// A workload, as scenario files name it.
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum WorkloadName {
            $($name,)*
            $($($other,)*)*
        }

        impl WorkloadName {
            /// The workload with the parameters in that file.
            pub(crate) fn read(self, file: &Source<'_>) -> Result<Work, ScenarioError> {
                match self {
                    $(WorkloadName::$name => file.params().map(Work::$name),)*
                    $($(WorkloadName::$other => file.params().map(Work::$other),)*)*
                }
            }
        }

        impl Work {
            /// Its facts with these parameters.
            pub fn facts(&self) -> Facts {
                match self {
                    $(Work::$name(params) => params.facts(),)*
                    $($(Work::$other(params) => params.facts(),)*)*
                }
            }

            /// What an implementation must have for it.
            pub fn needs(&self) -> Needs {
                let needs = match self {
                    $(Work::$name($with) => $needs,)*
                    $($(Work::$other(_) => return Needs::Other(Kind::$kind),)*)*
                };
                let form = self.facts().form;
                Needs::Channel(ChannelNeeds { form, ..needs })
            }
        }
    };
}

workloads! {
    Channel {
        /// Producers and consumers as fast as they can.
        Stream(stream::Params) |params| ChannelNeeds {
            producers: params.producers.count(),
            consumers: params.consumers.count(),
            ..pair(params.buffer)
        };
        /// One thread puts and takes.
        Uncontended(uncontended::Params) |params| pair(Room::Fixed(params.capacity));
        /// A value there and back.
        PingPong(ping_pong::Params) |params| pair(params.buffer);
        /// Open and drop.
        Create(create::Params) |params| pair(params.buffer);
        /// Open, use once, drop.
        OneShot(one_shot::Params) |params| pair(Room::Fixed(params.capacity));
        /// Fill, then drain.
        Burst(burst::Params) |params| pair(Room::Fixed(params.capacity));
        /// A value through many channels.
        Chain(chain::Params) |params| pair(params.buffer);
        /// Many tasks learn of a close.
        Close(close::Params) |params| ChannelNeeds {
            consumers: params.waiting.count(),
            disconnects: true,
            ..pair(params.buffer)
        };
        /// Choosing among ports on one thread.
        Alts(alts::Params) |params| ChannelNeeds {
            alts: true,
            ..pair(Room::Fixed(params.capacity))
        };
        /// Choosing among ports that other threads feed.
        AltsContended(alts_contended::Params) |params| ChannelNeeds {
            alts: true,
            ..pair(params.buffer)
        };
        /// Latency at a rate.
        OpenLoop(open_loop::Params) |params| pair(params.buffer);
    }
    Timer {
        /// Arming only.
        TimerArm(timers::arm::Params);
        /// Arming and cancelling.
        TimerChurn(timers::churn::Params);
        /// How late timers fire.
        TimerLateness(timers::lateness::Params);
        /// Re-arming at each call.
        TimerExpiry(timers::expiry::Params);
        /// Many deadlines at once.
        TimerStorm(timers::storm::Params);
        /// Many timers, none of which fires.
        TimerIdle(timers::idle::Params);
        /// The cost of timers that are armed at a steady rate.
        TimerTurnover(timers::turnover::Params);
        /// How long arming takes while a storm is due.
        TimerBystander(timers::bystander::Params);
    }
    Pipeline {
        /// Items without work.
        PipelineFlow(pipelines::flow::Params);
        /// Items that take time.
        PipelineTasks(pipelines::tasks::Params);
    }
    Limiter {
        /// Asking for permits.
        LimiterTry(limiters::try_cost::Params);
        /// Acquirers that are always there.
        LimiterSteady(limiters::steady::Params);
        /// All acquirers at once.
        LimiterBurst(limiters::burst::Params);
        /// How often waiting tasks are woken.
        LimiterWakes(limiters::wakes::Params);
        /// Several permits at once.
        LimiterWeighted(limiters::at_once::Weighted);
        /// Acquiring after the deadline.
        LimiterLate(limiters::at_once::Late);
    }
    Executor {
        /// Tasks that end at once.
        SpawnJoin(executors::spawn_join::Params);
        /// Tasks that wait.
        Parked(executors::parked::Params);
        /// Tasks that wake each other.
        GoPingPong(executors::PingPong);
        /// Blocks that wait, written in two ways.
        GoBlocks(executors::go_blocks::Params);
    }
}

/// What an implementation must be and have for a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A channel.
    Channel(ChannelNeeds),
    /// Another kind.
    Other(Kind),
}

/// What a channel must have for a scenario.
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

/// A channel with one half at each end.
fn pair(room: Room) -> ChannelNeeds {
    ChannelNeeds {
        alts: false,
        form: Form::Blocking,
        buffer: room.buffer(),
        producers: 1,
        consumers: 1,
        disconnects: false,
    }
}

impl Work {
    /// Threads, or tasks that run like threads, that are busy or waiting at a time, without those of the executor.
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
            // Where two threads share the work, slowing the faster one has no effect.
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

/// Whether its consumer is answered "closed" after its producer is dropped, without waiting.
fn disconnects<C: Channels>(tx: C::Tx<u64>, mut rx: C::Rx<u64>) -> bool {
    drop(tx);
    C::poll(&mut rx) == Polled::Closed
}

/// Both halves of a channel.
type Pair<C, P> = (<C as Channels>::Tx<P>, <C as Channels>::Rx<P>);

/// Opens a channel of a family that claims to have it.
fn open<C: Channels, P: Message>(buffer: Buffer) -> Result<Pair<C, P>, StageError> {
    C::open::<P>(buffer).ok_or_else(|| refused("a channel of that kind"))
}

/// An operation that the scenario relies on was refused.
#[cold]
fn refused(what: &str) -> StageError {
    StageError {
        kind: FailureKind::Count,
        message: format!("it refused {what}"),
    }
}

/// Checks that a channel does not accept more values than it has room for.
///
/// # Errors
/// [`FailureKind::Proof`], with the number it accepted.
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
            "it took in {taken_in} values without a take, and its capacity is {capacity}"
        )));
    }
    Ok(())
}
