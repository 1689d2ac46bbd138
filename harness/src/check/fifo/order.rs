//! Who comes first: the order of the values that intervals force.

use super::Interval;

/// Two values, of which `first` has to be first by one kind of operation, and `second` by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inversion {
    pub(super) first: usize,
    pub(super) second: usize,
}

/// Where the lead of x ends before that of y begins, y follows no earlier than x does: the intervals of
/// `follow` are cut off accordingly.
///
/// # Errors
/// When nothing is left of one.
pub(super) fn hold_back(lead: &[Interval], follow: &mut [Interval]) -> Result<(), Inversion> {
    let mut ended = sorted(lead.iter().map(|interval| interval.to))
        .into_iter()
        .peekable();
    let mut latest: Option<usize> = None;
    for (begin, second) in sorted(lead.iter().map(|interval| interval.from)) {
        while let Some((_, value)) = ended.next_if(|(end, _)| *end < begin) {
            if latest.is_none_or(|latest| follow[latest].from < follow[value].from) {
                latest = Some(value);
            }
        }
        let Some(first) = latest else { continue };
        if follow[second].to < follow[first].from {
            return Err(Inversion { first, second });
        }
        follow[second].from = follow[second].from.max(follow[first].from);
    }
    Ok(())
}

/// Where the lead of x ends before that of y begins, x follows no later than y does. The mirror image of
/// [`hold_back`], and without errors where that has none.
pub(super) fn hurry(lead: &[Interval], follow: &mut [Interval]) -> Result<(), Inversion> {
    let mirrored = |intervals: &[Interval]| -> Vec<Interval> {
        intervals
            .iter()
            .map(|interval| interval.mirrored())
            .collect()
    };
    let mut hurried = mirrored(follow);
    hold_back(&mirrored(lead), &mut hurried)?;
    follow.copy_from_slice(&mirrored(&hurried));
    Ok(())
}

/// Stamps in order, with their places.
fn sorted(stamps: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
    let mut stamps: Vec<(u64, usize)> = stamps.zip(0..).collect();
    // Histories are recorded thread by thread, so they come in long sorted runs, which this sort merges.
    stamps.sort();
    stamps
}
