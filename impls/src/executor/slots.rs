//! Tasks by number. A number is a place in a vector and its generation, so each operation takes constant time, and the
//! number of a task that has ended names no other.

use std::mem::replace;

enum Slot<T> {
    Free {
        generation: u32,
        /// The next free slot.
        next: u32,
    },
    Taken {
        generation: u32,
        item: T,
    },
}

/// The end of the list of free slots.
const NONE: u32 = u32::MAX;

pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: u32,
}

fn number(place: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(place)
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are meant")]
fn parts(number: u64) -> (u32, u32) {
    (number as u32, (number >> 32) as u32)
}

impl<T> Slots<T> {
    pub(super) const fn new() -> Self {
        Slots {
            slots: Vec::new(),
            free: NONE,
        }
    }

    /// Adds what `make` makes for its number.
    ///
    /// # Panics
    /// With four billion tasks at once.
    pub(super) fn add(&mut self, make: impl FnOnce(u64) -> T) -> &mut T {
        let place = match self.free {
            NONE => {
                let place = u32::try_from(self.slots.len()).ok();
                let place = place.filter(|place| *place != NONE);
                self.slots.push(Slot::Free {
                    generation: 0,
                    next: NONE,
                });
                place.expect("there are not four billion tasks at once")
            }
            place => place,
        };
        let slot = &mut self.slots[place as usize];
        let Slot::Free { generation, next } = *slot else {
            unreachable!("it is in the list of free ones");
        };
        self.free = next;
        let number = number(place, generation);
        *slot = Slot::Taken {
            generation,
            item: make(number),
        };
        match slot {
            Slot::Taken { item, .. } => item,
            Slot::Free { .. } => unreachable!("it was just taken"),
        }
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let (place, of) = parts(number);
        match self.slots.get_mut(place as usize)? {
            Slot::Taken { generation, item } if *generation == of => Some(item),
            Slot::Taken { .. } | Slot::Free { .. } => None,
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        self.get_mut(number)?;
        let (place, of) = parts(number);
        // A slot that has had all its generations is not used again.
        let (generation, next) = match of.checked_add(1) {
            Some(generation) => (generation, replace(&mut self.free, place)),
            None => (of, NONE),
        };
        let slot = &mut self.slots[place as usize];
        match replace(slot, Slot::Free { generation, next }) {
            Slot::Taken { item, .. } => Some(item),
            Slot::Free { .. } => None,
        }
    }

    /// Removes all that satisfy `will_do`, in no particular order.
    pub(super) fn remove_all(&mut self, mut will_do: impl FnMut(&T) -> bool) -> Vec<T> {
        let places = 0_u32..;
        let chosen = places
            .zip(&self.slots)
            .filter_map(|(place, slot)| match slot {
                Slot::Taken { generation, item } if will_do(item) => {
                    Some(number(place, *generation))
                }
                Slot::Taken { .. } | Slot::Free { .. } => None,
            });
        let chosen: Vec<u64> = chosen.collect();
        chosen
            .into_iter()
            .filter_map(|number| self.remove(number))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_task_that_has_ended_names_no_other() {
        let mut slots = Slots::new();
        let first = *slots.add(|number| number);
        assert_eq!(slots.remove(first), Some(first));
        let second = *slots.add(|number| number);
        assert_ne!(first, second, "both are in the first slot");
        assert_eq!((slots.remove(first), slots.get_mut(first)), (None, None));
        assert_eq!(slots.remove(second), Some(second));
    }

    #[test]
    fn a_slot_that_has_had_all_its_generations_is_not_used_again() {
        let mut slots = Slots::new();
        slots.slots.push(Slot::Free {
            generation: u32::MAX,
            next: NONE,
        });
        slots.free = 0;
        let last = *slots.add(|number| number);
        assert_eq!(slots.remove(last), Some(last));
        assert_eq!(*slots.add(|number| number), number(1, 0), "a new slot");
    }

    #[test]
    fn all_that_will_do_are_removed() {
        let mut slots = Slots::new();
        let [odd, even] = [1, 2].map(|item| slots.add(|number| (number, item)).0);
        assert_eq!(slots.remove_all(|(_, item)| item % 2 == 0), [(even, 2)]);
        assert_eq!(slots.get_mut(even), None);
        assert_eq!(slots.get_mut(odd), Some(&mut (odd, 1)));
    }
}
