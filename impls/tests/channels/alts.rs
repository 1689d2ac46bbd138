//! Waiting on several channels at once (A1, A4 to A7, A9).

use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, AltsError, Blocking, Buffer, Chosen, Clause, Offered, Order, Patience, Polled,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;

use crate::{KEEPING, statement};

const BOTH: [Order; 2] = [Order::Priority, Order::Random];

statement!(
    a1_exactly_one_clause_commits_and_the_losers_keep_their_values<C: Alts>, visited by alts, {
        for order in BOTH {
            let (mut tx_a, rx_a) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
            let (tx_b, mut rx_b) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
            let (tx_c, mut rx_c) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
            let mut rx_again = C::another_rx(&rx_a).expect("alts of several consumers");
            let clauses = [Clause::Take(&rx_a), Clause::Put(&tx_b), Clause::Put(&tx_c)];
            let mut alts = C::prepare(&clauses, order);
            for round in 0..50 {
                assert_eq!(C::offer(&mut tx_a, round), Offered::Done);
                let mut slots = [None, Some(1_000 + round), Some(2_000 + round)];
                let chosen = C::run(&mut alts, &mut slots, Patience::Forever);
                let (a, b, c) = (C::poll(&mut rx_again), C::poll(&mut rx_b), C::poll(&mut rx_c));
                let (full_b, full_c) = (Some(1_000 + round), Some(2_000 + round));
                match chosen {
                    Ok(Chosen::Took { clause: 0, value }) => {
                        assert_eq!(value, Some(round));
                        assert_eq!(slots, [None, full_b, full_c]);
                        let nothing = (Polled::WouldWait, Polled::WouldWait, Polled::WouldWait);
                        assert_eq!((a, b, c), nothing);
                    }
                    Ok(Chosen::Put { clause: 1, accepted: true }) => {
                        assert_eq!(slots, [None, None, full_c]);
                        let there = (Polled::Done(round), Polled::Done(1_000 + round));
                        assert_eq!((a, b), there);
                        assert_eq!(c, Polled::WouldWait);
                    }
                    Ok(Chosen::Put { clause: 2, accepted: true }) => {
                        assert_eq!(slots, [None, full_b, None]);
                        let there = (Polled::Done(round), Polled::Done(2_000 + round));
                        assert_eq!((a, c), there);
                        assert_eq!(b, Polled::WouldWait);
                    }
                    other => panic!("{order:?}: {other:?}"),
                }
            }
        }
    }
);

statement!(
    a5_with_priority_the_first_able_clause_wins<C: Alts>, visited by alts, {
        let (mut tx_a, rx_a) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
        let (mut tx_b, rx_b) = C::open::<u64>(Buffer::Unbounded).expect("has unbounded buffers");
        let clauses = [Clause::Take(&rx_a), Clause::Take(&rx_b)];
        let mut alts = C::prepare(&clauses, Order::Priority);
        for round in 0..50 {
            assert_eq!(C::offer(&mut tx_b, round), Offered::Done);
            if round % 2 == 0 {
                assert_eq!(C::offer(&mut tx_a, 1_000), Offered::Done);
                let first = Chosen::Took { clause: 0, value: Some(1_000) };
                assert_eq!(C::run(&mut alts, &mut [None, None], Patience::Now), Ok(first));
            }
            let second = Chosen::Took { clause: 1, value: Some(round) };
            assert_eq!(C::run(&mut alts, &mut [None, None], Patience::Now), Ok(second));
        }
    }
);

statement!(
    a5_without_priority_each_able_clause_wins_at_times<C: Alts>, visited by alts, {
        let (mut tx_a, rx_a) = C::open::<u64>(Buffer::Unbounded).expect("has unbounded buffers");
        let (mut tx_b, rx_b) = C::open::<u64>(Buffer::Unbounded).expect("has unbounded buffers");
        let clauses = [Clause::Take(&rx_a), Clause::Take(&rx_b)];
        let mut alts = C::prepare(&clauses, Order::Random);
        let mut wins = [0, 0];
        for _ in 0..200 {
            assert_eq!(C::offer(&mut tx_a, 1), Offered::Done);
            assert_eq!(C::offer(&mut tx_b, 2), Offered::Done);
            match C::run(&mut alts, &mut [None, None], Patience::Forever) {
                Ok(Chosen::Took { clause, value: Some(_) }) => wins[clause] += 1,
                other => panic!("{other:?}"),
            }
        }
        // By chance a fair choice is this one-sided once in 10^20 runs.
        assert!(wins.iter().all(|&wins| wins > 30), "{wins:?}");
    }
);

