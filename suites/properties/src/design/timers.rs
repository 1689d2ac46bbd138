//! Designs of timers.
//!
//! [`Timers`] is a design in one of the ways to wait for its deadlines. It starts a [`Service`] with methods that are
//! the operations. Callers have to ask first whether a design has an operation: the method of one that it lacks
//! panics.

use std::any::{Any, TypeId};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{
    BlockingSleep, Cancel, Coalesce, Fired, Reset, Sleep, Timeouts, Timers as Family,
};

use super::channels::Half;
use super::{Channels, Rx};

/// A service, of its design's type.
pub(crate) type Running = Arc<dyn Any + Send + Sync>;
/// The name of an armed timer.
pub(crate) type Handle = Box<dyn Any + Send>;
/// A callback.
pub(crate) type Then = Box<dyn FnOnce(Fired) + Send>;
/// A future that sleeps.
pub(crate) type Sleeping = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Timers that call back.
pub(crate) trait Calls: Sync {
    fn start(&self) -> Running;
    fn schedule(&self, service: &Running, deadline: Deadline, then: Then) -> Handle;
}

/// Timers that can be cancelled.
pub(crate) trait Cancels: Sync {
    fn cancel(&self, service: &Running, handle: &Handle) -> bool;
}

/// Timers with deadlines that can be moved.
pub(crate) trait Resets: Sync {
    fn reset(&self, service: &Running, handle: &Handle, deadline: Deadline) -> bool;
}

/// Timers with windows, which may share wake-ups.
pub(crate) trait Coalesces: Sync {
    fn schedule_within(
        &self,
        service: &Running,
        deadline: Deadline,
        window: Duration,
        then: Then,
    ) -> Handle;
}

/// Timers that futures wait for.
pub(crate) trait Awaits: Sync {
    fn start(&self) -> Running;
    fn sleep(&self, service: &Running, deadline: Deadline) -> Sleeping;
}

/// Timers that threads wait for.
pub(crate) trait Blocks: Sync {
    fn start(&self) -> Running;
    fn sleep(&self, service: &Running, deadline: Deadline);
}

/// Timers that close channels.
pub(crate) trait Closes: Sync {
    fn start(&self) -> Running;
    fn timeout(&self, service: &Running, delay: Duration) -> Half;
}

/// The tables of a design: one for each trait that its family has.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tables {
    pub(crate) calls: Option<&'static dyn Calls>,
    pub(crate) cancels: Option<&'static dyn Cancels>,
    pub(crate) resets: Option<&'static dyn Resets>,
    pub(crate) coalesces: Option<&'static dyn Coalesces>,
    pub(crate) awaits: Option<&'static dyn Awaits>,
    pub(crate) blocks: Option<&'static dyn Blocks>,
    /// And the design of the channels.
    pub(crate) closes: Option<(&'static dyn Closes, Channels)>,
}

/// How a deadline is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A callback is called.
    Call,
    /// A future is awaited.
    Future,
    /// The thread blocks.
    Thread,
    /// A channel is closed.
    Channel,
}

/// The timers of an implementation.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Their operations.
    pub(crate) tables: &'static Tables,
}

impl Design {
    /// The timers in each of the ways to wait for them.
    pub(crate) fn ways(&self) -> impl Iterator<Item = Timers> {
        let ways = [Way::Call, Way::Future, Way::Thread, Way::Channel];
        ways.into_iter().filter_map(|way| self.by(way))
    }

    /// The timers in that way, if they have it.
    pub(crate) fn by(&self, way: Way) -> Option<Timers> {
        let tables = self.tables;
        let has = match way {
            Way::Call => tables.calls.is_some(),
            Way::Future => tables.awaits.is_some(),
            Way::Thread => tables.blocks.is_some(),
            Way::Channel => tables.closes.is_some(),
        };
        has.then_some(Timers { tables, way })
    }

    /// Whether they claim that.
    pub(crate) fn claims(&self, claim: Claim) -> bool {
        self.implementation.capabilities.claims.contains(&claim)
    }
}

/// A design of timers, in one of its ways.
#[derive(Clone, Copy)]
pub(crate) struct Timers {
    tables: &'static Tables,
    way: Way,
}

