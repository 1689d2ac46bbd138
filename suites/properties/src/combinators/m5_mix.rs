//! M5: inputs are added and removed, muted and paused, and solo takes precedence over both.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! input 1, solo and muted     input 2
//! put 1 -> true
//!                             put 11 -> true
//! the output gets 11          input 2 is not solo
//! the output stays empty      the mute of input 1 must not count beside its solo
//! ```

use flowmeter_harness::channel::{Buffer, Polled};
use flowmeter_harness::combinator::{Attribute, SoloMode};
use flowmeter_harness::sync::world;

use super::{
    Case, Cases, Combinators, Design, Part, Property, Reliance, Rx, Spawner, Tx, all, another,
    busy_and_other, chooses_by_chance, come_to_rest, ended_source, is_roomy, lying, open,
    other_had_its_turn, put, room, take, with_executor,
};
use crate::acts;

pub(in super::super) const PROPERTY: Property = Property {
    name: "m5-mix",
    statement: "A mix hears all inputs except those muted, paused or beside a solo; solo overrides mute and pause.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = Vec::new();
    if chooses_by_chance() {
        cases.push(Case::new("beside an input that never waits", move || {
            beside_a_busy_one(f);
        }));
    }
    cases.extend([
        Case::new("an output that is closed", move || refused(f)),
        Case::new("a mix that is dropped", move || dropped(f)),
    ]);
    if is_roomy() {
        cases.extend([
            Case::new("two inputs", move || two(f)),
            Case::new("a muted input", move || muted(f)),
            Case::new("a paused input", move || {
                held(f, |mix, [_, other]| {
                    f.toggle(mix, &[(&other, Attribute::Pause, true)])
                });
            }),
            Case::new("beside a solo, muted", move || beside_solo(f)),
            Case::new("beside a solo, paused", move || {
                held(f, |mix, [one, _]| {
                    f.solo_mode(mix, SoloMode::Pause);
                    f.toggle(mix, &[(&one, Attribute::Solo, true)]);
                });
            }),
            Case::new("a solo that is muted and paused", move || solo(f)),
            Case::new("a solo that ends", move || solo_goes(f, false)),
            Case::new("a solo that is removed", move || solo_goes(f, true)),
            Case::new("an input that is removed", move || {
                held(f, |mix, [_, other]| f.unmix(mix, &other));
            }),
            Case::new("all inputs are removed", move || all_removed(f)),
            Case::new("changes that are made together", move || together(f)),
            Case::new("a later input is removed", move || later_removed(f)),
            Case::new("behind a paused input", move || behind_a_paused_one(f)),
        ]);
    }
    cases
}

/// A mix without inputs, and its output with room for three.
fn mix(f: Combinators, go: &Spawner) -> (Part, Rx<u32>) {
    let (to, out) = open::<u32>(f, room(3));
    (f.mix(go, to), out)
}

/// Adds an input without room.
fn admix(f: Combinators, mix: &Part) -> (Tx<u32>, Part) {
    let (tx, from) = open::<u32>(f, Buffer::Rendezvous);
    (tx, f.admix(mix, from))
}

/// An input that has ended is removed, and the output stays open.
fn two(f: Combinators) {
    let (seen, rest) = with_executor(f, |go| {
        let (to, mut out) = open::<u32>(f, room(3));
        let _stays = to.another();
        let mix = f.mix(go, to);
        f.admix(&mix, ended_source(f, &[1, 2]));
        let (mut tx, _) = admix(f, &mix);
        let early = [(); 2].map(|()| take(&mut out));
        put(&mut tx, 11);
        tx.close();
        let seen = (early, take(&mut out));
        come_to_rest(f, go);
        (seen, out.poll())
    });
    holds_eq!(
        (seen, rest),
        (([Ok(1), Ok(2)], Ok(11)), Polled::WouldWait),
        "M5: not all of both inputs, each in its order, with the output left open"
    );
}

/// Two inputs are removed, one of them after it came in the place of the other. The third is heard.
fn later_removed(f: Combinators) {
    let heard = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (_first_tx, first) = admix(f, &mix);
        let (mut tx, _) = admix(f, &mix);
        f.unmix(&mix, &first);
        let (_later_tx, later) = admix(f, &mix);
        f.unmix(&mix, &later);
        put(&mut tx, 7).then(|| take(&mut out))
    });
    holds_eq!(
        heard,
        Some(Ok(7)),
        "M5: an input beside one that was removed"
    );
}