statement!(
    a6_the_default_is_chosen_when_no_clause_is_able<C: Alts>, visited by alts, {
        for order in BOTH {
            for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
                let (mut full, _rx) = C::open::<u64>(buffer).expect("has this buffer");
                let (_tx, empty) = C::open::<u64>(buffer).expect("has this buffer");
                // On the rendezvous nobody waits; the fixed buffer is filled.
                let _ = C::offer(&mut full, 0);
                let clauses = [Clause::Take(&empty), Clause::Put(&full)];
                let mut alts = C::prepare(&clauses, order);
                let mut slots = [None, Some(9)];
                let chosen = C::run(&mut alts, &mut slots, Patience::Now);
                assert_eq!(chosen, Ok(Chosen::Default), "{buffer}");
                assert_eq!(slots, [None, Some(9)], "{buffer}");
            }
        }
    }
);

statement!(
    a9_the_timeout_is_chosen_at_its_deadline_and_leaves_no_waiter<C: Alts>, visited by alts, {
        for order in BOTH {
            let (tx, mut rx) = C::open::<u64>(Buffer::Rendezvous).expect("has a rendezvous");
            let (mut tx_other, rx_other) = C::open::<u64>(Buffer::Rendezvous).expect("has it");
            let clauses = [Clause::Put(&tx), Clause::Take(&rx_other)];
            let mut alts = C::prepare(&clauses, order);
            let mut slots = [Some(1), None];
            for deadline in [clock::after(Duration::from_millis(2)), Deadline::from_nanos(0)] {
                let chosen = C::run(&mut alts, &mut slots, Patience::Until(deadline));
                assert_eq!(chosen, Ok(Chosen::TimedOut));
                assert!(clock::has_passed(deadline), "early");
                assert_eq!(slots, [Some(1), None]);
            }
            assert_eq!(C::poll(&mut rx), Polled::WouldWait);
            assert_eq!(C::offer(&mut tx_other, 2), Offered::WouldWait(2));
        }
    }
);

statement!(
    a9_a_deadline_in_the_past_or_never_still_finds_what_is_there<C: Alts>, visited by alts, {
        let (mut tx, rx) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
        let clauses = [Clause::Take(&rx)];
        let mut alts = C::prepare(&clauses, Order::Priority);
        for deadline in [Deadline::from_nanos(0), Deadline::NEVER, Deadline::from_nanos(u64::MAX - 1)] {
            assert_eq!(C::offer(&mut tx, 1), Offered::Done);
            let chosen = C::run(&mut alts, &mut [None], Patience::Until(deadline));
            assert_eq!(chosen, Ok(Chosen::Took { clause: 0, value: Some(1) }));
        }
    }
);

statement!(
    a1_a_closed_port_is_able_and_gives_its_value_back<C: Alts>, visited by alts, given Disconnect, {
        for buffer in KEEPING {
            let (tx, rx) = C::open::<u64>(buffer).expect("has this buffer");
            let (gone_tx, gone_rx) = C::open::<u64>(buffer).expect("has this buffer");
            drop((gone_tx, rx));
            let clauses = [Clause::Take(&gone_rx)];
            let chosen = C::run(&mut C::prepare(&clauses, Order::Priority), &mut [None], Patience::Forever);
            assert_eq!(chosen, Ok(Chosen::Took { clause: 0, value: None }), "{buffer}");

            let clauses = [Clause::Put(&tx)];
            let mut slots = [Some(3)];
            let chosen = C::run(&mut C::prepare(&clauses, Order::Random), &mut slots, Patience::Now);
            assert_eq!(chosen, Ok(Chosen::Put { clause: 0, accepted: false }), "{buffer}");
            assert_eq!(slots, [Some(3)], "{buffer}");
        }
    }
);

statement!(
    a7_the_same_port_may_stand_in_several_clauses<C: Alts>, visited by alts, {
        for order in BOTH {
            let (tx, mut rx) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
            let clauses = [Clause::Put(&tx), Clause::Put(&tx), Clause::Put(&tx)];
            let mut alts = C::prepare(&clauses, order);
            for _ in 0..20 {
                let mut slots = [Some(0), Some(1), Some(2)];
                let Ok(Chosen::Put { clause, accepted: true }) =
                    C::run(&mut alts, &mut slots, Patience::Forever)
                else {
                    panic!("{order:?}: there is room");
                };
                assert_eq!(C::poll(&mut rx), Polled::Done(clause as u64));
                assert_eq!(C::poll(&mut rx), Polled::WouldWait);
                assert_eq!(slots.iter().flatten().count(), 2);
                assert_eq!(slots[clause], None);
            }
        }
    }
);