const ASKED: &str = "what a design lacks is asked before";

impl Timers {
    /// The way to wait for them.
    pub(crate) fn way(self) -> Way {
        self.way
    }

    /// Whether they call back and can be cancelled.
    pub(crate) fn cancels(self) -> bool {
        self.way == Way::Call && self.tables.cancels.is_some()
    }

    /// Whether they call back and their deadlines can be moved.
    pub(crate) fn resets(self) -> bool {
        self.way == Way::Call && self.tables.resets.is_some()
    }

    /// Whether they call back and have windows.
    pub(crate) fn coalesces(self) -> bool {
        self.way == Way::Call && self.tables.coalesces.is_some()
    }

    /// The design of the channels that they close.
    pub(crate) fn channels(self) -> Channels {
        self.tables.closes.expect(ASKED).1
    }

    /// A service of its own.
    pub(crate) fn start(self) -> Service {
        let Timers { tables, way } = self;
        let running = match way {
            Way::Call => tables.calls.expect(ASKED).start(),
            Way::Future => tables.awaits.expect(ASKED).start(),
            Way::Thread => tables.blocks.expect(ASKED).start(),
            Way::Channel => tables.closes.expect(ASKED).0.start(),
        };
        Service { of: self, running }
    }
}

/// A handle of a service, which is dropped with the last handle.
#[derive(Clone)]
pub(crate) struct Service {
    of: Timers,
    running: Running,
}

impl Service {
    /// The design.
    pub(crate) fn timers(&self) -> Timers {
        self.of
    }

    /// Has `then` called at the deadline.
    pub(crate) fn schedule(
        &self,
        deadline: Deadline,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> Handle {
        let table = self.of.tables.calls.expect(ASKED);
        table.schedule(&self.running, deadline, Box::new(then))
    }

    /// Cancels a timer.
    pub(crate) fn cancel(&self, handle: &Handle) -> bool {
        let table = self.of.tables.cancels.expect(ASKED);
        table.cancel(&self.running, handle)
    }

    /// Moves the deadline of a timer.
    pub(crate) fn reset(&self, handle: &Handle, deadline: Deadline) -> bool {
        let table = self.of.tables.resets.expect(ASKED);
        table.reset(&self.running, handle, deadline)
    }

    /// Has `then` called in the window.
    pub(crate) fn schedule_within(
        &self,
        deadline: Deadline,
        window: Duration,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> Handle {
        let table = self.of.tables.coalesces.expect(ASKED);
        table.schedule_within(&self.running, deadline, window, Box::new(then))
    }

    /// Ready at the deadline.
    pub(crate) fn sleep(&self, deadline: Deadline) -> Sleeping {
        let table = self.of.tables.awaits.expect(ASKED);
        table.sleep(&self.running, deadline)
    }

    /// Blocks the thread until the deadline.
    pub(crate) fn block(&self, deadline: Deadline) {
        let table = self.of.tables.blocks.expect(ASKED);
        table.sleep(&self.running, deadline);
    }

    /// A channel that is closed after the delay.
    pub(crate) fn timeout<T: Send + 'static>(&self, delay: Duration) -> Rx<T> {
        let (table, channels) = self.of.tables.closes.expect(ASKED);
        Rx::new(channels, table.timeout(&self.running, delay))
    }
}

/// The family `T`, or for timeouts a family of timers and one of channels.
struct Of<T>(PhantomData<fn(T)>);

const ITS_OWN: &str = "a service and its handles are used with the design that made them";

fn service<T: 'static>(service: &Running) -> &T {
    service.downcast_ref().expect(ITS_OWN)
}

fn named<T: Family>(handle: &Handle) -> &T::Handle {
    handle.downcast_ref().expect(ITS_OWN)
}

impl<T: Family> Calls for Of<T> {
    fn start(&self) -> Running {
        Arc::new(T::start())
    }
    fn schedule(&self, running: &Running, deadline: Deadline, then: Then) -> Handle {
        Box::new(service::<T>(running).schedule(deadline, then))
    }
}

