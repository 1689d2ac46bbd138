//! Where armed timers lie: in pages that never move, found by a key, and used anew once they are free.

use flowmeter_harness::sync::Deadline;

use super::numbers::Numbers;

/// Where a timer stands in its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its place among others.
    pub(in crate::timer) place: u32,
    /// Which others these are, in an index that keeps several lots apart.
    pub(in crate::timer) of: u32,
}

impl Link {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are no more places than keys, and few lots"
    )]
    #[inline(always)]
    pub(in crate::timer) const fn new(of: usize, place: usize) -> Self {
        Link {
            place: place as u32,
            of: of as u32,
        }
    }

    /// In no index: free, or picked for a batch.
    const OUT: Link = Link {
        place: u32::MAX,
        of: u32::MAX,
    };
}

struct Timer<T> {
    /// See [`Numbers`]; 0 while the place is free.
    number: u64,
    due: Deadline,
    /// Of a free place: the next one, in `place`.
    link: Link,
    then: Option<T>,
}

/// Timers of a page. In small ones a storm would be scattered over what else its threads have allocated meanwhile; the first
/// timer of a service takes all of one, 48 KiB (docs/lab/2026-11-25-timer-firing.md).
/// Few where it is explored what happens at the end of one.
const PAGE: usize = if cfg!(any(feature = "loom", feature = "shuttle")) {
    4
} else {
    1024
};

type Page<T> = Box<[Timer<T>; PAGE]>;

/// Names one timer for ever, and among those of all slabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) key: u32,
    pub(super) number: u64,
}

impl Name {
    /// Of no timer.
    pub(super) const OF_NONE: Name = Name {
        key: u32::MAX,
        number: 0,
    };
}

/// What became of a timer of a batch.
pub(super) enum Claim<T> {
    /// It was called off or moved.
    Gone,
    /// It is not wanted, and stays where it is.
    Left,
    Taken(T),
}

