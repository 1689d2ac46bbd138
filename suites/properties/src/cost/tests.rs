//! Costs that are known beforehand.

use std::collections::LinkedList;
use std::num::NonZeroUsize;
use std::sync::Arc as Plain;

use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::{Registry, Visitor, own};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::cost::{Counts, Keeping, Pace};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::atomic::{AtomicU64, Ordering};
use flowmeter_harness::sync::shuttle::{Condvar, Mutex, Shuttle, Sim, spawn};

use super::{Cost, Shape, costs};

// As in the programs that count.
#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

/// A queue behind one lock, and a counter of its own. It is locked once an operation, told of once a put, and allocates a
/// node for each value.
struct Tiny;

struct Half<T>(Plain<Shared<T>>);

struct Shared<T> {
    values: Mutex<LinkedList<T>>,
    filled: Condvar,
    taken: AtomicU64,
}

impl Channels for Tiny {
    type Tx<T: Message> = Half<T>;
    type Rx<T: Message> = Half<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Half<T>, Half<T>)> {
        let shared = Plain::new(Shared {
            values: Mutex::new(LinkedList::new()),
            filled: Condvar::new(),
            taken: AtomicU64::new(0),
        });
        let halves = (Half(Plain::clone(&shared)), Half(shared));
        (buffer == Buffer::Unbounded).then_some(halves)
    }
    fn offer<T: Message>(tx: &mut Half<T>, value: T) -> Offered<T> {
        tx.0.values.lock().push_back(value);
        tx.0.filled.notify_one();
        Offered::Done
    }
    fn poll<T: Message>(rx: &mut Half<T>) -> Polled<T> {
        let taken = rx.0.values.lock().pop_front();
        taken.map_or(Polled::WouldWait, Polled::Done)
    }
}

impl Blocking for Tiny {
    fn put<T: Message>(tx: &mut Half<T>, value: T) -> Result<(), PutError<T>> {
        let _ = Tiny::offer(tx, value);
        Ok(())
    }
    fn take<T: Message>(rx: &mut Half<T>) -> Result<T, TakeError> {
        let mut values = rx.0.values.lock();
        let value = loop {
            match values.pop_front() {
                Some(value) => break value,
                None => values = rx.0.filled.wait(values),
            }
        };
        let taken = rx.0.taken.load(Ordering::Relaxed);
        rx.0.taken.store(taken + 1, Ordering::Relaxed);
        Ok(value)
    }
}

/// A put allocates once before its first poll, and once in it.
impl Async for Tiny {
    fn put_async<T: Message>(
        tx: &mut Half<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let value = Box::new(value);
        async { Tiny::put(tx, *value) }
    }
    async fn take_async<T: Message>(rx: &mut Half<T>) -> Result<T, TakeError> {
        Tiny::take(rx)
    }
}

#[derive(Clone, Copy, Debug)]
struct Known;

impl Registry for Known {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        own::<Tiny, _>(visitor, "tiny")
            .channel()
            .blocking()
            .asynchronous()
            .enter();
    }
}

fn of<W: World>(buffer: Buffer, awaits: bool) -> [Option<Cost>; 2] {
    let shape = Shape {
        producers: 1,
        consumers: 1,
        buffer,
        awaits,
    };
    let [costs] = costs::<W>(Known, "tiny", &[shape])
        .try_into()
        .expect("one shape");
    costs.map(|cost| cost.map(|cost| cost.expect("it ends")))
}

#[test]
fn a_known_channel_costs_what_it_does() {
    let costs = of::<Shuttle>(Buffer::Unbounded, false);
    let [bursts, steps] = costs.map(|cost| cost.expect("it has such"));
    let messages = bursts.messages;
    // The first burst puts all, and the second takes all.
    let alone = Counts {
        read_modify_writes: messages,
        locks: 2 * messages,
        loads: messages,
        stores: messages,
        allocations: Some(messages),
        ..Counts::default()
    };
    assert_eq!(bursts.counts, alone);
    // In step, each operation finds the lock with the other task.
    let moves = 2 * steps.messages;
    assert_eq!(steps.counts, Counts { moves, ..alone });
    let [awaited, _] = of::<Shuttle>(Buffer::Unbounded, true).map(|cost| cost.expect("likewise"));
    let allocations = Some(2 * awaited.messages);
    assert_eq!(
        awaited.counts,
        Counts {
            allocations,
            ..alone
        }
    );
}

#[test]
fn without_such_a_channel_or_a_world_that_counts_there_is_no_cost() {
    let one = NonZeroUsize::MIN;
    assert_eq!(of::<Shuttle>(Buffer::Fixed(one), false), [None, None]);
    assert_eq!(of::<Sim>(Buffer::Unbounded, false), [None, None]);
    assert_eq!(of::<Loom>(Buffer::Unbounded, false), [None, None]);
}

/// The counts of an execution in which no implementation is called.
const NOTHING: Counts = Counts {
    read_modify_writes: 0,
    locks: 0,
    wakes: 0,
    moves: 0,
    allocations: Some(0),
    loads: 0,
    stores: 0,
};

/// The counts of an execution in bursts.
fn counted(model: impl Fn() + Send + Sync + 'static) -> Counts {
    let counts = Shuttle::count(Pace::Bursts, model).expect("it counts");
    counts.expect("it holds")
}

#[test]
fn a_copy_moves_when_another_task_has_written() {
    let counts = counted(|| {
        let word = Plain::new(AtomicU64::new(0));
        let other = Plain::clone(&word);
        word.store(1, Ordering::Relaxed); // new: no task has it
        let reads = spawn(move || {
            other.load(Ordering::Relaxed); // moves
            other.load(Ordering::Relaxed);
        });
        reads.join();
        word.load(Ordering::Relaxed); // both tasks have a copy
        word.store(2, Ordering::Relaxed); // moves: the other copy becomes invalid
        word.swap(3, Ordering::Relaxed);
        let failed = word.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        assert_eq!(failed, Err(3));
    });
    let expected = Counts {
        read_modify_writes: 2,
        moves: 2,
        loads: 3,
        stores: 2,
        ..NOTHING
    };
    assert_eq!(counts, expected);
}

#[test]
fn a_notification_is_a_wake_where_a_task_waits() {
    let counts = counted(|| {
        let both = Plain::new((Mutex::new(false), Condvar::new()));
        let other = Plain::clone(&both);
        let waits = spawn(move || {
            let mut told = other.0.lock();
            while !*told {
                told = other.1.wait(told);
            }
        });
        let tells = spawn(move || {
            *both.0.lock() = true;
            both.1.notify_all();
            both.1.notify_one(); // no task waits any more
        });
        waits.join();
        tells.join();
    });
    // The waiting task locks, waits and locks again. Its second lock moves back what the other one has moved.
    let expected = Counts {
        read_modify_writes: 3,
        locks: 3,
        wakes: 1,
        moves: 3,
        ..NOTHING
    };
    assert_eq!(counts, expected);
}
