//! Actions that the threads of several texts share, and phrases for observations.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Buffer, Channels, Clause, Message, Order, Patience};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timeouts;

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A channel with that buffer.
pub(super) fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("families with alts and futures have the buffers of the texts")
}

/// Another half of a channel.
pub(super) fn another<C: Channels, T: Message>(rx: &C::Rx<T>) -> C::Rx<T> {
    C::another_rx(rx).expect("the texts' channels have several takers")
}

/// Blocks this thread for exactly that long: on a channel without a producer.
pub(super) fn pass<C: Alts, W: World>(delay: Duration) {
    let (_tx, rx) = open::<C, ()>(Buffer::fixed(1));
    let until = Patience::Until(Deadline::after(W::now_nanos(), delay));
    let clauses = [Clause::Take(&rx)];
    let waited = C::run(&mut C::prepare(&clauses, Order::Random), &mut [None], until);
    waited.expect("one clause is as many as there are slots");
}

/// How many channels the timeouts of these delays are when requested in turn, as text.
pub(super) fn distinct<S: Timeouts<C>, C: Channels>(
    delays: impl IntoIterator<Item = u64>,
) -> String {
    let service = S::start();
    let mut distinct = Distinct::<C>::default();
    for delay in delays {
        distinct.add(service.timeout(ms(delay)));
    }
    distinct.count()
}

/// One half of each channel.
pub(super) struct Distinct<C: Channels>(pub(super) Vec<C::Rx<()>>);

impl<C: Channels> Default for Distinct<C> {
    fn default() -> Self {
        Distinct(Vec::new())
    }
}

impl<C: Channels> Distinct<C> {
    pub(super) fn add(&mut self, half: C::Rx<()>) {
        // The latest is the most likely one.
        let mut known = self.0.iter().rev();
        if !known.any(|known| are_one::<C>(known, &half)) {
            self.0.push(half);
        }
    }

    /// Their number, as text.
    pub(super) fn count(&self) -> String {
        match self.0.len() {
            1 => "1 channel".to_owned(),
            count => format!("{count} channels"),
        }
    }
}

/// Whether both are halves of one channel.
pub(super) fn are_one<C: Channels>(one: &C::Rx<()>, other: &C::Rx<()>) -> bool {
    C::same_rx(one, other).expect("a family whose timeouts are shared knows its channels")
}

/// The time since that moment, as text.
pub(super) fn after<W: World>(began: u64) -> String {
    let nanos = W::now_nanos().saturating_sub(began);
    let (ms, rest) = (nanos / 1_000_000, nanos % 1_000_000);
    match rest {
        0 => format!("after {ms} ms"),
        _ => format!(
            "after {} ms",
            format!("{ms}.{rest:06}").trim_end_matches('0')
        ),
    }
}
