//! The std world: std's own primitives, a condition variable that counts its waiters, and a lock that is released by a
//! store.

use ::std::cell;
use ::std::future::Future;
use ::std::marker::PhantomData;
use ::std::mem::forget;
use ::std::ops::{Deref, DerefMut};
use ::std::panic::{AssertUnwindSafe, catch_unwind};
use ::std::sync as bare;
use ::std::thread;

use crate::machine::affinity;

use super::body::{Answer, Body, answered, erased};
use super::{Deadline, Exploration, Explored, Lock, World};

pub mod barrier;
mod block_on;
#[cfg(feature = "brisk-clock")]
mod brisk;
mod costs;
mod light_mutex;
mod meeting;
mod skew;
mod spin;

pub use self::block_on::block_on;
pub use self::costs::wait_costs;
pub use self::light_mutex::{LightMutex, LightMutexGuard};
pub use self::spin::{sleep_for, spin_for};
pub use ::std::hint::spin_loop as spin_hint;
pub use ::std::sync::Arc;
pub use ::std::thread::yield_now;
pub use ::std::thread_local;

#[cfg(feature = "deques")]
pub use super::deques::{Injector, Stealer, Worker};
#[cfg(feature = "ordered-map")]
pub use super::ordered_map::OrderedMap;

/// Atomics and fences.
pub mod atomic {
    pub use ::std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A lock that does not poison: a panic while it is held leaves it usable.
#[derive(Debug, Default)]
pub struct Mutex<T>(bare::Mutex<T>);

/// The lock, held.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(bare::MutexGuard<'a, T>);

impl<T> Mutex<T> {
    /// An open lock around `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex(bare::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(self.0.lock().unwrap_or_else(bare::PoisonError::into_inner))
    }

    /// Locks if the lock is free.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard(guard)),
            Err(bare::TryLockError::Poisoned(poisoned)) => Some(MutexGuard(poisoned.into_inner())),
            Err(bare::TryLockError::WouldBlock) => None,
        }
    }

    /// Consumes the lock and returns its value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0
            .into_inner()
            .unwrap_or_else(bare::PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Mutex::new(value)
    }
    fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.lock())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A condition variable. std's makes a system call for each notification, whether or not a thread waits. This one counts
/// its waiters, and without any a notification is one load.
///
/// The count is seen where it matters. A thread counts itself under the lock, and one that notifies it has changed under
/// that lock what the thread waits for.
#[derive(Debug, Default)]
pub struct Condvar {
    inner: bare::Condvar,
    /// Relaxed: ordered by the lock.
    waiters: atomic::AtomicUsize,
}

impl Condvar {
    fn has_waiters(&self) -> bool {
        self.waiters.load(atomic::Ordering::Relaxed) > 0
    }

    fn counted<R>(&self, wait: impl FnOnce(&bare::Condvar) -> R) -> R {
        self.waiters.fetch_add(1, atomic::Ordering::Relaxed);
        let waited = wait(&self.inner);
        self.waiters.fetch_sub(1, atomic::Ordering::Relaxed);
        waited
    }

    /// One without waiters.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Condvar::default()
    }

    /// Releases the lock, waits for a notification, and locks again. May wake spuriously.
    #[inline]
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let guard = self.counted(|inner| inner.wait(guard.0));
        MutexGuard(guard.unwrap_or_else(bare::PoisonError::into_inner))
    }

    /// As [`Condvar::wait`], until `deadline` at most; the second result is whether it has passed.
    #[inline]
    #[track_caller]
    pub fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Deadline,
    ) -> (MutexGuard<'a, T>, bool) {
        let Some(left) = clock::left(deadline) else {
            return (self.wait(guard), false);
        };
        if left.is_zero() {
            return (guard, true);
        }
        let (guard, _) = self
            .counted(|inner| inner.wait_timeout(guard.0, left))
            .unwrap_or_else(bare::PoisonError::into_inner);
        (MutexGuard(guard), clock::has_passed(deadline))
    }

    /// Wakes one waiter, if there is one.
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        if self.has_waiters() {
            self.inner.notify_one();
        }
    }

    /// Wakes all waiters.
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        if self.has_waiters() {
            self.inner.notify_all();
        }
    }
}

/// The waiting place of the thread that made it. Holds at most one token.
#[derive(Debug)]
pub struct Parker {
    unparker: Unparker,
    /// Only the thread that made it may park.
    not_send: PhantomData<*const ()>,
}

/// Wakes the thread of a [`Parker`].
#[derive(Clone, Debug)]
pub struct Unparker(thread::Thread);

impl Default for Parker {
    fn default() -> Self {
        Parker::new()
    }
}

