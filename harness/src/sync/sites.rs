//! Mutation by site. Every synchronising call of the facade is listed with its line, and one of them can be broken
//! while ordinary models run. If no model notices the break, either a model is missing or the call is not needed.
//!
//! Only the explored worlds use this. While nothing is listed or broken, they pay one relaxed load per call. In the std
//! world the calls compile to the bare primitives. Wake-ups through a `Waker` have no site: std's table of functions
//! stands between the line that wakes and the facade.

use ::std::cell::RefCell;
use ::std::collections::BTreeSet;
use ::std::fmt;
use ::std::panic::Location;
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicU8, Ordering};

use super::explored::source_file;
use super::trace;

/// The kind of call at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// `Mutex::lock`.
    Lock,
    /// `Mutex::try_lock`.
    TryLock,
    /// `Condvar::notify_one`.
    NotifyOne,
    /// `Condvar::notify_all`.
    NotifyAll,
    /// `Unparker::unpark`.
    Unpark,
    /// An atomic read.
    Load,
    /// An atomic write.
    Store,
    /// An atomic read-modify-write that always succeeds.
    ReadModifyWrite,
    /// `compare_exchange`.
    CompareExchange,
    /// `compare_exchange_weak`.
    CompareExchangeWeak,
    /// `fence`.
    Fence,
}

impl Kind {
    /// The name, as in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Lock => "lock",
            Kind::TryLock => "try-lock",
            Kind::NotifyOne => "notify-one",
            Kind::NotifyAll => "notify-all",
            Kind::Unpark => "unpark",
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::ReadModifyWrite => "read-modify-write",
            Kind::CompareExchange => "compare-exchange",
            Kind::CompareExchangeWeak => "compare-exchange-weak",
            Kind::Fence => "fence",
        }
    }
}

/// The way in which a site is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Breakage {
    /// The call does nothing: it notifies or unparks no thread, and fences nothing.
    Dropped,
    /// The notification goes to the waiter that has waited shortest.
    AnotherWaiter,
    /// The memory order is `Relaxed`.
    Relaxed,
    /// The exchange fails for each thread's first call in an execution.
    FailsOnce,
}

impl Breakage {
    /// The name, as in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Breakage::Dropped => "dropped",
            Breakage::AnotherWaiter => "another-waiter",
            Breakage::Relaxed => "relaxed",
            Breakage::FailsOnce => "fails-once",
        }
    }

    /// Whether the primitive's contract admits it. Correct code survives such a break.
    pub const fn is_admitted(self) -> bool {
        matches!(self, Breakage::AnotherWaiter | Breakage::FailsOnce)
    }
}

/// A call of the facade, identified by its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Site {
    /// The source file, relative to the workspace.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// The kind of call.
    pub kind: Kind,
    /// The requested memory order: of success and of failure, where there are two.
    pub order: Option<String>,
}

impl Site {
    /// The ways in which it can be broken.
    pub fn breakages(&self) -> Vec<Breakage> {
        match self.kind {
            Kind::Lock | Kind::TryLock => Vec::new(),
            Kind::NotifyOne => vec![Breakage::Dropped, Breakage::AnotherWaiter],
            Kind::NotifyAll | Kind::Unpark | Kind::Fence => vec![Breakage::Dropped],
            Kind::Load | Kind::Store | Kind::ReadModifyWrite | Kind::CompareExchange => {
                self.weaker().collect()
            }
            Kind::CompareExchangeWeak => self.weaker().chain([Breakage::FailsOnce]).collect(),
        }
    }

    fn weaker(&self) -> impl Iterator<Item = Breakage> {
        let strong = |order: &String| order.split('/').any(|order| order != "Relaxed");
        let strong = self.order.as_ref().is_some_and(strong);
        strong.then_some(Breakage::Relaxed).into_iter()
    }

    fn is(&self, kind: Kind, at: &Location<'_>) -> bool {
        self.line == at.line()
            && self.column == at.column()
            && self.kind == kind
            && self.file == source_file(at)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{} {}",
            self.file,
            self.line,
            self.column,
            self.kind.name()
        )?;
        match &self.order {
            Some(order) => write!(f, " ({order})"),
            None => Ok(()),
        }
    }
}

/// A broken site.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mutation {
    /// The site; its memory order is ignored.
    pub site: Site,
    /// The break.
    pub breakage: Breakage,
}

type Orders = Option<(Ordering, Option<Ordering>)>;

const LISTING: u8 = 1;
const BROKEN: u8 = 2;

/// The work to do when a site is passed.
static WATCH: AtomicU8 = AtomicU8::new(0);
static MUTATION: OnceLock<Mutation> = OnceLock::new();

