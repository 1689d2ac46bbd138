//! Properties of alts over channels of different types. They repeat the properties of alts over channels of one type.

use super::Case;
use crate::design::Channels;
use crate::design::channels::begin_turns;

/// The cases of channels that are opened [in turns](Channels::mixed), if there are such.
pub(super) fn in_turns(
    channels: Option<Channels>,
    cases: impl FnOnce(Channels) -> Vec<Case>,
) -> Vec<Case> {
    let cases = channels.map(cases).unwrap_or_default();
    let begins = |case: Case| case.after(begin_turns);
    cases.into_iter().map(begins).collect()
}
