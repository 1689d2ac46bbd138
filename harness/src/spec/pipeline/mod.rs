//! The specification of pipelines. It covers the number of items in flight (P1), the order of delivery (P2), the close
//! of the output and the items begun after it (P3), and what a slow item delays (P5). A failing item affects no other
//! (P4).
//!
//! An item is in flight from the call of the function until the port for its results is dropped, in whatever way it
//! ends: a panic is one more way to drop the port. The same rules apply to all of them, so P4 needs no rule of its own,
//! except for what must be observed when the pipeline has come to rest.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::Violation;

/// The properties that a pipeline promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Items that may be in flight (P1).
    pub bound: usize,
    /// Items that may hold a place, from the first unfinished one on (P5). In an ordered pipeline without a separate
    /// window the items in flight hold all places. In an unordered one the number of places is unlimited.
    pub window: usize,
    /// Results leave in the order of their inputs (P2).
    pub ordered: bool,
    /// Number of inputs, numbered from zero.
    pub inputs: usize,
}

impl Terms {
    /// Any number in flight: the bound is not checked.
    pub const fn unbounded(ordered: bool, inputs: usize) -> Terms {
        Terms {
            bound: usize::MAX,
            window: usize::MAX,
            ordered,
            inputs,
        }
    }
}

/// An observation of a pipeline, in the order in which observations are made.
///
/// That order reflects the true order if each observation is recorded at the right moment: a call when it is made, a
/// result before it is put, an end before the port is dropped, and a delivery once the consumer has the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The function was called with an input.
    Begun(usize),
    /// An item is about to put a result: its first, its second.
    Put(usize),
    /// An item is about to drop its port: it ends, panics, or is dropped.
    Ended(usize),
    /// A result of that item was taken out of the output.
    Delivered {
        /// The item.
        item: usize,
        /// Which of its results, from zero.
        number: usize,
    },
    /// The consumer closed the output: it wants no further results.
    Unwanted,
    /// The output was seen closed and empty, without having been closed by the consumer.
    Closed,
    /// The output was seen empty.
    Empty,
    /// The pipeline reported its end.
    Finished,
    /// No task can proceed, and the input stays open.
    Rest,
}

#[derive(Clone, Copy, Debug, Default)]
struct Item {
    put: usize,
    delivered: usize,
    ended: bool,
}

/// A pipeline; [`Pipeline::step`] takes the steps.
#[derive(Clone, Debug)]
pub struct Pipeline {
    terms: Terms,
    items: BTreeMap<usize, Item>,
    /// How many items had begun when the consumer closed the output.
    unwanted: Option<usize>,
    closed: bool,
    finished: bool,
}

impl Pipeline {
    /// A pipeline before its first item.
    pub fn new(terms: Terms) -> Pipeline {
        Pipeline {
            terms,
            items: BTreeMap::new(),
            unwanted: None,
            closed: false,
            finished: false,
        }
    }

    /// Judges a whole sequence of events.
    ///
    /// # Errors
    /// The first violation.
    pub fn judge(terms: Terms, events: &[Event]) -> Result<(), Violation> {
        let mut pipeline = Pipeline::new(terms);
        events.iter().try_for_each(|event| pipeline.step(*event))
    }

    /// Items in flight.
    pub fn in_flight(&self) -> usize {
        self.items.values().filter(|item| !item.ended).count()
    }

