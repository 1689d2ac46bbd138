//! Futures dropped after each of their polls, whatever other threads do in between. Several properties use this.
//!
//! One thread enumerates every order of up to three polls and acts; threads race the rest. A family that claims
//! `cancel-safe` loses no value ([`Duty::LoseNothing`]). Any other family must drop each value once, leave no waiter
//! asleep beside a value, and keep the channel working.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::Case;
use super::acts::{offer, room, turns};
use crate::design::{Channels, Rx, Tx};

/// What a family owes where its futures are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// A value that was accepted is taken.
    LoseNothing,
    /// A value may be lost with the future that was to have it.
    DropOnce,
}

/// What is owed in a case.
#[derive(Clone, Copy, Debug)]
struct Owed {
    duty: Duty,
    /// Requests are served in the order in which they began to wait.
    is_in_order: bool,
}

/// What happens after a poll.
#[derive(Clone, Copy, Debug)]
enum Act {
    Nothing,
    /// Offers to a take, polls from a put.
    Serve,
    /// Waits on the same side.
    Rival,
    Close,
}

/// Polls after which a future is dropped, at most.
const POLLS: usize = 3;

/// The buffers of the dropped futures.
pub(super) const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Unbounded,
];

/// `is_in_order`: requests are served in the order in which they began to wait (C4).
pub(super) fn cases(channels: Channels, duty: Duty, is_in_order: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        let owed = Owed { duty, is_in_order };
        let mut case = |what: &str, model: fn(Channels, Buffer, Owed)| {
            cases.push(Case::new(format!("{what}, {buffer}"), move || {
                model(channels, buffer, owed)
            }));
        };
        case("a take dropped after each of its polls", each_take);
        case("takes dropped against offers", takes_race);
        if buffer != Buffer::Unbounded {
            case("a put dropped after each of its polls", each_put);
            case("puts dropped against polls", puts_race);
        }
    }
    cases
}

/// What is done after each poll of the future that is then dropped. Where the world cannot explore a choice itself,
/// all orders are listed.
fn plans() -> Vec<Vec<Act>> {
    let mut plans = vec![Vec::new()];
    let mut longest = 0..1;
    for _ in 0..POLLS {
        let begin = plans.len();
        for shorter in longest {
            for act in [Act::Nothing, Act::Serve, Act::Rival, Act::Close] {
                let mut plan: Vec<Act> = plans[shorter].clone();
                plan.push(act);
                plans.push(plan);
            }
        }
        longest = begin..plans.len();
    }
    match world::name() {
        "std" => plans,
        _ => vec![plans.swap_remove(world::choose(plans.len()))],
    }
}

/// A future and whether its task was woken.
struct Task<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
    sleeps: bool,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl<F: Future> Task<F> {
    fn new(future: F) -> Self {
        Task {
            future: Box::pin(future),
            woken: Arc::default(),
            sleeps: false,
        }
    }

    /// Polls it, and checks that its task was woken first.
    fn poll(&mut self) -> Poll<F::Output> {
        self.poll_beside(false)
    }

    /// Likewise. Where a rival's task was woken for the same place or value, this poll may take it first: only a design
    /// with C4 keeps an order.
    fn poll_beside(&mut self, is_rival_woken: bool) -> Poll<F::Output> {
        let woken = self.woken.0.swap(0, Ordering::Relaxed) > 0 || is_rival_woken;
        let waker = Waker::from(Arc::clone(&self.woken));
        let answer = self.future.as_mut().poll(&mut Context::from_waker(&waker));
        holds!(
            answer.is_pending() || woken || !self.sleeps,
            "C3: a future could end, and its task was not woken"
        );
        self.sleeps = answer.is_pending();
        answer
    }

    /// Whether its task was woken since the last poll.
    fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::Relaxed) > 0
    }
}

/// A channel and its books.
struct Scene {
    tx: Tx<Token>,
    rx: Rx<Token>,
    books: Books,
    duty: Duty,
    buffer: Buffer,
}

struct Books {
    mint: Mint,
    ledger: Ledger,
    /// How many futures are dropped, at most.
    futures: usize,
    /// Values made so far.
    made: usize,
    closed: bool,
}

impl Books {
    /// Of a channel that is open.
    fn of(values: usize) -> Self {
        // As many again, one more and one for a rendezvous show that the channel goes on.
        let count = 2 * values + 2;
        Books {
            futures: values,
            mint: Mint::new(count),
            ledger: Ledger::new(count),
            made: 0,
            closed: false,
        }
    }

    fn next(&mut self) -> Token {
        self.made += 1;
        self.mint.token(self.made - 1)
    }