/// The timers, and what each is for.
pub struct Slab<T> {
    pages: Vec<Page<T>>,
    free: u32,
    armed: usize,
    numbers: Numbers,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Slab {
            pages: Vec::new(),
            free: Link::OUT.place,
            armed: 0,
            numbers: Numbers::default(),
        }
    }

    /// How many are armed.
    pub(super) fn len(&self) -> usize {
        self.armed
    }

    /// A new timer, which an index or a batch has to be told of.
    #[inline(always)]
    pub(super) fn add(&mut self, due: Deadline, then: T) -> Name {
        if self.free == Link::OUT.place {
            self.grow();
        }
        self.armed += 1;
        let (key, number) = (self.free, self.numbers.next());
        let timer = self.timer_mut(key);
        timer.number = number;
        timer.due = due;
        timer.then = Some(then);
        self.free = timer.link.place;
        Name { key, number }
    }

    /// Takes one out that is in no index.
    #[inline(always)]
    pub(super) fn remove(&mut self, key: u32) -> Option<T> {
        self.remove_if(key, |_| true)
    }

    /// The same, if it is wanted.
    #[inline(always)]
    fn remove_if(&mut self, key: u32, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let free = self.free;
        let timer = self.timer_mut(key);
        let then = timer.then.take_if(|then| wanted(then))?;
        timer.number = 0;
        timer.link.place = free;
        self.free = key;
        self.armed -= 1;
        Some(then)
    }

    /// Takes out a timer of a batch that is wanted, if it is there still as it was picked.
    #[inline(always)]
    pub(super) fn claim_if(&mut self, picked: Picked, wanted: impl FnOnce(&T) -> bool) -> Claim<T> {
        if !self.has_still(picked) {
            return Claim::Gone;
        }
        let taken = self.remove_if(picked.name.key, wanted);
        taken.map_or(Claim::Left, Claim::Taken)
    }

    /// Whether that timer is armed still.
    #[inline(always)]
    pub(super) fn has(&self, name: Name) -> bool {
        let page = self.pages.get(name.key as usize / PAGE);
        page.is_some_and(|page| page[name.key as usize % PAGE].number == name.number)
    }

    /// Whether it is armed still as it was picked, and in no index.
    #[inline(always)]
    pub(super) fn has_still(&self, picked: Picked) -> bool {
        let key = picked.name.key;
        self.has(picked.name) && self.is_out(key) && self.due(key) == picked.due
    }

    /// The deadline of an armed timer.
    #[inline(always)]
    pub(in crate::timer) fn due(&self, key: u32) -> Deadline {
        self.timer(key).due
    }

    /// The number of an armed timer: one that was armed later has a greater one.
    pub(in crate::timer) fn number(&self, key: u32) -> u64 {
        self.timer(key).number
    }

    pub(super) fn set_due(&mut self, key: u32, due: Deadline) {
        self.timer_mut(key).due = due;
    }

    /// What one that is armed is for, to be changed.
    pub(super) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        self.timer_mut(key).then.as_mut()
    }

    #[inline(always)]
    pub(super) fn is_out(&self, key: u32) -> bool {
        self.timer(key).link == Link::OUT
    }

    #[inline(always)]
    pub(in crate::timer) fn link_mut(&mut self, key: u32) -> &mut Link {
        &mut self.timer_mut(key).link
    }

    /// Marks one that its index has just let go.
    #[inline]
    pub(in crate::timer) fn take_out(&mut self, key: u32) -> Picked {
        let timer = self.timer_mut(key);
        timer.link = Link::OUT;
        Picked {
            due: timer.due,
            name: Name {
                key,
                number: timer.number,
            },
        }
    }

    /// Takes all out, whatever index they are in.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        // Not by value: a page has no room on a small stack.
        let timers = self
            .pages
            .drain(..)
            .flat_map(|page| (page as Box<[Timer<T>]>).into_vec());
        let all = timers.filter_map(|timer| timer.then).collect();
        self.free = Link::OUT.place;
        self.armed = 0;
        all
    }

    /// Another page of free places, the first of which is used first.
    fn grow(&mut self) {
        let first = self.pages.len() * PAGE;
        let place = |key: usize| u32::try_from(key).expect("four billion timers are not armed");
        let page = (first..first + PAGE).map(|key| Timer {
            number: 0,
            due: Deadline::NEVER,
            link: Link {
                place: if key + 1 < first + PAGE {
                    place(key + 1)
                } else {
                    self.free
                },
                ..Link::OUT
            },
            then: None,
        });
        let page: Box<[Timer<T>]> = page.collect();
        self.pages
            .push(page.try_into().ok().expect("it has so many"));
        self.free = place(first);
    }

    #[inline(always)]
    fn timer(&self, key: u32) -> &Timer<T> {
        &self.pages[key as usize / PAGE][key as usize % PAGE]
    }

    #[inline(always)]
    fn timer_mut(&mut self, key: u32) -> &mut Timer<T> {
        &mut self.pages[key as usize / PAGE][key as usize % PAGE]
    }
}

#[cfg(test)]
impl Slab<()> {
    /// So many timers, which are in no index yet, and their keys.
    pub(in crate::timer) fn with(count: usize) -> (Self, Vec<u32>) {
        let mut slab = Slab::new();
        let keys = (0..count).map(|_| slab.add(Deadline::NEVER, ()).key);
        let keys = keys.collect();
        (slab, keys)
    }
}

/// A timer of a batch: due, and not called yet. It can still be called off or moved, and is passed over then.
#[derive(Clone, Copy, Debug)]
pub struct Picked {
    pub(super) due: Deadline,
    pub(super) name: Name,
}

impl Picked {
    pub(in crate::timer) fn due(self) -> Deadline {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::Timer;
    use crate::timer::service::Call;

    #[test]
    fn a_timer_takes_48_bytes() {
        assert_eq!(size_of::<Timer<Call>>(), 48);
    }
}
