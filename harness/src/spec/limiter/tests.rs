//! Compares with brute force: every window and every placement of small histories.

use std::num::{NonZeroU32, NonZeroU64};

use proptest::prelude::*;

use super::super::Violation;
use super::{Event, Grant, Limit, Terms, Waiters, fullest, judge};

fn window(permits: u32, period: u64) -> Limit {
    Limit::Window {
        permits: NonZeroU32::new(permits).expect("some"),
        period: NonZeroU64::new(period).expect("some"),
    }
}

fn rate(permits: u32, period: u64, burst: u32) -> Limit {
    Limit::Rate {
        permits: NonZeroU32::new(permits).expect("some"),
        period: NonZeroU64::new(period).expect("some"),
        burst: NonZeroU32::new(burst).expect("some"),
    }
}

/// L1 and L2 literally, at known moments: every window start, every pair of moments.
fn is_kept(limit: Limit, grants: &[(u64, u64)]) -> bool {
    let within = |from: u64, until: u64| -> u64 {
        let inside = grants.iter().filter(|(at, _)| (from..=until).contains(at));
        inside.map(|(_, weight)| weight).sum()
    };
    let last = grants.iter().map(|(at, _)| *at).max().unwrap_or(0);
    match limit {
        Limit::Window { permits, period } => (0..=last)
            .all(|start| within(start, start + period.get() - 1) <= u64::from(permits.get())),
        Limit::Rate {
            permits,
            period,
            burst,
        } => (0..=last).all(|from| {
            (from..=last).all(|until| {
                let beyond = within(from, until).saturating_sub(burst.get().into());
                beyond * period.get() <= (until - from) * u64::from(permits.get())
            })
        }),
    }
}

fn known(grants: &[(u64, u64)]) -> Vec<Grant> {
    let grant = |&(at, weight): &(u64, u64)| Grant {
        from: at,
        until: at,
        weight,
    };
    grants.iter().map(grant).collect()
}

/// Whether the grants can be placed at moments that keep the limit.
fn can_be_placed(limit: Limit, grants: &[Grant], placed: &mut Vec<(u64, u64)>) -> bool {
    let Some((first, rest)) = grants.split_first() else {
        return is_kept(limit, placed);
    };
    (first.from..=first.until).any(|at| {
        placed.push((at, first.weight));
        let found = can_be_placed(limit, rest, placed);
        placed.pop();
        found
    })
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1..4_u32, 1..7_u64).prop_map(|(permits, period)| window(permits, period)),
        (1..4_u32, 1..7_u64, 1..4_u32)
            .prop_map(|(permits, period, burst)| rate(permits, period, burst)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn known_moments_are_judged_as_every_window_is(
        limit in limits(),
        grants in prop::collection::vec((0..20_u64, 1..3_u64), 0..8),
    ) {
        let judged = judge(limit, &known(&grants));
        prop_assert_eq!(judged.is_ok(), is_kept(limit, &grants), "{:?}", judged);
    }

    #[test]
    fn what_is_convicted_can_be_placed_nowhere(
        limit in limits(),
        grants in prop::collection::vec((0..8_u64, 0..4_u64, 1..3_u64), 0..5),
    ) {
        let grants: Vec<Grant> = grants
            .into_iter()
            .map(|(from, length, weight)| Grant { from, until: from + length, weight })
            .collect();
        if judge(limit, &grants).is_err() {
            prop_assert!(!can_be_placed(limit, &grants, &mut Vec::new()));
        }
    }

    #[test]
    fn the_least_time_for_permits_is_the_shortest_that_holds_them(
        limit in limits(),
        permits in 1..20_u64,
    ) {
        let least = limit.least_for(permits);
        prop_assert!(limit.most_in(least) >= permits);
        prop_assert!(least == 0 || limit.most_in(least - 1) < permits);
    }

    /// Tries at every moment are granted exactly the permits that a limiter of that kind gives.
    #[test]
    fn greedy_tries_have_what_the_words_allow(limit in limits(), first_come: bool, passes_on: bool) {
        let terms = Terms { limit, first_come, at_once: true, passes_on };
        let mut waiters = Waiters::new(terms);
        let mut grants = Vec::new();
        for at in (0..24).flat_map(|at| [at; 3]) {
            grants.push((at, 1));
            let granted = is_kept(limit, &grants);
            if !granted {
                grants.pop();
            }
            let wrong = Event::Tried { granted: !granted, from: at, at };
            prop_assert!(waiters.clone().step(wrong).is_err());
            prop_assert_eq!(waiters.step(Event::Tried { granted, from: at, at }), Ok(()));
        }
    }

    #[test]
    fn the_fullest_period_is_that_of_every_start(
        period in 1..9_u64,
        mut moments in prop::collection::vec(0..30_u64, 0..12),
    ) {
        moments.sort_unstable();
        let held = |start: u64| moments.iter().filter(|at| (start..start + period).contains(at)).count();
        let most = (0..=30).map(held).max().unwrap_or(0);
        prop_assert_eq!(fullest(NonZeroU64::new(period).expect("some"), &moments), most as u64);
    }

    #[test]
    fn no_sequence_panics(limit in limits(), first_come: bool, at_once: bool, passes_on: bool, events in prop::collection::vec(any_event(), 0..12)) {
        let terms = Terms { limit, first_come, at_once, passes_on };
        let mut waiters = Waiters::new(terms);
        for event in events {
            let _ = waiters.step(event);
        }
    }

    #[test]
    fn no_grants_panic(limit in limits(), grants in prop::collection::vec((moment(), moment(), moment()), 0..6)) {
        let grants: Vec<Grant> = grants
            .into_iter()
            .map(|(from, until, weight)| Grant { from, until, weight })
            .collect();
        let _ = judge(limit, &grants);
    }

    /// A first-come limiter, run step by step, is never rejected, neither for its order nor for its moments.
    #[test]
    fn a_fair_limiter_is_right(
        limit in limits(),
        asks in prop::collection::vec((0..6_u64, 1..4_u64, prop::option::of(0..8_u64)), 1..6),
    ) {
        for (first_come, at_once) in [(false, false), (false, true), (true, false), (true, true)] {
            let terms = Terms { limit, first_come, at_once, passes_on: true };
            let events = fair_run(limit, &asks);
            let judged = Waiters::judge(terms, &events);
            prop_assert_eq!(&judged, &Ok(()), "{:?}", events);
        }
    }

    /// Neither is a limiter with slots, where every waiter has a slot from its request on and some waiters give up.
    #[test]
    fn a_limiter_of_slots_is_right(
        limit in limits(),
        asks in prop::collection::vec((0..6_u64, 1..4_u64, prop::option::of(0..8_u64), prop::option::of(0..8_u64)), 1..6),
    ) {
        for (first_come, at_once) in [(false, false), (false, true), (true, false), (true, true)] {
            let terms = Terms { limit, first_come, at_once, passes_on: false };
            let events = run_of_slots(limit, &asks);
            let judged = Waiters::judge(terms, &events);
            prop_assert_eq!(&judged, &Ok(()), "{:?}", events);
        }
    }
}

