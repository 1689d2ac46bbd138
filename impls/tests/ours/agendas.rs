//! Each index of timers against a sorted map, through generated steps: arming, cancelling, moving, and time that
//! passes. The distances include those at which timer wheels of other projects had bugs.
//!
//! | what went wrong | where |
//! | --- | --- |
//! | a delay that is a multiple of the wheel fires early, or a turn late | Akka #1016, Netty #7760 |
//! | rounds that overflow, or count from a stale moment | Netty #1953, #12888, #13018 |
//! | after a stall only one tick's timers fire | Agrona #73 |
//! | the last one taken out, or moved to the past, strands the next | tokio-util #849, #868, #1700, #6752 |

#![expect(
    clippy::disallowed_types,
    reason = "prop_oneof! shares its strategies by std's Arc"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use flowmeter_harness::sync::Deadline;
use flowmeter_impls::timer::hashed_wheel::{TICK_NANOS, Ticks};
use flowmeter_impls::timer::heap::DaryHeap;
use flowmeter_impls::timer::hierarchical_wheel::Wheel;
use flowmeter_impls::timer::service::{Agenda, Index, Key};
use proptest::prelude::*;

/// A generated step. Timers are identified by their order of arming, from the latest back.
#[derive(Clone, Debug)]
enum Step {
    /// Arms so many: one, or more than a step examines.
    Arm(u64, u64),
    Disarm(usize),
    Rearm(usize, u64),
    Pass(u64),
    /// As `Pass`, but without asking what is due.
    Idle(u64),
    /// On to the moment at which the index asks to be called.
    Next,
}

/// Distances: almost nothing, around powers of the wheels' digits, around ticks and turns, and the maximum.
fn distance() -> impl Strategy<Value = u64> {
    let around = |moment: u64| (0..3_u64).prop_map(move |by| moment.saturating_add(by) - 1);
    prop_oneof![
        0..200_u64,
        (0..11_u32).prop_flat_map(move |digit| around(1 << (6 * digit))),
        (1..1100_u64).prop_flat_map(move |ticks| around(ticks * TICK_NANOS)),
        Just(512 * TICK_NANOS),
        1..3_600_000_000_000_u64,
        around(u64::MAX),
        Just(u64::MAX),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => distance().prop_map(|by| Step::Arm(1, by)),
        1 => distance().prop_map(|by| Step::Arm(100, by)),
        2 => (0..20_usize).prop_map(Step::Disarm),
        2 => (0..20_usize, distance()).prop_map(|(timer, by)| Step::Rearm(timer, by)),
        2 => distance().prop_map(Step::Pass),
        2 => distance().prop_map(Step::Idle),
        4 => Just(Step::Next),
    ];
    prop::collection::vec(step, 1..80)
}