/// One input is not read, one is muted, and one is heard until it ends. The end concerns no other.
fn behind_a_paused_one(f: Combinators) {
    use Attribute::{Mute, Pause};
    let seen = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let [(mut paused, one), (mut muted, two), (mut tx, _)] = [(); 3].map(|()| admix(f, &mix));
        f.toggle(&mix, &[(&one, Pause, true), (&two, Mute, true)]);
        let mut seen = vec![put(&mut tx, 3).then(|| take(&mut out))];
        tx.close();
        come_to_rest(f, go);
        f.toggle(&mix, &[(&one, Pause, false), (&two, Mute, false)]);
        for (value, tx) in (1..).zip([&mut paused, &mut muted]) {
            seen.push(put(tx, value).then(|| take(&mut out)));
        }
        seen
    });
    holds_eq!(
        seen,
        [Some(Ok(3)), Some(Ok(1)), Some(Ok(2))],
        "M5: an input behind a paused one was taken for another"
    );
}

/// A muted input is taken from. Its value is dropped by the time the next one is taken.
fn muted(f: Combinators) {
    let (accepted, seen) = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (mut tx, input) = admix(f, &mix);
        f.toggle(&mix, &[(&input, Attribute::Mute, true)]);
        let muted = [1, 2].map(|value| put(&mut tx, value));
        f.toggle(&mix, &[(&input, Attribute::Mute, false)]);
        let heard = put(&mut tx, 3);
        let mut seen = vec![take(&mut out)];
        // The last muted value may have been judged when the input was no longer muted.
        if seen == [Ok(2)] {
            seen = vec![take(&mut out)];
        }
        ((muted, heard), seen)
    });
    holds_eq!(
        (accepted, seen),
        (([true; 2], true), vec![Ok(3)]),
        "M5: a muted input was not taken from, or was heard"
    );
}

/// The other input is not taken from once the mix has processed the change. Under std the mix is not known to be at
/// rest, so one value may have been taken just before.
fn held(f: Combinators, hold: impl FnOnce(&Part, [Part; 2])) {
    let on_its_way = usize::from(world::name() == "std");
    let (seen, left) = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (mut tx, one) = admix(f, &mix);
        let (mut other_tx, from) = open::<u32>(f, room(2));
        let mut left = another(&from);
        let other = f.admix(&mix, from);
        come_to_rest(f, go);
        hold(&mix, [one, other]);
        // Until the mix has processed the change, one more may be taken.
        come_to_rest(f, go);
        put(&mut other_tx, 11);
        put(&mut other_tx, 12);
        put(&mut tx, 1);
        come_to_rest(f, go);
        (lying(&mut out).0, lying(&mut left).0)
    });
    let heard = seen.contains(&1) && seen.len() <= 1 + on_its_way;
    holds!(
        heard && left.len() + on_its_way >= 2,
        "M5: beside an input that is held {seen:?} was heard, and {left:?} is left of it"
    );
}

/// The other inputs are taken from, and their values are dropped.
fn beside_solo(f: Combinators) {
    let (accepted, seen) = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (mut tx, one) = admix(f, &mix);
        let (mut other_tx, _) = admix(f, &mix);
        f.toggle(&mix, &[(&one, Attribute::Solo, true)]);
        let accepted = [11, 12].map(|value| put(&mut other_tx, value));
        put(&mut tx, 1);
        (accepted, take(&mut out))
    });
    holds_eq!(
        (accepted, seen),
        ([true; 2], Ok(1)),
        "M5: an input beside a solo was not taken from, or was heard"
    );
}

/// A solo in either mode.
fn solo(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (mut tx, one) = admix(f, &mix);
        let on = [Attribute::Mute, Attribute::Pause, Attribute::Solo];
        f.toggle(&mix, &on.map(|attribute| (&one, attribute, true)));
        let mut seen = Vec::new();
        for mode in [SoloMode::Mute, SoloMode::Pause] {
            f.solo_mode(&mix, mode);
            put(&mut tx, 1);
            seen.push(take(&mut out));
        }
        seen
    });
    holds_eq!(seen, [Ok(1), Ok(1)], "M5: a solo that is muted and paused");
}