statement!(
    a4_an_alts_never_pairs_with_itself<C: Alts>, visited by alts, {
        for order in BOTH {
            let (tx, rx) = C::open::<u64>(Buffer::Rendezvous).expect("has a rendezvous");
            for clauses in [
                [Clause::Put(&tx), Clause::Take(&rx)],
                [Clause::Take(&rx), Clause::Put(&tx)],
            ] {
                let mut alts = C::prepare(&clauses, order);
                let mut slots = clauses.each_ref().map(|clause| {
                    matches!(clause, Clause::Put(_)).then_some(5)
                });
                let before = slots;
                assert_eq!(C::run(&mut alts, &mut slots, Patience::Now), Ok(Chosen::Default));
                let soon = Patience::Until(clock::after(Duration::from_millis(1)));
                assert_eq!(C::run(&mut alts, &mut slots, soon), Ok(Chosen::TimedOut));
                assert_eq!(slots, before);
            }
        }
    }
);

statement!(
    a3_two_alts_that_meet_commit_on_matching_clauses<C: Alts>, visited by alts, {
        let (tx_a, rx_a) = C::open::<u64>(Buffer::Rendezvous).expect("has a rendezvous");
        let (tx_b, rx_b) = C::open::<u64>(Buffer::Rendezvous).expect("has a rendezvous");
        let putting = thread::spawn(move || {
            let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
            let mut alts = C::prepare(&clauses, Order::Priority);
            (0..500).map(|round| {
                let mut slots = [Some(round), Some(1_000 + round)];
                match C::run(&mut alts, &mut slots, Patience::Forever) {
                    Ok(Chosen::Put { clause, accepted: true }) => (clause, round + 1_000 * clause as u64),
                    other => panic!("{other:?}"),
                }
            }).collect::<Vec<_>>()
        });
        // The other way round, so that the clauses cross.
        let clauses = [Clause::Take(&rx_b), Clause::Take(&rx_a)];
        let mut alts = C::prepare(&clauses, Order::Priority);
        let took: Vec<_> = (0..500).map(|_| {
            match C::run(&mut alts, &mut [None, None], Patience::Forever) {
                Ok(Chosen::Took { clause, value: Some(value) }) => (1 - clause, value),
                other => panic!("{other:?}"),
            }
        }).collect();
        assert_eq!(putting.join().expect("the other alts ends well"), took);
    }
);

statement!(
    a7_invalid_clauses_are_refused_before_anything_has_an_effect<C: Alts>, visited by alts, {
        let mut none = C::prepare::<u64>(&[], Order::Random);
        assert_eq!(C::run(&mut none, &mut [], Patience::Forever), Err(AltsError::NoClauses));
        let never = Patience::Until(Deadline::NEVER);
        assert_eq!(C::run(&mut none, &mut [], never), Err(AltsError::NoClauses));
        assert_eq!(C::run(&mut none, &mut [], Patience::Now), Ok(Chosen::Default));
        let past = Patience::Until(Deadline::from_nanos(0));
        assert_eq!(C::run(&mut none, &mut [], past), Ok(Chosen::TimedOut));

        let (mut tx, rx) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
        let (other, mut other_rx) = C::open::<u64>(Buffer::fixed(1)).expect("has fixed buffers");
        assert_eq!(C::offer(&mut tx, 1), Offered::Done);
        let clauses = [Clause::Take(&rx), Clause::Put(&other)];
        let mut alts = C::prepare(&clauses, Order::Priority);
        let answer = C::run(&mut alts, &mut [None, None], Patience::Forever);
        assert_eq!(answer, Err(AltsError::MissingValue { clause: 1 }));
        let answer = C::run(&mut alts, &mut [Some(1)], Patience::Forever);
        assert_eq!(answer, Err(AltsError::SlotCount { slots: 1, clauses: 2 }));
        assert_eq!(C::poll(&mut other_rx), Polled::WouldWait);
        let taken = C::run(&mut alts, &mut [None, Some(2)], Patience::Forever);
        assert_eq!(taken, Ok(Chosen::Took { clause: 0, value: Some(1) }));
    }
);

statement!(
    a1_an_alts_that_waits_is_woken_by_an_ordinary_put<C: Alts>, visited by alts, {
        for buffer in KEEPING {
            let (mut tx, rx) = C::open::<u64>(buffer).expect("has this buffer");
            let (_idle_tx, idle) = C::open::<u64>(buffer).expect("has this buffer");
            let waiting = thread::spawn(move || {
                let clauses = [Clause::Take(&idle), Clause::Take(&rx)];
                C::run(&mut C::prepare(&clauses, Order::Random), &mut [None, None], Patience::Forever)
            });
            assert_eq!(<C as Blocking>::put(&mut tx, 6), Ok(()));
            let chosen = waiting.join().expect("the alts ends well");
            assert_eq!(chosen, Ok(Chosen::Took { clause: 1, value: Some(6) }), "{buffer}");
        }
    }
);
