//! The combinators as the harness sees them: one family, over any channels.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use flowmeter_harness::channel::{AwaitAlts, Buffer, Message, Transform};
use flowmeter_harness::combinator::{Attribute, Combinators, SoloMode, Topic};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::AtEnd;

use super::{Input, Mix, Mult, Publication, Subscription, Tap};

/// The family of the functions of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverChannels;

impl<C: AwaitAlts> Combinators<C> for OverChannels {
    type Mult<T: Message + Clone> = Mult<C, T>;
    type Tap = Tap;
    type Mix<T: Message> = Mix<C, T>;
    type Input = Input;
    type Publication<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static> =
        Publication<C, K, T, S>;
    type Subscription<K: Topic> = Subscription<K>;

    fn pipe<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> C::Rx<()> {
        super::pipe::<C, T>(spawner, from, to, at_end)
    }
    fn split<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        is_first: impl FnMut(&T) -> bool + Send + 'static,
        buffers: (Buffer, Buffer),
    ) -> (C::Rx<T>, C::Rx<T>) {
        super::split::<C, T>(spawner, from, is_first, buffers)
    }
    fn merge<T: Message>(spawner: &impl Spawn, sources: Vec<C::Rx<T>>, buffer: Buffer) -> C::Rx<T> {
        super::merge::<C, T>(spawner, sources, buffer)
    }

    fn mult<T: Message + Clone>(spawner: &impl Spawn, from: C::Rx<T>) -> Mult<C, T> {
        super::mult::<C, T>(spawner, from)
    }
    fn tap<T: Message + Clone>(mult: &Mult<C, T>, to: C::Tx<T>, at_end: AtEnd) -> Tap {
        mult.tap(to, at_end)
    }
    fn untap<T: Message + Clone>(mult: &Mult<C, T>, tap: Tap) {
        mult.untap(tap);
    }
    fn untap_all<T: Message + Clone>(mult: &Mult<C, T>) {
        mult.untap_all();
    }

    fn mix<T: Message>(spawner: &impl Spawn, to: C::Tx<T>) -> Mix<C, T> {
        super::mix::<C, T>(spawner, to)
    }
    fn admix<T: Message>(mix: &Mix<C, T>, from: C::Rx<T>) -> Input {
        mix.admix(from)
    }
    fn unmix<T: Message>(mix: &Mix<C, T>, input: Input) {
        mix.unmix(input);
    }
    fn unmix_all<T: Message>(mix: &Mix<C, T>) {
        mix.unmix_all();
    }
    fn toggle<T: Message>(mix: &Mix<C, T>, changes: &[(Input, Attribute, bool)]) {
        mix.toggle(changes);
    }
    fn solo_mode<T: Message>(mix: &Mix<C, T>, mode: SoloMode) {
        mix.solo_mode(mode);
    }

    fn publish<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        spawner: S,
        from: C::Rx<T>,
        topic_of: impl FnMut(&T) -> K + Send + 'static,
        buffer_of: impl Fn(&K) -> Buffer + Send + Sync + 'static,
    ) -> Publication<C, K, T, S> {
        super::publish::<C, K, T, S>(spawner, from, topic_of, buffer_of)
    }
    fn sub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Publication<C, K, T, S>,
        topic: K,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> Subscription<K> {
        publication.sub(topic, to, at_end)
    }
    fn unsub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Publication<C, K, T, S>,
        subscription: &Subscription<K>,
    ) {
        publication.unsub(subscription);
    }
    fn unsub_all<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Publication<C, K, T, S>,
        topic: Option<&K>,
    ) {
        publication.unsub_all(topic);
    }

    fn onto_chan<T: Message>(
        spawner: &impl Spawn,
        to: C::Tx<T>,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
        at_end: AtEnd,
    ) -> C::Rx<()> {
        super::onto_chan::<C, T>(spawner, to, values, at_end)
    }
    fn to_chan<T: Message>(
        spawner: &impl Spawn,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    ) -> C::Rx<T> {
        super::to_chan::<C, T>(spawner, values)
    }

    fn collect<T: Message, B: Extend<T> + Message>(
        spawner: &impl Spawn,
        collection: B,
        from: C::Rx<T>,
    ) -> C::Rx<B> {
        super::into::<C, T, B>(spawner, collection, from)
    }
    fn reduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A> {
        super::reduce::<C, T, A>(spawner, from, init, fold)
    }
    fn transduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        transform: impl Transform<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A> {
        super::transduce::<C, T, A>(spawner, from, transform, init, fold)
    }

    fn map<T: Message, U: Message>(
        spawner: &impl Spawn,
        sources: Vec<C::Rx<T>>,
        buffer: Buffer,
        f: impl FnMut(Vec<T>) -> U + Send + 'static,
    ) -> C::Rx<U> {
        super::map::<C, T, U>(spawner, sources, buffer, f)
    }
    fn take<T: Message>(
        spawner: &impl Spawn,
        count: usize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T> {
        super::take::<C, T>(spawner, count, from, buffer)
    }
    fn unique<T: Message + Clone + PartialEq>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T> {
        super::unique::<C, T>(spawner, from, buffer)
    }
    fn partition<T: Message>(
        spawner: &impl Spawn,
        size: NonZeroUsize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>> {
        super::partition::<C, T>(spawner, size, from, buffer)
    }
    fn partition_by<T: Message, K: PartialEq + Send + 'static>(
        spawner: &impl Spawn,
        key: impl FnMut(&T) -> K + Send + 'static,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>> {
        super::partition_by::<C, T, K>(spawner, key, from, buffer)
    }
}
