//! C10: every value is in one place, and dropped once, whatever is dropped around it.

use flowmeter_harness::channel::{Buffer, Channels, Offered, Polled};
use flowmeter_harness::check::{Mint, Token};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c10-drops",
    statement: "Values left in a channel are dropped exactly once with its last handle.",
    relied_on_by: Reliance::Everybody,
};

const COUNT: usize = 5;

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    [Buffer::fixed(COUNT), Buffer::Unbounded]
        .into_iter()
        .filter(|buffer| C::open::<u32>(*buffer).is_some())
        .flat_map(|buffer| {
            [
                Case::new(format!("takers first, {buffer}"), move || {
                    left_inside::<C>(buffer, true)
                }),
                Case::new(format!("producers first, {buffer}"), move || {
                    left_inside::<C>(buffer, false)
                }),
            ]
        })
        .collect()
}

fn left_inside<C: Channels>(buffer: Buffer, takers_first: bool) {
    let mint = Mint::new(COUNT);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    for id in 0..COUNT {
        assert!(
            matches!(C::offer(&mut tx, mint.token(id)), Offered::Done),
            "C3: no room for {COUNT}"
        );
    }
    let Polled::Done(first) = C::poll(&mut rx) else {
        panic!("C2: a value was lost")
    };
    let kept = first.id();
    if takers_first {
        drop(rx);
        drop(tx);
    } else {
        drop(tx);
        drop(rx);
    }
    for id in 0..COUNT {
        let expected = u32::from(id != kept);
        assert_eq!(
            mint.drops(id),
            expected,
            "C10: drops of token {id} (token {kept} is still held)"
        );
    }
    drop(first);
    assert_eq!(
        mint.drops(kept),
        1,
        "C10: a value that was taken belongs to its taker"
    );
}
