//! C13: two channels compare by identity, and clones are the same channel.

use flowmeter_harness::channel::{Buffer, Channels};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c13-identity",
    statement: "Clones of a handle are the same channel, and two channels never are.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    vec![Case::new("two channels", two_channels::<C>)]
}

fn two_channels<C: Channels>() {
    let open = || C::open::<u8>(Buffer::fixed(1)).or_else(|| C::open(Buffer::Unbounded));
    let (tx, rx) = open().expect("a family that knows its channel has a buffer");
    let (other_tx, other_rx) = open().expect("as before");
    let answers = [C::same_tx(&tx, &tx), C::same_rx(&rx, &rx)];
    holds!(
        !answers.contains(&Some(false)),
        "C13: a handle is not its own channel"
    );
    let answers = [C::same_tx(&tx, &other_tx), C::same_rx(&rx, &other_rx)];
    holds!(
        !answers.contains(&Some(true)),
        "C13: two channels are the same"
    );
    let clones = (C::another_tx(&tx), C::another_rx(&rx));
    let answers = [
        clones.0.and_then(|clone| C::same_tx(&tx, &clone)),
        clones.1.and_then(|clone| C::same_rx(&rx, &clone)),
    ];
    holds!(
        !answers.contains(&Some(false)),
        "C13: a clone is another channel"
    );
}
