//! Tens of thousands of channels, and the operations of threads on them.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{
    AwaitAlts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled,
};
use flowmeter_harness::sync::std::clock;
use rand::{Rng, RngExt};

use crate::books::{BOOKS, Value};

const BUFFERS: [Buffer; 6] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(8),
    Buffer::Unbounded,
    Buffer::Dropping(NonZeroUsize::new(4).unwrap()),
    Buffer::Sliding(NonZeroUsize::new(4).unwrap()),
];

/// The longest wait of an alts.
const LONGEST_WAIT: Duration = Duration::from_micros(50);

struct Channel<C: AwaitAlts> {
    tx: C::Tx<Value>,
    rx: C::Rx<Value>,
    buffer: Buffer,
}

impl<C: AwaitAlts> Channel<C> {
    fn open(buffer: Buffer) -> Channel<C> {
        let (tx, rx) = C::open(buffer).expect("asked before");
        Channel { tx, rx, buffer }
    }

    fn another(&self) -> Channel<C> {
        Channel {
            tx: C::another_tx(&self.tx).expect("asked before"),
            rx: C::another_rx(&self.rx).expect("asked before"),
            buffer: self.buffer,
        }
    }

    fn value(&self) -> Value {
        Value::new(self.buffer.keeps_everything())
    }

    /// Takes all values that are there.
    fn drain(&mut self) {
        while let Polled::Done(value) = C::poll(&mut self.rx) {
            BOOKS.taken(&value);
        }
    }
}

/// The channels. Some live as long as the soak, so that anything that accumulates in a channel shows. The others are
/// closed and replaced all the time, so that anything that a channel leaves behind shows.
pub struct Hall<C: AwaitAlts> {
    places: Vec<Mutex<Channel<C>>>,
    /// How many of the first places keep their channels.
    lasting: usize,
}

impl<C: AwaitAlts> Hall<C> {
    /// `None` where the family has no such buffers, or a single producer or consumer.
    pub fn open(places: usize, lasting: usize) -> Option<Hall<C>> {
        let has = |buffer: &&Buffer| {
            C::open::<Value>(**buffer).is_some_and(|(tx, rx)| {
                C::another_tx(&tx).is_some() && C::another_rx(&rx).is_some() && C::close(&tx)
            })
        };
        let buffers: Vec<Buffer> = BUFFERS.iter().filter(has).copied().collect();
        if buffers.is_empty() {
            return None;
        }
        let buffer = |place: usize| buffers[place % buffers.len()];
        let places = (0..places)
            .map(|place| Mutex::new(Channel::open(buffer(place))))
            .collect();
        Some(Hall { places, lasting })
    }

