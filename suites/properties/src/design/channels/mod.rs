//! Designs of channels.
//!
//! [`Channels`] is a design of channels; it opens [`Tx`] and [`Rx`] with the operations as methods. Callers have
//! to ask first whether a design has an operation: the method of one that it lacks panics.

mod collected;
mod erased;
mod family;
mod halves;
mod mixed;
pub(crate) mod operations;

use std::marker::PhantomData;
use std::ops::ControlFlow;

use flowmeter_harness::channel::{
    AltsError, Buffer, Chosen, Emit, Handler, Order, Patience, Transform, TransformError,
};

pub(crate) use collected::{Collected, Design};
pub(crate) use erased::Erased;
pub(in crate::design) use family::BoxedTransform;
pub(in crate::design) use halves::refused;
pub(crate) use halves::{Permit, Rx, Tx};
pub(crate) use mixed::begin_turns;
pub(crate) use operations::Half;
use operations::{Base, Pair, Port, Prepared};

use super::parcel::{Framed, Packing, Parcel, Unpack};

/// A design of channels.
#[derive(Clone, Copy)]
pub struct Channels(&'static Tables);

/// A clause of an alts over channels that carry `T`.
pub(crate) enum Clause<'a, T> {
    /// Takes from this half.
    Take(&'a Rx<T>),
    /// Puts the value of its slot into this half.
    Put(&'a Tx<T>),
}

/// The operations that only some designs have: a table for each, and whether a design has it.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $operations:ident)*) => {
        /// The tables of a design: one for each trait that its family has.
        #[derive(Clone)]
        pub(crate) struct Tables {
            pub(crate) base: &'static dyn Base,
            $(pub(crate) $table: Option<&'static dyn operations::$operations>,)*
            /// The same channels with another type, where there are alts over both.
            pub(crate) framed: Option<Channels>,
            /// Whether every second opened channel is one of those.
            pub(crate) in_turns: bool,
        }

        impl Tables {
            /// For what every family has.
            pub(crate) fn of(base: &'static dyn Base) -> Tables {
                Tables { base, $($table: None,)* framed: None, in_turns: false }
            }

            /// The same tables, each one that exists replaced.
            pub(crate) fn replaced<T>(&self, by: &'static T) -> Tables
            where
                T: Base $(+ operations::$operations)*,
            {
                Tables { base: by, $($table: self.$table.map(|_| by as _),)* ..*self }
            }
        }

        impl Channels {
            $($(#[$doc])* pub(crate) fn $table(self) -> bool {
                self.0.$table.is_some()
            })*
        }
    };
}

tables! {
    /// Whether puts and takes can block their thread.
    blocks: Blocks
    /// Whether puts and takes can be awaited.
    awaits: Awaits
    /// Whether puts and takes can call back.
    calls_back: CallsBack
    /// Whether puts can give up at a deadline.
    puts_until: PutsUntil
    /// Whether takes can give up at a deadline.
    takes_until: TakesUntil
    /// Whether there are promises.
    promises: Promises
    /// Whether there are alts.
    chooses: Chooses
    /// Whether there are alts over channels of several types.
    mixes: Mixes
    /// Whether those can be awaited.
    awaits_mixes: Mixes
    /// Whether there are producers that do not keep a channel open.
    weakens: Weakens
    /// Whether the close can be awaited.
    awaits_close: AwaitsClose
    /// Whether threads have batches.
    batches: Batches
    /// Whether batches can be awaited.
    awaits_batches: AwaitsBatches
    /// Whether threads can wait for room.
    blocks_for_room: BlocksForRoom
    /// Whether room can be awaited.
    awaits_room: AwaitsRoom
    /// Whether channels can transform.
    transforms: Transforms
}

impl Tables {
    /// Permits, in whichever way they are waited for.
    pub(crate) fn reserves(&self) -> &'static dyn operations::Reserves {
        match self.blocks_for_room {
            Some(table) => table,
            None => self.awaits_room.expect(ASKED),
        }
    }
}

impl<'a, T: Send + 'static> Clause<'a, T> {
    fn packing(&self) -> Packings<T> {
        match self {
            Clause::Take(rx) => Packings {
                slot: Packing::PLAIN,
                take: rx.unpack,
            },
            Clause::Put(tx) => Packings {
                slot: tx.packing,
                take: Parcel::open,
            },
        }
    }

    fn port(&self) -> Port<'a> {
        match *self {
            Clause::Take(rx) => Port::Take(&rx.half),
            Clause::Put(tx) => Port::Put(&tx.half),
        }
    }
}

/// The clauses of an alts over channels that carry `T`, as the design's own.
pub(crate) struct Clauses<'a, T> {
    stated: Box<dyn operations::Clauses + 'a>,
    packings: Vec<Packings<T>>,
}

/// How the values of a clause are packed.
#[derive(Clone, Copy)]
struct Packings<T> {
    /// The value in its slot.
    slot: Packing<T>,
    /// The value that it takes.
    take: Unpack<T>,
}

/// Prepared clauses of an alts.
pub(crate) struct Alts<'a, T> {
    prepared: Box<dyn Prepared + 'a>,
    packings: &'a [Packings<T>],
}

const ASKED: &str = "what a design lacks is asked of none of its channels";

impl Channels {
    /// A design of these tables, which live as long as the process.
    pub(crate) fn of(tables: Tables) -> Channels {
        Channels(Box::leak(Box::new(tables)))
    }

