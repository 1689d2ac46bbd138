//! A channel without a buffer: a put and its take happen at one moment.

use super::close::CloseMoment;
use super::history::Passage;
use super::{History, NEVER, Outcome, Rejection};

pub(super) fn judge(history: &History<'_>) -> Result<(), Rejection> {
    let last = last_handover(history)?;
    let mut close = CloseMoment::new(history);
    for &other in &history.others {
        let operation = history.tell(other);
        match operation.outcome {
            // No counterpart waited then. An operation that found a counterpart later may have begun to wait after this
            // answer.
            Outcome::TakeEmpty | Outcome::PutFull => close.no_earlier(operation.invoke, other),
            Outcome::TakeClosed => {
                close.no_later(operation.returned, other);
                if let Some((moment, passage)) = last
                    && operation.returned < moment
                {
                    let text = format!(
                        "{operation}, before the value of {} was taken, which waited at the close",
                        history.tell(passage.put)
                    );
                    let witness = [other].into_iter().chain(History::both(passage));
                    return Err(history.reject("C6", text, witness));
                }
            }
            _ => {}
        }
    }
    close.judge(history)
}

/// The earliest moment by which every value can be handed over, and the last value handed over.
fn last_handover(history: &History<'_>) -> Result<Option<(u64, Passage)>, Rejection> {
    let unknown = history.unknown_take();
    let mut last: Option<(u64, Passage)> = None;
    for &passage in &history.values {
        let (put, take) = (
            history.interval(passage.put),
            history.taken(passage, unknown),
        );
        let moment = put.from.max(take.from);
        if put.to.min(take.to) < moment {
            return Err(reject_apart(history, passage));
        }
        if moment < NEVER && last.is_none_or(|(latest, _)| latest < moment) {
            last = Some((moment, passage));
        }
    }
    Ok(last)
}

fn reject_apart(history: &History<'_>, passage: Passage) -> Rejection {
    let put = history.tell(passage.put);
    let text = match passage.take.map(|take| history.tell(take)) {
        Some(take) if take.returned < put.invoke => {
            let text = format!("{take}, before {put}");
            return history.reject("C2", text, History::both(passage));
        }
        Some(take) => format!("{put} was over before {take}"),
        None => format!("{put} was answered, and no call took the value"),
    };
    history.reject("C1", text, History::both(passage))
}
