#![no_main]
//! Tier one: any ledger can be judged, and partial ledgers merge into the same result.

use arbitrary::Arbitrary;
use flowmeter_harness::check::{Ledger, Mint};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Entry {
    Offered,
    Accepted,
    Refused,
    Taken,
}

fuzz_target!(|entries: Vec<(Entry, u8, bool)>| {
    let mint = Mint::new(256);
    let mut whole = Ledger::new(mint.count());
    let mut halves = [whole.clone(), whole.clone()];
    for (entry, id, half) in entries {
        let write = match entry {
            Entry::Offered => Ledger::offered,
            Entry::Accepted => Ledger::accepted,
            Entry::Refused => Ledger::refused,
            Entry::Taken => Ledger::taken,
        };
        write(&mut whole, id.into());
        write(&mut halves[usize::from(half)], id.into());
        drop((half).then(|| mint.token(id.into())));
    }
    let [mut merged, other] = halves;
    merged.merge(&other);
    assert_eq!(merged.judge_drained(), whole.judge_drained());
    assert_eq!(merged.judge_takes(), whole.judge_takes());
    assert_eq!(merged.judge_drops(&mint), whole.judge_drops(&mint));
    // `judge_takes` must accept whatever `judge_drained` accepts.
    assert!(whole.judge_drained().is_err() || whole.judge_takes().is_ok());
});
