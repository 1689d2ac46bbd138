#![no_main]
//! Tiers two and three on the same small histories: what tier two rejects, tier three does.

use flowmeter_fuzz::{Kind, Passing};
use flowmeter_harness::check::dual::{Verdict, judge};
use flowmeter_harness::check::fifo::{History, Operation};
use flowmeter_harness::spec::Rules;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Kind, Vec<Passing>)| {
    let (kind, passings) = input;
    let operations: Vec<Operation> = (passings.into_iter().map(Passing::operation))
        .filter(|operation| History::new(&[*operation]).is_ok())
        .take(10)
        .collect();
    let Ok(history) = History::new(&operations) else {
        return;
    };
    if let Err(rejection) = history.judge(kind.buffer()) {
        let whole = Passing::whole(&operations, kind.buffer());
        let verdict = judge(&whole, Rules::STRICT, 20_000);
        assert!(
            !matches!(verdict, Verdict::Legal),
            "{rejection}: {operations:?}"
        );
    }
});