impl Parker {
    /// A waiting place for this thread.
    ///
    /// It represents the thread itself, so two parkers of one thread share their token. The waiting thread must check
    /// its condition again after each wake-up, as after a spurious one.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Parker {
            unparker: Unparker(thread::current()),
            not_send: PhantomData,
        }
    }

    /// A handle that wakes this parker.
    #[inline]
    #[track_caller]
    pub fn unparker(&self) -> Unparker {
        self.unparker.clone()
    }

    /// Waits for the token and takes it. May wake spuriously.
    #[inline]
    #[track_caller]
    pub fn park(&self) {
        thread::park();
    }

    /// As [`Parker::park`], until `deadline` at most.
    #[inline]
    #[track_caller]
    pub fn park_until(&self, deadline: Deadline) {
        match clock::left(deadline) {
            None => thread::park(),
            Some(left) => thread::park_timeout(left),
        }
    }
}

impl Unparker {
    /// Gives the token.
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        self.0.unpark();
    }
}

/// A cell for which the explored worlds check reads and writes.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell around `value`.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        UnsafeCell(cell::UnsafeCell::new(value))
    }

    /// Reads; no thread may write meanwhile.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Writes; no thread may read or write meanwhile.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    /// The value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A value with leak detection under loom and shuttle.
#[derive(Debug, Default)]
pub struct Track<T>(T);

impl<T> Track<T> {
    /// Tracks `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Track(value)
    }

    /// The value.
    #[inline]
    #[track_caller]
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// The value.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// The value, no longer tracked.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// A thread.
#[derive(Debug)]
pub struct JoinHandle<T>(thread::JoinHandle<T>);

impl<T> JoinHandle<T> {
    /// Waits for the thread's result.
    ///
    /// # Panics
    /// With what the thread panicked with.
    #[inline]
    #[track_caller]
    pub fn join(self) -> T {
        self.0
            .join()
            .unwrap_or_else(|panic| ::std::panic::resume_unwind(panic))
    }
}

/// Starts a thread.
#[inline]
#[track_caller]
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    JoinHandle(thread::spawn(body))
}

/// Starts a thread; `None` when the system cannot.
#[inline]
#[track_caller]
pub fn try_spawn<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> Option<JoinHandle<T>> {
    thread::Builder::new().spawn(body).ok().map(JoinHandle)
}

/// Whether other threads can progress while this one spins: false on a single core. The system is asked once.
#[inline]
pub fn spinning_pays() -> bool {
    static PAYS: bare::OnceLock<bool> = bare::OnceLock::new();
    *PAYS.get_or_init(|| {
        let has_several = |cores: Option<Vec<usize>>| cores.is_some_and(|cores| cores.len() > 1);
        // The system answers for the calling thread, which may be pinned. Then the first thread counts, whatever the
        // process's share of time is; if that is pinned as well, it counts as a single core.
        let is_pinned = || !has_several(affinity::of_thread());
        thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
            || is_pinned() && has_several(affinity::of_process())
    })
}

/// Whether a model has failed here and its state is being dropped. Never: this is not a model.
#[inline]
pub fn is_taken_apart() -> bool {
    false
}

/// Asks the system to wake this thread exactly at its deadlines. Linux otherwise takes up to 50 µs more, to wake
/// several threads at once (timer slack). Where the system cannot be asked, nothing changes.
pub fn precise_wakeups() {
    #[cfg(target_os = "linux")]
    {
        // Without libc: the kernel accepts a thread's number here, though `/proc` does not list it.
        let thread = ::std::fs::read_link("/proc/thread-self").unwrap_or_default();
        if let Some(number) = thread.file_name() {
            let slack = ::std::path::Path::new("/proc").join(number);
            // In nanoseconds; zero would select the default. If the write fails, wake-ups are only later.
            let _ = ::std::fs::write(slack.join("timerslack_ns"), "1");
        }
    }
}

/// The monotonic clock.
pub mod clock {
    use ::std::sync::OnceLock;
    use ::std::time::{Duration, Instant};

    use super::Deadline;

    #[inline]
    #[track_caller]
    fn origin() -> Instant {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        *ORIGIN.get_or_init(Instant::now)
    }