/// Runs those steps with an index and with a map. `tick` is the unit to which the index rounds deadlines up.
fn live<I: Index>(steps: &[Step], tick: u64) -> Result<(), TestCaseError> {
    let mut agenda = Agenda::<I, usize>::default();
    let mut armed = BTreeMap::<usize, Deadline>::new();
    let mut keys = Vec::<Key>::new();
    let mut late = Vec::new();
    // The present moment, and the last one that was asked about.
    let (mut now, mut horizon) = (0_u64, 0_u64);
    let at = |now: u64, by: u64| Deadline::from_nanos(now.saturating_add(by));
    for step in steps {
        match *step {
            Step::Arm(count, by) => {
                for one in 0..count {
                    // Every fifth single timer is due in the past; of many the last are a little behind the others.
                    let due = if count == 1 && keys.len() % 5 == 4 {
                        Deadline::from_nanos(now.saturating_sub(by))
                    } else {
                        at(now, by.saturating_add(one / 70))
                    };
                    armed.insert(keys.len(), due);
                    late.extend((due.as_nanos() <= horizon).then_some(keys.len()));
                    keys.push(agenda.arm(due, keys.len()));
                }
            }
            Step::Disarm(back) if back < keys.len() => {
                let timer = keys.len() - 1 - back;
                let was = armed.remove(&timer).map(|_| timer);
                prop_assert_eq!(agenda.disarm(&keys[timer]), was);
                late.retain(|other| *other != timer);
            }
            Step::Rearm(back, by) if back < keys.len() => {
                let timer = keys.len() - 1 - back;
                let is_armed = armed.contains_key(&timer);
                prop_assert_eq!(agenda.rearm(&keys[timer], at(now, by)), is_armed);
                if is_armed && armed.insert(timer, at(now, by)) != Some(at(now, by)) {
                    late.retain(|other| *other != timer);
                    late.extend((at(now, by).as_nanos() <= horizon).then_some(timer));
                }
            }
            // The last moment never comes.
            Step::Pass(by) | Step::Idle(by) => now = now.saturating_add(by).min(u64::MAX - 1),
            Step::Next if agenda.next() != Deadline::NEVER => {
                now = now.max(agenda.next().as_nanos());
            }
            Step::Disarm(_) | Step::Rearm(..) | Step::Next => {}
        }
        if !matches!(step, Step::Pass(_) | Step::Next) {
            continue;
        }
        let rounded = |due: Deadline| due.as_nanos().div_ceil(tick).saturating_mul(tick);
        let mut due: Vec<(Deadline, usize)> = armed
            .iter()
            .filter(|(timer, due)| late.contains(timer) || rounded(**due) <= now)
            .map(|(timer, due)| (*due, *timer))
            .collect();
        due.sort_unstable();
        let mut fired = Vec::new();
        agenda.fire(now, |_, due, timer| fired.push((due, timer)));
        horizon = now;
        prop_assert_eq!(&fired, &due, "at {}", now);
        late.clear();
        for (_, timer) in due {
            armed.remove(&timer);
        }
        prop_assert_eq!(agenda.len(), armed.len());
        let first = armed.values().map(|due| rounded(*due)).min();
        match first {
            // A cancelled timer does not make it later.
            Some(first) => prop_assert!(agenda.next() <= Deadline::from_nanos(first)),
            None => prop_assert_eq!(agenda.next(), Deadline::NEVER),
        }
        prop_assert!(agenda.next().as_nanos() > now);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_heap_fires_as_a_sorted_map(steps in steps()) {
        live::<DaryHeap>(&steps, 1)?;
    }

    #[test]
    fn the_hierarchical_wheel_fires_as_a_sorted_map(steps in steps()) {
        live::<Wheel>(&steps, 1)?;
    }

    #[test]
    fn the_hashed_wheel_fires_as_a_sorted_map_of_ticks(steps in steps()) {
        live::<Ticks>(&steps, TICK_NANOS)?;
    }
}

/// More timers than a step examines; some are cancelled while the rest is due.
fn many<I: Index>() {
    const TIMERS: u64 = 5_000;
    let mut agenda = Agenda::<I, u64>::default();
    let due = |timer: u64| Deadline::from_nanos(TICK_NANOS * (1 + timer % 3));
    let keys: Vec<Key> = (0..TIMERS)
        .map(|timer| agenda.arm(due(timer), timer))
        .collect();
    let mut fired = Vec::new();
    agenda.fire(4 * TICK_NANOS, |agenda, at, timer| {
        assert_eq!(at, due(timer));
        fired.push(timer);
        // The next of the same moment.
        if timer % 2 == 0
            && let Some(key) = keys.get(timer as usize + 3)
        {
            agenda.disarm(key);
        }
        // A timer that is armed meanwhile comes in the next batch.
        agenda.arm(Deadline::from_nanos(0), TIMERS);
    });
    let expected = (0..3).flat_map(|moment| (moment..TIMERS).step_by(3));
    let mut gone = false;
    let expected = expected.filter(|timer| {
        let first = *timer < 3;
        gone = !first && !gone && (timer - 3) % 2 == 0;
        !gone
    });
    assert_eq!(fired, expected.collect::<Vec<_>>());
    let before = fired.len();
    agenda.fire(4 * TICK_NANOS, |_, _, timer| fired.push(timer));
    assert_eq!(fired.len(), 2 * before);
    assert_eq!(agenda.next(), Deadline::NEVER);
}

/// A moved timer counts as armed when it was first armed: among timers that are due at the same moment it keeps its
/// turn. `others` are due a little before and after them.
fn one_that_is_moved_keeps_its_turn<I: Index>(others: u64) {
    const TIMERS: u64 = 500;
    let mut agenda = Agenda::<I, u64>::default();
    let due = Deadline::from_nanos(8 * TICK_NANOS);
    let first = agenda.arm(Deadline::NEVER, 0);
    for timer in 1..TIMERS {
        agenda.arm(due, timer);
        if timer <= others {
            agenda.arm(
                Deadline::from_nanos(due.as_nanos() - timer),
                2 * TIMERS - timer,
            );
            agenda.arm(
                Deadline::from_nanos(due.as_nanos() + timer),
                2 * TIMERS + timer,
            );
        }
    }
    assert!(agenda.rearm(&first, due));
    let mut fired = Vec::new();
    for now in [due.as_nanos(), due.as_nanos() + TICK_NANOS] {
        agenda.fire(now, |_, _, timer| fired.push(timer));
    }
    let before = 2 * TIMERS - others..2 * TIMERS;
    let after = 2 * TIMERS + 1..=2 * TIMERS + others;
    let expected = before.chain(0..TIMERS).chain(after);
    assert_eq!(fired, expected.collect::<Vec<_>>());
    assert!(agenda.is_empty());
}

#[test]
fn those_of_one_moment_fire_in_the_order_in_which_they_were_armed() {
    for others in [0, 1, 200] {
        one_that_is_moved_keeps_its_turn::<DaryHeap>(others);
        one_that_is_moved_keeps_its_turn::<Ticks>(others);
        one_that_is_moved_keeps_its_turn::<Wheel>(others);
    }
}

/// A batch that ends in a panic loses some of its timers. No later timer is called before those that are left.
#[test]
fn what_a_panic_leaves_comes_first() {
    let mut agenda = Agenda::<Wheel, u64>::default();
    let due = |nanos: u64| Deadline::from_nanos(1_000_000 + nanos);
    for timer in 0..200 {
        agenda.arm(due(0), timer);
    }
    let ended = catch_unwind(AssertUnwindSafe(|| {
        agenda.fire(1_000_100, |_, _, _| {
            resume_unwind(Box::new("a callback's own fault"))
        });
    }));
    assert!(ended.is_err());
    agenda.arm(due(200), 200);
    assert_eq!(agenda.next(), due(0));
    let mut fired = Vec::new();
    agenda.fire(1_000_200, |_, _, timer| fired.push(timer));
    assert_eq!(fired.last(), Some(&200));
    assert!(fired.len() > 100 && fired.is_sorted(), "{fired:?}");
}

#[test]
fn batches_are_whole_however_large() {
    many::<DaryHeap>();
    many::<Ticks>();
    many::<Wheel>();
}
