//! Stand-alone reproductions, through the crate's own API, of what `hierarchical_hash_wheel_timer` fails (T1, T4, T6,
//! T8). Each test asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against a published crate: no checker watches"
)]

use std::sync::mpsc;
use std::time::{Duration, Instant};

use hierarchical_hash_wheel_timer::thread_timer::{TimerRef, TimerWithThread};
use hierarchical_hash_wheel_timer::{ClosureTimer, OneShotClosureState, PeriodicClosureState};

type Timer = TimerWithThread<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>;
type Requests = TimerRef<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>;

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn it_fires_early_by_a_fraction_of_a_millisecond() {
    let timer = Timer::new().expect("a thread");
    let mut requests = timer.timer_ref();
    let timeout = Duration::from_micros(2_900);
    let (call, called) = mpsc::channel();
    // Under load some are late. "it is only guaranteed that the `state` is not triggered *before*" applies to each of
    // them.
    let early = (0..200).any(|id| {
        let call = call.clone();
        let asked = Instant::now();
        requests.schedule_action_once(id, timeout, move |_| {
            let _ = call.send(asked.elapsed());
        });
        called.recv_timeout(PATIENCE).expect("it fires") < timeout
    });
    assert!(early, "none of 200 came early");
}

#[test]
fn what_is_asked_for_during_a_slow_callback_fires_early_by_what_that_took() {
    let timer = Timer::new().expect("a thread");
    let mut requests: Requests = timer.timer_ref();
    let mut inside = requests.clone();
    let timeout = Duration::from_millis(50);
    let (call, called) = mpsc::channel();
    requests.schedule_action_once(1, Duration::from_millis(5), move |_| {
        let begun = Instant::now();
        while begun.elapsed() < timeout * 2 {
            std::hint::spin_loop();
        }
        let asked = Instant::now();
        inside.schedule_action_once(2, timeout, move |_| {
            let _ = call.send(asked.elapsed());
        });
    });
    let took = called.recv_timeout(PATIENCE).expect("it fires");
    assert!(took < timeout, "{took:?}");
}

#[test]
fn a_callback_that_panics_ends_the_timer() {
    let timer = Timer::new().expect("a thread");
    let mut requests = timer.timer_ref();
    requests.schedule_action_once(1, Duration::ZERO, |_| panic!("on purpose"));
    let (call, called) = mpsc::channel();
    requests.schedule_action_once(2, Duration::ZERO, move |_| {
        let _ = call.send(());
    });
    let answer = called.recv_timeout(PATIENCE);
    assert_eq!(answer, Err(mpsc::RecvTimeoutError::Disconnected));
    assert!(timer.shutdown().is_err(), "its thread has panicked");
}

#[test]
fn a_timeout_of_as_many_milliseconds_as_a_u32_holds_ends_a_new_timer() {
    let timer = Timer::new().expect("a thread");
    let mut requests = timer.timer_ref();
    let longest = Duration::from_millis(u32::MAX.into());
    let (call, called) = mpsc::channel::<()>();
    requests.schedule_action_once(1, longest, move |_| drop(call));
    let answer = called.recv_timeout(PATIENCE);
    assert_eq!(answer, Err(mpsc::RecvTimeoutError::Disconnected));
    assert!(timer.shutdown().is_err(), "its thread has panicked");
}

#[test]
fn a_shutdown_drops_what_is_armed_only_when_its_thread_has_ended() {
    let timer = Timer::new().expect("a thread");
    let mut requests = timer.timer_ref();
    let (armed, gone) = mpsc::channel::<()>();
    requests.schedule_action_once(1, Duration::from_secs(3_600), move |_| drop(armed));
    let (tell, told) = mpsc::channel();
    let (begin, begun) = mpsc::channel();
    requests.schedule_action_once(2, Duration::ZERO, move |_| {
        let _ = begin.send(());
        // T8 says that it is dropped first, which would end this wait.
        let _ = tell.send(gone.recv_timeout(Duration::from_millis(500)));
    });
    begun.recv_timeout(PATIENCE).expect("it fires");
    timer.shutdown().expect("its thread ends");
    let seen = told.recv_timeout(PATIENCE).expect("it was called");
    assert_eq!(seen, Err(mpsc::RecvTimeoutError::Timeout));
}
