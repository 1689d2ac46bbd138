//! C13: two channels compare by identity, and clones are the same channel.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! (tx, rx) and (other_tx, other_rx) are two channels
//! tx.same(other_tx) -> true        two channels are the same
//! tx.same(tx.another()) -> false   a clone is another channel
//! ```

use flowmeter_harness::caps::Capability;
use flowmeter_harness::channel::Buffer;

use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c13-identity",
    statement: "Clones of a handle are the same channel, and two channels never are.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let derived = &design.implementation.capabilities.derived;
    if !derived.contains(&Capability::Identity) {
        return Vec::new();
    }
    vec![Case::new("two channels", move || two_channels(channels))]
}

fn two_channels(channels: Channels) {
    let open = || {
        channels
            .open::<u8>(Buffer::fixed(1))
            .or_else(|| channels.open(Buffer::Unbounded))
    };
    let (tx, rx) = open().expect("a family that knows its channel has a buffer");
    let (other_tx, other_rx) = open().expect("as before");
    let answers = [tx.same(&tx), rx.same(&rx)];
    holds!(
        !answers.contains(&Some(false)),
        "C13: a handle is not its own channel"
    );
    let answers = [tx.same(&other_tx), rx.same(&other_rx)];
    holds!(
        !answers.contains(&Some(true)),
        "C13: two channels are the same"
    );
    let clones = (tx.another(), rx.another());
    let answers = [
        clones.0.and_then(|clone| tx.same(&clone)),
        clones.1.and_then(|clone| rx.same(&clone)),
    ];
    holds!(
        !answers.contains(&Some(false)),
        "C13: a clone is another channel"
    );
}
