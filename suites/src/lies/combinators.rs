//! Lies about combinators: what they take, what they put, when they end, and what is set in a mix.

use std::marker::PhantomData;
use std::mem::forget;
use std::num::NonZeroUsize;
use std::ops::ControlFlow::{self, Break, Continue};

use flowmeter_harness::channel::{AwaitAlts, Buffer, Emit, Message, Transform};
use flowmeter_harness::combinator::{Attribute, Combinators, SoloMode, Topic};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::AtEnd;

use super::told;

/// A family that does what `F` does, but for one lie.
pub(super) struct Lying<F>(PhantomData<fn() -> F>);

fn open<C: AwaitAlts, T: Message>() -> (C::Tx<T>, C::Rx<T>) {
    C::open(Buffer::Unbounded).expect("ours have unbounded channels")
}

/// What comes out of a channel behind the first values, which are lost, read ahead without any limit.
fn ahead<C: AwaitAlts, T: Message>(go: &impl Spawn, mut from: C::Rx<T>, lost: usize) -> C::Rx<T> {
    let (mut to, rx) = open::<C, T>();
    go.spawn(async move {
        let mut values = 0;
        while let Ok(value) = C::take_async(&mut from).await {
            values += 1;
            if values > lost {
                let _ = C::put_async(&mut to, value).await;
            }
        }
        C::close(&to);
    });
    rx
}

/// What is taken for a source.
fn source<C: AwaitAlts, T: Message>(go: &impl Spawn, mut from: C::Rx<T>) -> C::Rx<T> {
    if told("a source is read ahead") {
        return ahead::<C, T>(go, from, 0);
    }
    if told("a source loses a value") {
        return ahead::<C, T>(go, from, 1);
    }
    if told("a source is closed") {
        C::close_rx(&mut from);
    }
    if told("a source is never let go") {
        forget(C::another_rx(&from));
    }
    from
}

fn sources<C: AwaitAlts, T: Message>(go: &impl Spawn, from: Vec<C::Rx<T>>) -> Vec<C::Rx<T>> {
    let forgotten = usize::from(told("a source is forgotten"));
    let from = from.into_iter().skip(forgotten);
    from.map(|from| source::<C, T>(go, from)).collect()
}

/// What is put to for an output.
fn target<C: AwaitAlts, T: Message>(to: C::Tx<T>) -> C::Tx<T> {
    if told("an output is closed too soon") {
        C::close(&to);
    }
    to
}

/// What is given for an output.
fn output<C: AwaitAlts, T: Message>(go: &impl Spawn, mut rx: C::Rx<T>) -> C::Rx<T> {
    if told("an output is closed too soon") {
        C::close_rx(&mut rx);
    }
    if told("an output is read ahead") {
        return ahead::<C, T>(go, rx, 0);
    }
    if told("an output loses a value") {
        return ahead::<C, T>(go, rx, 1);
    }
    rx
}

fn at_the_end(at_end: AtEnd) -> AtEnd {
    match at_end {
        AtEnd::LeaveOpen if told("an output is closed that was to stay open") => AtEnd::Close,
        at_end => at_end,
    }
}

fn collection<T: Message>(
    values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
) -> Box<dyn Iterator<Item = T> + Send> {
    let mut values = values.into_iter();
    if told("a value of a collection is left out") {
        return Box::new(values.skip(1));
    }
    if told("a collection is read ahead") {
        let ahead: Vec<T> = values.by_ref().take(8).collect();
        return Box::new(ahead.into_iter().chain(values));
    }
    Box::new(values)
}

fn early<A>(flow: ControlFlow<A, A>) -> ControlFlow<A, A> {
    match flow {
        Break(folded) if told("an early end is ignored") => Continue(folded),
        flow => flow,
    }
}

/// A transform that does not end early, or is not completed.
struct LyingTransform<X>(X);

impl<T, X: Transform<T>> Transform<T> for LyingTransform<X> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        let flow = self.0.step(value, emit);
        if flow.is_break() && told("an early end is ignored") {
            return Continue(());
        }
        flow
    }

    fn complete(&mut self, emit: Emit<'_, T>) {
        if !told("a transform is not completed") {
            self.0.complete(emit);
        }
    }
}