/// What was set for an input goes with it: the other is heard again.
fn solo_goes(f: Combinators, removed: bool) {
    let seen = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let (tx, one) = admix(f, &mix);
        let (mut other_tx, _) = admix(f, &mix);
        f.toggle(&mix, &[(&one, Attribute::Solo, true)]);
        come_to_rest(f, go);
        match removed {
            true => f.unmix(&mix, &one),
            false => assert!(tx.close(), "a family with alts closes"),
        }
        come_to_rest(f, go);
        // Under std the first one may come too soon.
        let accepted = [11, 12].map(|value| put(&mut other_tx, value));
        (accepted, take(&mut out))
    });
    holds!(
        matches!(seen, ([true, true], Ok(11 | 12))),
        "M5: beside a solo that has gone {seen:?} was accepted and heard"
    );
}

/// An input is beside a solo, or muted. One change takes away what silences it and brings something else that does, and no
/// value is heard in between.
fn together(f: Combinators) {
    use Attribute::{Mute, Solo};
    let rounds = acts::turns();
    let (heard, seen) = with_executor(f, |go| {
        let (to, mut out) = open::<u32>(f, room(3 * rounds + 1));
        let mix = f.mix(go, to);
        let [(mut tx, one), (_another, two), (mut silenced, third)] =
            [(); 3].map(|()| admix(f, &mix));
        f.toggle(&mix, &[(&one, Solo, true)]);
        let puts = world::spawn(move || {
            for value in 0..3 * rounds as u32 {
                world::perturb();
                assert!(put(&mut silenced, 10 + value), "it is taken from");
            }
        });
        for _ in 0..rounds {
            for change in [
                [(&one, Solo, false), (&two, Solo, true)],
                [(&two, Solo, false), (&third, Mute, true)],
                [(&third, Mute, false), (&one, Solo, true)],
            ] {
                world::perturb();
                f.toggle(&mix, &change);
            }
        }
        world::join(puts);
        let heard = put(&mut tx, 1);
        (heard, take(&mut out))
    });
    holds_eq!(
        (heard, seen),
        (true, Ok(1)),
        "M5: an input was heard between changes that were made together"
    );
}

/// Two inputs have values, one of them many.
fn beside_a_busy_one(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (to, out) = open::<u32>(f, room(1));
        let mix = f.mix(go, to);
        for input in busy_and_other(f) {
            f.admix(&mix, input);
        }
        drop(mix);
        all(out)
    });
    holds!(
        other_had_its_turn(&seen),
        "M5: an input waits for another that always has a value"
    );
}

/// The channels of removed inputs are dropped, and an input that is added later is heard.
fn all_removed(f: Combinators) {
    let (refused, seen) = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        let mut inputs = [(); 2].map(|()| admix(f, &mix).0);
        f.unmix_all(&mix);
        // One value may be on its way.
        let refused = inputs.each_mut().map(|tx| !put(tx, 11) || !put(tx, 12));
        let (mut tx, _) = admix(f, &mix);
        put(&mut tx, 1);
        let late = std::iter::from_fn(|| take(&mut out).ok());
        let seen: Vec<u32> = late.take_while(|value| *value != 1).collect();
        (refused, seen)
    });
    holds_eq!(
        (refused, seen.contains(&12)),
        ([true; 2], false),
        "M5: an input that was removed was not let go, or was heard"
    );
}

/// One value is lost. The inputs are dropped, and so is one that is added later.
fn refused(f: Combinators) {
    let accepted = with_executor(f, |go| {
        let (mix, mut out) = mix(f, go);
        out.close();
        drop(out);
        let (mut tx, _) = admix(f, &mix);
        let accepted = [1, 2].map(|value| put(&mut tx, value));
        let (mut late, _) = admix(f, &mix);
        (accepted, put(&mut late, 3))
    });
    holds_eq!(
        accepted,
        ([true, false], false),
        "M5: which values were taken where the output was closed"
    );
}

/// A dropped mix goes on with the inputs it has, and drops its output after them.
fn dropped(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mix, out) = mix(f, go);
        f.admix(&mix, ended_source(f, &[1]));
        drop(mix);
        all(out)
    });
    holds_eq!(
        seen,
        [1],
        "M5: not all of the inputs of a mix that was dropped"
    );
}