impl<T: Cancel> Cancels for Of<T> {
    fn cancel(&self, running: &Running, handle: &Handle) -> bool {
        service::<T>(running).cancel(named::<T>(handle))
    }
}

impl<T: Reset> Resets for Of<T> {
    fn reset(&self, running: &Running, handle: &Handle, deadline: Deadline) -> bool {
        service::<T>(running).reset(named::<T>(handle), deadline)
    }
}

impl<T: Coalesce> Coalesces for Of<T> {
    fn schedule_within(
        &self,
        running: &Running,
        deadline: Deadline,
        window: Duration,
        then: Then,
    ) -> Handle {
        Box::new(service::<T>(running).schedule_within(deadline, window, then))
    }
}

impl<S: Sleep> Awaits for Of<S> {
    fn start(&self) -> Running {
        Arc::new(S::start())
    }
    fn sleep(&self, running: &Running, deadline: Deadline) -> Sleeping {
        Box::pin(service::<S>(running).sleep_until(deadline))
    }
}

impl<S: BlockingSleep> Blocks for Of<S> {
    fn start(&self) -> Running {
        Arc::new(S::start())
    }
    fn sleep(&self, running: &Running, deadline: Deadline) {
        service::<S>(running).sleep_until(deadline);
    }
}

impl<S: Timeouts<C>, C: Blocking> Closes for Of<(S, C)> {
    fn start(&self) -> Running {
        Arc::new(S::start())
    }
    fn timeout(&self, running: &Running, delay: Duration) -> Half {
        Box::new(service::<S>(running).timeout::<super::parcel::Parcel>(delay))
    }
}

/// The timers that a registry has shown. Its methods are those of `Visitor`.
#[derive(Default)]
pub(crate) struct Collected(Vec<(Registered, TypeId, Tables)>);

impl Collected {
    /// A design for each family of timers. It lives as long as the process.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0
            .into_iter()
            .map(|(implementation, _, tables)| Design {
                implementation,
                tables: Box::leak(Box::new(tables)),
            })
    }

    /// The tables of that family of an implementation.
    fn of<T: 'static>(&mut self, implementation: &Registered) -> &mut Tables {
        let family = TypeId::of::<T>();
        let known = |(one, of, _): &(Registered, TypeId, _)| {
            one.name == implementation.name && *of == family
        };
        let place = self.0.iter().position(known).unwrap_or_else(|| {
            self.0
                .push((implementation.clone(), family, Tables::default()));
            self.0.len() - 1
        });
        &mut self.0[place].2
    }

    pub(crate) fn timer<T: Family>(&mut self, implementation: &Registered) {
        self.of::<T>(implementation).calls = Some(&Of::<T>(PhantomData));
    }
    pub(crate) fn cancel<T: Cancel>(&mut self, implementation: &Registered) {
        self.of::<T>(implementation).cancels = Some(&Of::<T>(PhantomData));
    }
    pub(crate) fn reset<T: Reset>(&mut self, implementation: &Registered) {
        self.of::<T>(implementation).resets = Some(&Of::<T>(PhantomData));
    }
    pub(crate) fn coalesce<T: Coalesce>(&mut self, implementation: &Registered) {
        self.of::<T>(implementation).coalesces = Some(&Of::<T>(PhantomData));
    }
    pub(crate) fn sleep<S: Sleep>(&mut self, implementation: &Registered) {
        self.of::<S>(implementation).awaits = Some(&Of::<S>(PhantomData));
    }
    pub(crate) fn blocking_sleep<S: BlockingSleep>(&mut self, implementation: &Registered) {
        self.of::<S>(implementation).blocks = Some(&Of::<S>(PhantomData));
    }
    pub(crate) fn timeouts<S: Timeouts<C>, C: Alts + Async + Blocking>(
        &mut self,
        implementation: &Registered,
    ) {
        let channels = Channels::choosing_and_awaiting::<C>();
        let before = self
            .of::<S>(implementation)
            .closes
            .replace((&Of::<(S, C)>(PhantomData), channels));
        assert!(
            before.is_none(),
            "{}: a timer has timeouts over one family of channels",
            implementation.name
        );
    }
}