    /// Nanoseconds since the clock was first read.
    #[inline]
    #[track_caller]
    pub fn now_nanos() -> u64 {
        let origin = origin();
        u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// As [`now_nanos`], but cheaper. It lags behind [`now_nanos`] by less than 100 ns. Threads that read it
    /// concurrently may see moments in another order than that of their reads, by the same amount. With the feature
    /// `brisk-clock` a read takes a third of the time, if the processor has a reliable counter.
    #[inline]
    #[track_caller]
    pub fn brisk_nanos() -> u64 {
        #[cfg(feature = "brisk-clock")]
        return super::brisk::nanos();
        #[cfg(not(feature = "brisk-clock"))]
        now_nanos()
    }

    /// The moment `delay` from now; `Duration::MAX` is [`Deadline::NEVER`].
    #[inline]
    #[track_caller]
    pub fn after(delay: Duration) -> Deadline {
        Deadline::after(now_nanos(), delay)
    }

    /// Whether the moment has come.
    #[inline]
    #[track_caller]
    pub fn has_passed(deadline: Deadline) -> bool {
        deadline != Deadline::NEVER && now_nanos() >= deadline.as_nanos()
    }

    /// The time left until then: zero if it has passed, `None` if it never comes.
    #[inline]
    #[track_caller]
    pub fn left(deadline: Deadline) -> Option<Duration> {
        (deadline != Deadline::NEVER)
            .then(|| Duration::from_nanos(deadline.as_nanos().saturating_sub(now_nanos())))
    }

    /// The same moment for an API that takes std's `Instant`; `None` if it never comes.
    #[inline]
    #[track_caller]
    pub fn instant(deadline: Deadline) -> Option<Instant> {
        (deadline != Deadline::NEVER)
            .then(|| origin().checked_add(Duration::from_nanos(deadline.as_nanos())))
            .flatten()
    }
}

/// A random number, seeded per thread from the order in which threads first ask.
#[inline]
#[track_caller]
pub fn random_u64() -> u64 {
    use ::std::cell::Cell;
    thread_local! {
        static STATE: Cell<u64> = Cell::new(super::split_mix(order_key()));
    }
    STATE.with(|state| {
        state.set(state.get().wrapping_add(1));
        super::split_mix(state.get())
    })
}

/// A unique key; later ones are greater.
#[inline]
#[track_caller]
pub fn order_key() -> u64 {
    use ::std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness is required, and an atomic read-modify-write suffices for it.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The place of an object in the order in which locks are taken. Here it is the object's address.
#[derive(Debug)]
pub struct LockPlace(());

impl LockPlace {
    /// A place for a new object.
    #[inline]
    #[track_caller]
    pub fn fresh() -> Self {
        LockPlace(())
    }

    /// The number of the object that has this place. It differs from those of all others that exist, until it is moved.
    #[inline]
    #[track_caller]
    pub fn of<T>(&self, object: &T) -> u64 {
        ::std::ptr::from_ref(object).addr() as u64
    }
}

/// Runs foreign code and catches its panic. The panic hook has run by then.
///
/// # Errors
/// The payload of the panic.
#[inline]
#[track_caller]
pub fn caught<R>(call: impl FnOnce() -> R) -> Result<R, Box<dyn ::std::any::Any + Send>> {
    catch_unwind(AssertUnwindSafe(call))
}

/// Runs foreign code and drops its panic; the result is then `None`. The panic hook has run by then.
#[inline]
#[track_caller]
pub fn contain<R>(call: impl FnOnce() -> R) -> Option<R> {
    let payload = match caught(call) {
        Ok(answer) => return Some(answer),
        Err(payload) => payload,
    };
    // The payload of a panic is foreign too. A payload that panics in its drop is forgotten, or this would not end.
    if let Err(further) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        forget(further);
    }
    None
}

/// One of `0..n`, at random.
///
/// # Panics
/// When there is nothing to choose from.
#[inline]
#[track_caller]
pub fn choose(n: usize) -> usize {
    super::scale(random_u64(), n)
}

/// Real threads on a real machine.
#[derive(Debug)]
pub struct Std;

/// A thread of a model.
#[derive(Debug)]
pub struct Started<T>(JoinHandle<Answer>, PhantomData<fn() -> T>);

/// Starts a thread that begins together with its siblings.
fn start(body: Body) -> JoinHandle<Answer> {
    spawn(meeting::together(body))
}

impl World for Std {
    const NAME: &'static str = "std";
    type Models = Std;
    type JoinHandle<T: Send + 'static> = Started<T>;
    type Mutex<T: Send + 'static> = Mutex<T>;

    fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Started<T> {
        Started(start(erased(body)), PhantomData)
    }
    fn join<T: Send + 'static>(handle: Started<T>) -> T {
        meeting::open();
        answered(handle.0.join())
    }
    fn perturb() {
        meeting::open();
        meeting::wait_a_little();
    }
    fn yield_now() {
        yield_now();
    }
    fn now_nanos() -> u64 {
        clock::now_nanos()
    }
    fn stamp() -> u64 {
        clock::now_nanos()
    }
    fn stamp_margin() -> Option<u64> {
        Some(skew::margin_nanos())
    }
    fn block_on<F: Future>(future: F) -> F::Output {
        block_on(future)
    }
    fn choose(n: usize) -> usize {
        meeting::choose(n)
    }
    fn on_quiescence(_rescue: impl FnOnce() + Send + 'static) -> bool {
        false
    }
    fn explore(plan: &Exploration, model: impl Fn() + Send + Sync + 'static) -> Explored {
        meeting::seed(plan.seed);
        let end = clock::after(plan.time);
        let mut executions = 0;
        while executions < plan.executions && !clock::has_passed(end) {
            executions += 1;
            if let Err(panic) = catch_unwind(AssertUnwindSafe(&model)) {
                let failure = Some(super::panic_text(&*panic).into());
                return Explored {
                    executions,
                    complete: false,
                    undecided: 0,
                    failure,
                };
            }
        }
        Explored {
            executions,
            complete: false,
            undecided: 0,
            failure: None,
        }
    }
    fn replay(
        _schedule: &super::Schedule,
        _model: impl Fn() + Send + Sync + 'static,
    ) -> Result<super::Replayed, String> {
        Err("nothing repeats an execution of real threads".to_owned())
    }
}
