//! Compares with brute force: an unobserved firing is tried at every place of small histories, and clocks are read at
//! every moment.

use proptest::prelude::*;

use super::super::Violation;
use super::{Asked, Event, Service, Shared, Terms};

/// Judges one timer, with its firing as a step like all others, at known moments: whether there is a place for the
/// firing.
fn can_be(events: &[Event]) -> bool {
    let fires = events
        .iter()
        .filter(|event| matches!(event, Event::Fired { .. }));
    match fires.count() {
        0 => run(events, None),
        1 => (0..=events.len()).any(|place| run(events, Some(place))),
        _ => false,
    }
}

fn run(events: &[Event], fires: Option<usize>) -> bool {
    #[derive(PartialEq)]
    enum Now {
        Nothing,
        Armed(u64),
        Fired,
        Over,
    }
    let mut now = Now::Nothing;
    // A moment after everything before that place, and not after anything behind it.
    let fired_by = events
        .iter()
        .position(|event| matches!(event, Event::Fired { .. }));
    let moment = |event: &Event| match *event {
        Event::Scheduled { at, .. }
        | Event::Cancelled { at, .. }
        | Event::Moved { at, .. }
        | Event::Fired { at, .. }
        | Event::Released { at }
        | Event::ShutDown { at } => at,
        Event::Stalled => 0,
    };
    let mut ended = u64::MAX;
    for place in 0..=events.len() {
        if fires == Some(place) {
            let Now::Armed(due) = now else { return false };
            let Some(seen) = fired_by.filter(|seen| *seen >= place) else {
                return false;
            };
            // The latest moment that the following events allow.
            let follows = events[place..]
                .iter()
                .take_while(|e| !matches!(e, Event::Fired { .. }));
            let latest = follows.map(moment).chain([moment(&events[seen])]).min();
            if due > latest.expect("it was seen") {
                return false;
            }
            now = Now::Fired;
        }
        let Some(event) = events.get(place) else {
            break;
        };
        match *event {
            Event::Scheduled { due, .. } => {
                if now != Now::Nothing {
                    return false;
                }
                now = if ended == u64::MAX {
                    Now::Armed(due)
                } else {
                    Now::Over
                };
            }
            Event::Cancelled { answer, .. } => match (&now, answer) {
                (Now::Armed(_), true) => now = Now::Over,
                (Now::Armed(_), false) | (_, true) => return false,
                (_, false) => {}
            },
            Event::Moved { due, answer, .. } => match (&now, answer) {
                (Now::Armed(_), true) => now = Now::Armed(due),
                (Now::Armed(_), false) | (_, true) => return false,
                (_, false) => {}
            },
            Event::Fired { at, .. } => {
                if now != Now::Fired || at > ended {
                    return false;
                }
            }
            Event::ShutDown { at } => {
                ended = ended.min(at);
                if matches!(now, Now::Armed(_)) {
                    now = Now::Over;
                }
            }
            Event::Stalled | Event::Released { .. } => {}
        }
    }
    true
}

/// The possible events of one timer at a moment. The firing reports the deadline armed last.
fn happenings(at: u64) -> Vec<Event> {
    let mut all = vec![
        Event::Scheduled {
            timer: 0,
            due: 2,
            at,
        },
        Event::Fired {
            timer: 0,
            told: None,
            claimed: None,
            at,
        },
        Event::ShutDown { at },
    ];
    for answer in [true, false] {
        all.push(Event::Cancelled {
            timer: 0,
            answer,
            at,
        });
        for due in [1, 3] {
            all.push(Event::Moved {
                timer: 0,
                due,
                answer,
                at,
            });
        }
    }
    all
}

/// Every history of up to five events, one per nanosecond or two at once.
#[test]
fn every_small_history_is_judged_as_brute_force_does() {
    let (mut legal, mut illegal) = (0, 0);
    let mut histories = vec![Vec::new()];
    for length in 0..5 {
        let mut longer = Vec::new();
        for history in &histories {
            for next in happenings(length / 2 * 2) {
                let mut events: Vec<Event> = history.clone();
                events.push(next);
                let judged = Service::judge(Terms::default(), &events);
                let expected = can_be(&events);
                assert_eq!(judged.is_ok(), expected, "{events:?}: {judged:?}");
                if expected {
                    legal += 1;
                } else {
                    illegal += 1;
                }
                // A violation stays one, except that a call may still be observed.
                let open = judged.is_err_and(|v| v.text.contains("never called"));
                if expected || open {
                    longer.push(events);
                }
            }
        }
        histories = longer;
    }
    assert!(
        legal > 200 && illegal > 1_000,
        "{legal} legal, {illegal} illegal"
    );
}

