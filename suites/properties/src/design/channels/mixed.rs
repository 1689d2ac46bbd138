//! Alts over channels of different types in place of alts over one type. The properties of alts, which are written
//! for one type, then apply to both.
//!
//! Of the channels that are opened in turn every second carries its values in a frame, which is another type of
//! another size. So an alts over two of them has clauses of two types. The framed channels have to be the same in
//! every execution, or no schedule would replay: [`begin_turns`] starts each execution with a plain one.

use std::cell::Cell;
use std::future::pending;

use flowmeter_harness::channel::{AltsError, Buffer, Chosen, Offered, Order, Patience, Winner};
use flowmeter_harness::sync::{Deadline, world};

use super::operations::{ChoosesAnew, Chose, Mixture, Port, Slots, Won};
use super::{ASKED, Channels, Rx, Tables, Tx};

thread_local! {
    /// Whether the next channel is framed.
    static FRAMED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the next channel a plain one.
pub(crate) fn begin_turns() {
    FRAMED.set(false);
}

/// Whether this channel is framed; the next one is the opposite.
pub(super) fn is_framed_next() -> bool {
    FRAMED.replace(!FRAMED.get())
}

impl Channels {
    /// The same, with alts over channels of different types in place of its own, if it has any.
    pub(crate) fn mixed(self) -> Option<Channels> {
        self.mixes().then(|| self.choosing(false))
    }

    /// As [`Channels::mixed`], each alts awaited.
    pub(crate) fn mixed_and_awaited(self) -> Option<Channels> {
        self.awaits_mixes().then(|| self.choosing(true))
    }

    fn choosing(self, awaited: bool) -> Channels {
        let tables = self.tables();
        let real = self;
        Channels::of(Tables {
            blocks: tables.blocks,
            chooses: Some(Box::leak(Box::new(Mixed { real, awaited }))),
            framed: tables.framed,
            in_turns: true,
            ..Tables::of(tables.base)
        })
    }
}

/// Alts over channels of several types.
#[derive(Clone, Copy)]
struct Mixed {
    /// The design.
    real: Channels,
    awaited: bool,
}

impl ChoosesAnew for Mixed {
    fn run(
        &self,
        ports: &[Port<'_>],
        order: Order,
        slots: &mut Slots,
        patience: Patience,
    ) -> Chose {
        if slots.len() != ports.len() {
            // There are no slots apart from the clauses, so a mismatch is refused here.
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: ports.len(),
            });
        }
        // The clauses keep the values of a run.
        let tables = self.real.tables();
        let table = if self.awaited {
            tables.awaits_mixes
        } else {
            tables.mixes
        };
        let mut clauses = table.expect(ASKED).clauses(ports, slots);
        let winner = match patience {
            _ if !self.awaited => clauses.run(order, patience),
            Patience::Now => clauses.run(order, Patience::Now),
            Patience::Forever => world::block_on(clauses.run_async(order, Box::pin(pending()))),
            Patience::Until(deadline) => until(self.real, &mut *clauses, order, deadline),
        };
        for (clause, slot) in slots.iter_mut().enumerate() {
            *slot = clauses.left(clause);
        }
        Ok(match winner? {
            Winner::Clause(clause) => match clauses.taken(clause) {
                Some(value) => Chosen::Took { clause, value },
                None => Chosen::Put {
                    clause,
                    accepted: slots[clause].is_none(),
                },
            },
            Winner::Default => Chosen::Default,
            Winner::TimedOut => Chosen::TimedOut,
        })
    }
}

/// A thread tells the task when the deadline has passed: a family of channels has no timer.
fn until(channels: Channels, clauses: &mut dyn Mixture, order: Order, deadline: Deadline) -> Won {
    let (mut tx, mut rx) = with_room(channels);
    let clock = world::spawn(move || {
        let (_silent, rx) = with_room(channels);
        let alts = channels.tables().awaits_mixes.expect(ASKED);
        let mut take = alts.clauses(&[Port::Take(&rx.half)], &mut [None]);
        let slept = take.run(Order::Priority, Patience::Until(deadline));
        assert_eq!(
            slept,
            Ok(Winner::TimedOut),
            "nothing is put to the clock's channel"
        );
        let offered = tx.offer(());
        assert_eq!(offered, Offered::Done, "there is room for the clock's word");
        tx
    });
    // It borrows its half, which therefore outlives it: a dropped half would close the channel for the thread.
    let late = async {
        let told = rx.take_async().await;
        assert_eq!(told, Ok(()), "the clock's channel is open");
    };
    let winner = world::block_on(clauses.run_async(order, Box::pin(late)));
    world::join(clock);
    winner
}

fn with_room(channels: Channels) -> (Tx<()>, Rx<()>) {
    let buffers = [Buffer::fixed(1), Buffer::Unbounded];
    let opened = buffers.into_iter().find_map(|buffer| channels.open(buffer));
    opened.expect("a family of channels has one with room")
}