    fn offered(&mut self, id: usize, answer: Offered<Token>) -> bool {
        let done = matches!(answer, Offered::Done);
        match done {
            true => self.ledger.accepted(id),
            false => self.ledger.refused(id),
        }
        done
    }

    fn took(&mut self, answer: Result<Token, TakeError>) {
        match answer {
            Ok(token) => self.ledger.taken(token.id()),
            Err(_) => holds!(self.closed, "C2: a take found an open channel closed"),
        }
    }

    fn put(&mut self, id: usize, answer: Result<(), PutError<Token>>) {
        match answer {
            Ok(()) => self.ledger.accepted(id),
            Err(_) => {
                holds!(self.closed, "C1: a put on an open channel was refused");
                self.ledger.refused(id);
            }
        }
    }
}

impl Scene {
    fn open(channels: Channels, buffer: Buffer, duty: Duty, values: usize) -> Self {
        let (tx, rx) = channels.open::<Token>(buffer).expect("asked before");
        Scene {
            tx,
            rx,
            books: Books::of(values),
            duty,
            buffer,
        }
    }

    /// Empties the channel, checks that it still works, and closes the books.
    fn end(mut self, around: &str) {
        while let Polled::Done(token) = self.rx.poll() {
            self.books.ledger.taken(token.id());
        }
        if !self.books.closed {
            self.goes_on(around);
        }
        let Scene {
            tx,
            rx,
            books,
            duty,
            ..
        } = self;
        drop((tx, rx));
        match duty {
            Duty::LoseNothing => books.ledger.close(&books.mint, around),
            Duty::DropOnce => books.ledger.close_lossy(&books.mint, around),
        }
    }

    fn goes_on(&mut self, around: &str) {
        let Scene { tx, rx, books, .. } = self;
        if self.duty == Duty::LoseNothing && self.buffer == Buffer::Rendezvous {
            // If the channel serves a dropped take, the value is missing in the end.
            let token = books.next();
            let id = token.id();
            books.offered(id, tx.offer(token));
        }
        let mut take = Task::new(rx.take_async());
        holds!(take.poll().is_pending(), "C3: a take of nothing, {around}");
        // Each dropped future may have lost one value.
        let tries = match self.duty {
            Duty::LoseNothing => 1,
            Duty::DropOnce => books.futures + 1,
        };
        for _ in 0..tries {
            let token = books.next();
            let id = token.id();
            let done = books.offered(id, tx.offer(token));
            holds!(done, "C5: a take waits, and an offer found none, {around}");
            if let Poll::Ready(answer) = take.poll() {
                return books.took(answer);
            }
        }
        violated!("C3: a take waits beside a value, {around}");
    }
}

fn each_take(channels: Channels, buffer: Buffer, owed: Owed) {
    for plan in plans() {
        dropped_take(channels, buffer, owed, &plan);
    }
}

/// A take is polled before each act of the plan, and dropped after the last.
fn dropped_take(channels: Channels, buffer: Buffer, owed: Owed, plan: &[Act]) {
    let around = format!("where a take is polled before each of {plan:?} and then dropped");
    let mut scene = Scene::open(channels, buffer, owed.duty, POLLS);
    let mut other = scene.rx.another();
    let Scene { tx, rx, books, .. } = &mut scene;
    let mut spare = other.as_mut();
    let mut rival: Option<Task<_>> = None;
    let mut take = Task::new(rx.take_async());
    for act in plan {
        // A close wakes all.
        let may_overtake = !owed.is_in_order && !books.closed;
        let is_rival_woken = may_overtake && rival.as_ref().is_some_and(Task::is_woken);
        if let Poll::Ready(answer) = take.poll_beside(is_rival_woken) {
            books.took(answer);
            break;
        }
        match act {
            Act::Nothing => {}
            Act::Serve => {
                let token = books.next();
                let id = token.id();
                books.offered(id, tx.offer(token));
            }
            Act::Rival => {
                if let Some(mut task) = spare.take().map(|rx| Task::new(rx.take_async())) {
                    match task.poll() {
                        Poll::Ready(answer) => books.took(answer),
                        Poll::Pending => rival = Some(task),
                    }
                }
            }
            Act::Close => books.closed |= tx.close(),
        }
    }
    drop(take);
    if let Some(rival) = &mut rival {
        match rival.poll() {
            Poll::Ready(answer) => books.took(answer),
            Poll::Pending => {
                let beside = rx.poll();
                let alone = !matches!(beside, Polled::Done(_));
                holds!(alone, "C3: a take waits beside a value, {around}");
            }
        }
    }
    drop(rival);
    drop(other);
    scene.end(&around);
}

