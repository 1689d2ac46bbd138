//! The claims under which the specification demands more.

use std::collections::BTreeSet;

use crate::caps::Claim;

/// Which of the claims that change the specification are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Buffered values survive a close.
    pub keeps_buffered: bool,
    /// Puts that waited at a close are still taken, and not refused.
    pub pending_puts_survive: bool,
    /// An earlier clause was unable at the moment of the commit.
    pub strict_priority: bool,
    /// No clause was able at the moment of the default.
    pub strict_default: bool,
}

impl Rules {
    /// All claims.
    pub const STRICT: Rules = Rules {
        keeps_buffered: true,
        pending_puts_survive: true,
        strict_priority: true,
        strict_default: true,
    };

    /// No claim.
    pub const WEAK: Rules = Rules {
        keeps_buffered: false,
        pending_puts_survive: false,
        strict_priority: false,
        strict_default: false,
    };

    /// The rules under these claims.
    pub fn of(claims: &BTreeSet<Claim>) -> Rules {
        Rules {
            keeps_buffered: claims.contains(&Claim::KeepsBuffered),
            pending_puts_survive: claims.contains(&Claim::PendingPutsSurvive),
            strict_priority: claims.contains(&Claim::StrictPriority),
            strict_default: claims.contains(&Claim::StrictDefault),
        }
    }
}