    fn at(&self, place: usize) -> MutexGuard<'_, Channel<C>> {
        self.places[place]
            .lock()
            .expect("no thread panics while it holds the lock")
    }

    /// Half of the operations are in a tenth of the places, so that threads contend.
    fn place(&self, random: &mut impl Rng) -> usize {
        let all = self.places.len();
        let near = if random.random() { all } else { all / 10 };
        random.random_range(0..near.max(1))
    }

    /// One operation of a thread. More is taken than put: an unbounded buffer keeps the memory it has grown to, which
    /// would look like a leak.
    pub fn act(&self, random: &mut impl Rng) {
        match random.random_range(0..100) {
            0..20 => self.offer(random),
            20..47 => self.poll(random),
            47..75 => self.alts(random),
            75..83 => self.abandon_put(random),
            83..97 => self.abandon_take(random),
            _ => self.replace(random),
        }
    }

    fn offer(&self, random: &mut impl Rng) {
        let mut channel = self.at(self.place(random)).another();
        let value = channel.value();
        let ticket = value.ticket();
        if let Offered::Done = C::offer(&mut channel.tx, value) {
            BOOKS.accepted(&ticket);
        }
    }

    fn poll(&self, random: &mut impl Rng) {
        let mut channel = self.at(self.place(random)).another();
        if let Polled::Done(value) = C::poll(&mut channel.rx) {
            BOOKS.taken(&value);
        }
    }

    fn alts(&self, random: &mut impl Rng) {
        let count = random.random_range(1..=4);
        let channels: Vec<Channel<C>> = (0..count)
            .map(|_| self.at(self.place(random)).another())
            .collect();
        let mut slots = Vec::new();
        let mut clauses: Vec<Clause<'_, C, Value>> = Vec::new();
        for channel in &channels {
            if random.random() {
                clauses.push(Clause::Take(&channel.rx));
                slots.push(None);
            } else {
                clauses.push(Clause::Put(&channel.tx));
                slots.push(Some(channel.value()));
            }
        }
        let tickets: Vec<_> = slots.iter().flatten().map(Value::ticket).collect();
        let patience = match random.random_range(0..3) {
            0 => Patience::Now,
            _ => Patience::Until(clock::after(
                random.random_range(Duration::ZERO..LONGEST_WAIT),
            )),
        };
        let order = if random.random() {
            Order::Random
        } else {
            Order::Priority
        };
        let puts_before = |clause: usize| {
            let is_put = |clause: &&Clause<'_, C, Value>| matches!(clause, Clause::Put(_));
            clauses[..clause].iter().filter(is_put).count()
        };
        match C::run(&mut C::prepare(&clauses, order), &mut slots, patience) {
            Ok(Chosen::Took { value, .. }) => value.iter().for_each(|value| BOOKS.taken(value)),
            Ok(Chosen::Put {
                clause,
                accepted: true,
            }) => {
                assert!(
                    slots[clause].is_none(),
                    "the winner's value stayed in its slot"
                );
                BOOKS.accepted(&tickets[puts_before(clause)]);
                slots[clause] = None;
            }
            Ok(_) => {}
            Err(error) => panic!("an alts was refused: {error:?}"),
        }
        // The values of losing clauses are back, and are dropped with the slots.
        let lost = slots.iter().flatten().count();
        let put = tickets.len();
        assert!(lost + 1 >= put, "{put} values went in, {lost} came back");
    }

    /// A put that is polled and dropped: it may have happened, so its value is not expected.
    fn abandon_put(&self, random: &mut impl Rng) {
        let mut channel = self.at(self.place(random)).another();
        polled(random, C::put_async(&mut channel.tx, Value::new(false)));
    }

    fn abandon_take(&self, random: &mut impl Rng) {
        let mut channel = self.at(self.place(random)).another();
        match polled(random, C::take_async(&mut channel.rx)) {
            Some(Ok(value)) => BOOKS.taken(&value),
            Some(Err(_)) => {}
            // A value that it had been handed went back, maybe into a channel that was closed and emptied in between.
            // No other thread checks that channel again.
            None => {
                if let Polled::Done(value) = C::poll(&mut channel.rx) {
                    BOOKS.taken(&value);
                }
            }
        }
    }

    /// Closes a channel while other threads use it, and puts a new one in its place.
    fn replace(&self, random: &mut impl Rng) {
        let place = random.random_range(self.lasting..self.places.len());
        let mut closed = {
            let mut here = self.at(place);
            let next = Channel::open(here.buffer);
            std::mem::replace(&mut *here, next)
        };
        C::close(&closed.tx);
        closed.drain();
    }

    /// Empties every channel. All but the lasting ones are gone until [`Hall::refill`]. No other thread uses the
    /// hall.
    pub fn clear(&mut self) {
        for place in &mut self.places {
            place
                .get_mut()
                .expect("no thread panics while it holds the lock")
                .drain();
        }
        self.places.truncate(self.lasting);
    }

    /// Opens them again.
    pub fn refill(&mut self, places: usize) {
        let buffers: Vec<Buffer> = self
            .places
            .iter_mut()
            .map(|place| {
                place
                    .get_mut()
                    .expect("no thread panics while it holds the lock")
                    .buffer
            })
            .collect();
        for place in self.places.len()..places {
            self.places
                .push(Mutex::new(Channel::open(buffers[place % buffers.len()])));
        }
    }
}

/// Polls once or twice and drops.
fn polled<F: Future>(random: &mut impl Rng, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..random.random_range(1..=2) {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Some(answer);
        }
        std::thread::yield_now();
    }
    None
}