impl<C: AwaitAlts, F: Combinators<C>> Combinators<C> for Lying<F> {
    type Mult<T: Message + Clone> = F::Mult<T>;
    type Tap = F::Tap;
    type Mix<T: Message> = F::Mix<T>;
    type Input = F::Input;
    type Publication<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static> =
        F::Publication<K, T, S>;
    type Subscription<K: Topic> = F::Subscription<K>;

    fn pipe<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> C::Rx<()> {
        let (from, to) = (source::<C, T>(spawner, from), target::<C, T>(to));
        F::pipe::<T>(spawner, from, to, at_the_end(at_end))
    }
    fn split<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        mut is_first: impl FnMut(&T) -> bool + Send + 'static,
        buffers: (Buffer, Buffer),
    ) -> (C::Rx<T>, C::Rx<T>) {
        let from = source::<C, T>(spawner, from);
        let is_first = move |value: &T| is_first(value) != told("a value goes the other way");
        let (first, second) = F::split::<T>(spawner, from, is_first, buffers);
        (
            output::<C, T>(spawner, first),
            output::<C, T>(spawner, second),
        )
    }
    fn merge<T: Message>(spawner: &impl Spawn, from: Vec<C::Rx<T>>, buffer: Buffer) -> C::Rx<T> {
        let from = sources::<C, T>(spawner, from);
        output::<C, T>(spawner, F::merge::<T>(spawner, from, buffer))
    }

    fn mult<T: Message + Clone>(spawner: &impl Spawn, from: C::Rx<T>) -> Self::Mult<T> {
        F::mult::<T>(spawner, source::<C, T>(spawner, from))
    }
    fn tap<T: Message + Clone>(mult: &Self::Mult<T>, to: C::Tx<T>, at_end: AtEnd) -> Self::Tap {
        if told("a channel is tapped twice")
            && let Some(again) = C::another_tx(&to)
        {
            F::tap::<T>(mult, again, AtEnd::LeaveOpen);
        }
        F::tap::<T>(mult, target::<C, T>(to), at_the_end(at_end))
    }
    fn untap<T: Message + Clone>(mult: &Self::Mult<T>, tap: Self::Tap) {
        if told("all taps leave with one") {
            F::untap_all::<T>(mult);
        }
        F::untap::<T>(mult, tap);
    }
    fn untap_all<T: Message + Clone>(mult: &Self::Mult<T>) {
        F::untap_all::<T>(mult);
    }

    fn mix<T: Message>(spawner: &impl Spawn, to: C::Tx<T>) -> Self::Mix<T> {
        F::mix::<T>(spawner, target::<C, T>(to))
    }
    fn admix<T: Message>(mix: &Self::Mix<T>, mut from: C::Rx<T>) -> Self::Input {
        if told("an input loses a value") {
            drop(C::poll::<T>(&mut from));
        }
        if told("an input is never let go") {
            forget(C::another_rx(&from));
        }
        let input = F::admix::<T>(mix, from);
        if told("an input is muted at first") {
            F::toggle::<T>(mix, &[(input, Attribute::Mute, true)]);
        }
        input
    }
    fn unmix<T: Message>(mix: &Self::Mix<T>, input: Self::Input) {
        if !told("an input is not removed") {
            F::unmix::<T>(mix, input);
        }
    }
    fn unmix_all<T: Message>(mix: &Self::Mix<T>) {
        if !told("an input is not removed") {
            F::unmix_all::<T>(mix);
        }
    }
    fn toggle<T: Message>(mix: &Self::Mix<T>, changes: &[(Self::Input, Attribute, bool)]) {
        if told("attributes are not set") {
            return;
        }
        if told("inputs are removed where attributes are set") {
            for (input, ..) in changes {
                F::unmix::<T>(mix, *input);
            }
        }
        F::toggle::<T>(mix, changes);
    }
    fn solo_mode<T: Message>(mix: &Self::Mix<T>, mode: SoloMode) {
        if !told("the mode of solos is not set") {
            F::solo_mode::<T>(mix, mode);
        }
    }

    fn publish<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        spawner: S,
        from: C::Rx<T>,
        topic_of: impl FnMut(&T) -> K + Send + 'static,
        buffer_of: impl Fn(&K) -> Buffer + Send + Sync + 'static,
    ) -> Self::Publication<K, T, S> {
        let from = source::<C, T>(&spawner, from);
        let buffer_of = move |topic: &K| {
            if told("the buffer of a topic is asked for twice") {
                buffer_of(topic);
            }
            buffer_of(topic)
        };
        F::publish::<K, T, S>(spawner, from, topic_of, buffer_of)
    }
    fn sub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: K,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> Self::Subscription<K> {
        let (to, at_end) = (target::<C, T>(to), at_the_end(at_end));
        F::sub::<K, T, S>(publication, topic, to, at_end)
    }
    fn unsub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        subscription: &Self::Subscription<K>,
    ) {
        F::unsub::<K, T, S>(publication, subscription);
    }
    fn unsub_all<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: Option<&K>,
    ) {
        if !told("subscribers stay") {
            F::unsub_all::<K, T, S>(publication, topic);
        }
    }

    fn onto_chan<T: Message>(
        spawner: &impl Spawn,
        to: C::Tx<T>,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
        at_end: AtEnd,
    ) -> C::Rx<()> {
        let (to, values) = (target::<C, T>(to), collection(values));
        F::onto_chan::<T>(spawner, to, values, at_the_end(at_end))
    }
    fn to_chan<T: Message>(
        spawner: &impl Spawn,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    ) -> C::Rx<T> {
        output::<C, T>(spawner, F::to_chan::<T>(spawner, collection(values)))
    }

    fn collect<T: Message, B: Extend<T> + Message>(
        spawner: &impl Spawn,
        collection: B,
        from: C::Rx<T>,
    ) -> C::Rx<B> {
        let from = source::<C, T>(spawner, from);
        output::<C, B>(spawner, F::collect::<T, B>(spawner, collection, from))
    }
    fn reduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        init: A,
        mut fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A> {
        let from = source::<C, T>(spawner, from);
        let fold = move |folded, value| early(fold(folded, value));
        output::<C, A>(spawner, F::reduce::<T, A>(spawner, from, init, fold))
    }
    fn transduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        transform: impl Transform<T>,
        init: A,
        mut fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A> {
        let from = source::<C, T>(spawner, from);
        let fold = move |folded, value| early(fold(folded, value));
        let transform = LyingTransform(transform);
        let folded = F::transduce::<T, A>(spawner, from, transform, init, fold);
        output::<C, A>(spawner, folded)
    }

    fn map<T: Message, U: Message>(
        spawner: &impl Spawn,
        from: Vec<C::Rx<T>>,
        buffer: Buffer,
        f: impl FnMut(Vec<T>) -> U + Send + 'static,
    ) -> C::Rx<U> {
        let from = sources::<C, T>(spawner, from);
        output::<C, U>(spawner, F::map::<T, U>(spawner, from, buffer, f))
    }
    fn take<T: Message>(
        spawner: &impl Spawn,
        count: usize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T> {
        let from = source::<C, T>(spawner, from);
        let count = count + usize::from(told("one more is taken"));
        output::<C, T>(spawner, F::take::<T>(spawner, count, from, buffer))
    }
    fn unique<T: Message + Clone + PartialEq>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T> {
        let from = source::<C, T>(spawner, from);
        output::<C, T>(spawner, F::unique::<T>(spawner, from, buffer))
    }
    fn partition<T: Message>(
        spawner: &impl Spawn,
        size: NonZeroUsize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>> {
        let from = source::<C, T>(spawner, from);
        let groups = F::partition::<T>(spawner, size, from, buffer);
        output::<C, Vec<T>>(spawner, groups)
    }
    fn partition_by<T: Message, K: PartialEq + Send + 'static>(
        spawner: &impl Spawn,
        key: impl FnMut(&T) -> K + Send + 'static,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>> {
        let from = source::<C, T>(spawner, from);
        let groups = F::partition_by::<T, K>(spawner, key, from, buffer);
        output::<C, Vec<T>>(spawner, groups)
    }
}
