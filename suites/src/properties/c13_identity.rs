//! C13: two channels compare by identity, and clones are the same channel.

use flowmeter_harness::channel::{Buffer, Channels};

use super::{Case, Property};

pub(super) const PROPERTY: Property = Property {
    name: "c13-identity",
    statement: "Clones of a handle are the same channel, and two channels never are.",
    quick: false,
};

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    vec![Case::new("two channels", two_channels::<C>)]
}

fn two_channels<C: Channels>() {
    let (tx, rx) = C::open::<u8>(Buffer::fixed(1)).expect("a family that knows has a fixed buffer");
    let (other_tx, other_rx) = C::open::<u8>(Buffer::fixed(1)).expect("as before");
    assert_eq!(C::same(&tx, &rx), Some(true), "C13: halves of one channel");
    assert_eq!(
        C::same(&tx, &other_rx),
        Some(false),
        "C13: halves of two channels"
    );
    assert_eq!(
        C::same(&other_tx, &rx),
        Some(false),
        "C13: halves of two channels"
    );
    if let Some(clone) = C::another_tx(&tx) {
        assert_eq!(
            C::same(&clone, &rx),
            Some(true),
            "C13: a clone is the same channel"
        );
    }
}