    /// Processes the next event.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn step(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Begun(item) => self.begin(item),
            Event::Put(item) => {
                self.of_flight(item)?.put += 1;
                Ok(())
            }
            Event::Ended(item) => {
                self.of_flight(item)?.ended = true;
                Ok(())
            }
            Event::Delivered { item, number } => self.deliver(item, number),
            Event::Unwanted => {
                self.unwanted = self.unwanted.or(Some(self.items.len()));
                Ok(())
            }
            Event::Closed => {
                self.closed = true;
                self.all_is_done("the output closed")?;
                self.all_is_delivered("the output closed")
            }
            // After the end was reported, all results are in the output.
            Event::Empty if self.finished => self.all_is_delivered("the end was told"),
            Event::Empty => Ok(()),
            Event::Finished => {
                self.finished = true;
                self.all_is_done("the end was told")
            }
            Event::Rest => self.rest(),
        }
    }

    fn begin(&mut self, item: usize) -> Result<(), Violation> {
        let Terms {
            bound,
            window,
            inputs,
            ..
        } = self.terms;
        if item >= inputs {
            return Violation::found("P3", format!("item {item} of {inputs} inputs"));
        }
        if self.items.insert(item, Item::default()).is_some() {
            return Violation::found("P2", format!("input {item} was taken twice"));
        }
        let flying = self.in_flight();
        if flying > bound {
            return Violation::found(
                "P1",
                format!("{flying} items in flight, where the bound is {bound}"),
            );
        }
        let placed = self.placed();
        if placed > window {
            return Violation::found(
                "P5",
                format!("{placed} items have a place, where the window has {window}"),
            );
        }
        // After the close this many items may still begin: per item in flight, one pending take or one item that
        // notices the close. In an ordered pipeline only the head notices it, and until then the window may fill.
        let may_begin = if self.terms.ordered { window } else { bound };
        let since = self.unwanted.map(|begun| self.items.len() - begun);
        match since.filter(|since| *since > may_begin) {
            Some(since) => Violation::found(
                "P3",
                format!("{since} items were begun though none was wanted"),
            ),
            None => Ok(()),
        }
    }

    fn of_flight(&mut self, item: usize) -> Result<&mut Item, Violation> {
        match self.items.get_mut(&item) {
            Some(found) if !found.ended => Ok(found),
            _ => Violation::found("P1", format!("item {item} is not in flight")),
        }
    }

    fn deliver(&mut self, item: usize, number: usize) -> Result<(), Violation> {
        let result = format!("result {number} of item {item}");
        if self.closed {
            return Violation::found("P3", format!("{result} was delivered after the close"));
        }
        let Some(found) = self.items.get_mut(&item).filter(|found| number < found.put) else {
            return Violation::found("P2", format!("{result} was delivered, and never put"));
        };
        if number < found.delivered {
            return Violation::found("P2", format!("{result} was delivered twice"));
        }
        if number > found.delivered {
            let text = format!("{result} was delivered before the one before it");
            return Violation::found("P2", text);
        }
        found.delivered += 1;
        if !self.terms.ordered {
            return Ok(());
        }
        let is_over = |item: Option<&Item>| item.is_some_and(|i| i.ended && i.delivered == i.put);
        match (0..item).find(|before| !is_over(self.items.get(before))) {
            Some(before) => {
                let text = format!(
                    "{result} was delivered out of the order of inputs: before all of {before}"
                );
                Violation::found("P2", text)
            }
            None => Ok(()),
        }
    }

    /// Nothing is in flight, and nothing is left to begin, unless the consumer wants nothing further.
    fn all_is_done(&self, what: &str) -> Result<(), Violation> {
        let flying = self.in_flight();
        if flying > 0 {
            return Violation::found("P3", format!("{what} while {flying} items were in flight"));
        }
        let left = self.terms.inputs - self.items.len();
        if self.unwanted.is_none() && left > 0 {
            return Violation::found("P3", format!("{what} with {left} inputs not begun"));
        }
        Ok(())
    }

    fn all_is_delivered(&self, what: &str) -> Result<(), Violation> {
        let left = self
            .items
            .iter()
            .find(|(_, item)| item.delivered < item.put);
        match left.filter(|_| self.unwanted.is_none()) {
            Some((item, _)) => {
                let text = format!("{what} before everything of item {item} was delivered");
                Violation::found("P3", text)
            }
            None => Ok(()),
        }
    }

    /// Items that hold a place. In an ordered pipeline a finished item holds its place until those before it have
    /// ended.
    fn placed(&self) -> usize {
        if !self.terms.ordered {
            return self.in_flight();
        }
        let mut all = 0..self.terms.inputs;
        let head = all.find(|item| self.items.get(item).is_none_or(|item| !item.ended));
        head.map_or(0, |head| self.items.range(head..).count())
    }

    /// At rest, if inputs are left and wanted, the bound or the window is reached. Only an item that never ends holds
    /// its place (P4).
    fn rest(&self) -> Result<(), Violation> {
        let Terms {
            bound,
            window,
            ordered,
            inputs,
        } = self.terms;
        let left = inputs - self.items.len();
        if self.unwanted.is_some() || left == 0 || self.in_flight() == bound {
            return Ok(());
        }
        let placed = self.placed();
        let places = if ordered { window } else { bound };
        if placed != places {
            return Violation::found(
                "P1",
                format!(
                    "{placed} items hold a place at rest, not {places}, and {left} inputs wait"
                ),
            );
        }
        Ok(())
    }
}
