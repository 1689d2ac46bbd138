//! Which halves belong together (C13).

use flowmeter_harness::channel::Identity;

use crate::{KEEPING, statement};

statement!(
    c13_clones_are_the_same_channel_and_others_are_not<C: Identity>, visited by identity, {
        for buffer in KEEPING {
            let (Some((tx, rx)), Some((other_tx, other_rx))) =
                (C::open::<u64>(buffer), C::open::<u64>(buffer))
            else {
                continue;
            };
            assert!(!C::same_tx(&tx, &other_tx), "{buffer}");
            assert!(!C::same_rx(&rx, &other_rx), "{buffer}");
            if let Some(again) = C::another_tx(&tx) {
                assert!(C::same_tx(&tx, &again), "{buffer}");
            }
            if let Some(again) = C::another_rx(&rx) {
                assert!(C::same_rx(&rx, &again), "{buffer}");
            }
        }
    }
);
