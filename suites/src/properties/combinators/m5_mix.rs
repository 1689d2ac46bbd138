//! M5: inputs come and go, are muted and paused, and solo goes before both.

use flowmeter_harness::channel::{Buffer, Channels, Polled};
use flowmeter_harness::combinator::{Attribute, Combinators, SoloMode};
use flowmeter_harness::sync::World;

use super::{
    Case, Property, Reliance, Rx, Spawner, Stage, Tx, all, another, come_to_rest, ended_source,
    lying, open, put, room, take, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m5-mix",
    statement: "All inputs are heard but those muted, paused or beside a solo, which goes before mute and pause.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("an output that is closed", refused::<S>),
        Case::new("a mix that is dropped", dropped::<S>),
    ];
    if S::is_roomy() {
        cases.extend([
            Case::new("two inputs", two::<S>),
            Case::new("a muted input", muted::<S>),
            Case::new("a paused input", || {
                held::<S>(|mix, [_, other]| S::F::toggle(mix, &[(other, Attribute::Pause, true)]));
            }),
            Case::new("beside a solo, muted", beside_solo::<S>),
            Case::new("beside a solo, paused", || {
                held::<S>(|mix, [one, _]| {
                    S::F::solo_mode(mix, SoloMode::Pause);
                    S::F::toggle(mix, &[(one, Attribute::Solo, true)]);
                });
            }),
            Case::new("a solo that is muted and paused", solo::<S>),
            Case::new("an input that is removed", || {
                held::<S>(|mix, [_, other]| S::F::unmix(mix, other));
            }),
            Case::new("all inputs are removed", all_removed::<S>),
        ]);
    }
    cases
}

type Mix<S> = <<S as Stage>::F as Combinators<<S as Stage>::C>>::Mix<u32>;
type Input<S> = <<S as Stage>::F as Combinators<<S as Stage>::C>>::Input;

/// A mix with one input into a channel with room for three.
fn mix<S: Stage>(go: &Spawner<S>) -> (Mix<S>, Rx<S, u32>) {
    let (to, out) = open::<S, u32>(room(3));
    (S::F::mix(go, to), out)
}

/// An input without room.
fn admix<S: Stage>(mix: &Mix<S>) -> (Tx<S, u32>, Input<S>) {
    let (tx, from) = open::<S, u32>(Buffer::Rendezvous);
    (tx, S::F::admix(mix, from))
}

/// An input that has ended is none any more, and the output stays open.
fn two<S: Stage>() {
    let (seen, rest) = with_executor::<S, _>(|go| {
        let (to, mut out) = open::<S, u32>(room(3));
        let _stays = S::C::another_tx(&to);
        let mix = S::F::mix(go, to);
        S::F::admix(&mix, ended_source::<S>(&[1, 2]));
        let (mut tx, _) = admix::<S>(&mix);
        let early = [(); 2].map(|()| take::<S, u32>(&mut out));
        put::<S>(&mut tx, 11);
        S::C::close(&tx);
        let seen = (early, take::<S, u32>(&mut out));
        come_to_rest::<S>(go);
        (seen, S::C::poll(&mut out))
    });
    holds_eq!(
        (seen, rest),
        (([Ok(1), Ok(2)], Ok(11)), Polled::WouldWait),
        "M5: not all of both inputs, each in its order, with the output left open"
    );
}

/// It is taken from, and what it brought is gone when the next value is taken.
fn muted<S: Stage>() {
    let (accepted, seen) = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        let (mut tx, input) = admix::<S>(&mix);
        S::F::toggle(&mix, &[(input, Attribute::Mute, true)]);
        let muted = [1, 2].map(|value| put::<S>(&mut tx, value));
        S::F::toggle(&mix, &[(input, Attribute::Mute, false)]);
        let heard = put::<S>(&mut tx, 3);
        let mut seen = vec![take::<S, u32>(&mut out)];
        // The last one that was muted may have been judged when it was no longer.
        if seen == [Ok(2)] {
            seen = vec![take::<S, u32>(&mut out)];
        }
        ((muted, heard), seen)
    });
    holds_eq!(
        (accepted, seen),
        (([true; 2], true), vec![Ok(3)]),
        "M5: a muted input was not taken from, or was heard"
    );
}

