//! Designs of combinators. Topics and keys are numbers. What a design makes besides channels is a [`Part`].

use std::any::Any;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::{Mutex, PoisonError};

use flowmeter_harness::channel::{AwaitAlts, Buffer, Message, Transform};
use flowmeter_harness::combinator::{Attribute, Combinators as Family, SoloMode};
use flowmeter_harness::executor;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::registry::Registered;

use super::channels::{BoxedTransform, Channels, Packed, Rx, Tx};
use super::executors::{Executors, Spawner};
use super::parcel::{Packing, Parcel};

/// A mult, a mix or a publication, or one of its taps, inputs or subscribers.
pub(crate) type Part = Box<dyn Any + Send + Sync>;
/// A channel to take from.
pub(crate) type Source = Rx<Parcel>;
/// A channel to put to.
pub(crate) type Sink = Tx<Parcel>;
/// A predicate over values.
pub(crate) type Test = Box<dyn FnMut(&Parcel) -> bool + Send>;
/// The topic of an item, or the key of a value.
pub(crate) type KeyOf = Box<dyn FnMut(&Parcel) -> u32 + Send>;
/// The buffer of a topic.
pub(crate) type BufferOf = Box<dyn Fn(&u32) -> Buffer + Send + Sync>;
/// The values of a collection.
pub(crate) type Values = Box<dyn Iterator<Item = Parcel> + Send>;
/// Adds a value to what is folded.
pub(crate) type Fold = Box<dyn FnMut(Parcel, Parcel) -> ControlFlow<Parcel, Parcel> + Send>;
/// Makes one value of several.
pub(crate) type Join = Box<dyn FnMut(Vec<Parcel>) -> Parcel + Send>;

/// A family of combinators of an implementation.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Its combinators.
    pub(crate) combinators: Combinators,
}

/// The combinators that a registry has shown.
#[derive(Default)]
pub(crate) struct Collected(Vec<Design>);

impl Collected {
    /// A design for each family of combinators.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0.into_iter()
    }

    pub(crate) fn combinators<F, C, E>(&mut self, implementation: &Registered)
    where
        F: Family<C>,
        C: AwaitAlts,
        E: executor::Executors,
    {
        let channels = Channels::awaited::<C, Parcel>();
        let table = Of::<F, C> {
            channels,
            ends: Channels::awaited::<C, ()>(),
            groups: Channels::awaited::<C, Vec<Parcel>>(),
            family: PhantomData,
        };
        self.0.push(Design {
            implementation: implementation.clone(),
            combinators: Combinators {
                table: Box::leak(Box::new(table)),
                channels,
                executors: Executors::of::<E>(),
            },
        });
    }
}

/// A design of combinators: its methods are those of [`Family`].
#[derive(Clone, Copy)]
pub(crate) struct Combinators {
    /// Its operations.
    pub(crate) table: &'static dyn Table,
    /// The channels that it takes from and puts to.
    pub(crate) channels: Channels,
    /// The executors that it runs on.
    pub(crate) executors: Executors,
}

