//! The channels of a registry. The registry passes the type of each family, and this file fills the tables of `family.rs`
//! with it. No later layer knows the type.

use std::any::TypeId;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Callback, Channels as Family, Message, MixedAlts, Promises, PutDeadline, TakeDeadline,
    Transforms, WeakProducers,
};
use flowmeter_harness::registry::Registered;

use super::family::{Awaited, Of};
use super::{Channels, Tables};
use crate::design::parcel::Framed;

/// A family of channels of an implementation.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Its channels.
    pub(crate) channels: Channels,
    /// Whether its threads and tasks can use the same channel.
    pub(crate) meet: bool,
}

impl Design {
    /// Whether its implementation claims that.
    pub(crate) fn claims(&self, claim: Claim) -> bool {
        self.implementation.capabilities.claims.contains(&claim)
    }

    /// Its channels, if they have alts.
    pub(crate) fn alts(&self) -> Option<Channels> {
        self.channels.chooses().then_some(self.channels)
    }
}

/// A design that is being collected.
struct Begun {
    implementation: Registered,
    family: TypeId,
    tables: Tables,
    meet: bool,
}

/// The channels that a registry has shown. Its methods are those of `Visitor`.
#[derive(Default)]
pub(crate) struct Collected(Vec<Begun>);

impl Collected {
    /// A design for each family of channels.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0.into_iter().map(|one| Design {
            implementation: one.implementation,
            channels: Channels::of(one.tables),
            meet: one.meet,
        })
    }

    /// The tables of that family of an implementation.
    fn of<C: Family>(&mut self, implementation: &Registered) -> &mut Tables {
        &mut self.one::<C>(implementation).tables
    }

    /// Those tables, with the same channels for another message type.
    fn with_framed<C: Blocking>(&mut self, implementation: &Registered) -> &mut Tables {
        let tables = self.of::<C>(implementation);
        tables.framed = Some(Channels::of(Tables {
            blocks: Some(&Of::<C, Framed>::TABLE),
            ..Tables::of(&Of::<C, Framed>::TABLE)
        }));
        tables
    }

    fn one<C: Family>(&mut self, implementation: &Registered) -> &mut Begun {
        let family = TypeId::of::<C>();
        let known =
            |one: &Begun| one.implementation.name == implementation.name && one.family == family;
        let place = self.0.iter().position(known).unwrap_or_else(|| {
            self.0.push(Begun {
                implementation: implementation.clone(),
                family,
                tables: Tables::of(&Of::<C>::TABLE),
                meet: false,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

impl Channels {
    /// That family, with futures.
    pub fn of_tasks<C: Async>() -> Channels {
        Channels::of(Tables::awaiting::<C>())
    }

    /// That family, with futures and blocking operations.
    pub fn of_tasks_and_threads<C: Async + Blocking>() -> Channels {
        Channels::of(Tables {
            blocks: Some(&Of::<C>::TABLE),
            ..Tables::awaiting::<C>()
        })
    }

    /// That family, with futures and callbacks.
    pub fn of_tasks_and_callbacks<C: Async + Callback>() -> Channels {
        Channels::of(Tables {
            calls_back: Some(&Of::<C>::TABLE),
            ..Tables::awaiting::<C>()
        })
    }

    /// The design of a family with alts for threads and with futures.
    pub(in crate::design) fn choosing_and_awaiting<C: Alts + Async>() -> Channels {
        Channels::of(Tables {
            awaits: Some(&Of::<C>::TABLE),
            ..Tables::choosing::<C>()
        })
    }

    /// The channels of a family with futures, carrying `M`.
    pub(in crate::design) fn awaited<C: Async, M: Message>() -> Channels {
        Channels::of(Tables {
            awaits: Some(&Of::<C, M>::TABLE),
            ..Tables::of(&Of::<C, M>::TABLE)
        })
    }
}

impl Tables {
    /// For a family with futures.
    fn awaiting<C: Async>() -> Tables {
        Tables {
            awaits: Some(&Of::<C>::TABLE),
            ..Tables::of(&Of::<C>::TABLE)
        }
    }

    /// For a family with alts for threads.
    fn choosing<C: Alts>() -> Tables {
        Tables {
            blocks: Some(&Of::<C>::TABLE),
            chooses: Some(&Of::<C>::TABLE),
            ..Tables::of(&Of::<C>::TABLE)
        }
    }
}

impl Collected {
    pub(crate) fn blocking<C: Blocking>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).blocks = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn asynchronous<C: Async>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).awaits = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn callback<C: Callback + Blocking>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).calls_back = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn put_deadline<C: PutDeadline>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).puts_until = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn take_deadline<C: TakeDeadline>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).takes_until = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn promises<C: Promises + Blocking>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).promises = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn alts<C: Alts>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).chooses = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn mixed<C: Blocking + Async>(&mut self, implementation: &Registered) {
        self.one::<C>(implementation).meet = true;
    }
    pub(crate) fn mixed_alts<C: MixedAlts>(&mut self, implementation: &Registered) {
        let tables = self.with_framed::<C>(implementation);
        tables.mixes = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn await_alts<C: AwaitAlts>(&mut self, implementation: &Registered) {
        let tables = self.with_framed::<C>(implementation);
        tables.awaits_mixes = Some(&Awaited::<C>::TABLE);
    }
    pub(crate) fn weak_producers<C: WeakProducers>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).weakens = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn await_close<C: AwaitClose>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).awaits_close = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn batch<C: Batch>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).batches = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn async_batch<C: AsyncBatch>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).awaits_batches = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn reserve<C: BlockingReserve>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).blocks_for_room = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn async_reserve<C: AsyncReserve>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).awaits_room = Some(&Of::<C>::TABLE);
    }
    pub(crate) fn transforms<C: Transforms + Blocking>(&mut self, implementation: &Registered) {
        self.of::<C>(implementation).transforms = Some(&Of::<C>::TABLE);
    }
}
