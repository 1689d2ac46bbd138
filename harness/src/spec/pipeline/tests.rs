//! Compares with P1 to P3 taken literally, evaluated anew at every moment of every small history.

use proptest::prelude::*;

use super::super::Violation;
use super::{Event, Pipeline, Terms};

const fn delivered(item: usize, number: usize) -> Event {
    Event::Delivered { item, number }
}

/// The statements literally, each about everything before a moment.
fn is_kept(terms: Terms, events: &[Event]) -> bool {
    (0..events.len()).all(|now| {
        let before = &events[..now];
        let count = |event: Event| before.iter().filter(|e| **e == event).count();
        let begun = |item| count(Event::Begun(item)) > 0;
        let ended = |item| count(Event::Ended(item)) > 0;
        let flies = |item| begun(item) && !ended(item);
        let items = || 0..terms.inputs;
        let taken = |item| {
            before
                .iter()
                .filter(|e| matches!(e, Event::Delivered { item: i, .. } if *i == item))
                .count()
        };
        let is_delivered = |item| taken(item) == count(Event::Put(item));
        let unwanted = before.iter().position(|e| *e == Event::Unwanted);
        let done = items().all(|item| ended(item) || (unwanted.is_some() && !begun(item)));
        match events[now] {
            Event::Begun(item) => {
                let since = unwanted.map_or(0, |at| {
                    before[at..]
                        .iter()
                        .filter(|e| matches!(e, Event::Begun(_)))
                        .count()
                        + 1
                });
                let head = items().find(|item| !ended(*item)).unwrap_or(terms.inputs);
                let places = if terms.ordered {
                    terms.window
                } else {
                    terms.bound
                };
                item < terms.inputs
                    && !begun(item)
                    && items().filter(|item| flies(*item)).count() < terms.bound
                    && (!terms.ordered
                        || (head..terms.inputs)
                            .filter(|other| *other == item || begun(*other))
                            .count()
                            <= terms.window)
                    && since <= places
            }
            Event::Put(item) | Event::Ended(item) => flies(item),
            Event::Delivered { item, number } => {
                count(Event::Closed) == 0
                    && number < count(Event::Put(item))
                    && taken(item) == number
                    && (!terms.ordered
                        || (0..item).all(|other| ended(other) && is_delivered(other)))
            }
            Event::Unwanted => true,
            Event::Closed => done && (unwanted.is_some() || items().all(is_delivered)),
            Event::Empty => {
                count(Event::Finished) == 0 || unwanted.is_some() || items().all(is_delivered)
            }
            Event::Finished => done,
            Event::Rest => {
                let left = items().any(|item| !begun(item));
                let head = items().find(|item| !ended(*item)).unwrap_or(terms.inputs);
                let held = items()
                    .filter(|item| {
                        if terms.ordered {
                            begun(*item) && *item >= head
                        } else {
                            flies(*item)
                        }
                    })
                    .count();
                let places = if terms.ordered {
                    terms.window
                } else {
                    terms.bound
                };
                let flying = items().filter(|item| flies(*item)).count();
                unwanted.is_some() || !left || flying == terms.bound || held == places
            }
        }
    })
}

fn alphabet(inputs: usize) -> Vec<Event> {
    let mut all = vec![
        Event::Unwanted,
        Event::Closed,
        Event::Empty,
        Event::Finished,
        Event::Rest,
    ];
    for item in 0..inputs {
        all.extend([Event::Begun(item), Event::Put(item), Event::Ended(item)]);
        all.extend([delivered(item, 0), delivered(item, 1)]);
    }
    all
}

/// Every history of two inputs of up to six events, and every extension of a legal one by one event.
#[test]
fn every_small_history_is_judged_as_the_words_say() {
    let ordered = [(1, 1), (2, 2), (1, 2)].map(|(bound, window)| (bound, window, true));
    let unordered = [1, 2].map(|bound| (bound, usize::MAX, false));
    for (bound, window, ordered) in ordered.into_iter().chain(unordered) {
        let terms = Terms {
            bound,
            window,
            ordered,
            inputs: 2,
        };
        let mut legal = vec![Vec::new()];
        for _ in 0..6 {
            let mut longer = Vec::new();
            for history in &legal {
                for next in alphabet(2) {
                    let mut events: Vec<Event> = history.clone();
                    events.push(next);
                    let judged = Pipeline::judge(terms, &events);
                    assert_eq!(
                        judged.is_ok(),
                        is_kept(terms, &events),
                        "{events:?}: {judged:?}"
                    );
                    // A repeated end shows nothing new.
                    let again = history.last() == Some(&next);
                    if judged.is_ok() && !again {
                        longer.push(events);
                    }
                }
            }
            legal = longer;
        }
        assert!(legal.len() > 50, "{} histories", legal.len());
    }
}

