//! The threads of a model, and what each of them waits for.

use ::std::cell::RefCell;
use ::std::collections::BTreeMap;
use ::std::fmt::{self, Write};
use ::std::panic::Location;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use super::super::Deadline;
use super::seat::Rouse;
use super::{Word, place};

/// The state of a thread.
#[derive(Clone)]
pub enum State {
    /// It runs, or could run. This includes a thread that has been roused and was not scheduled yet.
    Running,
    /// It sits until roused.
    Seated {
        /// The kind of wait, for messages.
        what: &'static str,
        /// The line that waits.
        at: &'static Location<'static>,
    },
    /// It waits for a thread to end.
    Joining {
        /// That thread.
        thread: usize,
        /// The line that waits.
        at: &'static Location<'static>,
    },
    /// It is about to lock, and waits while the lock is held.
    Locking {
        /// The holder of the lock.
        holder: Arc<Holder>,
        /// The line that locks.
        at: &'static Location<'static>,
    },
    /// The helper, without work.
    Idle,
    /// Has ended.
    Gone,
}

/// The holder of a lock: none, a thread of the model, or a foreign thread.
#[derive(Debug, Default)]
pub struct Holder(AtomicUsize);

impl Holder {
    const STRANGER: usize = usize::MAX;

    /// Sets the holder to that thread; `None` is a foreign thread.
    pub fn set(&self, thread: Option<usize>) {
        let number = thread.map_or(Holder::STRANGER, |thread| thread + 1);
        self.0.store(number, Ordering::Relaxed);
    }

    /// Marks the lock as free.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the lock is held.
    pub fn is_a_thread(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.load(Ordering::Relaxed) {
            0 | Holder::STRANGER => Ok(()),
            number => write!(f, " that thread {} holds", number - 1),
        }
    }
}

/// A thread of the model.
pub struct Entry {
    /// Its state.
    pub state: State,
    /// How many random numbers it has drawn.
    #[cfg(feature = "loom")]
    pub drawn: u64,
    /// How many choices it has made.
    #[cfg(feature = "loom")]
    pub chosen: usize,
    /// How many occasions for mischief it has had, per kind.
    #[cfg(feature = "loom")]
    pub occasions: [usize; super::mischief::Mischief::KINDS],
    /// Whether its exchange at the site that fails once has failed already.
    pub failed: bool,
    /// Whether the execution may end before it, as a process may before its threads.
    #[cfg(feature = "shuttle")]
    pub guest: bool,
    /// Its yields since it last saw something written.
    in_vain: Vain,
}

/// Yields of one thread while nothing is written.
#[derive(Clone, Copy, Default)]
struct Vain {
    yields: u32,
    /// What `Census::written` was.
    written: u64,
    /// The line of the last one.
    at: Option<&'static Location<'static>>,
}

/// An armed timer: it rouses a seat.
#[derive(Clone)]
pub struct Timer {
    /// When it fires.
    pub deadline: Deadline,
    /// Orders timers with the same deadline.
    pub number: u64,
    /// The seat that it rouses.
    pub seat: Arc<dyn Rouse>,
    /// The word on which all operations operate that may rouse that seat.
    pub gate: Arc<dyn Word>,
}

/// What the helper has to do next.
pub enum Duty {
    /// Fire this timer.
    Fire(Timer),
    /// Run these rescuers.
    Rescue(Vec<Rescuer>),
    /// Wait until roused.
    Idle,
    /// End, and drop the rescuers that were not needed.
    End(Vec<Rescuer>),
    /// No thread will ever run again: report this deadlock.
    Deadlock(String),
}

/// After this many yields without a new wait, yielding counts as waiting for time to pass.
pub const SPINS: u32 = 100;

/// After this many yields of a thread while nothing is written, another one changes nothing. A loop that gives up, or sleeps
/// in the end, yields less often.
const VAIN: u32 = 5_000;

/// Runs when all threads wait.
pub type Rescuer = Box<dyn FnOnce() + Send>;

/// The threads, timers and rescuers of one execution.
pub struct Census {
    threads: Vec<Entry>,
    /// The number of the helper.
    pub helper: Option<usize>,
    /// The seat of the idle helper.
    pub helper_seat: Option<Arc<dyn Rouse>>,
    timers: Vec<Timer>,
    timers_armed: u64,
    /// Rescuers that run at quiescence.
    pub rescuers: Vec<Rescuer>,
    /// The virtual clock.
    pub clock: Arc<dyn Word>,
    /// How far the brisk clock is behind the virtual one.
    pub lag: u64,
    /// Passes the past of threads that arm timers or register rescuers on to the helper.
    pub orders: Arc<dyn Word>,
    /// How many timers may still fire while a thread could run.
    pub eager: u32,
    /// How often threads have yielded since a thread last began to wait or a timer fired.
    pub spun: u32,
    /// How often something was written that other threads can see, a thread was started, roused or ended, or the clock was
    /// read: a loop that compares it waits for time.
    written: u64,
    /// The last order key.
    pub keys: u64,
    /// Tracked values alive, by number, with the lines that made them.
    pub tracked: BTreeMap<u64, &'static Location<'static>>,
}

