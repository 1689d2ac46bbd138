//! Values with leak detection: the census knows the line that made each of them.

use ::std::panic::Location;

use super::super::cost::allocations::apart;
use super::census;
use super::place;

/// A value that fails the exploration when it leaks.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    ticket: Ticket,
}

#[derive(Debug)]
struct Ticket(u64);

impl Ticket {
    fn at(line: &'static Location<'static>) -> Ticket {
        let _apart = apart();
        census::with(|census| {
            census.keys += 1;
            census.tracked.insert(census.keys, line);
            Ticket(census.keys)
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Outside an execution there is no census to update.
        census::try_with(|census| census.tracked.remove(&self.0));
    }
}

impl<T> Track<T> {
    /// Tracks `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        let ticket = Ticket::at(Location::caller());
        Track { value, ticket }
    }

    /// The value.
    #[inline]
    #[track_caller]
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, no longer tracked.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        drop(self.ticket);
        self.value
    }
}

impl<T: Default> Default for Track<T> {
    #[track_caller]
    fn default() -> Self {
        Track::new(T::default())
    }
}

/// The report of the leaks in an ended execution.
pub fn leaks(census: &census::Census) -> Option<String> {
    let lines: Vec<String> = census.tracked.values().map(|at| place(at)).collect();
    (!lines.is_empty()).then(|| format!("leak: tracked values made at {}", lines.join(", ")))
}
