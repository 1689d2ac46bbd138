//! The only thread that the facade adds to a model: it fires timers, and runs rescuers when all threads wait.

use ::std::sync::Arc;

use super::super::body::erased;
use super::census::{self, Duty, State};
use super::seat::{Rouse, Seat};
use super::{Engine, time};

/// Starts the helper unless it runs already. Models that arm no timer and register no rescuer never call this, and have
/// no extra thread.
pub fn ensure<E: Engine>() {
    let number = census::with(|census| {
        if census.helper.is_some() {
            return None;
        }
        let number = census.enter();
        census.helper = Some(number);
        Some(number)
    });
    if let Some(number) = number {
        drop(E::spawn(erased(move || {
            E::set_me(number);
            work::<E>(number);
            census::with(|census| census.thread(number).state = State::Gone);
        })));
    }
}

/// Acts on the result of the census.
///
/// # Panics
/// With the report of a deadlock.
pub fn act(settled: Result<Option<Arc<dyn Rouse>>, String>) {
    match settled {
        Ok(None) => {}
        Ok(Some(helper)) => {
            helper.rouse();
        }
        // Destructors may get here while a failure unwinds; one failure is enough.
        Err(_) if ::std::thread::panicking() => {}
        Err(deadlock) => panic!("{deadlock}"),
    }
}

fn work<E: Engine>(number: usize) {
    loop {
        let seat = Seat::<E>::take();
        let duty = census::with(|census| {
            let duty = census.duty();
            if matches!(duty, Duty::Idle) {
                census.thread(number).state = State::Idle;
                census.helper_seat = Some(seat.clone());
            }
            duty
        });
        match duty {
            Duty::Idle => seat.idle(),
            Duty::Fire(timer) => time::fire(&timer),
            Duty::Rescue(rescuers) => {
                time::take_orders();
                rescuers.into_iter().for_each(|rescue| rescue());
            }
            Duty::End(unneeded) => {
                time::take_orders();
                drop(unneeded);
                return;
            }
            Duty::Deadlock(tale) => panic!("{tale}"),
        }
    }
}
