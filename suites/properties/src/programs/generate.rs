//! Random programs, generated and shrunk by proptest. They are no larger than a world can explore, and use only what
//! the family at hand has.

use flowmeter_harness::channel::{Buffer, Order};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::program::{Operation, Port, Program, Wait};

/// What programs may consist of.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    /// At least one.
    pub(super) buffers: Vec<Buffer>,
    /// How many channels at most.
    pub(super) channels: usize,
    /// How many threads at most, at least two.
    pub(super) threads: usize,
    /// How many operations each at most.
    pub(super) operations: usize,
    /// How many clauses an operation has at most; with 1 there is no alts.
    pub(super) clauses: usize,
    pub(super) puts: Waits,
    pub(super) takes: Waits,
    pub(super) closes: bool,
    /// Only the first thread takes, and it never waits to put.
    pub(super) one_consumer: bool,
}

/// How an operation may wait, besides for ever and not at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) until: bool,
    pub(super) dropped: bool,
}

/// A generated operation. Small numbers mean simple programs, so shrinking simplifies.
#[derive(Clone, Debug)]
enum Drawn {
    One(bool, usize, usize, u32),
    Alts(Vec<(bool, usize)>, bool, usize, u32),
    Close(usize),
}

/// Waiting for ever is as frequent as all other waits together.
const WAITS: usize = 6;

impl Menu {
    /// The programs of this menu.
    pub(super) fn programs(&self) -> impl Strategy<Value = Program> + use<> {
        let menu = self.clone();
        let port = (any::<bool>(), 0..menu.channels);
        let one = (any::<bool>(), 0..menu.channels, 0..WAITS, 1..=60_u32)
            .prop_map(|(puts, channel, wait, amount)| Drawn::One(puts, channel, wait, amount));
        let several = (
            vec(port, 2..=menu.clauses.max(2)),
            any::<bool>(),
            0..WAITS,
            1..=60_u32,
        )
            .prop_map(|(ports, priority, wait, amount)| Drawn::Alts(ports, priority, wait, amount));
        let close = (0..menu.channels).prop_map(Drawn::Close);
        let alts = if menu.clauses > 1 { 8 } else { 0 };
        let closes = 2 * u32::from(menu.closes);
        // `prop_oneof!` does not accept a weight of 0.
        let drawn = match (alts, closes) {
            (0, 0) => one.boxed(),
            (0, _) => prop_oneof![16 => one, 2 => close].boxed(),
            (_, 0) => prop_oneof![6 => one, 8 => several].boxed(),
            _ => prop_oneof![6 => one, 8 => several, 2 => close].boxed(),
        };
        let threads = vec(vec(drawn, 1..=menu.operations), 2..=menu.threads);
        let channels = vec(select(menu.buffers.clone()), menu.channels);
        (channels, threads).prop_map(move |(channels, threads)| menu.cooked(channels, &threads))
    }

    fn cooked(&self, channels: Vec<Buffer>, threads: &[Vec<Drawn>]) -> Program {
        let cook = |(thread, drawn): (usize, &Vec<Drawn>)| {
            let drawn = drawn.iter();
            drawn.map(|drawn| self.operation(thread, drawn)).collect()
        };
        Program {
            channels,
            threads: threads.iter().enumerate().map(cook).collect(),
        }
    }

    fn operation(&self, thread: usize, drawn: &Drawn) -> Operation {
        match drawn {
            Drawn::Close(channel) => Operation::Close(*channel),
            Drawn::One(puts, channel, wait, amount) => {
                let port = self.port(thread, (*puts, *channel));
                let waits = if port.is_put() { self.puts } else { self.takes };
                let wait = match waits.drawn(*wait, *amount) {
                    _ if self.one_consumer && thread == 0 && port.is_put() => Wait::Not,
                    wait => wait,
                };
                Operation::Alts {
                    ports: vec![port],
                    order: Order::Random,
                    wait,
                }
            }
            Drawn::Alts(ports, priority, wait, amount) => Operation::Alts {
                ports: ports.iter().map(|port| self.port(thread, *port)).collect(),
                order: if *priority {
                    Order::Priority
                } else {
                    Order::Random
                },
                wait: Waits {
                    dropped: false,
                    ..self.takes
                }
                .drawn(*wait, *amount),
            },
        }
    }

    fn port(&self, thread: usize, (puts, channel): (bool, usize)) -> Port {
        if puts || (self.one_consumer && thread != 0) {
            Port::Put(channel)
        } else {
            Port::Take(channel)
        }
    }
}

impl Waits {
    fn drawn(self, wait: usize, amount: u32) -> Wait {
        match wait {
            0 => Wait::Not,
            4 if self.until => Wait::Micros(amount),
            4 | 5 if self.dropped => Wait::Polls(amount % 3),
            _ => Wait::Forever,
        }
    }
}
