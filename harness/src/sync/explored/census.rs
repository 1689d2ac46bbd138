//! Who is in the model, and what each of them waits for.

use ::std::cell::RefCell;
use ::std::collections::BTreeMap;
use ::std::fmt::{self, Write};
use ::std::panic::Location;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use super::super::Deadline;
use super::seat::Rouse;
use super::{Word, place};

/// What a thread does.
#[derive(Clone)]
pub enum State {
    /// Runs, or could: also a thread that has been roused and was not scheduled yet.
    Running,
    /// Sits until roused.
    Seated {
        /// What the caller waits in.
        what: &'static str,
        /// The line that waits.
        at: &'static Location<'static>,
    },
    /// Waits for a thread to end.
    Joining {
        /// That thread.
        thread: usize,
        /// The line that waits.
        at: &'static Location<'static>,
    },
    /// Is about to lock, and waits while somebody holds the lock.
    Locking {
        /// Who does.
        holder: Arc<Holder>,
        /// The line that locks.
        at: &'static Location<'static>,
    },
    /// The helper, with nothing to do.
    Idle,
    /// Has ended.
    Gone,
}

/// Who holds a lock: nobody, a thread of the model, or a stranger.
#[derive(Debug, Default)]
pub struct Holder(AtomicUsize);

impl Holder {
    const STRANGER: usize = usize::MAX;

    /// That thread does; `None` is a stranger.
    pub fn set(&self, thread: Option<usize>) {
        let number = thread.map_or(Holder::STRANGER, |thread| thread + 1);
        self.0.store(number, Ordering::Relaxed);
    }

    /// Nobody does.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether anybody does.
    pub fn is_somebody(&self) -> bool {
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
    /// What it does.
    pub state: State,
    /// How many numbers it has drawn.
    #[cfg(feature = "loom")]
    pub drawn: u64,
    /// How often it has chosen.
    #[cfg(feature = "loom")]
    pub chosen: usize,
    /// How many occasions for mischief it has had, of each kind.
    #[cfg(feature = "loom")]
    pub occasions: [usize; super::mischief::Mischief::KINDS],
    /// Whether its exchange at the site that fails once has failed.
    pub failed: bool,
}

/// An armed timer: it rouses a seat.
#[derive(Clone)]
pub struct Timer {
    /// When.
    pub deadline: Deadline,
    /// Which of those with the same deadline comes first.
    pub number: u64,
    /// Whom.
    pub seat: Arc<dyn Rouse>,
    /// What all who may rouse that seat operate on.
    pub gate: Arc<dyn Word>,
}

/// What the helper has to do next.
pub enum Duty {
    /// Fire this timer.
    Fire(Timer),
    /// Run these.
    Rescue(Vec<Rescuer>),
    /// Nothing until roused.
    Idle,
    /// End, and drop the rescuers that were not needed.
    End(Vec<Rescuer>),
    /// Nobody will ever run again: say this.
    Deadlock(String),
}

/// Giving way so often with nobody beginning to wait is waiting too: for time to pass.
pub const SPINS: u32 = 100;

/// What to do when everybody waits.
pub type Rescuer = Box<dyn FnOnce() + Send>;

/// The threads, timers and rescuers of one execution.
pub struct Census {
    threads: Vec<Entry>,
    /// Which thread is the helper.
    pub helper: Option<usize>,
    /// Where the idle helper sits.
    pub helper_seat: Option<Arc<dyn Rouse>>,
    timers: Vec<Timer>,
    timers_armed: u64,
    /// What runs at quiescence.
    pub rescuers: Vec<Rescuer>,
    /// The virtual clock.
    pub clock: Arc<dyn Word>,
    /// What passes the past of those who arm timers or register rescuers on to the helper.
    pub orders: Arc<dyn Word>,
    /// How many timers may still fire while somebody could run.
    pub eager: u32,
    /// How often threads have given way since somebody last waited or a timer fired.
    pub spun: u32,
    /// The last key given out.
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
        orders,
        eager,
        spun: 0,
        keys: 0,
        tracked: BTreeMap::new(),
    };
    new.enter();
    CENSUS.with_borrow_mut(|census| *census = Some(new));
}

/// Ends the census, if there is one, and answers it.
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

/// A thread goes on.
pub fn runs(thread: usize) {
    with(|census| census.thread(thread).state = State::Running);
}

impl Census {
    /// A new thread, running; answers its number.
    pub fn enter(&mut self) -> usize {
        self.threads.push(Entry {
            state: State::Running,
            #[cfg(feature = "loom")]
            drawn: 0,
            #[cfg(feature = "loom")]
            chosen: 0,
            #[cfg(feature = "loom")]
            occasions: Default::default(),
            failed: false,
        });
        self.threads.len() - 1
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

    /// Calls off the timer of a thread: a thread waits in one place at a time.
    pub fn disarm(&mut self, thread: usize) {
        self.timers
            .retain(|timer| timer.seat.thread() != Some(thread));
    }

    /// Whether the timer is still the one to fire; then it is taken away.
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
            State::Locking { holder, .. } => holder.is_somebody(),
        }
    }

    /// Whether every thread but the helper waits or has ended.
    fn quiescent(&self) -> bool {
        (0..self.threads.len()).all(|number| Some(number) == self.helper || self.waits(number))
    }

    fn all_gone(&self) -> bool {
        let gone = |number: usize| matches!(self.threads[number].state, State::Gone);
        (0..self.threads.len()).all(|number| Some(number) == self.helper || gone(number))
    }

    /// What there is to do for the helper, who asks.
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

    /// After somebody began to wait, armed a timer or ended: the helper's seat, when there is something
    /// to do for it; an error with the tale of a deadlock when there is nobody left who could run.
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
        if quiescent && !self.all_gone() && self.timers.is_empty() && self.rescuers.is_empty() {
            return Err(self.deadlock());
        }
        Ok(self.helper_seat.take())
    }

    /// Who waits for what, and where.
    fn deadlock(&self) -> String {
        let mut tale = String::from("deadlock: every thread waits, and no timer is armed");
        for (number, entry) in self.threads.iter().enumerate() {
            let who = if Some(number) == self.helper {
                String::from("the clock's helper")
            } else {
                format!("thread {number}")
            };
            let _ = match &entry.state {
                State::Running => write!(tale, "\n  {who} runs"),
                State::Seated { what, at, .. } => {
                    write!(tale, "\n  {who} waits in {what} at {}", place(at))
                }
                State::Joining { thread, at } => {
                    write!(tale, "\n  {who} joins thread {thread} at {}", place(at))
                }
                State::Locking { holder, at } => {
                    write!(tale, "\n  {who} waits for a lock{holder} at {}", place(at))
                }
                State::Idle | State::Gone => Ok(()),
            };
        }
        tale
    }
}
