#![no_main]
//! The reader of records: any bytes are a run, or are refused with a reason.

use std::path::Path;

use flowmeter_records::read_records;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = read_records(bytes, Path::new("records.jsonl")) {
        assert!(!error.to_string().is_empty());
    }
});
