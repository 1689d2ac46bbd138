#![no_main]
//! Tier three: any history is judged or rejected as malformed, and a counterexample can be shown.

use flowmeter_fuzz::Happening;
use flowmeter_harness::check::dual::{Verdict, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|happening: Happening| {
    if let Verdict::Illegal(counterexample) = judge(&happening.history(), happening.rules(), 200) {
        assert!(!counterexample.to_string().is_empty());
    }
});
