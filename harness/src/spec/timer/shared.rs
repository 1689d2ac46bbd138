//! T7: which timeouts are one channel.
//!
//! A timeout is due at a whole millisecond, rounded up. A request shares the channel of the first deadline that is not
//! before its own and less than 10 ms after it, as long as that is not over; else it has a channel of its own. A
//! request reads the clock somewhere between its call and its return, so a deadline is known to lie between two
//! milliseconds, which are one where time stands still meanwhile. One thread asks, in its order.

use super::super::Violation;

/// What a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Nanoseconds of delay.
    pub delay: u64,
    /// The moment of the call.
    pub called: u64,
    /// The moment of the return.
    pub returned: u64,
    /// Which channel: the same number for the same one.
    pub channel: usize,
}

/// A channel, and between which whole milliseconds, both included, it is due.
#[derive(Clone, Copy, Debug)]
struct Channel {
    number: usize,
    earliest: u64,
    latest: u64,
}

/// The timeouts of a service.
#[derive(Clone, Debug, Default)]
pub struct Shared(Vec<Channel>);

const NANOS_PER_MS: u64 = 1_000_000;
/// A timeout is shared by those who ask for one up to this much shorter.
const RESOLUTION_MS: u64 = 10;

impl Shared {
    /// The most by which a timeout comes late, in nanoseconds: it was rounded up, and shares.
    pub const LATE: u64 = (RESOLUTION_MS + 1) * NANOS_PER_MS;

    /// None was asked for.
    pub fn new() -> Shared {
        Shared::default()
    }

    /// Goes through all of them.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(requests: &[Asked]) -> Result<(), Violation> {
        let mut shared = Shared::new();
        requests.iter().try_for_each(|asked| shared.ask(*asked))
    }

    /// A request was answered.
    ///
    /// # Errors
    /// T7, where it shares what it may not, or not what it has to.
    pub fn ask(&mut self, asked: Asked) -> Result<(), Violation> {
        let due = |now: u64| now.saturating_add(asked.delay).div_ceil(NANOS_PER_MS);
        let own = Channel {
            number: asked.channel,
            earliest: due(asked.called),
            latest: due(asked.returned.max(asked.called)),
        };
        let over = asked.returned.max(asked.called).div_ceil(NANOS_PER_MS);
        // What is surely there, surely close enough, and so is shared unless something else comes first.
        let surely = self.0.iter().filter(|other| {
            let not_before = other.earliest >= own.latest;
            let close = other.latest.saturating_sub(own.earliest) < RESOLUTION_MS;
            not_before && close && other.earliest > over
        });
        let surely = surely.min_by_key(|other| other.latest).copied();
        let found = self
            .0
            .iter()
            .position(|other| other.number == asked.channel);
        let Some(found) = found else {
            if let Some(other) = surely {
                let apart = other.latest.saturating_sub(own.earliest);
                let text = format!("{apart} ms before channel {}, and not shared", other.number);
                return Violation::found("T7", text);
            }
            self.0.push(own);
            return Ok(());
        };
        let shared = &mut self.0[found];
        if shared.latest < own.earliest {
            return Violation::found("T7", "shares one that is due before it");
        }
        let apart = shared.earliest.saturating_sub(own.latest);
        if apart >= RESOLUTION_MS {
            return Violation::found("T7", format!("{apart} ms apart, and shared"));
        }
        if let Some(first) = surely.filter(|first| first.latest < shared.earliest) {
            let text = format!(
                "shares not the first that is close enough: {}",
                first.number
            );
            return Violation::found("T7", text);
        }
        // Its deadline is as sure as what was shared shows.
        shared.earliest = shared.earliest.max(own.earliest);
        shared.latest = shared
            .latest
            .min(own.latest.saturating_add(RESOLUTION_MS - 1));
        Ok(())
    }

    /// A timeout was seen closed, for want of time and not by somebody who shares it.
    ///
    /// # Errors
    /// T7 where that is before what it shares is due.
    pub fn closed(&self, channel: usize, at: u64) -> Result<(), Violation> {
        let of = self.0.iter().find(|other| other.number == channel);
        let Some(of) = of else {
            return Violation::found("T7", "a channel that nobody asked for");
        };
        let early = of.earliest.saturating_mul(NANOS_PER_MS).saturating_sub(at);
        match early {
            0 => Ok(()),
            _ => Violation::found("T7", format!("closed {early} ns before what it shares")),
        }
    }
}
