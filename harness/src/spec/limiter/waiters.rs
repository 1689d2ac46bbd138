//! The order in which waiters for permits are served (L1's order of service, L3).

use super::super::Violation;
use super::{Grant, Limit};

/// The claims besides the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The limit.
    pub limit: Limit,
    /// Waiters are served first come, first served: no waiter gets a permit before one that has waited longer.
    pub first_come: bool,
    /// Time advances only while no thread can run: a waiter is served at the moment at which its turn comes. Otherwise
    /// a grant may be observed at any later time.
    pub at_once: bool,
    /// The turn of a waiter that gives up passes to the waiters behind it. Otherwise every waiter has a slot from its
    /// request on, unless the slot would come after its deadline. A waiter that gives up forfeits its slot, unless it
    /// is the last one.
    pub passes_on: bool,
}

/// An observation of a waiter, which is identified by a number.
///
/// One thread records the observations in the order in which it makes them: a waiter when it is seen waiting, an answer
/// when it is there. The time of a request is the moment of the call, which is no later than its effect. The time of an
/// answer or a drop is the moment at which it was over, which is no earlier than its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A waiter is in line, without a time limit or until a deadline.
    Asked {
        /// The waiter.
        asker: usize,
        /// Permits.
        weight: u64,
        /// When it gives up.
        deadline: Option<u64>,
        /// When it called.
        at: u64,
    },
    /// A waiter has its permits.
    Granted {
        /// The waiter.
        asker: usize,
        /// The earliest possible moment of the grant.
        from: u64,
        /// When it was over.
        at: u64,
    },
    /// More was requested than can ever be available at once.
    Refused {
        /// The waiter.
        asker: usize,
    },
    /// A waiter gave up at its deadline.
    TimedOut {
        /// The waiter.
        asker: usize,
        /// When it was over.
        at: u64,
    },
    /// The future of a waiter was dropped. A grant that it may have received meanwhile is undone.
    Dropped {
        /// The waiter.
        asker: usize,
        /// When it was over.
        at: u64,
    },
    /// An attempt without waiting.
    Tried {
        /// Whether it got a permit.
        granted: bool,
        /// The earliest moment at which the limiter can have answered.
        from: u64,
        /// When it was over.
        at: u64,
    },
}

/// A waiter in line.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    asker: usize,
    weight: u64,
    deadline: Option<u64>,
    /// The moment of its request, or the moment at which the last waiter before it gave up.
    since: u64,
    /// The moment of its request.
    asked: u64,
    /// Its slot, where turns are not passed on; `None` if the slot would come after its deadline.
    slot: Option<Slot>,
}

/// The moment at which a waiter is served, independent of the other waiters.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u64,
    /// Greater than the tickets of all earlier slots.
    ticket: usize,
}

/// A limiter with its line of waiters; [`Waiters::step`] takes the steps.
#[derive(Clone, Debug)]
pub struct Waiters {
    terms: Terms,
    line: Vec<Waiting>,
    granted: Vec<Grant>,
    /// Permits that no waiter has or can still get, where turns are not passed on.
    forfeited: Vec<Grant>,
    /// The tickets of slots that were not reused, in order.
    tickets: Vec<usize>,
    asked: usize,
}

impl Waiters {
    /// A limiter without waiters and grants.
    pub fn new(terms: Terms) -> Waiters {
        Waiters {
            terms,
            line: Vec::new(),
            granted: Vec::new(),
            forfeited: Vec::new(),
            tickets: Vec::new(),
            asked: 0,
        }
    }

