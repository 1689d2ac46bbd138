//! Producers and consumers over one channel, with books. Several properties use this.

use std::iter;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::Case;
use super::form::Way;
use crate::design::{Channels, Rx};

/// How many threads and values: as many as the world can explore.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    pub(super) producers: usize,
    pub(super) consumers: usize,
    pub(super) values_each: usize,
}

/// The outcome of a crowd.
pub(super) struct Books {
    pub(super) ledger: Ledger,
    pub(super) mint: Mint,
    /// What each consumer took, in its order.
    pub(super) taken: Vec<Vec<usize>>,
    pub(super) values_each: usize,
}

/// A value, or a producer's end mark after all of its values.
type Parcel = Option<Token>;

impl Crowd {
    /// The crowds worth exploring in a world, for a family that may have single halves.
    pub(super) fn of(channels: Channels, buffer: Buffer) -> Vec<Crowd> {
        let Some((tx, rx)) = channels.open::<()>(buffer) else {
            return Vec::new();
        };
        let producers = if tx.another().is_some() { 4 } else { 1 };
        let consumers = if rx.another().is_some() { 4 } else { 1 };
        match world::name() {
            // The main thread is one of the consumers; loom has room for few threads.
            "loom" => vec![
                Crowd {
                    producers: 1,
                    consumers: 1,
                    values_each: 2,
                },
                Crowd {
                    producers: producers.min(2),
                    consumers: 1,
                    values_each: 1,
                },
            ],
            "shuttle" => {
                vec![Crowd {
                    producers: producers.min(2),
                    // The values divide evenly among the consumers.
                    consumers: consumers.min(producers).min(2),
                    values_each: 3,
                }]
            }
            _ => vec![
                Crowd {
                    producers,
                    consumers,
                    values_each: 64,
                },
                Crowd {
                    producers: 1,
                    consumers: 1,
                    values_each: 256,
                },
            ],
        }
    }

    /// A case for each buffer that keeps all values, and each crowd that `shows` something.
    pub(super) fn cases(
        channels: Channels,
        way: Way,
        shows: fn(&Crowd) -> bool,
        judge: fn(Books),
    ) -> Vec<Case> {
        // Three is no power of two; under loom there are too few values to wrap around.
        let several = if world::name() == "loom" { 2 } else { 3 };
        let buffers = [
            Buffer::Rendezvous,
            Buffer::fixed(1),
            Buffer::fixed(several),
            Buffer::fixed(64),
            Buffer::Unbounded,
        ];
        let small = world::name() != "std";
        let mut cases = Vec::new();
        for buffer in buffers
            .into_iter()
            .filter(|b| !(small && *b == Buffer::fixed(64)))
        {
            for crowd in Crowd::of(channels, buffer).into_iter().filter(shows) {
                let Crowd {
                    producers,
                    consumers,
                    values_each,
                } = crowd;
                let name = format!("{way}, {buffer}, {producers}:{consumers}, {values_each} each");
                cases.push(Case::new(name, move || {
                    judge(crowd.run(channels, way, buffer))
                }));
            }
        }
        cases
    }

    /// Runs it once. Every producer puts its values in order. Every consumer takes its share, in worlds where waiting
    /// for a lost value is a deadlock, and so a failure. Real threads would hang: there every producer ends with one
    /// end mark for each consumer, and a consumer takes until it has as many as there are producers. The main thread
    /// is one of the consumers.
    fn run(self, channels: Channels, way: Way, buffer: Buffer) -> Books {
        let Crowd {
            producers,
            consumers,
            values_each,
        } = self;
        let count = producers * values_each;
        let (words, share) = match world::name() {
            "std" => (consumers, usize::MAX),
            _ => (0, count / consumers),
        };
        let mint = Mint::new(count);
        let (tx, mut rx) = channels.open::<Parcel>(buffer).expect("asked before");

        let further_txs: Vec<_> = (1..producers)
            .map(|_| tx.another().expect("several producers were asked for"))
            .collect();
        let putting: Vec<_> = iter::once(tx)
            .chain(further_txs)
            .enumerate()
            .map(|(producer, mut tx)| {
                let mint = mint.clone();
                world::spawn(move || {
                    let mut ledger = Ledger::new(count);
                    let ids = producer * values_each..(producer + 1) * values_each;
                    let words = iter::repeat_n(None, words);
                    for id in ids.map(Some).chain(words) {
                        world::perturb();
                        if way.put(&mut tx, id.map(|id| mint.token(id))).is_err() {
                            violated!("C1: a put on an open channel was refused");
                        }
                        id.into_iter().for_each(|id| ledger.accepted(id));
                    }
                    (tx, ledger)
                })
            })
            .collect();

        let consume = move |rx: &mut Rx<Parcel>| -> Vec<usize> {
            let (mut taken, mut heard) = (Vec::new(), 0);
            while taken.len() < share && heard < producers {
                world::perturb();
                match way.take(rx) {
                    Ok(Some(token)) => taken.push(token.id()),
                    Ok(None) => heard += 1,
                    Err(_) => violated!("C2: a take found an open channel closed"),
                }
            }
            taken
        };
        let further_rxs: Vec<_> = (1..consumers)
            .map(|_| rx.another().expect("several consumers were asked for"))
            .collect();
        let taking: Vec<_> = further_rxs
            .into_iter()
            .map(|mut rx| world::spawn(move || (consume(&mut rx), rx)))
            .collect();

        // No half is dropped before all threads are done: drops are another property.
        let mut taken = vec![consume(&mut rx)];
        let mut rxs = vec![rx];
        for handle in taking {
            let (ids, rx) = world::join(handle);
            taken.push(ids);
            rxs.push(rx);
        }
        let mut ledger = Ledger::new(count);
        let mut txs = Vec::new();
        for handle in putting {
            let (tx, books) = world::join(handle);
            ledger.merge(&books);
            txs.push(tx);
        }
        drop((txs, rxs));
        for id in taken.iter().flatten() {
            ledger.taken(*id);
        }
        Books {
            ledger,
            mint,
            taken,
            values_each,
        }
    }
}