/// Every waiter asks at its moment, and gets the first slot after all others that is before its deadline. A waiter with
/// a deadline and without a slot tries again at its deadline. Some waiters give up after a while.
fn run_of_slots(limit: Limit, asks: &[(u64, u64, Option<u64>, Option<u64>)]) -> Vec<Event> {
    let mut events = Vec::new();
    // Slots that are held, granted or forfeited: moment and weight.
    let mut slots: Vec<(u64, u64)> = Vec::new();
    let next = |slots: &[(u64, u64)], weight: u64, from: u64| {
        let last = slots.last().map_or(0, |(at, _)| *at);
        let mut at = from.max(last);
        while !is_kept(limit, &[slots, &[(at, weight)]].concat()) {
            at += 1;
        }
        at
    };
    let mut waiting: Vec<(usize, Option<usize>)> = Vec::new();
    for at in 0..100 {
        for (asker, &(asked, weight, patience, _)) in asks.iter().enumerate() {
            if asked == at && weight <= limit.at_once() {
                let deadline = patience.map(|patience| at + patience);
                let slot = next(&slots, weight, at);
                let is_in_time = deadline.is_none_or(|deadline| slot <= deadline);
                waiting.push((asker, is_in_time.then_some(slots.len())));
                if is_in_time {
                    slots.push((slot, weight));
                }
                events.push(Event::Asked {
                    asker,
                    weight,
                    deadline,
                    at,
                });
            }
        }
        waiting.retain(|&(asker, slot)| {
            let (asked, weight, patience, stays) = asks[asker];
            if slot.is_some_and(|slot| slots[slot].0 == at) {
                events.push(Event::Granted {
                    asker,
                    from: at,
                    at,
                });
            } else if slot.is_none() && patience == Some(at - asked) {
                if next(&slots, weight, at) > at {
                    events.push(Event::TimedOut { asker, at });
                } else {
                    slots.push((at, weight));
                    events.push(Event::Granted {
                        asker,
                        from: at,
                        at,
                    });
                }
            } else if stays.is_some_and(|stays| at == asked + stays) {
                if slot == Some(slots.len() - 1) {
                    slots.pop();
                }
                events.push(Event::Dropped { asker, at });
            } else {
                return true;
            }
            false
        });
    }
    events
}