#[track_caller]
fn breaks(terms: Terms, events: &[Event], id: &str, says: &str) {
    let (last, before) = events.split_last().expect("there is one");
    let mut pipeline = Pipeline::new(terms);
    for event in before {
        assert_eq!(pipeline.step(*event), Ok(()));
    }
    let Violation { id: found, text } = pipeline.step(*last).expect_err(says);
    assert!(found == id && text.contains(says), "{found}: {text}");
}

const TWO: Terms = Terms {
    bound: 2,
    window: 2,
    ordered: true,
    inputs: 4,
};

#[test]
fn no_more_are_in_flight_than_the_bound() {
    let begun = [0, 1, 2].map(Event::Begun);
    breaks(TWO, &begun, "P1", "3 items in flight");
    breaks(
        TWO,
        &[Event::Begun(0), Event::Rest],
        "P1",
        "1 items hold a place",
    );
    breaks(TWO, &[Event::Ended(0)], "P1", "not in flight");
    breaks(
        TWO,
        &[Event::Begun(0), Event::Ended(0), Event::Put(0)],
        "P1",
        "not in flight",
    );
    // Behind a head that does not end, an item holds its place in the order, if there is an order.
    let behind = [
        Event::Begun(0),
        Event::Begun(1),
        Event::Ended(1),
        Event::Rest,
    ];
    Pipeline::judge(TWO, &behind).expect("two hold a place");
    let wider = Terms { window: 3, ..TWO };
    breaks(wider, &behind, "P1", "2 items hold a place at rest, not 3");
    let unordered = Terms {
        ordered: false,
        ..TWO
    };
    breaks(unordered, &behind, "P1", "1 items hold a place");
}

#[test]
fn results_leave_in_the_order_of_inputs() {
    let begun = [
        Event::Begun(0),
        Event::Begun(1),
        Event::Put(1),
        Event::Ended(1),
    ];
    let after = |events: &[Event]| [&begun[..], events].concat();
    breaks(TWO, &after(&[delivered(1, 0)]), "P2", "before all of 0");
    let put = [Event::Put(0), Event::Ended(0), delivered(1, 0)];
    breaks(TWO, &after(&put), "P2", "before all of 0");
    breaks(TWO, &after(&[delivered(0, 0)]), "P2", "never put");
    let put = [Event::Put(0), delivered(0, 0), delivered(0, 0)];
    breaks(TWO, &after(&put), "P2", "twice");
    let put = [Event::Put(0), Event::Put(0), delivered(0, 1)];
    breaks(TWO, &after(&put), "P2", "before the one before it");
    breaks(
        TWO,
        &[Event::Begun(0), Event::Ended(0), Event::Begun(0)],
        "P2",
        "taken twice",
    );
}

#[test]
fn the_output_closes_after_everything_and_nothing_is_taken_without_a_consumer() {
    let one = Terms { inputs: 1, ..TWO };
    let put = [Event::Begun(0), Event::Put(0)];
    let then = |events: &[Event]| [&put[..], events].concat();
    breaks(one, &then(&[Event::Closed]), "P3", "in flight");
    breaks(one, &then(&[Event::Finished]), "P3", "in flight");
    breaks(
        one,
        &then(&[Event::Ended(0), Event::Closed]),
        "P3",
        "before everything",
    );
    let told = [Event::Ended(0), Event::Finished, Event::Empty];
    breaks(
        one,
        &then(&told),
        "P3",
        "the end was told before everything",
    );
    breaks(one, &[Event::Closed], "P3", "not begun");
    breaks(one, &[Event::Begun(1)], "P3", "of 1 inputs");
    let closed = [
        Event::Begun(0),
        Event::Ended(0),
        Event::Closed,
        delivered(0, 0),
    ];
    breaks(one, &closed, "P3", "after the close");
    let mut unwanted = vec![Event::Unwanted];
    unwanted.extend((0..2).flat_map(|item| [Event::Begun(item), Event::Ended(item)]));
    Pipeline::judge(TWO, &unwanted).expect("as many as may be in flight");
    unwanted.push(Event::Begun(2));
    breaks(TWO, &unwanted, "P3", "none was wanted");
}

#[test]
fn behind_a_slow_head_items_end_and_keep_their_places_in_the_window() {
    let wider = Terms { window: 3, ..TWO };
    let mut behind = vec![Event::Begun(0)];
    behind.extend((1..3).flat_map(|item| [Event::Begun(item), Event::Ended(item)]));
    behind.push(Event::Rest);
    Pipeline::judge(wider, &behind).expect("the window is full, and one is in flight");
    behind.push(Event::Begun(3));
    breaks(wider, &behind, "P5", "4 items have a place");
}

proptest! {
    #[test]
    fn no_sequence_panics(
        events in prop::collection::vec(prop::sample::select(alphabet(3)), 0..20),
        bound in 0..3_usize,
        window in 0..4_usize,
        ordered: bool,
        inputs in 0..3_usize,
    ) {
        let mut pipeline = Pipeline::new(Terms { bound, window, ordered, inputs });
        for event in events {
            let _ = pipeline.step(event);
        }
    }
}
