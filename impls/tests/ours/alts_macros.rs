//! `alts!` and `alts_async!` as their users write them. The properties check what an alts does. These tests check
//! that the macros pass on its result, and leave the surrounding code alone.

use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Offered, PutPort, TakePort};
use flowmeter_harness::timer::Sleep;
use flowmeter_impls::alts::{AltsError, Deadline};
use flowmeter_impls::channel::mutex::{Channel, MAX_WAITERS};
use flowmeter_impls::sync::block_on;
use flowmeter_impls::timer::heap::Heap;
use flowmeter_impls::{alts, alts_async};

fn fixed<T: Send + 'static>(capacity: usize) -> Channel<T> {
    Channel::new(Buffer::fixed(capacity))
}

fn rendezvous<T: Send + 'static>() -> Channel<T> {
    Channel::new(Buffer::Rendezvous)
}

#[test]
fn clauses_carry_different_types_and_arms_have_one() {
    let (texts, numbers, units) = (fixed::<String>(1), fixed::<u64>(1), rendezvous::<()>());
    let heard = |_: &str| {
        alts! {
            take(texts) => |text| text.map(|text| text.len()),
            take(numbers) => |number| number.map(|number| number as usize),
            put(units, ()) => |accepted| Some(if accepted.is_ok() { 100 } else { 200 }),
            timeout(Duration::ZERO) => None,
        }
    };
    assert_eq!(heard("no value is there"), Ok(None));
    texts.put("four".to_owned()).unwrap();
    assert_eq!(heard("a text"), Ok(Some(4)));
    numbers.put(7).unwrap();
    assert_eq!(heard("a number"), Ok(Some(7)));
    units.close();
    assert_eq!(heard("a closed port"), Ok(Some(200)));
}

#[test]
fn a_refused_put_gives_its_value_back() {
    let port = rendezvous::<Box<str>>();
    port.close();
    let answer = alts! { put(port, "back".into()) => |accepted| accepted };
    assert_eq!(answer, Ok(Err("back".into())));
}

#[test]
fn with_priority_arms_are_tried_as_they_stand() {
    let (first, second) = (fixed::<u8>(1), fixed::<i64>(100));
    for number in 0..100 {
        second.put(number).unwrap();
    }
    for _ in 0..100 {
        first.put(1).unwrap();
        let took_first = alts! {
            priority;
            take(first) => |_| true,
            take(second) => |_| false,
            default => unreachable!("both have a value"),
        };
        assert!(took_first);
    }
}

#[test]
fn arms_are_in_place() {
    fn sum(numbers: &Channel<u64>, done: &Channel<()>) -> Result<u64, AltsError> {
        let mut sum = 0;
        loop {
            alts! {
                priority;
                take(numbers) => |number| match number {
                    Some(number) => sum += number,
                    None => return Ok(sum),
                },
                take(done) => |_| break,
            }?;
        }
        Ok(sum + 1_000)
    }
    let (numbers, done) = (fixed(3), rendezvous());
    for number in [1, 2, 3] {
        numbers.put(number).unwrap();
    }
    done.close();
    assert_eq!(sum(&numbers, &done), Ok(1_006), "ends by `break`");
    numbers.close();
    assert_eq!(sum(&numbers, &done), Ok(0), "ends by `return`");
}

#[test]
fn names_of_the_macros_are_not_seen() {
    let clause = fixed::<u8>(1);
    let (winner, until, index, answer, error) = (1, 2, 3, 4, 5);
    clause.put(6).unwrap();
    let sum = alts! {
        take(clause) => |value| value.map(|value| winner + until + index + answer + error + value),
        default => Some(winner),
    };
    assert_eq!(sum, Some(21));
}

#[test]
fn ports_may_be_borrowed_generic_or_made_on_the_spot() {
    fn from_any<P: TakePort<Message = u8>>(port: P) -> Option<u8> {
        alts! { take(port) => |value| value, default => None }
    }
    fn to_any<P: PutPort<Message = u8>>(port: P) -> bool {
        alts! { put(port, 1) => |accepted| accepted.is_ok(), default => false }
    }
    let channel = fixed::<u8>(1);
    assert!(to_any(&channel));
    assert_eq!(from_any(&channel), Some(1));
    let closed = || {
        let channel = rendezvous::<u8>();
        channel.close();
        channel
    };
    assert_eq!(alts! { take(closed()) => |value| value }, Ok(None));
}