fn each_put(channels: Channels, buffer: Buffer, owed: Owed) {
    for plan in plans() {
        dropped_put(channels, buffer, owed, &plan);
    }
}

/// As [`dropped_take`], from the other side: the channel is full.
fn dropped_put(channels: Channels, buffer: Buffer, owed: Owed, plan: &[Act]) {
    let around = format!("where a put is polled before each of {plan:?} and then dropped");
    let mut scene = Scene::open(channels, buffer, owed.duty, POLLS);
    let mut other = scene.tx.another();
    let Scene { tx, rx, books, .. } = &mut scene;
    for _ in 0..room(buffer) {
        let token = books.next();
        let id = token.id();
        holds!(books.offered(id, tx.offer(token)), "C5: no room");
    }
    let mut spare = other.as_mut();
    let mut rival: Option<(usize, Task<_>)> = None;
    let (mut answered, mut room) = (false, false);
    let token = books.next();
    let mine = token.id();
    let mut put = Task::new(tx.put_async(token));
    for act in plan {
        let may_overtake = !owed.is_in_order && !books.closed;
        let mut waits = rival.iter().map(|(_, rival)| rival);
        let is_rival_woken = may_overtake && waits.any(Task::is_woken);
        if let Poll::Ready(answer) = put.poll_beside(is_rival_woken) {
            books.put(mine, answer);
            answered = true;
            break;
        }
        match act {
            Act::Nothing => {}
            Act::Serve => {
                if let Polled::Done(token) = rx.poll() {
                    books.ledger.taken(token.id());
                    room = true;
                }
            }
            Act::Rival => {
                if let Some(tx) = spare.take() {
                    let token = books.next();
                    let theirs = token.id();
                    let mut task = Task::new(tx.put_async(token));
                    match task.poll() {
                        Poll::Ready(answer) => books.put(theirs, answer),
                        Poll::Pending => rival = Some((theirs, task)),
                    }
                }
            }
            Act::Close => books.closed |= rx.close(),
        }
    }
    drop(put);
    if !answered {
        books.ledger.offered(mine);
    }
    if let Some((theirs, rival)) = &mut rival {
        match rival.poll() {
            Poll::Ready(answer) => books.put(*theirs, answer),
            Poll::Pending => books.ledger.offered(*theirs),
        }
    }
    if owed.duty == Duty::LoseNothing && !answered && !room {
        while let Polled::Done(token) = rx.poll() {
            let id = token.id();
            books.ledger.taken(id);
            holds!(id != mine, "C9: a dropped put was delivered, {around}");
        }
    }
    drop(rival);
    drop(other);
    scene.end(&around);
}

/// Polls a future at random moments, and drops it if it is still pending.
fn poll_and_drop<F: Future>(future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..=world::choose(POLLS - 1) {
        world::perturb();
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Some(answer);
        }
    }
    world::perturb();
    None
}

fn takes_race(channels: Channels, buffer: Buffer, owed: Owed) {
    let mut scene = Scene::open(channels, buffer, owed.duty, turns());
    let Scene {
        mut tx, mut books, ..
    } = scene;
    let offering = world::spawn(move || {
        for _ in 0..turns() {
            let token = books.next();
            let id = token.id();
            books.offered(id, offer(&mut tx, token));
        }
        (tx, books)
    });
    let mut taken = Vec::new();
    for _ in 0..turns() {
        taken.extend(poll_and_drop(scene.rx.take_async()));
    }
    (scene.tx, scene.books) = world::join(offering);
    taken
        .into_iter()
        .for_each(|answer| scene.books.took(answer));
    scene.end("where takes are dropped against offers");
}

fn puts_race(channels: Channels, buffer: Buffer, owed: Owed) {
    let mut scene = Scene::open(channels, buffer, owed.duty, turns());
    let mut rx = scene.rx;
    let polling = world::spawn(move || {
        let mut taken = Vec::new();
        for _ in 0..turns() {
            world::perturb();
            if let Polled::Done(token) = rx.poll() {
                taken.push(token);
            }
        }
        (rx, taken)
    });
    for _ in 0..turns() {
        let token = scene.books.next();
        let id = token.id();
        match poll_and_drop(scene.tx.put_async(token)) {
            Some(answer) => scene.books.put(id, answer),
            None => scene.books.ledger.offered(id),
        }
    }
    let taken;
    (scene.rx, taken) = world::join(polling);
    for token in taken {
        scene.books.took(Ok(token));
    }
    scene.end("where puts are dropped against polls");
}
