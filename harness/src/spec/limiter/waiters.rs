//! Who waits for permits, and who is served when (L1's order of service, L3).

use super::super::Violation;
use super::{Grant, Limit};

/// What is claimed beside the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The limit.
    pub limit: Limit,
    /// Whoever waits is served first come, first served: nobody has a permit while somebody waits before him.
    pub first_come: bool,
    /// Time stands still while anybody can run: whoever's turn has come is served at that moment. Elsewhere a grant
    /// may be seen any time later.
    pub at_once: bool,
    /// The turn of one who gives up goes to those behind him. Else everybody has a slot from the moment he asks, and who
    /// gives up forfeits his, unless it is the last; one whose slot would come after his deadline has none.
    pub passes_on: bool,
}

/// What is seen of those who acquire, each known by a number.
///
/// One thread writes them down in the order in which it learns of them: who waits when it was seen waiting, and an
/// answer when it is there. Times are as sure as that: of what was asked the moment of the call, which is no later than
/// what it led to; of answers and drops the moment at which they were over, which is no earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Somebody stands in line, for as long as he likes, or until a deadline.
    Asked {
        /// Who.
        who: usize,
        /// Permits.
        weight: u64,
        /// When he gives up.
        deadline: Option<u64>,
        /// When he called.
        at: u64,
    },
    /// Somebody in line has his permits.
    Granted {
        /// Who.
        who: usize,
        /// The earliest moment at which it can have been.
        from: u64,
        /// When.
        at: u64,
    },
    /// More was asked for than can ever be had at once.
    Refused {
        /// Who.
        who: usize,
    },
    /// Somebody gave up at his deadline.
    TimedOut {
        /// Who.
        who: usize,
        /// When.
        at: u64,
    },
    /// The future of somebody in line was dropped: what it may have been granted meanwhile is undone.
    Dropped {
        /// Who.
        who: usize,
        /// When.
        at: u64,
    },
    /// Somebody tried, without standing in line.
    Tried {
        /// Whether he had a permit.
        granted: bool,
        /// The earliest moment at which the limiter can have answered.
        from: u64,
        /// When.
        at: u64,
    },
}

/// Somebody in line.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    who: usize,
    weight: u64,
    deadline: Option<u64>,
    /// Since when: the moment he asked, or at which the last one before him gave up.
    since: u64,
    /// When he asked.
    asked: u64,
    /// Where turns are not passed on, his slot, unless it would come after his deadline.
    slot: Option<Slot>,
}

/// When somebody is served, whatever becomes of the others.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u64,
    /// Greater than those of everybody before.
    ticket: usize,
}

/// A limiter with its line: steps are taken by [`Waiters::step`].
#[derive(Clone, Debug)]
pub struct Waiters {
    terms: Terms,
    line: Vec<Waiting>,
    granted: Vec<Grant>,
    /// What nobody has and nobody can have any more, where turns are not passed on.
    forfeited: Vec<Grant>,
    /// Of slots that were not given away again, in their order.
    tickets: Vec<usize>,
    asked: usize,
}

impl Waiters {
    /// Nobody waits, and nothing was granted.
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

    /// Goes through all of them.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(terms: Terms, events: &[Event]) -> Result<(), Violation> {
        let mut waiters = Waiters::new(terms);
        events.iter().try_for_each(|event| waiters.step(*event))
    }

    /// What is seen next.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn step(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Asked {
                who,
                weight,
                deadline,
                at,
            } => {
                self.line.push(Waiting {
                    who,
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
            Event::Granted { who, from, at } => self.grant(who, from, at),
            Event::Refused { who } => {
                let refused = self.leave(who, None)?;
                let most = self.terms.limit.at_once();
                if refused.weight <= most {
                    let text = format!("{} were refused as more than {most}", refused.weight);
                    return Violation::found("L3", text);
                }
                Ok(())
            }
            Event::TimedOut { who, at } => self.time_out(who, at),
            Event::Dropped { who, at } => self.leave(who, Some(at)).map(drop),
            Event::Tried { granted, from, at } => self.tried(granted, from, at),
        }
    }

    fn ticket(&mut self) -> usize {
        self.asked += 1;
        self.tickets.push(self.asked);
        self.asked
    }

    /// The slot of one who gives up is given away again if it is the last, else forfeited.
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

    fn place(&self, who: usize) -> Result<usize, Violation> {
        match self.line.iter().position(|waiting| waiting.who == who) {
            Some(place) => Ok(place),
            None => Violation::found("L3", format!("{who} was answered, and does not wait")),
        }
    }

    /// Somebody leaves the line; at that moment, where it is the turn of those behind then.
    fn leave(&mut self, who: usize, at: Option<u64>) -> Result<Waiting, Violation> {
        let place = self.place(who)?;
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

    fn grant(&mut self, who: usize, from: u64, at: u64) -> Result<(), Violation> {
        let place = self.place(who)?;
        let Waiting {
            weight,
            asked,
            deadline,
            ..
        } = self.line[place];
        self.not_before_turn("somebody", place, weight, at)?;
        let mut turn = self.turn(place);
        if self.is_slotless(place) {
            // He looks again when his deadline comes.
            turn = turn.max(deadline.unwrap_or(0));
            self.ticket();
        }
        if self.terms.at_once && at > turn {
            let text = format!(
                "{who} was served at {at}, and its turn was at {turn}: somebody kept its permits"
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

    fn time_out(&mut self, who: usize, at: u64) -> Result<(), Violation> {
        let place = self.place(who)?;
        let Some(deadline) = self.line[place].deadline else {
            return Violation::found("L3", format!("{who} timed out before the end of time"));
        };
        if at < deadline {
            let text = format!(
                "{who} timed out before the deadline, by {} ns",
                deadline - at
            );
            return Violation::found("L3", text);
        }
        let (turn, asked) = (self.turn(place), self.line[place].asked);
        if self.terms.at_once && turn <= deadline.max(asked) {
            let text =
                format!("{who} timed out at {deadline}, although a permit was free at {turn}");
            return Violation::found("L3", text);
        }
        // Others in line may have had permits of which nobody knows yet.
        let is_alone = self.line.len() == 1;
        if is_alone && self.was_free(self.line[place].weight) {
            return Violation::found("L3", format!("{who} timed out, and nobody had its permits"));
        }
        self.leave(who, Some(at)).map(drop)
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

    /// Whether so many are free whatever the time, where nobody else is in line: all that was ever granted leaves room
    /// for them.
    fn was_free(&self, weight: u64) -> bool {
        let granted = self.granted.iter();
        let granted = granted.chain(&self.forfeited);
        let sum = granted.fold(weight, |sum, grant| sum.saturating_add(grant.weight));
        sum <= self.terms.limit.at_once()
    }

    /// Who has no slot where everybody else has one.
    fn is_slotless(&self, place: usize) -> bool {
        !self.terms.passes_on && self.line[place].slot.is_none()
    }

    /// What was granted, what can be granted no more, and slots.
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

    /// Whether what is served at that moment can be, at that place in line: those before it were served as well, or
    /// overtaken. Who has a deadline by then may have given up.
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
                "{what} overtook {others} who waited longer: served at {at}, and its turn is at {turn}"
            );
            return Violation::found("L1", text);
        }
        Ok(())
    }

    /// The moment at which that place in line is served at the latest: everybody before it is served too.
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

    /// When a weight can be granted from a moment on, after what was granted and others, each of some weight from some
    /// moment on.
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

    /// The earliest moment from that one on at which so many are free after these grants.
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