fn scheduled(timer: usize, due: u64, at: u64) -> Event {
    Event::Scheduled { timer, due, at }
}

fn fired(timer: usize, at: u64) -> Event {
    Event::Fired {
        timer,
        told: None,
        claimed: None,
        at,
    }
}

#[track_caller]
fn breaks(terms: Terms, events: &[Event], id: &str, says: &str) {
    let (last, before) = events.split_last().expect("there is one");
    let mut service = Service::new(terms);
    for event in before {
        assert_eq!(service.step(*event), Ok(()));
    }
    let broken = service.step(*last).and_then(|()| service.rest());
    let Violation { id: found, text } = broken.expect_err(says);
    assert!(found == id && text.contains(says), "{found}: {text}");
}

const ANYHOW: Terms = Terms {
    deadline_order: false,
    late: None,
};

#[test]
fn nothing_fires_early_or_with_another_deadline() {
    breaks(
        ANYHOW,
        &[scheduled(0, 10, 0), fired(0, 9)],
        "T1",
        "1 ns early",
    );
    let claimed = |claimed, told| Event::Fired {
        timer: 0,
        told: Some(told),
        claimed: Some(claimed),
        at: 12,
    };
    breaks(
        ANYHOW,
        &[scheduled(0, 10, 0), claimed(9, 10)],
        "T1",
        "1 ns early",
    );
    breaks(
        ANYHOW,
        &[scheduled(0, 10, 0), claimed(13, 10)],
        "T1",
        "claimed after",
    );
    breaks(
        ANYHOW,
        &[scheduled(0, 10, 0), claimed(11, 11)],
        "T1",
        "was told",
    );
    let never = [scheduled(0, u64::MAX, 0), fired(0, u64::MAX)];
    breaks(ANYHOW, &never, "T4", "never due");
}

#[test]
fn each_ends_once() {
    let cancelled = |answer, at| Event::Cancelled {
        timer: 0,
        answer,
        at,
    };
    let armed = scheduled(0, 10, 0);
    breaks(ANYHOW, &[armed, fired(0, 10), fired(0, 11)], "T2", "twice");
    breaks(
        ANYHOW,
        &[armed, cancelled(true, 1), fired(0, 11)],
        "T2",
        "answered true",
    );
    breaks(
        ANYHOW,
        &[armed, fired(0, 10), cancelled(true, 11)],
        "T2",
        "which was over",
    );
    breaks(
        ANYHOW,
        &[armed, cancelled(false, 9)],
        "T2",
        "cannot have fired",
    );
    breaks(ANYHOW, &[armed, cancelled(false, 10)], "T2", "never called");
    breaks(ANYHOW, &[cancelled(true, 0)], "T2", "another service");
    breaks(ANYHOW, &[fired(0, 1)], "T2", "never armed");
    breaks(ANYHOW, &[armed, armed], "T2", "armed twice");
    let end = Event::ShutDown { at: 11 };
    breaks(
        ANYHOW,
        &[armed, end, fired(0, 12)],
        "T8",
        "after its service",
    );
    Service::judge(ANYHOW, &[armed, end, fired(0, 11)]).expect("the drop waited for it");
}

#[test]
fn an_earlier_deadline_is_not_slept_through() {
    let prompt = Terms {
        late: Some(1),
        ..ANYHOW
    };
    let moved = |due, answer| Event::Moved {
        timer: 0,
        due,
        answer,
        at: 2,
    };
    breaks(
        prompt,
        &[scheduled(0, 10, 0), fired(0, 12)],
        "T3",
        "slept through",
    );
    breaks(
        prompt,
        &[scheduled(0, 0, 5), fired(0, 7)],
        "T3",
        "slept through",
    );
    let brought_forward = [scheduled(0, 50, 0), moved(10, true)];
    breaks(
        prompt,
        &[&brought_forward[..], &[fired(0, 50)]].concat(),
        "T3",
        "slept through",
    );
    breaks(
        prompt,
        &[scheduled(0, 50, 0), moved(10, false)],
        "T3",
        "not moved",
    );
    Service::judge(prompt, &[scheduled(0, 10, 0), fired(0, 11)]).expect("in time");
}

