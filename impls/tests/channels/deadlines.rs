//! Puts and takes that give up (C8).

use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::{
    Buffer, Offered, Polled, PutDeadline, PutError, PutUntilError, TakeDeadline, TakeError,
    TakeUntilError,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;

use crate::{KEEPING, statement};

const PAST: Deadline = Deadline::from_nanos(0);

fn soon() -> Deadline {
    clock::after(Duration::from_millis(2))
}

statement!(
    c8_a_take_with_a_deadline_in_the_past_tries_once<C: TakeDeadline>, visited by take_deadline, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert_eq!(C::take_until(&mut rx, PAST), Err(TakeUntilError::TimedOut), "{buffer}");
            if C::offer(&mut tx, 1) == Offered::Done {
                assert_eq!(C::take_until(&mut rx, PAST), Ok(1), "{buffer}");
            }
        }
    }
);

statement!(
    c8_a_put_with_a_deadline_in_the_past_tries_once<C: PutDeadline>, visited by put_deadline, {
        for buffer in KEEPING {
            let Some((mut tx, _rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            if buffer != Buffer::Rendezvous {
                assert_eq!(C::put_until(&mut tx, 0, PAST), Ok(()), "{buffer}");
            }
            if let Offered::WouldWait(_) = C::offer(&mut tx, 1) {
                let answer = C::put_until(&mut tx, 2, PAST);
                assert_eq!(answer, Err(PutUntilError::TimedOut(2)), "{buffer}");
            }
        }
    }
);

statement!(
    c8_a_closed_channel_is_closed_after_the_deadline_too<C: TakeDeadline>, visited by take_deadline,
    given Disconnect, {
        for buffer in KEEPING {
            let Some((tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            drop(tx);
            let closed = Err(TakeUntilError::Take(TakeError::Closed));
            for deadline in [PAST, soon(), Deadline::NEVER] {
                assert_eq!(C::take_until(&mut rx, deadline), closed, "{buffer}");
            }
        }
    }
);

statement!(
    c8_a_put_on_a_closed_channel_comes_back_after_the_deadline_too<C: PutDeadline>,
    visited by put_deadline, given Disconnect, {
        for buffer in KEEPING {
            let Some((mut tx, rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            drop(rx);
            for deadline in [PAST, soon(), Deadline::NEVER] {
                let closed = Err(PutUntilError::Put(PutError::Closed(Some(3))));
                assert_eq!(C::put_until(&mut tx, 3, deadline), closed, "{buffer}");
            }
        }
    }
);

statement!(
    c8_a_take_times_out_not_before_its_deadline<C: TakeDeadline>, visited by take_deadline, {
        for buffer in KEEPING {
            // The producer stays, or the channel would be closed.
            let Some((_tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let deadline = soon();
            assert_eq!(C::take_until(&mut rx, deadline), Err(TakeUntilError::TimedOut), "{buffer}");
            assert!(clock::has_passed(deadline), "{buffer}: early");
        }
    }
);

statement!(
    c8_a_put_times_out_not_before_its_deadline_and_gives_its_value_back<C: PutDeadline>,
    visited by put_deadline, {
        for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let held = C::offer(&mut tx, 0) == Offered::Done;
            let deadline = soon();
            let answer = C::put_until(&mut tx, 1, deadline);
            assert_eq!(answer, Err(PutUntilError::TimedOut(1)), "{buffer}");
            assert!(clock::has_passed(deadline), "{buffer}: early");
            // Nothing of the put that timed out is left in the channel.
            let left = if held { Polled::Done(0) } else { Polled::WouldWait };
            assert_eq!(C::poll(&mut rx), left, "{buffer}");
            assert_eq!(C::poll(&mut rx), Polled::WouldWait, "{buffer}");
        }
    }
);

statement!(
    c8_a_take_without_end_waits_for_its_value<C: TakeDeadline>, visited by take_deadline, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            assert_eq!(clock::after(Duration::MAX), Deadline::NEVER);
            let taker = thread::spawn(move || {
                let first = C::take_until(&mut rx, Deadline::NEVER);
                // Some 584 years: far beyond anybody's patience, and no overflow either.
                let second = C::take_until(&mut rx, Deadline::from_nanos(u64::MAX - 1));
                (first, second)
            });
            assert_eq!(C::put(&mut tx, 1), Ok(()));
            assert_eq!(C::put(&mut tx, 2), Ok(()));
            assert_eq!(taker.join().expect("the taker ends well"), (Ok(1), Ok(2)), "{buffer}");
        }
    }
);

statement!(
    c8_a_put_without_end_waits_for_its_room<C: PutDeadline>, visited by put_deadline, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let producer = thread::spawn(move || {
                for value in 0..4 {
                    assert_eq!(C::put_until(&mut tx, value, Deadline::NEVER), Ok(()));
                }
                let far = Deadline::from_nanos(u64::MAX - 1);
                assert_eq!(C::put_until(&mut tx, 4, far), Ok(()));
            });
            for value in 0..5 {
                assert_eq!(C::take(&mut rx), Ok(value), "{buffer}");
            }
            producer.join().expect("the producer ends well");
        }
    }
);

statement!(
    c8_nothing_is_lost_or_doubled_at_the_edge<C: TakeDeadline>, visited by take_deadline, {
        for buffer in KEEPING {
            let Some((mut tx, mut rx)) = C::open::<u64>(buffer) else {
                continue;
            };
            let producer = thread::spawn(move || {
                for value in 0..500 {
                    assert_eq!(C::put(&mut tx, value), Ok(()));
                }
            });
            let mut expected = 0;
            while expected < 500 {
                match C::take_until(&mut rx, clock::after(Duration::from_micros(1))) {
                    Ok(value) => {
                        assert_eq!(value, expected, "{buffer}");
                        expected += 1;
                    }
                    Err(why) => assert_eq!(why, TakeUntilError::TimedOut, "{buffer}"),
                }
            }
            producer.join().expect("the producer ends well");
        }
    }
);
