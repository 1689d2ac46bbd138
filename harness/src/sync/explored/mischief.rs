//! Behaviour that the contracts of the primitives admit but no checker explores by itself: a spurious wake-up, a
//! notification that goes to another waiter, a weak exchange that fails though it could succeed.
//!
//! Where a checker has random numbers they decide. For a checker without them a script decides. While the script is
//! empty, occasions are counted; then each of them is taken once, one at a time, in an exploration of its own. An
//! occasion is identified by its thread and the number of occasions that the thread had before. So its meaning does not
//! depend on the schedule.

#[cfg(feature = "loom")]
use ::std::cell::RefCell;
#[cfg(feature = "loom")]
use ::std::collections::BTreeMap;

#[cfg(feature = "loom")]
use super::census;

/// A kind of misbehaviour that a contract admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mischief {
    /// A spurious end of a wait in a `Condvar`, a `Parker` or `block_on`.
    SpuriousWakeUp,
    /// A `compare_exchange_weak` that fails though it could succeed.
    WeakFailure,
    /// A `notify_one` that wakes another waiter than the one that waited longest.
    AnotherWaiter,
}

impl Mischief {
    /// Number of kinds.
    #[cfg(feature = "loom")]
    pub const KINDS: usize = 3;
}

/// An occasion that is taken.
#[cfg(feature = "loom")]
#[derive(Clone, Copy)]
struct Stroke {
    what: Mischief,
    thread: usize,
    nth: usize,
    way: usize,
}

#[cfg(feature = "loom")]
enum Script {
    /// No occasion is taken: counts the ways of each occasion, by kind and thread.
    Counting(BTreeMap<(Mischief, usize), Vec<usize>>),
    /// The last stroke is taken now, the others later.
    Taking(Vec<Stroke>),
}

#[cfg(feature = "loom")]
thread_local! {
    static SCRIPT: RefCell<Script> = const { RefCell::new(Script::Counting(BTreeMap::new())) };
}

/// Clears the script, and counts.
#[cfg(feature = "loom")]
pub fn clear() {
    SCRIPT.set(Script::Counting(BTreeMap::new()));
}

/// Advances to the next occasion; `false` when that was the last.
#[cfg(feature = "loom")]
pub fn advance() -> bool {
    SCRIPT.with_borrow_mut(|script| {
        match script {
            Script::Counting(occasions) => *script = Script::Taking(strokes(occasions)),
            Script::Taking(strokes) => drop(strokes.pop()),
        }
        matches!(script, Script::Taking(strokes) if !strokes.is_empty())
    })
}

/// Whether an occasion is being taken.
#[cfg(feature = "loom")]
pub fn is_taken() -> bool {
    SCRIPT.with_borrow(|script| matches!(script, Script::Taking(strokes) if !strokes.is_empty()))
}

/// The occasion that is being taken, as text for [`follow`]; empty if there is none.
#[cfg(feature = "loom")]
pub fn written() -> String {
    SCRIPT.with_borrow(|script| match script {
        Script::Taking(strokes) => strokes.last().map_or_else(String::new, |stroke| {
            let Stroke {
                what,
                thread,
                nth,
                way,
            } = stroke;
            format!("{} {thread} {nth} {way}", *what as usize)
        }),
        Script::Counting(_) => String::new(),
    })
}

/// Takes the occasion of that text ([`written`]), and no other; `false` if the text is invalid.
#[cfg(feature = "loom")]
pub fn follow(written: &str) -> bool {
    let numbers: Option<Vec<usize>> = (written.split_whitespace())
        .map(|number| number.parse().ok())
        .collect();
    let kinds = [
        Mischief::SpuriousWakeUp,
        Mischief::WeakFailure,
        Mischief::AnotherWaiter,
    ];
    let stroke = match numbers.as_deref() {
        Some([]) => Vec::new(),
        Some(&[what, thread, nth, way]) if what < kinds.len() => vec![Stroke {
            what: kinds[what],
            thread,
            nth,
            way,
        }],
        _ => return false,
    };
    SCRIPT.set(Script::Taking(stroke));
    true
}

/// The strokes in reverse order: the first occasion of each thread comes last, where it is taken first.
#[cfg(feature = "loom")]
fn strokes(occasions: &BTreeMap<(Mischief, usize), Vec<usize>>) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    for (&(what, thread), ways) in occasions {
        for (nth, &ways) in ways.iter().enumerate() {
            strokes.extend((1..=ways).map(|way| Stroke {
                what,
                thread,
                nth,
                way,
            }));
        }
    }
    strokes.reverse();
    strokes
}

/// The script's decision on this occasion of `thread`, which has `ways` ways: one of them, or 0 for none.
#[cfg(feature = "loom")]
pub fn scripted(thread: usize, what: Mischief, ways: usize) -> usize {
    if ways == 0 {
        return 0;
    }
    let nth = census::with(|census| {
        let occasions = &mut census.thread(thread).occasions[what as usize];
        *occasions += 1;
        *occasions - 1
    });
    SCRIPT.with_borrow_mut(|script| match script {
        Script::Counting(occasions) => {
            let seen = occasions.entry((what, thread)).or_default();
            if seen.len() <= nth {
                seen.resize(nth + 1, 0);
            }
            seen[nth] = seen[nth].max(ways);
            0
        }
        Script::Taking(strokes) => {
            let now = strokes.last();
            let now = now.filter(|now| (now.what, now.thread, now.nth) == (what, thread, nth));
            // Under another schedule the same occasion may have fewer ways.
            now.map_or(0, |now| now.way).min(ways)
        }
    })
}