/// The other input is not taken from once the mix has heard of it. What it brought just before may be on its way under
/// std, where nobody knows whether the mix is at rest.
fn held<S: Stage>(hold: impl FnOnce(&Mix<S>, [Input<S>; 2])) {
    let on_its_way = usize::from(S::W::name() == "std");
    let (seen, left) = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        let (mut tx, one) = admix::<S>(&mix);
        let (mut other_tx, from) = open::<S, u32>(room(2));
        let mut left = another::<S>(&from);
        let other = S::F::admix(&mix, from);
        come_to_rest::<S>(go);
        hold(&mix, [one, other]);
        // Until the mix has heard of it, one more may be taken.
        come_to_rest::<S>(go);
        put::<S>(&mut other_tx, 11);
        put::<S>(&mut other_tx, 12);
        put::<S>(&mut tx, 1);
        come_to_rest::<S>(go);
        (lying::<S>(&mut out).0, lying::<S>(&mut left).0)
    });
    let heard = seen.contains(&1) && seen.len() <= 1 + on_its_way;
    holds!(
        heard && left.len() + on_its_way >= 2,
        "M5: beside an input that is held {seen:?} was heard, and {left:?} is left of it"
    );
}

/// The others are taken from, and what they bring is dropped.
fn beside_solo<S: Stage>() {
    let (accepted, seen) = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        let (mut tx, one) = admix::<S>(&mix);
        let (mut other_tx, _) = admix::<S>(&mix);
        S::F::toggle(&mix, &[(one, Attribute::Solo, true)]);
        let accepted = [11, 12].map(|value| put::<S>(&mut other_tx, value));
        put::<S>(&mut tx, 1);
        (accepted, take::<S, u32>(&mut out))
    });
    holds_eq!(
        (accepted, seen),
        ([true; 2], Ok(1)),
        "M5: an input beside a solo was not taken from, or was heard"
    );
}

/// In either mode.
fn solo<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        let (mut tx, one) = admix::<S>(&mix);
        let on = [Attribute::Mute, Attribute::Pause, Attribute::Solo];
        S::F::toggle(&mix, &on.map(|attribute| (one, attribute, true)));
        let mut seen = Vec::new();
        for mode in [SoloMode::Mute, SoloMode::Pause] {
            S::F::solo_mode(&mix, mode);
            put::<S>(&mut tx, 1);
            seen.push(take::<S, u32>(&mut out));
        }
        seen
    });
    holds_eq!(seen, [Ok(1), Ok(1)], "M5: a solo that is muted and paused");
}

/// Their channels are let go, and one that comes later is heard.
fn all_removed<S: Stage>() {
    let (refused, seen) = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        let mut inputs = [(); 2].map(|()| admix::<S>(&mix).0);
        S::F::unmix_all(&mix);
        // One may be on its way.
        let refused = inputs
            .each_mut()
            .map(|tx| !put::<S>(tx, 11) || !put::<S>(tx, 12));
        let (mut tx, _) = admix::<S>(&mix);
        put::<S>(&mut tx, 1);
        let late = std::iter::from_fn(|| take::<S, u32>(&mut out).ok());
        let seen: Vec<u32> = late.take_while(|value| *value != 1).collect();
        (refused, seen)
    });
    holds_eq!(
        (refused, seen.contains(&12)),
        ([true; 2], false),
        "M5: an input that was removed was not let go, or was heard"
    );
}

/// One value is lost, and the inputs are let go, one that comes later too.
fn refused<S: Stage>() {
    let accepted = with_executor::<S, _>(|go| {
        let (mix, mut out) = mix::<S>(go);
        S::C::close_rx(&mut out);
        drop(out);
        let (mut tx, _) = admix::<S>(&mix);
        let accepted = [1, 2].map(|value| put::<S>(&mut tx, value));
        let (mut late, _) = admix::<S>(&mix);
        (accepted, put::<S>(&mut late, 3))
    });
    holds_eq!(
        accepted,
        ([true, false], false),
        "M5: which values were taken where the output was closed"
    );
}

/// It goes on with the inputs that it has, and lets go of its output behind them.
fn dropped<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mix, out) = mix::<S>(go);
        S::F::admix(&mix, ended_source::<S>(&[1]));
        drop(mix);
        all::<S, u32>(out)
    });
    holds_eq!(
        seen,
        [1],
        "M5: not all of the inputs of a mix that was dropped"
    );
}