    pub(crate) fn tables(self) -> &'static Tables {
        self.0
    }

    /// A new channel, or `None` where the design has no such buffer.
    pub(crate) fn open<T: Send + 'static>(self, buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        if self.0.in_turns && mixed::is_framed_next() {
            let (tx, rx) = self.0.framed.expect(ASKED).open::<Framed>(buffer)?;
            return Some((tx.carrying(Packing::FRAMED), rx.carrying(Parcel::unframed)));
        }
        let opened = self.0.base.open(buffer);
        opened.map(|pair| self.halves(pair, Packing::PLAIN))
    }

    /// As [`Channels::open`], of values that can be copied and compared.
    pub(crate) fn open_copied<T: Clone + PartialEq + Send + 'static>(
        self,
        buffer: Buffer,
    ) -> Option<(Tx<T>, Rx<T>)> {
        let opened = self.0.base.open(buffer);
        opened.map(|pair| self.halves(pair, Packing::COPIED))
    }

    /// Those of these buffers that the design has.
    pub(crate) fn having(self, buffers: &[Buffer]) -> impl Iterator<Item = Buffer> + '_ {
        let has = move |buffer: &Buffer| self.0.base.open(*buffer).is_some();
        buffers.iter().copied().filter(has)
    }

    /// A new promise.
    pub(crate) fn open_promise<T: Clone + PartialEq + Send + 'static>(self) -> (Tx<T>, Rx<T>) {
        self.halves(self.0.promises.expect(ASKED).open(), Packing::COPIED)
    }

    /// A new channel that transforms what is put.
    pub(crate) fn open_transformed<T: Send + 'static>(
        self,
        buffer: Buffer,
        transform: impl Transform<T>,
        mut handler: impl Handler<T>,
    ) -> Result<(Tx<T>, Rx<T>), TransformError> {
        let transform = Packed::boxed(transform);
        let handler = Box::new(move |panic| handler(panic).map(Parcel::of));
        let opened = self
            .0
            .transforms
            .expect(ASKED)
            .open(buffer, transform, handler);
        opened.map(|pair| self.halves(pair, Packing::PLAIN))
    }

    fn halves<T: Send + 'static>(self, (tx, rx): Pair, packing: Packing<T>) -> (Tx<T>, Rx<T>) {
        (Tx::new(self, tx, packing), Rx::new(self, rx))
    }

    /// Clauses of an alts, to be prepared.
    pub(crate) fn clauses<'a, T: Send + 'static>(
        self,
        clauses: &[Clause<'a, T>],
    ) -> Clauses<'a, T> {
        let ports: Vec<Port<'a>> = clauses.iter().map(Clause::port).collect();
        Clauses {
            stated: self.0.chooses.expect(ASKED).clauses(&ports),
            packings: clauses.iter().map(Clause::packing).collect(),
        }
    }

    /// Whether it has such a channel and its producer can close it.
    pub(crate) fn is_closable(self, buffer: Buffer) -> bool {
        let opened = self.0.base.open(buffer);
        opened.is_some_and(|(tx, _rx)| self.0.base.close(&tx))
    }
}

/// A transform of parcels.
pub(in crate::design) struct Packed<T, F>(F, PhantomData<fn(T) -> T>);

impl<T: Send + 'static, F: Transform<T>> Packed<T, F> {
    pub(in crate::design) fn boxed(transform: F) -> Box<dyn Transform<Parcel>> {
        Box::new(Packed(transform, PhantomData))
    }
}

impl<T: Send + 'static, F: Transform<T>> Transform<Parcel> for Packed<T, F> {
    fn step(&mut self, value: Parcel, emit: Emit<'_, Parcel>) -> ControlFlow<()> {
        self.0
            .step(value.open(), &mut |value| emit(Parcel::of(value)))
    }

    fn complete(&mut self, emit: Emit<'_, Parcel>) {
        self.0.complete(&mut |value| emit(Parcel::of(value)));
    }
}

impl<T: Send + 'static> Clauses<'_, T> {
    /// Readies the clauses for any number of runs.
    pub(crate) fn prepare(&self, order: Order) -> Alts<'_, T> {
        Alts {
            prepared: self.stated.prepare(order),
            packings: &self.packings,
        }
    }
}

impl<T: Send + 'static> Alts<'_, T> {
    /// Commits one clause, or none when patience ends first.
    pub(crate) fn run(
        &mut self,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        // The number of slots may differ from that of clauses; the design refuses that.
        let packings = self.packings.iter().map(|packings| packings.slot);
        let packings = packings.chain(std::iter::repeat(Packing::PLAIN));
        let packings: Vec<Packing<T>> = packings.take(slots.len()).collect();
        let packed = slots.iter_mut().zip(&packings);
        let mut packed: Vec<Option<Parcel>> = packed
            .map(|(slot, packing)| slot.take().map(packing.pack))
            .collect();
        let chosen = self.prepared.run(&mut packed, patience);
        for ((slot, packed), packing) in slots.iter_mut().zip(packed).zip(&packings) {
            *slot = packed.map(packing.unpack);
        }
        Ok(match chosen? {
            Chosen::Took { clause, value } => Chosen::Took {
                clause,
                // A clause that does not exist is an injected fault.
                value: value.map(match self.packings.get(clause) {
                    Some(packings) => packings.take,
                    None => Parcel::open,
                }),
            },
            Chosen::Put { clause, accepted } => Chosen::Put { clause, accepted },
            Chosen::Default => Chosen::Default,
            Chosen::TimedOut => Chosen::TimedOut,
        })
    }
}
