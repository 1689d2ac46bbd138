//! The specification of pipelines: how many items are in flight (P1), what is delivered when (P2), when the output
//! closes and what is begun after that (P3), what an item that ends badly takes along (P4: nothing), and what a slow
//! one holds up (P5).
//!
//! An item is in flight from the call of the function until the port for its results is dropped, however it ends: a
//! panic is one more way to drop it. Whatever else happens the rules are the same, so that P4 needs none of its own
//! but for what is to be seen when nobody can go on.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::Violation;

/// A pipeline, and what it promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Items that may be in flight (P1).
    pub bound: usize,
    /// Items that may have a place, from the first on that has not ended (P5): where they leave in the order of their
    /// inputs and have no window apart, those in flight have them all; elsewhere there is no end of places.
    pub window: usize,
    /// Results leave in the order of their inputs (P2).
    pub ordered: bool,
    /// Inputs there are, numbered from zero.
    pub inputs: usize,
}

impl Terms {
    /// Any number in flight: nobody asks about that.
    pub const fn unbounded(ordered: bool, inputs: usize) -> Terms {
        Terms {
            bound: usize::MAX,
            window: usize::MAX,
            ordered,
            inputs,
        }
    }
}

/// What is seen of a pipeline, in the order in which it is learnt of.
///
/// That order shows what truly was before what where an item writes down its call when it is called, a result before it
/// puts it and its end before it drops the port, and the consumer a result once it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The function was called with an input.
    Begun(usize),
    /// An item is about to put a result: its first, its second.
    Put(usize),
    /// An item is about to drop its port, of itself or because it panics or is dropped.
    Ended(usize),
    /// A result of that item was taken out of the output.
    Delivered {
        /// The item.
        item: usize,
        /// Which of its results, from zero.
        number: usize,
    },
    /// The consumer closed the output: it wants nothing further.
    Unwanted,
    /// The output was seen closed and empty by who had not closed it.
    Closed,
    /// The output was seen empty.
    Empty,
    /// The pipeline said that it has ended.
    Finished,
    /// Nobody can go on, and the input stays open.
    Rest,
}

#[derive(Clone, Copy, Debug, Default)]
struct Item {
    put: usize,
    delivered: usize,
    ended: bool,
}

/// A pipeline: steps are taken by [`Pipeline::step`].
#[derive(Clone, Debug)]
pub struct Pipeline {
    terms: Terms,
    items: BTreeMap<usize, Item>,
    /// How many items had begun when nothing was wanted any more.
    unwanted: Option<usize>,
    closed: bool,
    finished: bool,
}

impl Pipeline {
    /// Nothing has begun.
    pub fn new(terms: Terms) -> Pipeline {
        Pipeline {
            terms,
            items: BTreeMap::new(),
            unwanted: None,
            closed: false,
            finished: false,
        }
    }

    /// Goes through all of them.
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

    /// What is seen next.
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
            // Once the end was told all results lie in the output.
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
        // Each that may be in flight has one take that was pending, or one item that finds it out; it is found out
        // at the head, and until then the window may fill.
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

    /// Nothing is in flight, and nothing is left to begin unless nothing is wanted.
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

    /// Items that have a place: in an ordered pipeline one that has ended keeps it until those before it have ended.
    fn placed(&self) -> usize {
        if !self.terms.ordered {
            return self.in_flight();
        }
        let mut all = 0..self.terms.inputs;
        let head = all.find(|item| self.items.get(item).is_none_or(|item| !item.ended));
        head.map_or(0, |head| self.items.range(head..).count())
    }

    /// The bound is reached where there is input for it, or the window: what never ends holds its place, and nothing
    /// else does (P4).
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