#[test]
fn a_timeout_waits_its_time_and_a_deadline_until_its_moment() {
    let port = rendezvous::<u8>();
    let now = flowmeter_impls::sync::clock::now_nanos;
    let began = now();
    let timed_out = alts! {
        take(port) => |_| false,
        timeout(Duration::from_millis(2)) => true,
    };
    assert_eq!(timed_out, Ok(true));
    assert!(now() - began >= 2_000_000);
    let passed = Deadline::from_nanos(began);
    let timed_out = alts! { take(port) => |_| false, deadline(passed) => true };
    assert_eq!(timed_out, Ok(true));
    port.close();
    let closed = alts! { take(port) => |_| true, timeout(Duration::MAX) => false };
    assert_eq!(closed, Ok(true), "a timeout that never comes overflows");
}

#[test]
fn the_waiter_beyond_the_limit_is_an_error() {
    let (crowded, other) = (rendezvous::<u8>(), rendezvous::<String>());
    for _ in 0..MAX_WAITERS {
        crowded.take_then(|_| {});
    }
    let refused = alts! {
        priority;
        take(other) => |_| (),
        take(crowded) => |_| (),
    };
    assert_eq!(refused, Err(AltsError::TooManyWaiters { clause: 1 }));
    let refused = block_on(async {
        alts_async! {
            priority;
            take(other) => |_| (),
            take(crowded) => |_| (),
        }
    });
    assert_eq!(refused, Err(AltsError::TooManyWaiters { clause: 1 }));
    assert_eq!(
        other.offer("no taker".to_owned()),
        Offered::WouldWait("no taker".to_owned()),
        "a refused alts waits on"
    );
}

#[test]
fn tasks_may_be_sent_and_arms_may_await() {
    fn sent<F: Future + Send + 'static>(future: F) -> F {
        future
    }
    let timer = <Heap as Sleep>::start();
    let (numbers, texts) = (rendezvous::<u64>(), fixed::<String>(1));
    let task = sent({
        let (numbers, texts) = (numbers.clone(), texts.clone());
        async move {
            let ended = loop {
                alts_async! {
                    take(numbers) => |number| match number {
                        Some(number) => {
                            ready(()).await;
                            texts.put_async(format!("{number}")).await.unwrap();
                        }
                        None => break "closed",
                    },
                    timeout(timer, Duration::MAX) => break "at the end of time",
                }?;
            };
            Ok::<_, AltsError>(ended)
        }
    });
    let mut task = pin!(task);
    let mut context = Context::from_waker(Waker::noop());
    assert!(task.as_mut().poll(&mut context).is_pending());
    numbers.put(5).unwrap();
    assert!(task.as_mut().poll(&mut context).is_pending());
    assert_eq!(texts.take(), Ok("5".to_owned()));
    numbers.close();
    assert_eq!(block_on(task), Ok("closed"));
}

#[test]
fn in_a_task_a_timer_ends_the_wait_and_a_default_prevents_it() {
    let timer = <Heap as Sleep>::start();
    let port = rendezvous::<u8>();
    let began = flowmeter_impls::sync::clock::now_nanos();
    block_on(async {
        let timed_out = alts_async! {
            take(port) => |_| false,
            timeout(timer, Duration::from_millis(2)) => true,
        };
        assert_eq!(timed_out, Ok(true));
        assert!(flowmeter_impls::sync::clock::now_nanos() - began >= 2_000_000);
        let passed = Deadline::from_nanos(began);
        let shared = Box::new(&timer);
        let timed_out = alts_async! { take(port) => |_| false, deadline(shared, passed) => true };
        assert_eq!(timed_out, Ok(true));
        assert!(alts_async! { take(port) => |_| false, default => true });
    });
}

#[test]
fn a_task_dropped_in_an_alts_leaves_its_ports() {
    let (numbers, texts) = (rendezvous::<u64>(), rendezvous::<String>());
    {
        let mut task = pin!(async {
            alts_async! {
                take(numbers) => |_| (),
                put(texts, "never".to_owned()) => |_| (),
            }
        });
        let mut context = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(numbers.offer(1), Offered::WouldWait(1));
    assert!(alts! { take(texts) => |_| false, default => true });
}
