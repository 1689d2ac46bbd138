//! Workloads of timers: by callbacks or in tasks, each compared with its own form. A plain sleep of the system, which
//! blocks its thread, is a reference for both.

pub mod arm;
pub mod arming;
pub mod bystander;
mod calls;
pub mod churn;
mod deadlines;
mod delays;
pub mod elsewhere;
pub mod expiry;
pub mod idle;
pub mod lateness;
pub mod moved;
pub mod sleepers;
pub mod storm;
pub mod turnover;

use std::thread;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use serde::{Deserialize, Serialize};

use crate::scenario::Form;

/// How the firing of a timer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimerForm {
    /// It calls back, on its own thread.
    Callback,
    /// A task awaits it.
    Async,
}

impl TimerForm {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            TimerForm::Callback => Form::Callback.name(),
            TimerForm::Async => Form::Async.name(),
        }
    }
}

impl From<TimerForm> for Form {
    fn from(form: TimerForm) -> Form {
        match form {
            TimerForm::Callback => Form::Callback,
            TimerForm::Async => Form::Async,
        }
    }
}

/// Sleeps at least until that moment.
fn sleep_until(moment: Deadline) {
    while let Some(left) = clock::left(moment).filter(|left| !left.is_zero()) {
        thread::sleep(left);
    }
}
