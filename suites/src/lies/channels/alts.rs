//! Lies about an alts: which clause won, what the others did, and how long it waited.

use flowmeter_harness::channel::{
    Alts, AltsError, Chosen, Clause, Message, Order, Patience, Polled,
};

use super::super::deadlines::other;
use super::super::told;
use super::super::values::{Spare, another, double, ghost};
use super::{Lying, Rx};

/// The clauses, which are prepared anew for each run: the halves inside them are other types.
pub(in super::super) struct Prepared<'a, C: Alts, T: Message> {
    clauses: &'a [Clause<'a, Lying<C>, T>],
    order: Order,
}

impl<C: Alts> Alts for Lying<C> {
    type Prepared<'a, T: Message> = Prepared<'a, C, T>;

    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Prepared<'a, C, T> {
        Prepared { clauses, order }
    }

    fn run<T: Message>(
        prepared: &mut Prepared<'_, C, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        let clauses = prepared.clauses;
        if let Some(answer) = unasked(clauses, slots, patience) {
            return answer;
        }
        let ghosts: Vec<_> = slots.iter().map(|slot| slot.as_ref().map(ghost)).collect();
        let answer = honest(clauses, prepared.order, slots, patience);
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
                about_a_loser(clauses, slots, loser);
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
            land(clauses, slots);
        }
        if told("an alts puts a value where none was") {
            let first = slots.iter().flatten().next().map(double);
            if let Some(empty) = slots.iter_mut().find(|slot| slot.is_none()) {
                *empty = first.and_then(Spare::take);
            }
        }
        Ok(retold(chosen, clauses, slots.len()))
    }
}

/// What is answered without asking the real one.
fn unasked<C: Alts, T: Message>(
    clauses: &[Clause<'_, Lying<C>, T>],
    slots: &mut [Option<T>],
    patience: Patience,
) -> Option<Result<Chosen<T>, AltsError>> {
    // What lies have left in a channel comes first, as it does for other takes.
    for (clause, port) in clauses.iter().enumerate() {
        if let Clause::Take(rx) = port
            && let Some(value) = rx.shared.next()
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
    let take = clauses
        .iter()
        .position(|port| matches!(port, Clause::Take(_)));
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

/// The real one's answer, with its clauses tried as a lie has it.
fn honest<C: Alts, T: Message>(
    clauses: &[Clause<'_, Lying<C>, T>],
    order: Order,
    slots: &mut [Option<T>],
    patience: Patience,
) -> Result<Chosen<T>, AltsError> {
    let mut real: Vec<Clause<'_, C, T>> = clauses
        .iter()
        .map(|clause| match clause {
            Clause::Take(rx) => Clause::Take(rx.real()),
            Clause::Put(tx) => Clause::Put(tx.real()),
        })
        .collect();
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
    if !backwards {
        return C::run(&mut C::prepare(&real, order), slots, patience);
    }
    real.reverse();
    slots.reverse();
    let answer = C::run(&mut C::prepare(&real, order), slots, patience);
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

fn refused<T>(error: AltsError) -> Result<Chosen<T>, AltsError> {
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

fn winner<T>(chosen: &Chosen<T>) -> Option<usize> {
    match chosen {
        Chosen::Took { clause, .. } | Chosen::Put { clause, .. } => Some(*clause),
        Chosen::Default | Chosen::TimedOut => None,
    }
}

/// A clause that has lost.
fn about_a_loser<C: Alts, T: Message>(
    clauses: &[Clause<'_, Lying<C>, T>],
    slots: &mut [Option<T>],
    loser: usize,
) {
    if told("a loser's value is lost") {
        slots[loser] = None;
    }
    if told("a loser's value comes back to another slot") {
        let last = slots.len() - 1;
        slots.swap(loser, last - loser);
    }
    if told("a loser's value comes back as another") {
        slots[loser] = slots[loser]
            .take()
            .map(|value| another(&value).unwrap_or(value));
    }
    match &clauses[loser] {
        Clause::Put(_) if told("a loser's value goes to its channel") => land(clauses, slots),
        Clause::Take(rx) if told("a loser takes as well") => steal(rx),
        _ => {}
    }
}

/// Has the values of puts go out also, and stay in their slots: found by the takes of the same alts' channels.
fn land<C: Alts, T: Message>(clauses: &[Clause<'_, Lying<C>, T>], slots: &[Option<T>]) {
    for (port, slot) in clauses.iter().zip(slots) {
        if let (Clause::Put(tx), Some(value)) = (port, slot) {
            tx.shared.add(double(value).take());
        }
    }
}

fn steal<C: Alts, T: Message>(rx: &Rx<C, T>) {
    if let Some(mut other) = C::another_rx(rx.real())
        && let Polled::Done(value) = C::poll(&mut other)
    {
        drop(value);
    }
}

/// What is answered where the real one answered so.
fn retold<C: Alts, T: Message>(
    chosen: Chosen<T>,
    clauses: &[Clause<'_, Lying<C>, T>],
    count: usize,
) -> Chosen<T> {
    match chosen {
        Chosen::Took { clause, value } if told("an alts names another clause") => {
            let clause = (clause + 1) % count;
            Chosen::Took { clause, value }
        }
        Chosen::Put { clause, accepted } if told("an alts names another clause") => {
            let clause = (clause + 1) % count;
            Chosen::Put { clause, accepted }
        }
        Chosen::Took { clause, value } => took(clause, value, clauses),
        Chosen::Put { clause, accepted } => {
            let accepted = accepted ^ told("an alts answers its put otherwise");
            Chosen::Put { clause, accepted }
        }
        Chosen::Default if told("a default is called a timeout") => Chosen::TimedOut,
        Chosen::TimedOut if told("a timeout is called a default") => Chosen::Default,
        nothing => nothing,
    }
}

fn took<C: Alts, T: Message>(
    clause: usize,
    value: Option<T>,
    clauses: &[Clause<'_, Lying<C>, T>],
) -> Chosen<T> {
    let mut value = value;
    if told("an alts has lost what it took") {
        value = None;
    }
    if told("an alts took another value") {
        value = value.map(|value| another(&value).unwrap_or(value));
    }
    if let (Clause::Take(rx), Some(taken)) = (&clauses[clause], &value) {
        if told("an alts drops what it took as well") {
            drop(double(taken).take());
        }
        if told("an alts leaves what it took") {
            rx.shared.add(double(taken).take());
        }
        if told("an alts takes two") {
            steal(rx);
        }
    }
    Chosen::Took { clause, value }
}
