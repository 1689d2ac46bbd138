//! Combinators: core.async's functions over channels. Their go blocks take from some channels and put to others.
//!
//! A *family* of combinators works on any executor, and over any channels with alts that tasks can await. Each
//! combinator is passed the spawner for its go block. It owns the channels that it takes from or puts to; to go on
//! using one, keep a further half of it. A go block that ends drops its halves. On channels that notice, this ends the
//! channel for the other side.
//!
//! Where a user's function panics, the go block ends, the executor counts the panic, and the output is closed, so no
//! consumer waits for it. core.async leaves such a channel open forever.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use crate::channel::{AwaitAlts, Buffer, Message, Transform};
use crate::executor::Spawn;
use crate::pipeline::AtEnd;

/// Distinguishes the topics of a publication.
pub trait Topic: Ord + Clone + Send + 'static {}
impl<K: Ord + Clone + Send + 'static> Topic for K {}

/// A setting of an input of a mix; all are off at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// While any input has this, only inputs with it are heard, whatever their other settings.
    Solo,
    /// Its values are taken and dropped.
    Mute,
    /// Nothing is taken from it.
    Pause,
}

/// What happens to the inputs without solo while others have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoloMode {
    /// Their values are taken and dropped.
    #[default]
    Mute,
    /// They are not taken from.
    Pause,
}

/// A family of combinators over channels of that family.
///
/// # Panics
/// Methods with a buffer parameter panic where the channel family has no such buffer.
pub trait Combinators<C: AwaitAlts>: Sized + Send + Sync + 'static {
    /// Hands each item to all its taps (M4).
    type Mult<T: Message + Clone>: Send + Sync + 'static;
    /// A tap of a mult.
    type Tap: Copy + Send + 'static;
    /// Merges a changing set of inputs (M5).
    type Mix<T: Message>: Send + Sync + 'static;
    /// An input of a mix.
    type Input: Copy + Send + 'static;
    /// Hands each item to the subscribers of its topic (M6).
    type Publication<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>: Send
        + Sync
        + 'static;
    /// A subscriber of a topic.
    type Subscription<K: Topic>: Clone + Send + 'static;

    /// Moves all values (M1). The returned channel closes once the pipe has ended.
    fn pipe<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> C::Rx<()>;

    /// Returns two channels: the values for which `is_first` is true, and the others (M2).
    fn split<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        is_first: impl FnMut(&T) -> bool + Send + 'static,
        buffers: (Buffer, Buffer),
    ) -> (C::Rx<T>, C::Rx<T>);

    /// Returns a channel of all values from the sources (M3).
    fn merge<T: Message>(spawner: &impl Spawn, sources: Vec<C::Rx<T>>, buffer: Buffer) -> C::Rx<T>;

    /// A mult of that source (M4).
    fn mult<T: Message + Clone>(spawner: &impl Spawn, from: C::Rx<T>) -> Self::Mult<T>;

    /// Puts every later item to `to`, which is closed when the source closes unless `at_end` says otherwise.
    fn tap<T: Message + Clone>(mult: &Self::Mult<T>, to: C::Tx<T>, at_end: AtEnd) -> Self::Tap;

    /// Removes a tap without closing its channel; harmless if it is gone.
    fn untap<T: Message + Clone>(mult: &Self::Mult<T>, tap: Self::Tap);

    /// Removes all taps.
    fn untap_all<T: Message + Clone>(mult: &Self::Mult<T>);

    /// A mix into `to`, which it never closes (M5).
    fn mix<T: Message>(spawner: &impl Spawn, to: C::Tx<T>) -> Self::Mix<T>;

    /// Adds an input, with all attributes off.
    fn admix<T: Message>(mix: &Self::Mix<T>, from: C::Rx<T>) -> Self::Input;

    /// Removes an input; harmless if it is gone.
    fn unmix<T: Message>(mix: &Self::Mix<T>, input: Self::Input);

    /// Removes all inputs.
    fn unmix_all<T: Message>(mix: &Self::Mix<T>);

    /// Sets attributes of inputs, all at once. Attributes that are not named stay. Inputs that are gone are skipped.
    fn toggle<T: Message>(mix: &Self::Mix<T>, changes: &[(Self::Input, Attribute, bool)]);

    /// Sets what happens to inputs without solo.
    fn solo_mode<T: Message>(mix: &Self::Mix<T>, mode: SoloMode);

    /// Publishes the source by topic. The buffer of a topic is chosen at its first subscription (M6).
    fn publish<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        spawner: S,
        from: C::Rx<T>,
        topic_of: impl FnMut(&T) -> K + Send + 'static,
        buffer_of: impl Fn(&K) -> Buffer + Send + Sync + 'static,
    ) -> Self::Publication<K, T, S>;

    /// Puts every later item of the topic to `to`, which is closed when the source closes unless `at_end` says
    /// otherwise.
    fn sub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: K,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> Self::Subscription<K>;

    /// Removes a subscriber without closing its channel; harmless if it is gone.
    fn unsub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        subscription: &Self::Subscription<K>,
    );

    /// Removes all subscribers of one topic or of all topics.
    fn unsub_all<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: Option<&K>,
    );

    /// Puts all values (M7). The returned channel closes once this has ended.
    fn onto_chan<T: Message>(
        spawner: &impl Spawn,
        to: C::Tx<T>,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
        at_end: AtEnd,
    ) -> C::Rx<()>;

    /// A channel of all values, closed after them (M8).
    fn to_chan<T: Message>(
        spawner: &impl Spawn,
        values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    ) -> C::Rx<T>;

    /// Returns a channel with the collection, extended by all values (M9). This is core.async's `into`; in Rust every
    /// type already has a method of that name.
    fn collect<T: Message, B: Extend<T> + Message>(
        spawner: &impl Spawn,
        collection: B,
        from: C::Rx<T>,
    ) -> C::Rx<B>;

    /// Returns a channel with the result of the fold; `Break` ends it before the source does (M10).
    fn reduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A>;

    /// As [`Combinators::reduce`], over what the transform emits (M11).
    fn transduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        transform: impl Transform<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A>;

    /// Returns a channel of `f` applied to the first values of all sources, to the second ones, and so on (M12).
    fn map<T: Message, U: Message>(
        spawner: &impl Spawn,
        sources: Vec<C::Rx<T>>,
        buffer: Buffer,
        f: impl FnMut(Vec<T>) -> U + Send + 'static,
    ) -> C::Rx<U>;

    /// Returns a channel of the first `count` values (M13).
    fn take<T: Message>(
        spawner: &impl Spawn,
        count: usize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T>;

    /// Returns a channel without the values that equal their predecessor (M14).
    fn unique<T: Message + Clone + PartialEq>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T>;

    /// Returns a channel of groups of that size; the last may be smaller (M15).
    fn partition<T: Message>(
        spawner: &impl Spawn,
        size: NonZeroUsize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>>;

    /// Returns a channel of groups of consecutive values with equal `key` (M15).
    fn partition_by<T: Message, K: PartialEq + Send + 'static>(
        spawner: &impl Spawn,
        key: impl FnMut(&T) -> K + Send + 'static,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>>;
}
