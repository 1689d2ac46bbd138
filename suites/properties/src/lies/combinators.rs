//! Faults injected into combinators: what they take and put, when they end, and the settings of a mix.

use std::mem::forget;
use std::num::NonZeroUsize;
use std::ops::ControlFlow::{self, Break, Continue};

use flowmeter_harness::channel::{Buffer, Emit, Transform};
use flowmeter_harness::combinator::{Attribute, SoloMode};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::AtEnd;

use super::{executors, told};
use crate::design::Parcel;
use crate::design::combinators::{
    BufferOf, Combinators, Design, Fold, Join, KeyOf, Part, Sink, Source, Table, Test, Values,
};
use crate::design::executors::Spawner;

/// The design with one fault, on an executor that may have faults as well.
pub(crate) fn lying(design: Design) -> Design {
    let table = Box::leak(Box::new(Lying(design.combinators.table)));
    Design {
        combinators: Combinators {
            table,
            executors: executors::running(design.combinators.executors),
            ..design.combinators
        },
        ..design
    }
}

/// The operations of a design that behaves like the real one, except for one fault.
struct Lying(&'static dyn Table);

/// The values of a channel after the first `lost`, which are lost; it is read ahead without limit.
fn ahead(go: &Spawner, mut from: Source, lost: usize) -> Source {
    let opened = from.channels().open(Buffer::Unbounded);
    let (mut to, rx) = opened.expect("ours have unbounded channels");
    go.spawn(async move {
        let mut values = 0;
        while let Ok(value) = from.take_async().await {
            values += 1;
            if values > lost {
                let _ = to.put_async(value).await;
            }
        }
        to.close();
    });
    rx
}

/// The channel that is used as a source.
fn source(go: &Spawner, mut from: Source) -> Source {
    if told("a source is read ahead") {
        return ahead(go, from, 0);
    }
    if told("a source loses a value") {
        return ahead(go, from, 1);
    }
    if told("a source is closed") {
        from.close();
    }
    if told("a source is never let go") {
        forget(from.another());
    }
    from
}

fn sources(go: &Spawner, from: Vec<Source>) -> Vec<Source> {
    let forgotten = usize::from(told("a source is forgotten"));
    let from = from.into_iter().skip(forgotten);
    from.map(|from| source(go, from)).collect()
}

/// The channel that is used as an output.
fn target(to: Sink) -> Sink {
    if told("an output is closed too soon") {
        to.close();
    }
    to
}

/// The channel that is returned as an output.
fn output(go: &Spawner, mut rx: Source) -> Source {
    if told("an output is closed too soon") {
        rx.close();
    }
    if told("an output is read ahead") {
        return ahead(go, rx, 0);
    }
    if told("an output loses a value") {
        return ahead(go, rx, 1);
    }
    rx
}

fn at_the_end(at_end: AtEnd) -> AtEnd {
    match at_end {
        AtEnd::LeaveOpen if told("an output is closed that was to stay open") => AtEnd::Close,
        at_end => at_end,
    }
}

fn collection(mut values: Values) -> Values {
    if told("a value of a collection is left out") {
        return Box::new(values.skip(1));
    }
    if told("a collection is read ahead") {
        let ahead: Vec<Parcel> = values.by_ref().take(8).collect();
        return Box::new(ahead.into_iter().chain(values));
    }
    values
}

fn folding(mut fold: Fold) -> Fold {
    Box::new(move |folded, value| match fold(folded, value) {
        Break(folded) if told("an early end is ignored") => Continue(folded),
        flow => flow,
    })
}

/// A transform that does not end early, or is not completed.
struct LyingTransform(Box<dyn Transform<Parcel>>);

impl Transform<Parcel> for LyingTransform {
    fn step(&mut self, value: Parcel, emit: Emit<'_, Parcel>) -> ControlFlow<()> {
        let flow = self.0.step(value, emit);
        if flow.is_break() && told("an early end is ignored") {
            return Continue(());
        }
        flow
    }

    fn complete(&mut self, emit: Emit<'_, Parcel>) {
        if !told("a transform is not completed") {
            self.0.complete(emit);
        }
    }
}

impl Table for Lying {
    fn pipe(&self, go: &Spawner, from: Source, to: Sink, at_end: AtEnd) -> Source {
        let (from, to) = (source(go, from), target(to));
        self.0.pipe(go, from, to, at_the_end(at_end))
    }
    fn split(
        &self,
        go: &Spawner,
        from: Source,
        mut is_first: Test,
        buffers: (Buffer, Buffer),
    ) -> (Source, Source) {
        let from = source(go, from);
        let is_first = move |value: &Parcel| is_first(value) != told("a value goes the other way");
        let (first, second) = self.0.split(go, from, Box::new(is_first), buffers);
        (output(go, first), output(go, second))
    }
    fn merge(&self, go: &Spawner, from: Vec<Source>, buffer: Buffer) -> Source {
        let from = sources(go, from);
        output(go, self.0.merge(go, from, buffer))
    }

    fn mult(&self, go: &Spawner, from: Source) -> Part {
        self.0.mult(go, source(go, from))
    }
    fn tap(&self, mult: &Part, to: Sink, at_end: AtEnd) -> Part {
        if told("a channel is tapped twice")
            && let Some(again) = to.another()
        {
            self.0.tap(mult, again, AtEnd::LeaveOpen);
        }
        self.0.tap(mult, target(to), at_the_end(at_end))
    }
    fn untap(&self, mult: &Part, tap: &Part) {
        if told("all taps leave with one") {
            self.0.untap_all(mult);
        }
        self.0.untap(mult, tap);
    }
    fn untap_all(&self, mult: &Part) {
        self.0.untap_all(mult);
    }

    fn mix(&self, go: &Spawner, to: Sink) -> Part {
        self.0.mix(go, target(to))
    }
    fn admix(&self, mix: &Part, mut from: Source) -> Part {
        if told("an input loses a value") {
            drop(from.poll());
        }
        if told("an input is never let go") {
            forget(from.another());
        }
        let input = self.0.admix(mix, from);
        if told("an input is muted at first") {
            self.0.toggle(mix, &[(&input, Attribute::Mute, true)]);
        }
        input
    }
    fn unmix(&self, mix: &Part, input: &Part) {
        if !told("an input is not removed") {
            self.0.unmix(mix, input);
        }
    }
    fn unmix_all(&self, mix: &Part) {
        if !told("an input is not removed") {
            self.0.unmix_all(mix);
        }
    }
    fn toggle(&self, mix: &Part, changes: &[(&Part, Attribute, bool)]) {
        if told("attributes are not set") {
            return;
        }
        if told("inputs are removed where attributes are set") {
            for (input, ..) in changes {
                self.0.unmix(mix, input);
            }
        }
        self.0.toggle(mix, changes);
    }
    fn solo_mode(&self, mix: &Part, mode: SoloMode) {
        if !told("the mode of solos is not set") {
            self.0.solo_mode(mix, mode);
        }
    }

    fn publish(&self, go: &Spawner, from: Source, topic_of: KeyOf, buffer_of: BufferOf) -> Part {
        let from = source(go, from);
        let buffer_of = move |topic: &u32| {
            if told("the buffer of a topic is asked for twice") {
                buffer_of(topic);
            }
            buffer_of(topic)
        };
        self.0.publish(go, from, topic_of, Box::new(buffer_of))
    }
    fn sub(&self, publication: &Part, topic: u32, to: Sink, at_end: AtEnd) -> Part {
        let (to, at_end) = (target(to), at_the_end(at_end));
        self.0.sub(publication, topic, to, at_end)
    }
    fn unsub(&self, publication: &Part, subscription: &Part) {
        self.0.unsub(publication, subscription);
    }
    fn unsub_all(&self, publication: &Part, topic: Option<u32>) {
        if !told("subscribers stay") {
            self.0.unsub_all(publication, topic);
        }
    }

    fn onto_chan(&self, go: &Spawner, to: Sink, values: Values, at_end: AtEnd) -> Source {
        let (to, values) = (target(to), collection(values));
        self.0.onto_chan(go, to, values, at_the_end(at_end))
    }
    fn to_chan(&self, go: &Spawner, values: Values) -> Source {
        output(go, self.0.to_chan(go, collection(values)))
    }

    fn collect(&self, go: &Spawner, collection: Parcel, from: Source) -> Source {
        let from = source(go, from);
        output(go, self.0.collect(go, collection, from))
    }
    fn reduce(&self, go: &Spawner, from: Source, init: Parcel, fold: Fold) -> Source {
        let from = source(go, from);
        output(go, self.0.reduce(go, from, init, folding(fold)))
    }
    fn transduce(
        &self,
        go: &Spawner,
        from: Source,
        transform: Box<dyn Transform<Parcel>>,
        init: Parcel,
        fold: Fold,
    ) -> Source {
        let from = source(go, from);
        let transform = Box::new(LyingTransform(transform));
        let folded = self.0.transduce(go, from, transform, init, folding(fold));
        output(go, folded)
    }

    fn map(&self, go: &Spawner, from: Vec<Source>, buffer: Buffer, f: Join) -> Source {
        let from = sources(go, from);
        output(go, self.0.map(go, from, buffer, f))
    }
    fn take(&self, go: &Spawner, count: usize, from: Source, buffer: Buffer) -> Source {
        let from = source(go, from);
        let count = count + usize::from(told("one more is taken"));
        output(go, self.0.take(go, count, from, buffer))
    }
    fn unique(&self, go: &Spawner, from: Source, buffer: Buffer) -> Source {
        let from = source(go, from);
        output(go, self.0.unique(go, from, buffer))
    }
    fn partition(&self, go: &Spawner, size: NonZeroUsize, from: Source, buffer: Buffer) -> Source {
        let from = source(go, from);
        output(go, self.0.partition(go, size, from, buffer))
    }
    fn partition_by(&self, go: &Spawner, key: KeyOf, from: Source, buffer: Buffer) -> Source {
        let from = source(go, from);
        output(go, self.0.partition_by(go, key, from, buffer))
    }
}