/// The operations of a design. A partition's groups come as vectors of parcels.
pub(crate) trait Table: Sync {
    fn pipe(&self, go: &Spawner, from: Source, to: Sink, at_end: AtEnd) -> Source;
    fn split(
        &self,
        go: &Spawner,
        from: Source,
        is_first: Test,
        buffers: (Buffer, Buffer),
    ) -> (Source, Source);
    fn merge(&self, go: &Spawner, sources: Vec<Source>, buffer: Buffer) -> Source;
    fn mult(&self, go: &Spawner, from: Source) -> Part;
    fn tap(&self, mult: &Part, to: Sink, at_end: AtEnd) -> Part;
    fn untap(&self, mult: &Part, tap: &Part);
    fn untap_all(&self, mult: &Part);
    fn mix(&self, go: &Spawner, to: Sink) -> Part;
    fn admix(&self, mix: &Part, from: Source) -> Part;
    fn unmix(&self, mix: &Part, input: &Part);
    fn unmix_all(&self, mix: &Part);
    fn toggle(&self, mix: &Part, changes: &[(&Part, Attribute, bool)]);
    fn solo_mode(&self, mix: &Part, mode: SoloMode);
    fn publish(&self, go: &Spawner, from: Source, topic_of: KeyOf, buffer_of: BufferOf) -> Part;
    fn sub(&self, publication: &Part, topic: u32, to: Sink, at_end: AtEnd) -> Part;
    fn unsub(&self, publication: &Part, subscription: &Part);
    fn unsub_all(&self, publication: &Part, topic: Option<u32>);
    fn onto_chan(&self, go: &Spawner, to: Sink, values: Values, at_end: AtEnd) -> Source;
    fn to_chan(&self, go: &Spawner, values: Values) -> Source;
    fn collect(&self, go: &Spawner, collection: Parcel, from: Source) -> Source;
    fn reduce(&self, go: &Spawner, from: Source, init: Parcel, fold: Fold) -> Source;
    fn transduce(
        &self,
        go: &Spawner,
        from: Source,
        transform: Box<dyn Transform<Parcel>>,
        init: Parcel,
        fold: Fold,
    ) -> Source;
    fn map(&self, go: &Spawner, sources: Vec<Source>, buffer: Buffer, f: Join) -> Source;
    fn take(&self, go: &Spawner, count: usize, from: Source, buffer: Buffer) -> Source;
    fn unique(&self, go: &Spawner, from: Source, buffer: Buffer) -> Source;
    fn partition(&self, go: &Spawner, size: NonZeroUsize, from: Source, buffer: Buffer) -> Source;
    fn partition_by(&self, go: &Spawner, key: KeyOf, from: Source, buffer: Buffer) -> Source;
}

/// The family `F` over channels of the family `C`: the only place where their types are known.
struct Of<F, C> {
    channels: Channels,
    /// The channels of the end that a pipe reports.
    ends: Channels,
    /// The channels of groups.
    groups: Channels,
    family: PhantomData<fn(F, C)>,
}

fn whole<W: 'static>(part: &Part) -> &W {
    part.downcast_ref().expect(ITS_OWN)
}

/// A tap, an input or a subscriber: threads may share it whatever its type.
fn piece<P: Send + 'static>(piece: P) -> Part {
    Box::new(Mutex::new(piece))
}

fn of_piece<P: Clone + 'static>(part: &Part) -> P {
    let piece: &Mutex<P> = part.downcast_ref().expect(ITS_OWN);
    piece.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

const ITS_OWN: &str = "a part is used with the design that made it";

fn taken<H: 'static>(half: Box<dyn Any + Send>) -> H {
    *half
        .downcast()
        .expect("a combinator's channels are of its own design")
}

fn all_taken<H: 'static>(sources: Vec<Source>) -> Vec<H> {
    sources.into_iter().map(|from| taken(from.half)).collect()
}

impl<F: Family<C>, C: AwaitAlts> Of<F, C> {
    fn given(&self, rx: C::Rx<Parcel>) -> Source {
        Rx::new(self.channels, Box::new(rx))
    }
    fn end(&self, rx: C::Rx<()>) -> Source {
        Rx::new(self.ends, Box::new(rx))
    }
    fn grouped(&self, rx: C::Rx<Vec<Parcel>>) -> Source {
        Rx::new(self.groups, Box::new(rx))
    }
}

impl<F: Family<C>, C: AwaitAlts> Table for Of<F, C> {
    fn pipe(&self, go: &Spawner, from: Source, to: Sink, at_end: AtEnd) -> Source {
        self.end(F::pipe::<Parcel>(
            go,
            taken(from.half),
            taken(to.half),
            at_end,
        ))
    }
    fn split(
        &self,
        go: &Spawner,
        from: Source,
        is_first: Test,
        buffers: (Buffer, Buffer),
    ) -> (Source, Source) {
        let (first, second) = F::split::<Parcel>(go, taken(from.half), is_first, buffers);
        (self.given(first), self.given(second))
    }
    fn merge(&self, go: &Spawner, sources: Vec<Source>, buffer: Buffer) -> Source {
        self.given(F::merge::<Parcel>(go, all_taken(sources), buffer))
    }