#[test]
fn a_stall_is_caught_up_with_in_order_and_before_what_comes_later() {
    let stalled = [
        Event::Stalled,
        scheduled(0, 2, 3),
        scheduled(1, 1, 3),
        Event::Released { at: 5 },
        scheduled(2, 0, 6),
    ];
    let ordered = Terms {
        deadline_order: true,
        late: None,
    };
    let after = |calls: &[usize]| {
        let calls = calls.iter().map(|timer| fired(*timer, 7));
        stalled.iter().copied().chain(calls).collect::<Vec<_>>()
    };
    breaks(ordered, &after(&[0]), "T5", "before 1");
    breaks(ANYHOW, &after(&[0, 2]), "T5", "before 1");
    Service::judge(ordered, &after(&[1, 0, 2])).expect("in order");
    let equal = |between: Option<Event>, calls: &[usize]| {
        let armed = [Event::Stalled, scheduled(0, 1, 3), scheduled(1, 1, 3)];
        let called = calls.iter().map(|timer| fired(*timer, 7));
        let released = Event::Released { at: 5 };
        let armed = armed.into_iter().chain(between).chain([released]);
        armed.chain(called).collect::<Vec<_>>()
    };
    breaks(ordered, &equal(None, &[1]), "T5", "before 0");
    Service::judge(ordered, &equal(None, &[0, 1])).expect("in the order of arming");
    Service::judge(ANYHOW, &equal(None, &[1, 0])).expect("no order is claimed");
    let moved = Event::Moved {
        timer: 0,
        due: 1,
        answer: true,
        at: 4,
    };
    Service::judge(ordered, &equal(Some(moved), &[1, 0])).expect("one of them was moved");
    Service::judge(ANYHOW, &after(&[0, 1, 2])).expect("no order is claimed");
    // A timer that is late because of the stall is not slept through.
    let prompt = Terms {
        late: Some(2),
        ..ANYHOW
    };
    Service::judge(prompt, &after(&[0, 1, 2])).expect("in time");
}

const MS: u64 = 1_000_000;

fn ask(delay_ms: u64, called: u64, returned: u64, channel: usize) -> Asked {
    Asked {
        delay: delay_ms * MS,
        called,
        returned,
        channel,
    }
}

#[test]
fn a_timeout_shares_the_first_that_is_less_than_ten_milliseconds_later() {
    let judged = |requests: &[Asked]| Shared::judge(requests).map_err(|v| v.text);
    let first = ask(10_009, 0, 0, 0);
    assert_eq!(judged(&[first, ask(10_000, 0, 0, 0)]), Ok(()));
    let apart = judged(&[first, ask(10_000, 0, 0, 1)]);
    assert!(apart.is_err_and(|text| text.contains("9 ms before channel 0, and not shared")));
    let earlier = judged(&[first, ask(10_010, 0, 0, 0)]);
    assert!(earlier.is_err_and(|text| text.contains("due before it")));
    let far = judged(&[first, ask(9_999, 0, 0, 0)]);
    assert!(far.is_err_and(|text| text.contains("10 ms apart, and shared")));
    let two = [ask(5, 0, 0, 0), ask(8, 0, 0, 1)];
    let second = judged(&[&two[..], &[ask(3, 0, 0, 1)]].concat());
    assert!(second.is_err_and(|text| text.contains("not the first")));
    // It is not known whether the clock was read before the millisecond or after it.
    for channel in [0, 1] {
        assert_eq!(judged(&[ask(10, 0, 0, 0), ask(10, 0, 1, channel)]), Ok(()));
    }
}

#[test]
fn a_shared_timeout_does_not_close_before_what_it_shares() {
    let mut shared = Shared::new();
    for asked in [ask(10, 0, 0, 0), ask(1, 0, 0, 0)] {
        assert_eq!(shared.ask(asked), Ok(()));
    }
    assert_eq!(shared.closed(0, 10 * MS), Ok(()));
    assert!(shared.closed(0, 10 * MS - 1).is_err());
    assert!(shared.closed(1, 10 * MS).is_err());
}

