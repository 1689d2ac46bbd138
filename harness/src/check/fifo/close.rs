//! The moment at which a channel closes.

use super::{History, Outcome, Rejection};

/// What the operations say about the moment of the close.
#[derive(Clone, Debug, Default)]
pub(super) struct CloseMoment {
    /// A lower bound of the moment, and the operation that shows it.
    no_earlier: Option<(u64, usize)>,
    /// An upper bound of the moment, and the operation that shows it.
    no_later: Option<(u64, usize)>,
}

impl CloseMoment {
    /// What follows from the puts, the closes and the puts answered `false`. Of several closes the first
    /// one counts.
    pub(super) fn new(history: &History<'_>) -> CloseMoment {
        let mut moment = CloseMoment::default();
        for passage in &history.values {
            moment.no_earlier(history.tell(passage.put).invoke, passage.put);
        }
        let mut first_close: Option<usize> = None;
        for &other in &history.others {
            let operation = history.tell(other);
            match operation.outcome {
                Outcome::PutClosed => moment.no_later(operation.returned, other),
                Outcome::Close => {
                    moment.no_later(operation.returned, other);
                    if first_close.is_none_or(|c| operation.invoke < history.tell(c).invoke) {
                        first_close = Some(other);
                    }
                }
                _ => {}
            }
        }
        if let Some(close) = first_close {
            moment.no_earlier(history.tell(close).invoke, close);
        }
        moment
    }

    /// `operation` shows that the channel was still open at `moment`.
    pub(super) fn no_earlier(&mut self, moment: u64, operation: usize) {
        if self.no_earlier.is_none_or(|(latest, _)| latest < moment) {
            self.no_earlier = Some((moment, operation));
        }
    }

    /// `operation` shows that the channel was closed by `moment`.
    pub(super) fn no_later(&mut self, moment: u64, operation: usize) {
        if self.no_later.is_none_or(|(earliest, _)| moment < earliest) {
            self.no_later = Some((moment, operation));
        }
    }

    /// Whether such a moment exists.
    pub(super) fn judge(&self, history: &History<'_>) -> Result<(), Rejection> {
        let Some((closed, by)) = self.no_later else {
            return Ok(());
        };
        let closes = |&other: &usize| history.tell(other).outcome == Outcome::Close;
        if !history.others.iter().any(closes) {
            let text = format!("{}, and no call closes", history.tell(by));
            return Err(history.reject("C6", text, [by]));
        }
        match self.no_earlier {
            Some((open, witness)) if closed < open => {
                let text = format!(
                    "the channel was open at {open}, or there would not be {}; and closed by {closed}, or there \
                     would not be {}",
                    history.tell(witness),
                    history.tell(by),
                );
                // A put without an answer counts because its value was taken.
                let passage = history.values.iter().find(|passage| passage.put == witness);
                let taken = passage.and_then(|passage| passage.take);
                let witness = [witness].into_iter().chain(taken).chain([by]);
                Err(history.reject("C6", text, witness))
            }
            _ => Ok(()),
        }
    }
}