thread_local! {
    static CENSUS: RefCell<Option<Census>> = const { RefCell::new(None) };
}

/// Begins the census of a new execution, with its main thread in it.
pub fn begin(clock: Arc<dyn Word>, orders: Arc<dyn Word>, eager: u32) {
    let mut new = Census {
        threads: Vec::new(),
        helper: None,
        helper_seat: None,
        timers: Vec::new(),
        timers_armed: 0,
        rescuers: Vec::new(),
        clock,
        lag: 0,
        orders,
        eager,
        spun: 0,
        written: 0,
        keys: 0,
        tracked: BTreeMap::new(),
    };
    new.enter();
    CENSUS.with_borrow_mut(|census| *census = Some(new));
}

/// Ends the census, if there is one, and returns it.
pub fn end() -> Option<Census> {
    CENSUS.with_borrow_mut(Option::take)
}

/// The census of this execution. `look` must not call the checker.
///
/// # Panics
/// Outside an exploration.
pub fn with<R>(look: impl FnOnce(&mut Census) -> R) -> R {
    try_with(look)
        .expect("the primitives of the loom and shuttle worlds live inside `World::explore` only")
}

/// As [`with`]; `None` outside an exploration.
pub fn try_with<R>(look: impl FnOnce(&mut Census) -> R) -> Option<R> {
    CENSUS
        .try_with(|census| census.try_borrow_mut().ok()?.as_mut().map(look))
        .ok()
        .flatten()
}

/// Marks a thread as running.
pub fn runs(thread: usize) {
    with(|census| census.thread(thread).state = State::Running);
}

impl Census {
    /// Adds a new, running thread; returns its number.
    pub fn enter(&mut self) -> usize {
        self.wrote();
        self.threads.push(Entry {
            state: State::Running,
            #[cfg(feature = "loom")]
            drawn: 0,
            #[cfg(feature = "loom")]
            chosen: 0,
            #[cfg(feature = "loom")]
            occasions: Default::default(),
            failed: false,
            #[cfg(feature = "shuttle")]
            guest: false,
            in_vain: Vain::default(),
        });
        self.threads.len() - 1
    }

    /// Something happened that makes another turn of a loop worth its while ([`Census::written`]).
    pub fn wrote(&mut self) {
        self.written += 1;
    }

    /// The clock, for a thread that reads it.
    pub fn clock(&mut self) -> Arc<dyn Word> {
        self.wrote();
        self.clock.clone()
    }

    /// Counts a yield of a thread.
    ///
    /// # Errors
    /// With the report of a livelock: every thread waits, or yields in vain, and no timer and no rescuer is left. Valid
    /// only where a load returns the last value that was written. With guests, which may catch a report, there is none.
    pub fn yields(&mut self, thread: usize, at: &'static Location<'static>) -> Result<(), String> {
        let written = self.written;
        let vain = &mut self.threads[thread].in_vain;
        let yields = match vain.written == written {
            true => vain.yields + 1,
            false => 1,
        };
        *vain = Vain {
            yields,
            written,
            at: Some(at),
        };
        let may_be_woken = !self.timers.is_empty() || !self.rescuers.is_empty();
        if yields < VAIN || may_be_woken || self.has_guests() {
            return Ok(());
        }
        let idles = |number: usize| {
            let vain = &self.threads[number].in_vain;
            self.waits(number) || (vain.written == written && vain.yields >= VAIN)
        };
        match (0..self.threads.len()).all(idles) {
            true => {
                Err(self.stuck("livelock: every thread waits, or yields and nothing is written"))
            }
            false => Ok(()),
        }
    }

    /// A thread.
    pub fn thread(&mut self, number: usize) -> &mut Entry {
        &mut self.threads[number]
    }

    /// Arms a timer.
    pub fn arm(&mut self, deadline: Deadline, seat: Arc<dyn Rouse>, gate: Arc<dyn Word>) {
        self.timers_armed += 1;
        self.timers.push(Timer {
            deadline,
            number: self.timers_armed,
            seat,
            gate,
        });
    }

    /// Cancels the timer of a thread: a thread waits in one place at a time.
    pub fn disarm(&mut self, thread: usize) {
        self.timers
            .retain(|timer| timer.seat.thread() != Some(thread));
    }

    /// Removes the timer if it is still the next one to fire; returns whether it was.
    pub fn take_if_next(&mut self, timer: &Timer) -> bool {
        let next = self
            .next_timer()
            .is_some_and(|next| next.number == timer.number);
        if next {
            self.spun = 0;
            if !self.quiescent() {
                self.eager = self.eager.saturating_sub(1);
            }
            self.timers.retain(|armed| armed.number != timer.number);
        }
        next
    }