    fn mult(&self, go: &Spawner, from: Source) -> Part {
        Box::new(F::mult::<Parcel>(go, taken(from.half)))
    }
    fn tap(&self, mult: &Part, to: Sink, at_end: AtEnd) -> Part {
        piece(F::tap::<Parcel>(whole(mult), taken(to.half), at_end))
    }
    fn untap(&self, mult: &Part, tap: &Part) {
        F::untap::<Parcel>(whole(mult), of_piece(tap));
    }
    fn untap_all(&self, mult: &Part) {
        F::untap_all::<Parcel>(whole(mult));
    }

    fn mix(&self, go: &Spawner, to: Sink) -> Part {
        Box::new(F::mix::<Parcel>(go, taken(to.half)))
    }
    fn admix(&self, mix: &Part, from: Source) -> Part {
        piece(F::admix::<Parcel>(whole(mix), taken(from.half)))
    }
    fn unmix(&self, mix: &Part, input: &Part) {
        F::unmix::<Parcel>(whole(mix), of_piece(input));
    }
    fn unmix_all(&self, mix: &Part) {
        F::unmix_all::<Parcel>(whole(mix));
    }
    fn toggle(&self, mix: &Part, changes: &[(&Part, Attribute, bool)]) {
        let changes = changes.iter();
        let changes: Vec<_> = changes
            .map(|(input, what, on)| (of_piece(input), *what, *on))
            .collect();
        F::toggle::<Parcel>(whole(mix), &changes);
    }
    fn solo_mode(&self, mix: &Part, mode: SoloMode) {
        F::solo_mode::<Parcel>(whole(mix), mode);
    }

    fn publish(&self, go: &Spawner, from: Source, topic_of: KeyOf, buffer_of: BufferOf) -> Part {
        let (go, from) = (go.clone(), taken(from.half));
        Box::new(F::publish::<u32, Parcel, Spawner>(
            go, from, topic_of, buffer_of,
        ))
    }
    fn sub(&self, publication: &Part, topic: u32, to: Sink, at_end: AtEnd) -> Part {
        let to = taken(to.half);
        piece(F::sub::<u32, Parcel, Spawner>(
            whole(publication),
            topic,
            to,
            at_end,
        ))
    }
    fn unsub(&self, publication: &Part, subscription: &Part) {
        F::unsub::<u32, Parcel, Spawner>(whole(publication), &of_piece(subscription));
    }
    fn unsub_all(&self, publication: &Part, topic: Option<u32>) {
        F::unsub_all::<u32, Parcel, Spawner>(whole(publication), topic.as_ref());
    }

    fn onto_chan(&self, go: &Spawner, to: Sink, values: Values, at_end: AtEnd) -> Source {
        self.end(F::onto_chan::<Parcel>(go, taken(to.half), values, at_end))
    }
    fn to_chan(&self, go: &Spawner, values: Values) -> Source {
        self.given(F::to_chan::<Parcel>(go, values))
    }

    fn collect(&self, go: &Spawner, collection: Parcel, from: Source) -> Source {
        let from = taken(from.half);
        self.given(F::collect::<Parcel, Parcel>(go, collection, from))
    }
    fn reduce(&self, go: &Spawner, from: Source, init: Parcel, fold: Fold) -> Source {
        self.given(F::reduce::<Parcel, Parcel>(
            go,
            taken(from.half),
            init,
            fold,
        ))
    }
    fn transduce(
        &self,
        go: &Spawner,
        from: Source,
        transform: Box<dyn Transform<Parcel>>,
        init: Parcel,
        fold: Fold,
    ) -> Source {
        let (from, transform) = (taken(from.half), BoxedTransform(transform));
        self.given(F::transduce::<Parcel, Parcel>(
            go, from, transform, init, fold,
        ))
    }

    fn map(&self, go: &Spawner, sources: Vec<Source>, buffer: Buffer, f: Join) -> Source {
        self.given(F::map::<Parcel, Parcel>(go, all_taken(sources), buffer, f))
    }
    fn take(&self, go: &Spawner, count: usize, from: Source, buffer: Buffer) -> Source {
        self.given(F::take::<Parcel>(go, count, taken(from.half), buffer))
    }
    fn unique(&self, go: &Spawner, from: Source, buffer: Buffer) -> Source {
        self.given(F::unique::<Parcel>(go, taken(from.half), buffer))
    }
    fn partition(&self, go: &Spawner, size: NonZeroUsize, from: Source, buffer: Buffer) -> Source {
        self.grouped(F::partition::<Parcel>(go, size, taken(from.half), buffer))
    }
    fn partition_by(&self, go: &Spawner, key: KeyOf, from: Source, buffer: Buffer) -> Source {
        self.grouped(F::partition_by::<Parcel, u32>(
            go,
            key,
            taken(from.half),
            buffer,
        ))
    }
}

