//! Faults injected into an alts: the winner, the effects on the other clauses, and how long it waits.

use flowmeter_harness::channel::{AltsError, Order, Patience, Polled};

use super::super::deadlines::other;
use super::super::told;
use super::super::values::{Spare, another, double, ghost};
use super::{HAD, Lying, of};
use crate::design::Parcel;
use crate::design::channels::operations::{Base, ChoosesAnew, Chose, Half, Port, Slots};

type Chosen = flowmeter_harness::channel::Chosen<Parcel>;

/// The same ports with the real halves.
pub(super) fn real<'a>(ports: &[Port<'a>]) -> Vec<Port<'a>> {
    let real = |port: &Port<'a>| match *port {
        Port::Take(rx) => Port::Take(of(rx).real()),
        Port::Put(tx) => Port::Put(of(tx).real()),
    };
    ports.iter().map(real).collect()
}

impl ChoosesAnew for Lying {
    fn run(
        &self,
        ports: &[Port<'_>],
        order: Order,
        slots: &mut Slots,
        patience: Patience,
    ) -> Chose {
        let base = self.0.base;
        if let Some(answer) = unasked(ports, slots, patience) {
            return answer;
        }
        let ghosts: Vec<_> = slots.iter().map(|slot| slot.as_ref().map(ghost)).collect();
        let answer = self.honest(ports, order, slots, patience);
        let chosen = match answer {
            Ok(chosen) => chosen,
            Err(error) => {
                if told("an alts that was refused has lost its values") {
                    slots.fill_with(|| None);
                }
                return refused(error);
            }
        };
        if let Some(winner) = winner(&chosen) {
            let loser = (winner + 1) % slots.len();
            if loser != winner {
                about_a_loser(base, ports, slots, loser);
            }
            if told("a winner's value stays in its slot")
                && let Some(ghost) = ghosts.into_iter().nth(winner).flatten()
                && slots[winner].is_none()
            {
                slots[winner] = ghost.take();
            }
            if matches!(
                chosen,
                Chosen::Put {
                    accepted: false,
                    ..
                }
            ) && told("an alts has lost a value that was refused")
            {
                slots[winner] = None;
            }
        } else if told("an alts in vain has lost its values") {
            slots.fill_with(|| None);
        } else if told("an alts in vain gives a put's value to its channel") {
            land(ports, slots);
        }
        if told("an alts puts a value where none was") {
            let first = slots.iter().flatten().next().map(double);
            if let Some(empty) = slots.iter_mut().find(|slot| slot.is_none()) {
                *empty = first.and_then(Spare::take);
            }
        }
        Ok(retold(base, chosen, ports, slots.len()))
    }
}

impl Lying {
    /// The real answer, with the clauses tried as a fault demands.
    fn honest(
        &self,
        ports: &[Port<'_>],
        order: Order,
        slots: &mut Slots,
        patience: Patience,
    ) -> Chose {
        let mut real = real(ports);
        let order = match order {
            Order::Random if told("a random choice is the first") => Order::Priority,
            Order::Priority if told("a priority is a random choice") => Order::Random,
            order => order,
        };
        let patience = match patience {
            Patience::Until(deadline) => Patience::Until(other(deadline)),
            Patience::Forever if told("an alts does not wait") => Patience::Now,
            patience => patience,
        };
        let backwards = slots.len() == real.len() && told("clauses are tried backwards");
        if backwards {
            real.reverse();
            slots.reverse();
        }
        let clauses = self.0.chooses.expect(HAD).clauses(&real);
        let answer = clauses.prepare(order).run(slots, patience);
        if !backwards {
            return answer;
        }
        slots.reverse();
        let last = slots.len() - 1;
        answer.map(|chosen| match chosen {
            Chosen::Took { clause, value } => {
                let clause = last - clause;
                Chosen::Took { clause, value }
            }
            Chosen::Put { clause, accepted } => {
                let clause = last - clause;
                Chosen::Put { clause, accepted }
            }
            nothing => nothing,
        })
    }
}

/// The answer without running the real alts.
fn unasked(ports: &[Port<'_>], slots: &mut Slots, patience: Patience) -> Option<Chose> {
    // Values that faults have left in a channel come first, as they do for other takes.
    for (clause, port) in ports.iter().enumerate() {
        if let Port::Take(rx) = port
            && let Some(value) = of(rx).shared.next()
        {
            let value = Some(value);
            return Some(Ok(Chosen::Took { clause, value }));
        }
    }
    if told("an alts does nothing") {
        return Some(Ok(match patience {
            Patience::Until(_) => Chosen::TimedOut,
            Patience::Now | Patience::Forever => Chosen::Default,
        }));
    }
    if told("an alts is refused") {
        return Some(Err(AltsError::NoClauses));
    }
    let take = ports.iter().position(|port| matches!(port, Port::Take(_)));
    let put = slots.iter().position(Option::is_some);
    if let (Some(clause), Some(put)) = (take, put)
        && told("an alts takes its own put")
    {
        let value = slots[put].take();
        return Some(Ok(Chosen::Took { clause, value }));
    }
    if let Some(clause) = take
        && told("an alts finds its take closed")
    {
        let value = None;
        return Some(Ok(Chosen::Took { clause, value }));
    }
    if let Some(clause) = put {
        if told("an alts finds its put closed") {
            let accepted = false;
            return Some(Ok(Chosen::Put { clause, accepted }));
        }
        if told("an alts answers for a put that it has lost") {
            slots[clause] = None;
            let accepted = true;
            return Some(Ok(Chosen::Put { clause, accepted }));
        }
    }
    None
}

fn refused(error: AltsError) -> Chose {
    if told("an impossible alts is answered") {
        return Ok(Chosen::Default);
    }
    if told("an alts is refused for another reason") {
        return Err(match error {
            AltsError::NoClauses => AltsError::MissingValue { clause: 0 },
            _ => AltsError::NoClauses,
        });
    }
    Err(error)
}

fn winner(chosen: &Chosen) -> Option<usize> {
    match chosen {
        Chosen::Took { clause, .. } | Chosen::Put { clause, .. } => Some(*clause),
        Chosen::Default | Chosen::TimedOut => None,
    }
}

/// A fault in a losing clause.
fn about_a_loser(base: &dyn Base, ports: &[Port<'_>], slots: &mut Slots, loser: usize) {
    if told("a loser's value is lost") {
        slots[loser] = None;
    }
    if told("a loser's value comes back to another slot") {
        let last = slots.len() - 1;
        slots.swap(loser, last - loser);
    }
    if told("a loser's value comes back as another") {
        slots[loser] = slots[loser].take().map(another);
    }
    match &ports[loser] {
        Port::Put(_) if told("a loser's value goes to its channel") => land(ports, slots),
        Port::Take(rx) if told("a loser takes as well") => steal(base, rx),
        _ => {}
    }
}

/// Delivers the values of puts and also leaves them in their slots. The takes of the same alts find them.
fn land(ports: &[Port<'_>], slots: &Slots) {
    for (port, slot) in ports.iter().zip(slots) {
        if let (Port::Put(tx), Some(value)) = (port, slot) {
            of(tx).shared.add(double(value).take());
        }
    }
}

fn steal(base: &dyn Base, rx: &Half) {
    if let Some(mut other) = base.another_rx(of(rx).real())
        && let Polled::Done(value) = base.poll(&mut other)
    {
        drop(value);
    }
}

/// The answer in place of that real answer.
fn retold(base: &dyn Base, chosen: Chosen, ports: &[Port<'_>], count: usize) -> Chosen {
    match chosen {
        Chosen::Took { clause, value } if told("an alts names another clause") => {
            let clause = (clause + 1) % count;
            Chosen::Took { clause, value }
        }
        Chosen::Put { clause, accepted } if told("an alts names another clause") => {
            let clause = (clause + 1) % count;
            Chosen::Put { clause, accepted }
        }
        Chosen::Took { clause, value } => took(base, clause, value, ports),
        Chosen::Put { clause, accepted } => {
            let accepted = accepted ^ told("an alts answers its put otherwise");
            Chosen::Put { clause, accepted }
        }
        Chosen::Default if told("a default is called a timeout") => Chosen::TimedOut,
        Chosen::TimedOut if told("a timeout is called a default") => Chosen::Default,
        nothing => nothing,
    }
}

fn took(base: &dyn Base, clause: usize, value: Option<Parcel>, ports: &[Port<'_>]) -> Chosen {
    let mut value = value;
    if told("an alts has lost what it took") {
        value = None;
    }
    if told("an alts took another value") {
        value = value.map(another);
    }
    if let (Port::Take(rx), Some(taken)) = (&ports[clause], &value) {
        if told("an alts drops what it took as well") {
            drop(double(taken).take());
        }
        if told("an alts leaves what it took") {
            of(rx).shared.add(double(taken).take());
        }
        if told("an alts takes two") {
            steal(base, rx);
        }
    }
    Chosen::Took { clause, value }
}
