//! A channel at rest: no waiting future was woken since its latest poll. Then the numbers of values, of permits and of
//! waiting futures say what the channel owes, and what the next call is answered.

use flowmeter_harness::channel::Buffer;

use super::hand::Hand;
use super::waiting::What;

/// The numbers of a channel at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    buffer: Buffer,
    /// Accepted and not taken.
    stored: usize,
    /// Permits that are out.
    held: usize,
    takes: usize,
    puts: usize,
    reservations: usize,
    closings: usize,
    /// Whether takes are told of the end.
    ended: bool,
    /// Whether no consumer is left.
    deserted: bool,
    /// Whether puts that wait survive a close.
    survives: bool,
    /// Whether a full buffer may be fuller: values of dropped takes came back.
    over: bool,
    /// Whether nothing is buffered after a close.
    clears: bool,
}

impl Rest {
    /// `None` where other threads work, something was woken, or the number of values is not known.
    pub(super) fn of(hand: &Hand) -> Option<Rest> {
        let seen = hand.seen;
        let loses = seen.dropped && !hand.subject.cancel_safe;
        let stored = seen.accepted.checked_sub(seen.taken);
        if !hand.alone || seen.forgot || seen.unsure || loses || hand.next_woken().is_some() {
            return None;
        }
        let count = |is: fn(&What) -> bool| {
            let waiting = hand.waiting.iter().filter(|waiting| waiting.waits());
            waiting.filter(|waiting| is(&waiting.what)).count()
        };
        let common = &hand.common;
        let ended = common.may_end();
        Some(Rest {
            buffer: hand.subject.buffer,
            // A take may have been answered before the put that it met.
            stored: stored.unwrap_or(0),
            held: hand.permits.len() + seen.leaked,
            takes: count(|what| matches!(what, What::Take)),
            puts: count(|what| matches!(what, What::Put(_))),
            reservations: count(|what| matches!(what, What::Reserve(_))),
            closings: count(|what| matches!(what, What::Closed)),
            ended,
            deserted: common.may_refuse() && !ended,
            survives: hand.subject.rules.pending_puts_survive,
            over: seen.dropped,
            clears: !hand.subject.rules.keeps_buffered,
        })
    }

    /// Whether there is room for one more value.
    fn has_room(&self) -> bool {
        match self.buffer {
            Buffer::Fixed(room) => self.stored + self.held < room.get(),
            Buffer::Unbounded => true,
            _ => false,
        }
    }

    /// Checks that nothing waits beside what it waits for.
    pub(super) fn judge(&self) {
        let Rest { takes, puts, .. } = *self;
        let over = self.ended || self.deserted;
        holds!(
            self.closings == 0 || !over,
            "C6: a future waits for the close of a closed channel: {self:?}"
        );
        holds!(
            self.reservations == 0 || !over,
            "C15: a reservation waits on a closed channel: {self:?}"
        );
        if self.deserted {
            holds!(
                puts == 0,
                "C14: a put waits, and no consumer is left: {self:?}"
            );
            return;
        }
        if self.ended && self.clears {
            return;
        }
        holds!(
            takes == 0 || self.stored == 0,
            "C3: a take waits beside a value: {self:?}"
        );
        holds!(
            takes == 0 || !self.ended || self.held > 0,
            "C6: a take waits on a closed channel: {self:?}"
        );
        let waiting = puts + self.reservations;
        holds!(
            waiting == 0 || !self.has_room(),
            "C3: a put or a reservation waits beside room: {self:?}"
        );
        holds!(
            puts == 0 || self.buffer != Buffer::Rendezvous || takes == 0,
            "C3: a put and a take wait for each other: {self:?}"
        );
        holds!(
            puts == 0 || !self.ended || self.survives,
            "C6: a put waits on a closed channel: {self:?}"
        );
        if let (Buffer::Fixed(room), false) = (self.buffer, self.over) {
            holds!(
                self.stored + self.held <= room.get(),
                "C3: more values and permits than room: {self:?}"
            );
        }
    }

    /// What an offer is answered now; `None` where several answers are right.
    pub(super) fn offer(&self) -> Option<&'static str> {
        if self.ended || self.deserted {
            return Some("closed");
        }
        let met = self.takes > 0 && self.stored == 0 && self.held == 0;
        Some(match met || self.has_room() {
            true => "done",
            // A take that waits beside a permit has no buffer to come first.
            false if self.takes > 0 => return None,
            false => "would wait",
        })
    }

    /// What a poll is answered now.
    pub(super) fn poll(&self) -> Option<&'static str> {
        // Where permits hold the room, a design may hand the value of a waiting put to the poll.
        let may_meet = self.puts > 0 && self.held > 0 && self.stored == 0;
        if (self.ended && self.clears) || may_meet {
            return None;
        }
        if self.stored > 0 || (self.puts > 0 && self.buffer == Buffer::Rendezvous) {
            return Some("done");
        }
        match (self.ended, self.held) {
            (true, 0) => Some("closed"),
            (true, _) => None,
            (false, _) => Some("would wait"),
        }
    }

    /// What a reservation is answered now.
    pub(super) fn reserve(&self) -> Option<&'static str> {
        if self.ended || self.deserted {
            return Some("closed");
        }
        match self.has_room() {
            true => Some("done"),
            false => Some("would wait"),
        }
    }
}
