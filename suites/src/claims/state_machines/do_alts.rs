//! The claims of the text about `do-alts`.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Order, Patience, Polled};
use flowmeter_harness::sync::World;

use super::super::acts::{after, another, ms, open, pass};
use super::{fill, or_nil, with_value};

/// `(alts! [c1 c2])`, with a default or waiting.
fn alts<C: Alts>(
    c1: &C::Rx<u32>,
    c2: &C::Rx<u32>,
    order: Order,
    patience: Patience,
) -> Chosen<u32> {
    let clauses = [Clause::Take(c1), Clause::Take(c2)];
    let chosen = C::run(
        &mut C::prepare(&clauses, order),
        &mut [None, None],
        patience,
    );
    chosen.expect("there are as many slots as clauses")
}

/// The value read, and its channel.
fn told(chosen: &Chosen<u32>) -> String {
    match chosen {
        Chosen::Took { clause, value } => {
            format!("{} from c{}", or_nil(value.ok_or(())), clause + 1)
        }
        Chosen::Default => "the default".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(super) fn one_of_both<C: Alts>() -> String {
    let [(_tx1, mut c1), (_tx2, mut c2)] = [1, 2].map(with_value::<C>);
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    let taken = u8::from(matches!(chosen, Chosen::Took { value: Some(_), .. }));
    let polled = [C::poll(&mut c1), C::poll(&mut c2)];
    let left = polled
        .iter()
        .filter(|polled| matches!(polled, Polled::Done(_)));
    format!("{taken} taken, {} left", left.count())
}

pub(super) fn chosen<C: Alts>(order: Order) -> String {
    let [(mut tx1, c1), (mut tx2, c2)] = [1, 2].map(with_value::<C>);
    let mut times = [0; 2];
    for _ in 0..64 {
        if let Chosen::Took { clause, .. } = alts::<C>(&c1, &c2, order, Patience::Forever) {
            times[clause] += 1;
            fill::<C>([&mut tx1, &mut tx2][clause], [1]);
        }
    }
    match times {
        [64, 0] => "c1 64 times".to_owned(),
        [0, _] | [_, 0] => format!("{times:?}"),
        _ => "c1 and c2".to_owned(),
    }
}

pub(super) fn puts<C: Alts>() -> String {
    let (_open, c1) = open::<C, &'static str>(Buffer::fixed(1));
    let (c3, mut put) = open::<C, &'static str>(Buffer::fixed(1));
    let clauses = [Clause::Take(&c1), Clause::Put(&c3)];
    let mut slots = [None, Some("foo")];
    let prepared = &mut C::prepare(&clauses, Order::Random);
    let chosen = C::run(prepared, &mut slots, Patience::Forever);
    match (chosen, C::poll(&mut put)) {
        (Ok(Chosen::Put { clause: 1, .. }), Polled::Done(value)) => format!("c3 has {value:?}"),
        other => format!("{other:?}"),
    }
}

pub(super) fn able<C: Alts>() -> String {
    let (_open, c1) = open::<C, u32>(Buffer::fixed(1));
    let (_also_open, c2) = with_value::<C>(7);
    told(&alts::<C>(&c1, &c2, Order::Random, Patience::Now))
}

pub(super) fn default<C: Alts, W: World>() -> String {
    let began = W::now_nanos();
    let [(_tx1, c1), (_tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Now);
    format!("{} {}", told(&chosen), after::<W>(began))
}

pub(super) fn waits<C: Alts, W: World>() -> String {
    let began = W::now_nanos();
    let [(mut tx1, c1), (_tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let puts = W::spawn(move || {
        pass::<C, W>(ms(40));
        fill::<C>(&mut tx1, [7]);
    });
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    let seen = format!("{} {}", told(&chosen), after::<W>(began));
    W::join(puts);
    seen
}

pub(super) fn cancelled<C: Alts>() -> String {
    let [(mut tx1, mut c1), (mut tx2, mut c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Now);
    fill::<C>(&mut tx1, [1]);
    fill::<C>(&mut tx2, [2]);
    match (chosen, C::poll(&mut c1), C::poll(&mut c2)) {
        (Chosen::Default, Polled::Done(1), Polled::Done(2)) => "both are there".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(super) fn committed<C: Alts, W: World>() -> String {
    let [(mut tx1, c1), (mut tx2, c2)] = [(); 2].map(|()| open::<C, u32>(Buffer::fixed(1)));
    let mut later = another::<C, u32>(&c2);
    let puts = W::spawn(move || {
        pass::<C, W>(ms(40));
        fill::<C>(&mut tx1, [1]);
        fill::<C>(&mut tx2, [2]);
    });
    let chosen = alts::<C>(&c1, &c2, Order::Random, Patience::Forever);
    W::join(puts);
    match (told(&chosen).as_str(), C::poll(&mut later)) {
        ("1 from c1", Polled::Done(2)) => "it is there".to_owned(),
        other => format!("{other:?}"),
    }
}
