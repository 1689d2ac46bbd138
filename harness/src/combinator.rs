//! Combinators: core.async's functions over channels whose go blocks take from some and put to others.
//!
//! A *family* of them works over any channels with alts that tasks await, and on any executor: each combinator is told
//! what spawns its go block. A channel that it takes from or puts to is its own from then on; whoever wants to use one
//! further keeps a half of it. A go block that ends lets go of its halves, which on channels that notice ends the channel
//! for the other side.
//!
//! Where a user's function panics the go block ends, the executor counts it, and what it fills is closed: nobody waits for
//! it. core.async leaves such a channel open for ever.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use crate::channel::{AwaitAlts, Buffer, Message, Transform};
use crate::executor::Spawn;
use crate::pipeline::AtEnd;

/// What the topics of a publication are told apart by.
pub trait Topic: Ord + Clone + Send + 'static {}
impl<K: Ord + Clone + Send + 'static> Topic for K {}

/// What an input of a mix is set to; all are off at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// Nothing but the inputs with this is heard, whatever else they are set to.
    Solo,
    /// What it brings is taken and dropped.
    Mute,
    /// Nothing is taken from it.
    Pause,
}

/// What becomes of the inputs without solo while others have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoloMode {
    /// They are taken from, and what they bring is dropped.
    #[default]
    Mute,
    /// They are not taken from.
    Pause,
}

/// A family of combinators over channels of that family.
///
/// # Panics
/// What is told a buffer panics where the family has none such.
pub trait Combinators<C: AwaitAlts>: Sized + Send + Sync + 'static {
    /// Hands each item to all its taps (M4).
    type Mult<T: Message + Clone>: Send + Sync + 'static;
    /// A tap of a mult.
    type Tap: Copy + Send + 'static;
    /// Merges inputs that come and go (M5).
    type Mix<T: Message>: Send + Sync + 'static;
    /// An input of a mix.
    type Input: Copy + Send + 'static;
    /// Hands each item to the subscribers of its topic (M6).
    type Publication<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>: Send
        + Sync
        + 'static;
    /// A subscriber of a topic.
    type Subscription<K: Topic>: Clone + Send + 'static;

    /// Moves everything (M1). The answer closes once it has ended.
    fn pipe<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> C::Rx<()>;

    /// Two channels: of the values that `is_first` says yes to, and of the others (M2).
    fn split<T: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        is_first: impl FnMut(&T) -> bool + Send + 'static,
        buffers: (Buffer, Buffer),
    ) -> (C::Rx<T>, C::Rx<T>);

    /// A channel of everything that the sources bring (M3).
    fn merge<T: Message>(spawner: &impl Spawn, sources: Vec<C::Rx<T>>, buffer: Buffer) -> C::Rx<T>;

    /// A mult of that source (M4).
    fn mult<T: Message + Clone>(spawner: &impl Spawn, from: C::Rx<T>) -> Self::Mult<T>;

    /// Has the mult put every item to `to` from the next one on. It is closed when the source closes, unless asked
    /// not to.
    fn tap<T: Message + Clone>(mult: &Self::Mult<T>, to: C::Tx<T>, at_end: AtEnd) -> Self::Tap;

    /// Takes a tap away, without closing its channel; harmless where it has gone.
    fn untap<T: Message + Clone>(mult: &Self::Mult<T>, tap: Self::Tap);

    /// Takes all taps away.
    fn untap_all<T: Message + Clone>(mult: &Self::Mult<T>);

    /// A mix into `to`, which it never closes (M5).
    fn mix<T: Message>(spawner: &impl Spawn, to: C::Tx<T>) -> Self::Mix<T>;

    /// Adds an input, with all attributes off.
    fn admix<T: Message>(mix: &Self::Mix<T>, from: C::Rx<T>) -> Self::Input;

    /// Takes an input away; harmless where it has gone.
    fn unmix<T: Message>(mix: &Self::Mix<T>, input: Self::Input);

    /// Takes all inputs away.
    fn unmix_all<T: Message>(mix: &Self::Mix<T>);

    /// Sets attributes of inputs, all at once; what is not named stays. Inputs that have gone are passed over.
    fn toggle<T: Message>(mix: &Self::Mix<T>, changes: &[(Self::Input, Attribute, bool)]);

    /// Says what becomes of inputs without solo.
    fn solo_mode<T: Message>(mix: &Self::Mix<T>, mode: SoloMode);

    /// A publication of that source by topic; each topic has a buffer, chosen when somebody first subscribes to it (M6).
    fn publish<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        spawner: S,
        from: C::Rx<T>,
        topic_of: impl FnMut(&T) -> K + Send + 'static,
        buffer_of: impl Fn(&K) -> Buffer + Send + Sync + 'static,
    ) -> Self::Publication<K, T, S>;

    /// Has the publication put every item of that topic to `to`. It is closed when the source closes, unless asked
    /// not to.
    fn sub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: K,
        to: C::Tx<T>,
        at_end: AtEnd,
    ) -> Self::Subscription<K>;

    /// Takes a subscriber away, without closing its channel; harmless where it has gone.
    fn unsub<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        subscription: &Self::Subscription<K>,
    );

    /// Takes all subscribers of a topic away, or those of all topics.
    fn unsub_all<K: Topic, T: Message + Clone, S: Spawn + Clone + Send + 'static>(
        publication: &Self::Publication<K, T, S>,
        topic: Option<&K>,
    );

    /// Puts all values (M7). The answer closes once it has ended.
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

    /// A channel with the collection, to which everything was added (M9): core.async's `into`, a name that every type has
    /// in Rust.
    fn collect<T: Message, B: Extend<T> + Message>(
        spawner: &impl Spawn,
        collection: B,
        from: C::Rx<T>,
    ) -> C::Rx<B>;

    /// A channel with what everything folds to; `Break` ends it before the source does (M10).
    fn reduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A>;

    /// As [`Combinators::reduce`], of what the transform makes of everything (M11).
    fn transduce<T: Message, A: Message>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        transform: impl Transform<T>,
        init: A,
        fold: impl FnMut(A, T) -> ControlFlow<A, A> + Send + 'static,
    ) -> C::Rx<A>;

    /// A channel of what `f` makes of the first values of all sources, of the second ones, and so on (M12).
    fn map<T: Message, U: Message>(
        spawner: &impl Spawn,
        sources: Vec<C::Rx<T>>,
        buffer: Buffer,
        f: impl FnMut(Vec<T>) -> U + Send + 'static,
    ) -> C::Rx<U>;

    /// A channel of the first `count` values (M13).
    fn take<T: Message>(
        spawner: &impl Spawn,
        count: usize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T>;

    /// A channel without those values that equal the one before (M14).
    fn unique<T: Message + Clone + PartialEq>(
        spawner: &impl Spawn,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<T>;

    /// A channel of groups of that size; the last may be smaller (M15).
    fn partition<T: Message>(
        spawner: &impl Spawn,
        size: NonZeroUsize,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>>;

    /// A channel of groups of neighbours for which `key` answers alike (M15).
    fn partition_by<T: Message, K: PartialEq + Send + 'static>(
        spawner: &impl Spawn,
        key: impl FnMut(&T) -> K + Send + 'static,
        from: C::Rx<T>,
        buffer: Buffer,
    ) -> C::Rx<Vec<T>>;
}
