#![no_main]
//! Tier two: any operations are judged or rejected as malformed; a rejection names existing operations.

use flowmeter_fuzz::{Kind, Passing};
use flowmeter_harness::check::fifo::{History, Operation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Kind, Vec<Passing>)| {
    let (kind, passings) = input;
    let operations: Vec<Operation> = passings.into_iter().map(Passing::operation).collect();
    let Ok(history) = History::new(&operations) else {
        return;
    };
    if let Err(rejection) = history.judge(kind.buffer()) {
        assert!(!rejection.to_string().is_empty());
        assert!(!rejection.witness.is_empty());
        assert!(rejection.witness.iter().all(|&at| at < operations.len()));
    }
});
