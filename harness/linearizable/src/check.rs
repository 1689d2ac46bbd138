//! What is checked, and how much of it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use proptest::strategy::{BoxedStrategy, Strategy};

use crate::program::Shape;
use crate::{Sequential, Subject};

/// The most operations of a program: a set of them has 64 bits.
const MOST: usize = 64;

/// A structure, its specification, and the programs that compare the two. [`check!`](crate::check!) makes one for each
/// test.
pub struct Check<P: Sequential> {
    /// The path of the tests in their crate.
    pub(crate) place: String,
    pub(crate) package: String,
    pub(crate) spec: P,
    pub(crate) subject: Subject<P>,
    /// Makes the strategy on the thread that draws: few strategies can be sent.
    pub(crate) operations: Box<dyn Fn() -> BoxedStrategy<P::Op> + Send>,
    pub(crate) shape: Shape,
    pub(crate) programs: u64,
    pub(crate) executions: u64,
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    pub(crate) states: u64,
}

impl<P: Sequential> Check<P> {
    /// A check with the defaults that the methods below state. `module` is the module of the tests, with its crate in
    /// front, and `package` what `cargo test -p` calls that crate. `operations` makes a strategy of proptest.
    pub fn new<S>(
        module: &str,
        package: &str,
        spec: P,
        subject: Subject<P>,
        operations: impl Fn() -> S + Send + 'static,
    ) -> Check<P>
    where
        S: Strategy<Value = P::Op> + 'static,
    {
        let below = module.split_once("::").map_or(module, |(_, below)| below);
        Check {
            place: below.to_owned(),
            package: package.to_owned(),
            spec,
            subject,
            operations: Box::new(move || operations().boxed()),
            shape: Shape {
                threads: 2..=3,
                each: 1..=3,
                before: 3,
                after: 3,
            },
            programs: 200,
            executions: 100,
            seed: 0,
            time: Duration::from_secs(20),
            states: 200_000,
        }
    }

    /// How many threads run side by side: 2 to 3 unless set. Loom runs two.
    #[must_use]
    pub fn threads(mut self, threads: RangeInclusive<usize>) -> Self {
        self.shape.threads = threads;
        self
    }

    /// How many operations each of these threads makes: 1 to 3 unless set. Loom makes two at most.
    #[must_use]
    pub fn each(mut self, operations: RangeInclusive<usize>) -> Self {
        self.shape.each = operations;
        self
    }

    /// How many operations one thread makes before the others begin, and after they have ended: at most 3 unless set.
    #[must_use]
    pub fn around(mut self, before: usize, after: usize) -> Self {
        self.shape.before = before;
        self.shape.after = after;
        self
    }

    /// How many programs are drawn: 200 unless set. Loom runs half of them.
    #[must_use]
    pub fn programs(mut self, programs: u64) -> Self {
        self.programs = programs;
        self
    }

    /// How often each program runs: 100 times unless set. Real threads run it a fifth as often. `sim` has one schedule,
    /// and ten programs for every hundred executions instead. Loom explores all, up to a thousand times as many.
    #[must_use]
    pub fn executions(mut self, executions: u64) -> Self {
        self.executions = executions;
        self
    }

    /// The number of the first program: 0 unless set. The same number draws the same programs.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How long to explore at most: 20 seconds unless set. Programs that are left are not run.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// How many states the judge visits for one history: 200,000 unless set. If they do not suffice, the history is
    /// undecided, and the test fails.
    #[must_use]
    pub fn states(mut self, states: u64) -> Self {
        self.states = states;
        self
    }

    /// What keeps the check from meaning anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let Shape {
            threads,
            each,
            before,
            after,
        } = &self.shape;
        if threads.is_empty() || *threads.start() == 0 {
            return Some(format!(
                "threads({threads:?}): a program needs at least one thread"
            ));
        }
        if each.is_empty() || *each.start() == 0 {
            return Some(format!(
                "each({each:?}): a thread needs at least one operation"
            ));
        }
        if self.programs == 0 || self.executions == 0 || self.time.is_zero() {
            return Some("programs, executions and time must not be zero".to_owned());
        }
        let most = threads
            .end()
            .saturating_mul(*each.end())
            .saturating_add(before.saturating_add(*after));
        (most > MOST).then(|| {
            format!(
                "undecided: a program may have {most} operations, and the judge takes {MOST} at most: \
                 fewer threads(), each() or around()"
            )
        })
    }
}

impl<P: Sequential> fmt::Debug for Check<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("place", &self.place)
            .field("spec", &self.spec)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}
