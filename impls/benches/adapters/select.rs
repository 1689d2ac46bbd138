//! Alts: the adapter of crossbeam's `Select` against bare ones. A value is put into one of the channels and taken by a
//! choice among all. The bare `Select` is built once, as the adapter's is. The macro is what most programs write.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select, Sender, bounded, select};
use flowmeter_harness::channel::{
    Alts, Blocking, Buffer, Channels, Chosen, Clause, Order, Patience,
};
use flowmeter_impls::peers::crossbeam::Crossbeam;

use super::{CAPACITY, Pair};

/// Calls `turn` with each value and the channel that it goes to.
fn turns<const WIDTH: usize>(values: u64, mut turn: impl FnMut(usize, u64)) -> Duration {
    let start = Instant::now();
    for value in 0..values {
        turn(mixed(value) as usize % WIDTH, value);
    }
    start.elapsed()
}

/// A number that tells nothing of the next one, so that no predictor of branches learns the channels: the finaliser of
/// splitmix64 (Steele, Lea and Flood, 2014).
fn mixed(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn adapter<const WIDTH: usize>(values: u64) -> Duration {
    let open = |_| Crossbeam::open::<u64>(Buffer::fixed(CAPACITY)).expect("it has this buffer");
    let (mut txs, rxs): (Vec<_>, Vec<_>) = (0..WIDTH).map(open).unzip();
    let clauses: Vec<_> = rxs.iter().map(Clause::Take).collect();
    let mut alts = Crossbeam::prepare(&clauses, Order::Random);
    let mut slots = vec![None; WIDTH];
    turns::<WIDTH>(values, |channel, value| {
        Crossbeam::put(&mut txs[channel], value).expect("open");
        let chosen = Crossbeam::run(&mut alts, &mut slots, Patience::Forever);
        let clause = channel;
        let value = Some(value);
        assert_eq!(chosen, Ok(Chosen::Took { clause, value }));
    })
}

fn channels<const WIDTH: usize>() -> (Vec<Sender<u64>>, Vec<Receiver<u64>>) {
    (0..WIDTH).map(|_| bounded(CAPACITY)).unzip()
}

fn bare<const WIDTH: usize>(values: u64) -> Duration {
    let (txs, rxs) = channels::<WIDTH>();
    let mut select = Select::new();
    for rx in &rxs {
        select.recv(rx);
    }
    turns::<WIDTH>(values, |channel, value| {
        txs[channel].send(value).expect("open");
        let selected = select.select();
        assert_eq!(selected.index(), channel);
        assert_eq!(selected.recv(&rxs[channel]), Ok(value));
    })
}

fn by_macro(values: u64) -> Duration {
    let (txs, rxs) = channels::<2>();
    turns::<2>(values, |channel, value| {
        txs[channel].send(value).expect("open");
        let (from, taken) = select! {
            recv(rxs[0]) -> taken => (0, taken),
            recv(rxs[1]) -> taken => (1, taken),
        };
        assert_eq!((from, taken), (channel, Ok(value)));
    })
}

pub fn pairs() -> [Pair; 3] {
    [
        Pair {
            name: "alts of 2   crossbeam-channel",
            adapter: adapter::<2>,
            bare: bare::<2>,
        },
        Pair {
            name: "alts of 8   crossbeam-channel",
            adapter: adapter::<8>,
            bare: bare::<8>,
        },
        Pair {
            name: "alts of 2   crossbeam-channel select!",
            adapter: adapter::<2>,
            bare: by_macro,
        },
    ]
}