    /// Judges a whole sequence of events.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(terms: Terms, events: &[Event]) -> Result<(), Violation> {
        let mut waiters = Waiters::new(terms);
        events.iter().try_for_each(|event| waiters.step(*event))
    }

    /// Processes the next event.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn step(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Asked {
                asker,
                weight,
                deadline,
                at,
            } => {
                self.line.push(Waiting {
                    asker,
                    weight,
                    deadline,
                    since: at,
                    asked: at,
                    slot: None,
                });
                let place = self.line.len() - 1;
                let at = self.turn(place);
                if !self.terms.passes_on && deadline.is_none_or(|ends| at <= ends) {
                    let ticket = self.ticket();
                    self.line[place].slot = Some(Slot { at, ticket });
                }
                Ok(())
            }
            Event::Granted { asker, from, at } => self.grant(asker, from, at),
            Event::Refused { asker } => {
                let refused = self.leave(asker, None)?;
                let most = self.terms.limit.at_once();
                if refused.weight <= most {
                    let text = format!("{} were refused as more than {most}", refused.weight);
                    return Violation::found("L3", text);
                }
                Ok(())
            }
            Event::TimedOut { asker, at } => self.time_out(asker, at),
            Event::Dropped { asker, at } => self.leave(asker, Some(at)).map(drop),
            Event::Tried { granted, from, at } => self.tried(granted, from, at),
        }
    }

    fn ticket(&mut self) -> usize {
        self.asked += 1;
        self.tickets.push(self.asked);
        self.asked
    }

    /// The slot of a waiter that gives up is reused if it is the last one, and forfeited otherwise.
    fn forfeit(&mut self, slot: Slot, weight: u64) {
        if self.tickets.last() == Some(&slot.ticket) {
            self.tickets.pop();
        } else {
            self.forfeited.push(Grant {
                from: slot.at,
                until: slot.at,
                weight,
            });
        }
    }

    fn place(&self, asker: usize) -> Result<usize, Violation> {
        match self.line.iter().position(|waiting| waiting.asker == asker) {
            Some(place) => Ok(place),
            None => Violation::found("L3", format!("{asker} was answered, and does not wait")),
        }
    }

    /// Removes a waiter from the line. If `at` is given, the waiters behind it move up at that moment.
    fn leave(&mut self, asker: usize, at: Option<u64>) -> Result<Waiting, Violation> {
        let place = self.place(asker)?;
        let left = self.line.remove(place);
        if let Some(slot) = left.slot {
            self.forfeit(slot, left.weight);
        }
        if let Some(at) = at {
            for behind in &mut self.line[place..] {
                behind.since = behind.since.max(at);
            }
        }
        Ok(left)
    }

    fn grant(&mut self, asker: usize, from: u64, at: u64) -> Result<(), Violation> {
        let place = self.place(asker)?;
        let Waiting {
            weight,
            asked,
            deadline,
            ..
        } = self.line[place];
        self.not_before_turn("a waiter", place, weight, at)?;
        let mut turn = self.turn(place);
        if self.is_slotless(place) {
            // It tries again at its deadline.
            turn = turn.max(deadline.unwrap_or(0));
            self.ticket();
        }
        if self.terms.at_once && at > turn {
            let text = format!(
                "{asker} was served at {at}, and its turn was at {turn}: its permits were held back"
            );
            return Violation::found("L3", text);
        }
        self.line.remove(place);
        let from = from.max(asked).min(at);
        self.granted.push(Grant {
            from,
            until: at,
            weight,
        });
        Ok(())
    }

    fn time_out(&mut self, asker: usize, at: u64) -> Result<(), Violation> {
        let place = self.place(asker)?;
        let Some(deadline) = self.line[place].deadline else {
            return Violation::found("L3", format!("{asker} timed out before the end of time"));
        };
        if at < deadline {
            let text = format!(
                "{asker} timed out before the deadline, by {} ns",
                deadline - at
            );
            return Violation::found("L3", text);
        }
        let (turn, asked) = (self.turn(place), self.line[place].asked);
        if self.terms.at_once && turn <= deadline.max(asked) {
            let text =
                format!("{asker} timed out at {deadline}, although a permit was free at {turn}");
            return Violation::found("L3", text);
        }
        // Other waiters may have received permits that are not known yet.
        let is_alone = self.line.len() == 1;
        if is_alone && self.was_free(self.line[place].weight) {
            return Violation::found(
                "L3",
                format!("{asker} timed out, and its permits were free"),
            );
        }
        self.leave(asker, Some(at)).map(drop)
    }

    fn tried(&mut self, granted: bool, from: u64, at: u64) -> Result<(), Violation> {
        let place = self.line.len();
        if granted {
            self.not_before_turn("a try", place, 1, at)?;
            self.ticket();
            self.granted.push(Grant {
                from: from.min(at),
                until: at,
                weight: 1,
            });
        } else if self.line.is_empty()
            && (self.was_free(1) || self.terms.at_once && self.free_at(&self.taken(), 1, at) <= at)
        {
            let text = "a permit that was free was refused";
            return Violation::found(self.terms.limit.id(), text);
        }
        Ok(())
    }

    /// Whether `weight` permits are free at any time, if no other waiter is in line: all grants so far leave room for
    /// them.
    fn was_free(&self, weight: u64) -> bool {
        let granted = self.granted.iter();
        let granted = granted.chain(&self.forfeited);
        let sum = granted.fold(weight, |sum, grant| sum.saturating_add(grant.weight));
        sum <= self.terms.limit.at_once()
    }

    /// Whether the waiter has no slot although the design gives slots.
    fn is_slotless(&self, place: usize) -> bool {
        !self.terms.passes_on && self.line[place].slot.is_none()
    }

    /// Grants, forfeited permits, and slots.
    fn taken(&self) -> Vec<Grant> {
        let slots = self.line.iter().filter_map(|waiting| {
            let Slot { at, .. } = waiting.slot?;
            Some(Grant {
                from: at,
                until: at,
                weight: waiting.weight,
            })
        });
        let taken = self.granted.iter().chain(&self.forfeited).copied();
        taken.chain(slots).collect()
    }

    /// Whether the waiter at that place in line may be served at that moment. The waiters before it must have been
    /// served as well, or the order must not matter. A waiter with a deadline by then may have given up.
    fn not_before_turn(
        &self,
        what: &str,
        place: usize,
        weight: u64,
        at: u64,
    ) -> Result<(), Violation> {
        let free = self.free_at(&self.granted, weight, 0);
        if at < free {
            let text = format!("{weight} granted at {at}, and free at {free} only");
            return Violation::found(self.terms.limit.id(), text);
        }
        let stays = |&other: &usize| {
            let deadline = self.line[other].deadline;
            !self.is_slotless(other) && deadline.is_none_or(|deadline| deadline > at)
        };
        let before = if self.terms.first_come { place } else { 0 };
        let before = (0..before).filter(stays).map(|other| &self.line[other]);
        let before: Vec<(u64, u64)> = before.map(|other| (other.asked, other.weight)).collect();
        let turn = self.served_after(&self.granted, &before, weight, 0);
        if at < turn {
            let others = before.len();
            let text = format!(
                "{what} overtook {others} that waited longer: served at {at}, and its turn is at {turn}"
            );
            return Violation::found("L1", text);
        }
        Ok(())
    }

    /// The latest moment at which that place in line is served: after all waiters before it.
    fn turn(&self, place: usize) -> u64 {
        let Waiting {
            weight,
            since,
            slot,
            ..
        } = self.line[place];
        if let Some(Slot { at, .. }) = slot {
            return at;
        }
        let before = if self.terms.passes_on { place } else { 0 };
        let before = self.line[..before].iter();
        let before: Vec<(u64, u64)> = before.map(|other| (other.since, other.weight)).collect();
        self.served_after(&self.taken(), &before, weight, since)
    }

    /// When `weight` can be granted after `granted` and `others`; each of the others has a weight and an earliest
    /// moment.
    fn served_after(
        &self,
        granted: &[Grant],
        others: &[(u64, u64)],
        weight: u64,
        from: u64,
    ) -> u64 {
        let mut granted = granted.to_vec();
        let mut last = 0;
        for &(since, weight) in others {
            last = self.free_at(&granted, weight, since.max(last));
            granted.push(Grant {
                from: last,
                until: last,
                weight,
            });
        }
        self.free_at(&granted, weight, from.max(last))
    }

    /// The earliest moment at or after `from` at which `weight` permits are free after these grants.
    fn free_at(&self, granted: &[Grant], weight: u64, from: u64) -> u64 {
        let limit = self.terms.limit;
        if weight > limit.at_once() {
            return u64::MAX;
        }
        granted.iter().fold(from, |free, first| {
            let later = granted.iter().filter(|grant| grant.from >= first.from);
            let sum = later.fold(weight, |sum, grant| sum.saturating_add(grant.weight));
            free.max(first.from.saturating_add(limit.least_for(sum)))
        })
    }
}