thread_local! {
    /// The sites that this thread lists, while it does.
    static SEEN: RefCell<Option<BTreeSet<Site>>> = const { RefCell::new(None) };
}

/// Runs explorations on this thread, and also returns the sites they passed, in the order of files and lines.
pub fn listed<R>(run: impl FnOnce() -> R) -> (R, BTreeSet<Site>) {
    SEEN.set(Some(BTreeSet::new()));
    // The bit stays set: other threads may still be listing.
    WATCH.fetch_or(LISTING, Ordering::Relaxed);
    let answer = run();
    (answer, SEEN.take().unwrap_or_default())
}

/// Breaks one site for the rest of this process.
///
/// # Errors
/// Returns the mutation if another was made before: a process can have only one.
pub fn break_one(mutation: Mutation) -> Result<(), Mutation> {
    MUTATION.set(mutation)?;
    WATCH.fetch_or(BROKEN, Ordering::Relaxed);
    Ok(())
}

/// Called at every site. Returns how it is broken, if it is.
#[inline]
pub(crate) fn pass(kind: Kind, orders: Orders, at: &'static Location<'static>) -> Option<Breakage> {
    trace::step(|| kind.name().to_owned(), Some(at));
    match WATCH.load(Ordering::Relaxed) {
        0 => None,
        watch => watched(watch, kind, orders, at),
    }
}

fn watched(
    watch: u8,
    kind: Kind,
    orders: Orders,
    at: &'static Location<'static>,
) -> Option<Breakage> {
    if watch & LISTING != 0 {
        // An inaccessible thread-local means that the thread is ending.
        let _ = SEEN.try_with(|seen| {
            let mut seen = seen.borrow_mut();
            seen.as_mut()
                .map(|seen| seen.insert(site(kind, orders, at)))
        });
    }
    let mutation = MUTATION.get().filter(|_| watch & BROKEN != 0)?;
    mutation.site.is(kind, at).then_some(mutation.breakage)
}

fn site(kind: Kind, orders: Orders, at: &Location<'_>) -> Site {
    Site {
        file: source_file(at),
        line: at.line(),
        column: at.column(),
        kind,
        order: orders.map(|(order, failure)| match failure {
            Some(failure) => format!("{order:?}/{failure:?}"),
            None => format!("{order:?}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: Kind, order: Option<&str>) -> Site {
        Site {
            file: "a.rs".to_owned(),
            line: 1,
            column: 2,
            kind,
            order: order.map(str::to_owned),
        }
    }

    #[test]
    fn only_an_order_that_orders_can_be_weakened() {
        use Breakage::{AnotherWaiter, Dropped, FailsOnce, Relaxed};
        for (kind, order, breakages) in [
            (Kind::Lock, None, &[][..]),
            (Kind::NotifyOne, None, &[Dropped, AnotherWaiter]),
            (Kind::Load, Some("Relaxed"), &[]),
            (Kind::Load, Some("Acquire"), &[Relaxed]),
            (Kind::CompareExchange, Some("Relaxed/Relaxed"), &[]),
            (Kind::CompareExchange, Some("AcqRel/Relaxed"), &[Relaxed]),
            (
                Kind::CompareExchangeWeak,
                Some("Relaxed/Relaxed"),
                &[FailsOnce],
            ),
            (
                Kind::CompareExchangeWeak,
                Some("Relaxed/Acquire"),
                &[Relaxed, FailsOnce],
            ),
            (Kind::Fence, Some("SeqCst"), &[Dropped]),
        ] {
            assert_eq!(at(kind, order).breakages(), breakages, "{kind:?} {order:?}");
        }
    }

    #[test]
    fn what_is_passed_is_listed_and_broken_by_file_line_and_kind() {
        let here = Location::caller();
        let both = || {
            let load = pass(Kind::Load, Some((Ordering::Acquire, None)), here);
            (load, pass(Kind::Unpark, None, here))
        };
        let (answers, sites) = listed(both);
        assert_eq!(answers, (None, None));
        let load = sites.iter().find(|site| site.kind == Kind::Load);
        let load = load.expect("it was passed").clone();
        assert_eq!(sites.len(), 2);
        assert_eq!(load.file, "harness/src/sync/sites.rs");
        let mutation = Mutation {
            site: load,
            breakage: Breakage::Relaxed,
        };
        assert_eq!(break_one(mutation.clone()), Ok(()));
        assert_eq!(both(), (Some(Breakage::Relaxed), None));
        assert_eq!(break_one(mutation.clone()), Err(mutation));
    }
}