    fn next_timer(&self) -> Option<&Timer> {
        self.timers
            .iter()
            .min_by_key(|timer| (timer.deadline, timer.number))
    }

    fn waits(&self, number: usize) -> bool {
        match &self.threads[number].state {
            State::Running => false,
            State::Seated { .. } | State::Idle | State::Gone => true,
            State::Joining { thread, .. } => !matches!(self.threads[*thread].state, State::Gone),
            State::Locking { holder, .. } => holder.is_a_thread(),
        }
    }

    /// Whether every thread but the helper waits or has ended.
    fn quiescent(&self) -> bool {
        (0..self.threads.len()).all(|number| Some(number) == self.helper || self.waits(number))
    }

    #[cfg(feature = "shuttle")]
    fn is_guest(&self, number: usize) -> bool {
        self.threads[number].guest
    }

    #[cfg(not(feature = "shuttle"))]
    fn is_guest(&self, _number: usize) -> bool {
        false
    }

    fn has_guests(&self) -> bool {
        (0..self.threads.len()).any(|number| self.is_guest(number))
    }

    /// Whether every thread has ended but some guests.
    #[cfg(feature = "shuttle")]
    pub fn has_only_guests(&self) -> bool {
        let waits_or_runs = |entry: &Entry| entry.guest && !matches!(entry.state, State::Gone);
        self.all_gone() && self.threads.iter().any(waits_or_runs)
    }

    fn all_gone(&self) -> bool {
        let gone = |number: usize| {
            self.is_guest(number) || matches!(self.threads[number].state, State::Gone)
        };
        (0..self.threads.len()).all(|number| Some(number) == self.helper || gone(number))
    }

    /// The next duty of the helper, which calls this.
    pub fn duty(&mut self) -> Duty {
        if self.all_gone() {
            return Duty::End(::std::mem::take(&mut self.rescuers));
        }
        let quiescent = self.quiescent();
        if let Some(timer) = self.next_timer() {
            if quiescent || self.eager > 0 || self.spun >= SPINS {
                return Duty::Fire(timer.clone());
            }
        } else if quiescent && self.rescuers.is_empty() {
            return Duty::Deadlock(self.deadlock());
        } else if quiescent {
            return Duty::Rescue(::std::mem::take(&mut self.rescuers));
        }
        Duty::Idle
    }

    /// Call this after a thread began to wait, armed a timer or ended. Returns the helper's seat if the helper has
    /// something to do, or an error with the report of a deadlock if no thread is left that could run.
    pub fn settle(&mut self) -> Result<Option<Arc<dyn Rouse>>, String> {
        if let Some(helper) = self.helper {
            match self.threads[helper].state {
                State::Idle => {}
                State::Running | State::Gone => return Ok(None),
                _ if self.quiescent() && self.waits(helper) => return Err(self.deadlock()),
                _ => return Ok(None),
            }
        }
        let quiescent = self.quiescent();
        let eager = (self.eager > 0 || self.spun >= SPINS) && !self.timers.is_empty();
        if !quiescent && !eager {
            return Ok(None);
        }
        let stuck = quiescent && self.timers.is_empty() && self.rescuers.is_empty();
        if stuck && !self.all_gone() {
            // A guest may catch the panic of a report, or abort. With guests there is a helper, which reports.
            return match self.has_guests() {
                true => Ok(self.helper_seat.take()),
                false => Err(self.deadlock()),
            };
        }
        Ok(self.helper_seat.take())
    }

    /// The report of a deadlock.
    fn deadlock(&self) -> String {
        self.stuck("deadlock: every thread waits, and no timer is armed")
    }

    /// The report, after its title: what each thread waits for, and where.
    fn stuck(&self, title: &str) -> String {
        let mut tale = title.to_owned();
        for (number, entry) in self.threads.iter().enumerate() {
            let task = if Some(number) == self.helper {
                String::from("the clock's helper")
            } else {
                format!("thread {number}")
            };
            let _ = match &entry.state {
                State::Running => match entry.in_vain.at {
                    Some(at) if entry.in_vain.written == self.written => {
                        write!(tale, "\n  {task} yields again and again at {}", place(at))
                    }
                    _ => write!(tale, "\n  {task} runs"),
                },
                State::Seated { what, at, .. } => {
                    write!(tale, "\n  {task} waits in {what} at {}", place(at))
                }
                State::Joining { thread, at } => {
                    write!(tale, "\n  {task} joins thread {thread} at {}", place(at))
                }
                State::Locking { holder, at } => {
                    write!(tale, "\n  {task} waits for a lock{holder} at {}", place(at))
                }
                State::Idle | State::Gone => Ok(()),
            };
        }
        tale
    }
}