impl Combinators {
    pub(crate) fn pipe<T: Message>(
        self,
        go: &Spawner,
        from: Rx<T>,
        to: Tx<T>,
        at_end: AtEnd,
    ) -> Rx<()> {
        let end = self.table.pipe(go, source(from), sink(to), at_end);
        end.carrying(Parcel::open)
    }

    pub(crate) fn split<T: Message>(
        self,
        go: &Spawner,
        from: Rx<T>,
        mut is_first: impl FnMut(&T) -> bool + Send + 'static,
        buffers: (Buffer, Buffer),
    ) -> (Rx<T>, Rx<T>) {
        let is_first = Box::new(move |value: &Parcel| is_first(value.look()));
        let (first, second) = self.table.split(go, source(from), is_first, buffers);
        (first.carrying(Parcel::open), second.carrying(Parcel::open))
    }

    pub(crate) fn merge<T: Message>(
        self,
        go: &Spawner,
        sources: Vec<Rx<T>>,
        buffer: Buffer,
    ) -> Rx<T> {
        let sources = sources.into_iter().map(source).collect();
        self.table.merge(go, sources, buffer).carrying(Parcel::open)
    }

    /// The source was opened by [`Channels::open_copied`].
    pub(crate) fn mult<T: Message>(self, go: &Spawner, from: Rx<T>) -> Part {
        self.table.mult(go, source(from))
    }

    pub(crate) fn tap<T: Message>(self, mult: &Part, to: Tx<T>, at_end: AtEnd) -> Part {
        self.table.tap(mult, sink(to), at_end)
    }

    pub(crate) fn untap(self, mult: &Part, tap: &Part) {
        self.table.untap(mult, tap);
    }

    pub(crate) fn untap_all(self, mult: &Part) {
        self.table.untap_all(mult);
    }

    pub(crate) fn mix<T: Message>(self, go: &Spawner, to: Tx<T>) -> Part {
        self.table.mix(go, sink(to))
    }

    pub(crate) fn admix<T: Message>(self, mix: &Part, from: Rx<T>) -> Part {
        self.table.admix(mix, source(from))
    }

    pub(crate) fn unmix(self, mix: &Part, input: &Part) {
        self.table.unmix(mix, input);
    }

    pub(crate) fn unmix_all(self, mix: &Part) {
        self.table.unmix_all(mix);
    }

    pub(crate) fn toggle(self, mix: &Part, changes: &[(&Part, Attribute, bool)]) {
        self.table.toggle(mix, changes);
    }

    pub(crate) fn solo_mode(self, mix: &Part, mode: SoloMode) {
        self.table.solo_mode(mix, mode);
    }

    /// The source was opened by [`Channels::open_copied`].
    pub(crate) fn publish<T: Message>(
        self,
        go: &Spawner,
        from: Rx<T>,
        topic_of: impl FnMut(&T) -> u32 + Send + 'static,
        buffer_of: impl Fn(&u32) -> Buffer + Send + Sync + 'static,
    ) -> Part {
        let buffer_of = Box::new(buffer_of);
        self.table
            .publish(go, source(from), key_of(topic_of), buffer_of)
    }

    pub(crate) fn sub<T: Message>(
        self,
        publication: &Part,
        topic: u32,
        to: Tx<T>,
        at_end: AtEnd,
    ) -> Part {
        self.table.sub(publication, topic, sink(to), at_end)
    }

    pub(crate) fn unsub(self, publication: &Part, subscription: &Part) {
        self.table.unsub(publication, subscription);
    }

    pub(crate) fn unsub_all(self, publication: &Part, topic: Option<u32>) {
        self.table.unsub_all(publication, topic);
    }

    pub(crate) fn onto_chan<T: Message>(
        self,
        go: &Spawner,
        to: Tx<T>,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
        at_end: AtEnd,
    ) -> Rx<()> {
        let end = self.table.onto_chan(go, sink(to), packed(values), at_end);
        end.carrying(Parcel::open)
    }

