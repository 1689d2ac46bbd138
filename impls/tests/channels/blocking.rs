//! Puts and takes that hold up their thread, and those that never wait (C1, C2, C3, C5).

use std::thread;

use flowmeter_harness::channel::{Blocking, Buffer, Offered, Polled};

use crate::{KEEPING, statement};

statement!(
    c2_values_leave_in_the_order_of_their_puts<C: Blocking>, visited by blocking, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let producer = thread::spawn(move || {
                for value in 0..1_000 {
                    assert_eq!(C::put(&mut tx, value), Ok(()));
                }
            });
            for value in 0..1_000 {
                assert_eq!(C::take(&mut rx), Ok(value), "{buffer}");
            }
            producer.join().expect("the producer ends well");
        }
    }
);

statement!(
    c3_one_value_satisfies_exactly_one_taker<C: Blocking>, visited by blocking, {
        for buffer in KEEPING {
            let Some((mut tx, rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let mut consumers = vec![rx];
            consumers.extend(C::another_rx(&consumers[0]));
            let share = 500 / consumers.len();
            let takers: Vec<_> = consumers
                .into_iter()
                .map(|mut rx| {
                    thread::spawn(move || {
                        let takes = (0..share).map(|_| C::take(&mut rx));
                        takes.collect::<Result<Vec<_>, _>>().expect("the channel stays open")
                    })
                })
                .collect();
            for value in 0..500 {
                assert_eq!(C::put(&mut tx, value), Ok(()));
            }
            let mut taken: Vec<u64> = takers
                .into_iter()
                .flat_map(|taker| taker.join().expect("the taker ends well"))
                .collect();
            taken.sort_unstable();
            assert_eq!(taken, (0..500).collect::<Vec<_>>(), "{buffer}");
        }
    }
);

statement!(
    c1_values_of_all_producers_arrive<C: Blocking>, visited by blocking, {
        for buffer in KEEPING {
            let Some((tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let mut producers = vec![tx];
            producers.extend(C::another_tx(&producers[0]));
            let count = 300 * producers.len() as u64;
            for (lane, mut tx) in producers.into_iter().enumerate() {
                thread::spawn(move || {
                    for value in 0..300 {
                        assert_eq!(C::put(&mut tx, lane as u64 * 300 + value), Ok(()));
                    }
                });
            }
            let takes = (0..count).map(|_| C::take(&mut rx));
            let mut taken = takes.collect::<Result<Vec<_>, _>>().expect("nobody closes it");
            taken.sort_unstable();
            assert_eq!(taken, (0..count).collect::<Vec<_>>(), "{buffer}");
        }
    }
);

statement!(
    c1_a_put_on_a_full_channel_answers_once_its_value_has_a_place<C: Blocking>, visited by blocking, {
        for buffer in [Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(3)] {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let room = match buffer {
                Buffer::Fixed(n) => n.get() as u64,
                _ => 0,
            };
            for value in 0..room {
                assert_eq!(C::put(&mut tx, value), Ok(()));
            }
            let producer = thread::spawn(move || C::put(&mut tx, room));
            for value in 0..=room {
                assert_eq!(C::take(&mut rx), Ok(value), "{buffer}");
            }
            assert_eq!(producer.join().expect("the producer ends well"), Ok(()));
        }
    }
);

statement!(
    c5_offer_is_done_or_would_have_to_wait<C: Blocking>, visited by blocking, {
        for buffer in KEEPING {
            let Some((mut tx, _rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let room = match buffer {
                Buffer::Fixed(n) => n.get() as u64,
                Buffer::Unbounded => 100,
                _ => 0,
            };
            for value in 0..room {
                assert_eq!(C::offer(&mut tx, value), Offered::Done, "{buffer}");
            }
            if buffer != Buffer::Unbounded {
                assert_eq!(C::offer(&mut tx, 7), Offered::WouldWait(7), "{buffer}");
            }
        }
    }
);

statement!(
    c5_poll_is_done_or_would_have_to_wait<C: Blocking>, visited by blocking, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert_eq!(C::poll(&mut rx), Polled::WouldWait, "{buffer}");
            if buffer != Buffer::Rendezvous {
                assert_eq!(C::offer(&mut tx, 1), Offered::Done, "{buffer}");
                assert_eq!(C::poll(&mut rx), Polled::Done(1), "{buffer}");
                assert_eq!(C::poll(&mut rx), Polled::WouldWait, "{buffer}");
            }
        }
    }
);

statement!(
    c5_an_offer_finds_a_waiting_take_and_a_poll_a_waiting_put<C: Blocking>, visited by blocking, {
        let Some((mut tx, mut rx)) = C::open::<u64>(Buffer::Rendezvous) else {
            return;
        };
        let taker = thread::spawn(move || {
            let taken = C::take(&mut rx);
            (taken, rx)
        });
        let mut value = 1;
        while let Offered::WouldWait(back) = C::offer(&mut tx, value) {
            value = back;
            thread::yield_now();
        }
        let (taken, mut rx) = taker.join().expect("the taker ends well");
        assert_eq!(taken, Ok(1));

        let producer = thread::spawn(move || C::put(&mut tx, 2));
        let taken = loop {
            match C::poll(&mut rx) {
                Polled::WouldWait => thread::yield_now(),
                other => break other,
            }
        };
        assert_eq!(taken, Polled::Done(2));
        assert_eq!(producer.join().expect("the producer ends well"), Ok(()));
    }
);