/// Every waiter asks at its moment. At each moment waiters are served from the front while permits are free.
fn fair_run(limit: Limit, asks: &[(u64, u64, Option<u64>)]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut grants = Vec::new();
    let mut line: Vec<(usize, u64, Option<u64>)> = Vec::new();
    for at in 0..60 {
        for (asker, &(asked, weight, patience)) in asks.iter().enumerate() {
            if asked == at && weight <= limit.at_once() {
                let deadline = patience.map(|patience| at + patience);
                line.push((asker, weight, deadline));
                events.push(Event::Asked {
                    asker,
                    weight,
                    deadline,
                    at,
                });
            }
        }
        loop {
            while let Some(&(asker, weight, _)) = line.first() {
                grants.push((at, weight));
                if !is_kept(limit, &grants) {
                    grants.pop();
                    break;
                }
                line.remove(0);
                events.push(Event::Granted {
                    asker,
                    from: at,
                    at,
                });
            }
            // A waiter that gives up lets those behind it advance at that moment.
            let late = line
                .iter()
                .position(|(_, _, deadline)| *deadline == Some(at));
            let Some(late) = late else { break };
            let (asker, ..) = line.remove(late);
            events.push(Event::TimedOut { asker, at });
        }
    }
    events
}

fn moment() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, Just(u64::MAX), Just(u64::MAX - 1)]
}

fn any_event() -> impl Strategy<Value = Event> {
    let asker = 0..3_usize;
    prop_oneof![
        (
            asker.clone(),
            moment(),
            prop::option::of(moment()),
            moment()
        )
            .prop_map(|(asker, weight, deadline, at)| Event::Asked {
                asker,
                weight,
                deadline,
                at
            }),
        (asker.clone(), moment(), moment()).prop_map(|(asker, from, at)| Event::Granted {
            asker,
            from,
            at
        }),
        asker.clone().prop_map(|asker| Event::Refused { asker }),
        (asker.clone(), moment()).prop_map(|(asker, at)| Event::TimedOut { asker, at }),
        (asker, moment()).prop_map(|(asker, at)| Event::Dropped { asker, at }),
        (any::<bool>(), moment(), moment()).prop_map(|(granted, from, at)| Event::Tried {
            granted,
            from,
            at
        }),
    ]
}

const ONE_IN_TEN: Terms = Terms {
    limit: Limit::Window {
        permits: NonZeroU32::MIN,
        period: NonZeroU64::MIN.saturating_add(9),
    },
    first_come: true,
    at_once: true,
    passes_on: true,
};

fn asked(asker: usize, at: u64) -> Event {
    Event::Asked {
        asker,
        weight: 1,
        deadline: None,
        at,
    }
}

fn until(asker: usize, deadline: u64, at: u64) -> Event {
    Event::Asked {
        asker,
        weight: 1,
        deadline: Some(deadline),
        at,
    }
}

fn granted(asker: usize, at: u64) -> Event {
    Event::Granted {
        asker,
        from: at,
        at,
    }
}

fn tried(granted: bool, at: u64) -> Event {
    Event::Tried {
        granted,
        from: at,
        at,
    }
}

#[track_caller]
fn breaks(events: &[Event], id: &str, says: &str) {
    let (last, before) = events.split_last().expect("there is one");
    let mut waiters = Waiters::new(ONE_IN_TEN);
    for event in before {
        assert_eq!(waiters.step(*event), Ok(()));
    }
    let Violation { id: found, text } = waiters.step(*last).expect_err(says);
    assert!(found == id && text.contains(says), "{found}: {text}");
}

#[test]
fn a_grant_too_early_is_over_the_limit() {
    let events = [asked(0, 0), granted(0, 0), asked(1, 0), granted(1, 9)];
    breaks(&events, "L1", "free at 10 only");
    breaks(&[tried(true, 0), tried(true, 9)], "L1", "free at 10 only");
}

#[test]
fn no_waiter_is_served_before_one_that_waits_longer() {
    let events = [tried(true, 0), asked(0, 1), asked(1, 2), granted(1, 10)];
    breaks(&events, "L1", "overtook 1 that waited longer");
    let events = [tried(true, 0), asked(0, 1), tried(true, 10)];
    breaks(&events, "L1", "overtook 1 that waited longer");
}

#[test]
fn a_waiter_is_served_when_its_turn_has_come() {
    breaks(
        &[tried(true, 0), asked(0, 1), granted(0, 11)],
        "L3",
        "were held back",
    );
    // The first of two gave up, and holds nothing.
    let gone = Event::Dropped { asker: 0, at: 5 };
    let two = [tried(true, 0), asked(0, 1), asked(1, 1), gone];
    breaks(
        &[&two[..], &[granted(1, 20)]].concat(),
        "L3",
        "were held back",
    );
    Waiters::judge(ONE_IN_TEN, &[&two[..], &[granted(1, 10)]].concat()).expect("in time");
}

