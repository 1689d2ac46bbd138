//! Designs of limiters.

use std::any::Any;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, Attempt, BlockingLimit, LimitDeadline,
    LimitError, Limiters as Family, Quota, WeightedLimit,
};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::Deadline;

use crate::form::Way;

/// A family of limiters of an implementation.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Its limiters.
    pub(crate) limiters: Limiters,
    /// The ways to wait for them.
    pub(crate) acquires: Vec<Way>,
    /// The ways in which a wait can give up at a deadline.
    pub(crate) acquires_until: Vec<Way>,
    /// The ways to wait for several permits at once.
    pub(crate) weighs: Vec<Way>,
}

/// A design of limiters, which lives as long as the process.
pub(crate) type Limiters = &'static dyn Makes;

/// A limiter.
pub(crate) type Limiter = Arc<dyn Acquires>;

/// A future of an operation.
pub(crate) type Pending<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;

/// The answer to a request for several permits at once.
pub(crate) type Weighed = Result<(), LimitError>;

/// Makes limiters.
pub(crate) trait Makes: Any + Sync {
    /// A limiter for that quota.
    fn with_quota(&'static self, quota: Quota) -> Result<Limiter, LimitError>;
}

/// The operations of a limiter: those of the harness's traits of limiters. One that the design lacks panics.
pub(crate) trait Acquires: Send + Sync {
    fn try_acquire(&self) -> Attempt;
    fn acquire(&self);
    fn acquire_until(&self, deadline: Deadline) -> bool;
    fn acquire_weight(&self, weight: NonZeroU32) -> Weighed;
    fn acquire_async(&self) -> Pending<'_, ()>;
    fn acquire_until_async(&self, deadline: Deadline) -> Pending<'_, bool>;
    fn acquire_weight_async(&self, weight: NonZeroU32) -> Pending<'_, Weighed>;
}

/// The operations of the family `L`; each is set once the registry has shown it.
struct Of<L> {
    acquire: OnceLock<fn(&L)>,
    acquire_until: OnceLock<fn(&L, Deadline) -> bool>,
    acquire_weight: OnceLock<fn(&L, NonZeroU32) -> Weighed>,
    acquire_async: OnceLock<fn(&L) -> Pending<'_, ()>>,
    acquire_until_async: OnceLock<fn(&L, Deadline) -> Pending<'_, bool>>,
    acquire_weight_async: OnceLock<fn(&L, NonZeroU32) -> Pending<'_, Weighed>>,
}

impl<L: Family> Makes for Of<L> {
    fn with_quota(&'static self, quota: Quota) -> Result<Limiter, LimitError> {
        let own = L::with_quota(quota)?;
        Ok(Arc::new(Made { own, of: self }))
    }
}

/// A limiter of the family `L`.
struct Made<L: 'static> {
    own: L,
    of: &'static Of<L>,
}

const ASKED: &str = "what a design lacks is asked of none of its limiters";

impl<L: Family> Acquires for Made<L> {
    fn try_acquire(&self) -> Attempt {
        self.own.try_acquire()
    }
    fn acquire(&self) {
        self.of.acquire.get().expect(ASKED)(&self.own);
    }
    fn acquire_until(&self, deadline: Deadline) -> bool {
        self.of.acquire_until.get().expect(ASKED)(&self.own, deadline)
    }
    fn acquire_weight(&self, weight: NonZeroU32) -> Weighed {
        self.of.acquire_weight.get().expect(ASKED)(&self.own, weight)
    }
    fn acquire_async(&self) -> Pending<'_, ()> {
        self.of.acquire_async.get().expect(ASKED)(&self.own)
    }
    fn acquire_until_async(&self, deadline: Deadline) -> Pending<'_, bool> {
        self.of.acquire_until_async.get().expect(ASKED)(&self.own, deadline)
    }
    fn acquire_weight_async(&self, weight: NonZeroU32) -> Pending<'_, Weighed> {
        self.of.acquire_weight_async.get().expect(ASKED)(&self.own, weight)
    }
}

/// The limiters that a registry has shown. Its methods are those of `Visitor`.
#[derive(Default)]
pub(crate) struct Collected(Vec<Design>);

impl Collected {
    /// A design for each family of limiters.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0.into_iter()
    }

    /// That family of an implementation, and its operations.
    fn of<L: Family>(&mut self, implementation: &Registered) -> (&mut Design, &'static Of<L>) {
        let operations = |design: &Design| (design.limiters as &dyn Any).downcast_ref::<Of<L>>();
        let its = |design: &Design| {
            operations(design).filter(|_| design.implementation.name == implementation.name)
        };
        let place = self.0.iter().position(|design| its(design).is_some());
        let place = place.unwrap_or_else(|| {
            self.0.push(Design {
                implementation: implementation.clone(),
                limiters: Box::leak(Box::new(Of::<L> {
                    acquire: OnceLock::new(),
                    acquire_until: OnceLock::new(),
                    acquire_weight: OnceLock::new(),
                    acquire_async: OnceLock::new(),
                    acquire_until_async: OnceLock::new(),
                    acquire_weight_async: OnceLock::new(),
                })),
                acquires: Vec::new(),
                acquires_until: Vec::new(),
                weighs: Vec::new(),
            });
            self.0.len() - 1
        });
        let design = &mut self.0[place];
        let operations = operations(design).expect("it was looked for");
        (design, operations)
    }

    pub(crate) fn limiter<L: Family>(&mut self, implementation: &Registered) {
        self.of::<L>(implementation);
    }
    pub(crate) fn blocking_limit<L: BlockingLimit>(&mut self, implementation: &Registered) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire.get_or_init(|| L::acquire);
        design.acquires.push(Way::Blocking);
    }
    pub(crate) fn limit_deadline<L: LimitDeadline>(&mut self, implementation: &Registered) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire_until.get_or_init(|| L::acquire_until);
        design.acquires_until.push(Way::Blocking);
    }
    pub(crate) fn async_limit<L: AsyncLimit>(&mut self, implementation: &Registered) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire_async
            .get_or_init(|| |own| Box::pin(own.acquire_async()));
        design.acquires.push(Way::Async);
    }
    pub(crate) fn async_limit_deadline<L: AsyncLimitDeadline>(
        &mut self,
        implementation: &Registered,
    ) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire_until_async
            .get_or_init(|| |own, deadline| Box::pin(own.acquire_until_async(deadline)));
        design.acquires_until.push(Way::Async);
    }
    pub(crate) fn weighted_limit<L: WeightedLimit>(&mut self, implementation: &Registered) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire_weight.get_or_init(|| L::acquire_weight);
        design.weighs.push(Way::Blocking);
    }
    pub(crate) fn async_weighted_limit<L: AsyncWeightedLimit>(
        &mut self,
        implementation: &Registered,
    ) {
        let (design, of) = self.of::<L>(implementation);
        of.acquire_weight_async
            .get_or_init(|| |own, weight| Box::pin(own.acquire_weight_async(weight)));
        design.weighs.push(Way::Async);
    }
}