    pub(crate) fn to_chan<T: Message>(
        self,
        go: &Spawner,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    ) -> Rx<T> {
        self.table
            .to_chan(go, packed(values))
            .carrying(Parcel::open)
    }

    pub(crate) fn collect<T: Message, B: Extend<T> + Message>(
        self,
        go: &Spawner,
        collection: B,
        from: Rx<T>,
    ) -> Rx<B> {
        let collection = Parcel::collection(collection);
        let collected = self.table.collect(go, collection, source(from));
        collected.carrying(Parcel::open)
    }

    pub(crate) fn reduce<T: Message, A: Message>(
        self,
        go: &Spawner,
        from: Rx<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> Rx<A> {
        let (init, fold) = (Parcel::of(init), folding(fold));
        let folded = self.table.reduce(go, source(from), init, fold);
        folded.carrying(Parcel::open)
    }

    pub(crate) fn transduce<T: Message, A: Message>(
        self,
        go: &Spawner,
        from: Rx<T>,
        transform: impl Transform<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> Rx<A> {
        let (from, transform) = (source(from), Packed::boxed(transform));
        let (init, fold) = (Parcel::of(init), folding(fold));
        let folded = self.table.transduce(go, from, transform, init, fold);
        folded.carrying(Parcel::open)
    }

    pub(crate) fn map<T: Message, U: Message>(
        self,
        go: &Spawner,
        sources: Vec<Rx<T>>,
        buffer: Buffer,
        mut f: impl FnMut(Vec<T>) -> U + Send + 'static,
    ) -> Rx<U> {
        let sources = sources.into_iter().map(source).collect();
        let f = Box::new(move |values| Parcel::of(f(group(values))));
        self.table
            .map(go, sources, buffer, f)
            .carrying(Parcel::open)
    }

    pub(crate) fn take<T: Message>(
        self,
        go: &Spawner,
        count: usize,
        from: Rx<T>,
        buffer: Buffer,
    ) -> Rx<T> {
        let taken = self.table.take(go, count, source(from), buffer);
        taken.carrying(Parcel::open)
    }

    /// The source was opened by [`Channels::open_copied`].
    pub(crate) fn unique<T: Message>(self, go: &Spawner, from: Rx<T>, buffer: Buffer) -> Rx<T> {
        let unique = self.table.unique(go, source(from), buffer);
        unique.carrying(Parcel::open)
    }

    pub(crate) fn partition<T: Message>(
        self,
        go: &Spawner,
        size: NonZeroUsize,
        from: Rx<T>,
        buffer: Buffer,
    ) -> Rx<Vec<T>> {
        let groups = self.table.partition(go, size, source(from), buffer);
        groups.carrying(|groups| group(groups.open()))
    }

    pub(crate) fn partition_by<T: Message>(
        self,
        go: &Spawner,
        key: impl FnMut(&T) -> u32 + Send + 'static,
        from: Rx<T>,
        buffer: Buffer,
    ) -> Rx<Vec<T>> {
        let key = key_of(key);
        let groups = self.table.partition_by(go, key, source(from), buffer);
        groups.carrying(|groups| group(groups.open()))
    }
}

fn source<T: Message>(from: Rx<T>) -> Source {
    from.carrying(Parcel::open)
}

fn sink<T: Message>(to: Tx<T>) -> Sink {
    to.carrying(Packing::PLAIN)
}

fn key_of<T: Message>(mut key: impl FnMut(&T) -> u32 + Send + 'static) -> KeyOf {
    Box::new(move |value| key(value.look()))
}

fn packed<T: Message>(values: impl IntoIterator<Item = T, IntoIter: Send + 'static>) -> Values {
    Box::new(values.into_iter().map(Parcel::of))
}

fn group<T: Message>(values: Vec<Parcel>) -> Vec<T> {
    values.into_iter().map(Parcel::open).collect()
}

fn folding<T: Message, A: Message>(
    mut fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
) -> Fold {
    Box::new(
        move |folded, value| match fold(folded.open(), value.open()) {
            Continue(folded) => Continue(Parcel::of(folded)),
            Break(folded) => Break(Parcel::of(folded)),
        },
    )
}
