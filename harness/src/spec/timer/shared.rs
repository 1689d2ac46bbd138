//! T7: which timeouts share a channel.
//!
//! A timeout is due at a whole millisecond, rounded up. A request shares the channel of the first pending deadline that
//! is at or after its own and less than 10 ms after it. Otherwise it gets a channel of its own.
//!
//! A request reads the clock at some moment between its call and its return, so its deadline is known to lie between
//! two milliseconds. They are equal if time stands still meanwhile. One thread makes all requests.

use super::super::Violation;

/// A request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Delay, nanoseconds.
    pub delay: u64,
    /// The moment of the call.
    pub called: u64,
    /// The moment of the return.
    pub returned: u64,
    /// The channel: equal numbers mean the same channel.
    pub channel: usize,
}

/// A channel, and the range of whole milliseconds, both included, in which it is due.
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
/// Requests for a timeout up to this much shorter share the channel of an existing one.
const RESOLUTION_MS: u64 = 10;

impl Shared {
    /// The most by which a timeout is late, in nanoseconds: it was rounded up, and shares a channel.
    pub const LATE: u64 = (RESOLUTION_MS + 1) * NANOS_PER_MS;

    /// A service without timeouts.
    pub fn new() -> Shared {
        Shared::default()
    }

    /// Judges a whole sequence of requests.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(requests: &[Asked]) -> Result<(), Violation> {
        let mut shared = Shared::new();
        requests.iter().try_for_each(|asked| shared.ask(*asked))
    }

    /// Processes an answered request.
    ///
    /// # Errors
    /// T7, if it shares a channel that it must not share, or does not share one that it must.
    pub fn ask(&mut self, asked: Asked) -> Result<(), Violation> {
        let due = |now: u64| now.saturating_add(asked.delay).div_ceil(NANOS_PER_MS);
        let own = Channel {
            number: asked.channel,
            earliest: due(asked.called),
            latest: due(asked.returned.max(asked.called)),
        };
        let over = asked.returned.max(asked.called).div_ceil(NANOS_PER_MS);
        // A channel that certainly exists and is certainly close enough must be shared, unless another one comes first.
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
        // Sharing narrows the range in which the deadline lies.
        shared.earliest = shared.earliest.max(own.earliest);
        shared.latest = shared
            .latest
            .min(own.latest.saturating_add(RESOLUTION_MS - 1));
        Ok(())
    }

    /// Processes a timeout that was seen closed because it was due, and not because another user of the channel closed
    /// it.
    ///
    /// # Errors
    /// T7 if that is before the shared deadline.
    pub fn closed(&self, channel: usize, at: u64) -> Result<(), Violation> {
        let of = self.0.iter().find(|other| other.number == channel);
        let Some(of) = of else {
            return Violation::found("T7", "a channel that no call asked for");
        };
        let early = of.earliest.saturating_mul(NANOS_PER_MS).saturating_sub(at);
        match early {
            0 => Ok(()),
            _ => Violation::found("T7", format!("closed {early} ns before what it shares")),
        }
    }
}