/// T7 as a map of deadlines, with the clock read at a known moment.
fn coalesce(requests: &[(u64, u64)]) -> Vec<usize> {
    let mut deadlines: Vec<(u64, usize)> = Vec::new();
    let mut channels = Vec::new();
    for &(delay, now) in requests {
        let due = (now + delay).div_ceil(MS);
        let live = deadlines.iter().filter(|(other, _)| *other * MS > now);
        let near = live.filter(|(other, _)| (due..due + 10).contains(other));
        let channel = near.min().map(|(_, channel)| *channel);
        let channel = channel.unwrap_or_else(|| {
            deadlines.push((due, deadlines.len()));
            deadlines.len() - 1
        });
        channels.push(channel);
    }
    channels
}

proptest! {
    /// The reference is accepted however imprecisely the readings of the clock are known.
    #[test]
    fn coalescing_as_the_reference_does_is_right(
        requests in prop::collection::vec((0..30 * MS, 0..3 * MS, 0..2 * MS, 0..2 * MS), 1..8),
    ) {
        let mut clock = 0;
        let mut read = Vec::new();
        let mut asked = Vec::new();
        for (delay, passes, before, after) in requests {
            let now = clock + passes + before;
            asked.push(Asked { delay, called: clock + passes, returned: now + after, channel: 0 });
            read.push((delay, now));
            clock = now + after;
        }
        for (asked, channel) in asked.iter_mut().zip(coalesce(&read)) {
            asked.channel = channel;
        }
        prop_assert_eq!(Shared::judge(&asked), Ok(()));
    }

    /// If the clock is known, every other answer is rejected, as long as nothing is due at the moment itself.
    #[test]
    fn any_other_answer_is_wrong(
        requests in prop::collection::vec((5 * MS..30 * MS, 0..MS), 1..6),
        other in 0..6_usize,
    ) {
        let mut clock = 0;
        let read: Vec<(u64, u64)> = requests
            .into_iter()
            .map(|(delay, passes)| {
                clock += passes / 8;
                (delay, clock)
            })
            .collect();
        let channels = coalesce(&read);
        let asked = |last: usize| -> Vec<Asked> {
            let mut all: Vec<Asked> = read
                .iter()
                .zip(&channels)
                .map(|(&(delay, now), &channel)| Asked { delay, called: now, returned: now, channel })
                .collect();
            all.last_mut().expect("some").channel = last;
            all
        };
        let right = *channels.last().expect("some");
        let is_new = |channel: usize| !channels[..channels.len() - 1].contains(&channel);
        let same = other == right || is_new(other) && is_new(right);
        prop_assert_eq!(Shared::judge(&asked(other)).is_ok(), same);
    }

    #[test]
    fn no_sequence_panics(
        events in prop::collection::vec(any_event(), 0..12),
        deadline_order: bool,
        late in prop::option::of(moment()),
        requests in prop::collection::vec((moment(), moment(), moment(), 0..3_usize), 0..6),
    ) {
        let mut service = Service::new(Terms { deadline_order, late });
        for event in events {
            let _ = service.step(event);
            let _ = service.rest();
        }
        let mut shared = Shared::new();
        for (delay, called, returned, channel) in requests {
            let _ = shared.ask(Asked { delay, called, returned, channel });
            let _ = shared.closed(channel, called);
        }
    }
}

fn moment() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, 0..10 * MS, Just(u64::MAX), Just(u64::MAX - 1)]
}

fn any_event() -> impl Strategy<Value = Event> {
    let timer = 0..3_usize;
    prop_oneof![
        (timer.clone(), moment(), moment()).prop_map(|(timer, due, at)| Event::Scheduled {
            timer,
            due,
            at
        }),
        (timer.clone(), any::<bool>(), moment()).prop_map(|(timer, answer, at)| Event::Cancelled {
            timer,
            answer,
            at
        }),
        (timer.clone(), moment(), any::<bool>(), moment()).prop_map(|(timer, due, answer, at)| {
            Event::Moved {
                timer,
                due,
                answer,
                at,
            }
        }),
        (
            timer,
            prop::option::of(moment()),
            prop::option::of(moment()),
            moment()
        )
            .prop_map(|(timer, told, claimed, at)| Event::Fired {
                timer,
                told,
                claimed,
                at
            }),
        Just(Event::Stalled),
        moment().prop_map(|at| Event::Released { at }),
        moment().prop_map(|at| Event::ShutDown { at }),
    ]
}