#[test]
fn only_the_last_slot_is_given_away_again() {
    let terms = Terms {
        passes_on: false,
        ..ONE_IN_TEN
    };
    let judged = |events: &[Event]| Waiters::judge(terms, events).map_err(|v| v.id);
    let two = [tried(true, 0), asked(0, 1), asked(1, 1)];
    let first = Event::Dropped { asker: 0, at: 5 };
    let last = Event::Dropped { asker: 1, at: 5 };
    for (events, right) in [
        // The permits before the other's slot are forfeited.
        (vec![first, granted(1, 20)], true),
        (vec![first, granted(1, 21)], false),
        (
            vec![last, granted(0, 10), asked(2, 11), granted(2, 20)],
            true,
        ),
        (
            vec![last, granted(0, 10), asked(2, 11), granted(2, 30)],
            false,
        ),
        // A waiter that would be too late has no slot, and tries again at its deadline.
        (vec![until(2, 29, 2), asked(3, 3), granted(0, 10)], true),
        (
            vec![until(2, 29, 2), last, granted(0, 10), granted(2, 29)],
            true,
        ),
        (
            vec![until(2, 29, 2), last, granted(0, 10), tried(true, 28)],
            true,
        ),
        (
            vec![
                until(2, 30, 2),
                granted(0, 10),
                granted(1, 20),
                granted(2, 31),
            ],
            false,
        ),
    ] {
        let events = [&two[..], &events].concat();
        assert_eq!(judged(&events).is_ok(), right, "{events:?}");
    }
}

#[test]
fn a_free_permit_is_never_refused() {
    breaks(&[tried(true, 0), tried(false, 10)], "L1", "was refused");
    let events = [asked(0, 3), Event::Refused { asker: 0 }];
    breaks(&events, "L3", "refused as more than 1");
}

#[test]
fn a_deadline_is_waited_for_and_what_was_free_in_time_is_granted() {
    let late = Event::TimedOut { asker: 0, at: 4 };
    breaks(
        &[tried(true, 0), until(0, 5, 1), late],
        "L3",
        "before the deadline",
    );
    breaks(
        &[tried(true, 0), asked(0, 1), late],
        "L3",
        "before the end of time",
    );
    let at_the_edge = Event::TimedOut { asker: 0, at: 10 };
    breaks(
        &[tried(true, 0), until(0, 10, 1), at_the_edge],
        "L3",
        "a permit was free at 10",
    );
    breaks(
        &[until(0, 0, 1), Event::TimedOut { asker: 0, at: 1 }],
        "L3",
        "a permit was free at 1",
    );
}

#[test]
fn a_permit_that_was_never_granted_is_free_at_any_time() {
    let terms = Terms {
        limit: window(2, 10),
        first_come: false,
        at_once: false,
        passes_on: true,
    };
    let late = Event::TimedOut { asker: 0, at: 1 };
    let judged = |events: &[Event]| Waiters::judge(terms, events).map_err(|v| v.id);
    assert_eq!(judged(&[tried(true, 0), tried(false, 0)]), Err("L1"));
    assert_eq!(judged(&[tried(true, 0), until(0, 0, 1), late]), Err("L3"));
    // A waiter in line may already have the permit, which is not known yet.
    assert_eq!(
        judged(&[tried(true, 0), asked(1, 0), tried(false, 0)]),
        Ok(())
    );
    let line = [tried(true, 0), asked(1, 0), until(0, 0, 1), late];
    assert_eq!(judged(&line), Ok(()));
    // The permit that was granted may not be available again, as far as is known.
    let had = [tried(true, 0), tried(true, 0), tried(false, 10)];
    assert_eq!(judged(&had), Ok(()));
}

#[test]
fn a_waiter_that_is_gone_is_not_answered() {
    let gone = Event::Dropped { asker: 0, at: 1 };
    breaks(&[asked(0, 0), gone, granted(0, 1)], "L3", "does not wait");
}

#[test]
fn a_period_that_nothing_divides_does_not_drift() {
    let odd = rate(7, 1_000_003, 1);
    assert_eq!(odd.least_for(1 + 7_000_000), 1_000_003 * 1_000_000);
    assert_eq!(odd.most_in(1_000_003 * 1_000_000), 1 + 7_000_000);
    assert_eq!(odd.most_in(1_000_003 * 1_000_000 - 1), 7_000_000);
}

/// Two grants certainly overlap in a period with a third. No window certainly holds two of them, and yet three are too
/// many.
#[test]
fn long_stretches_convict_what_no_window_does() {
    let grant = |from, until| Grant {
        from,
        until,
        weight: 1,
    };
    let grants = [grant(0, 10), grant(0, 19), grant(5, 19)];
    assert!(judge(window(1, 10), &grants).is_err());
    assert!(!can_be_placed(window(1, 10), &grants, &mut Vec::new()));
}
