//! What a program costs over the crate that takes the place of std is what it costs over the facade. Otherwise the costs
//! of published crates and of ours could not be compared.

use std::sync::Arc;

use flowmeter_harness::sync::cost::allocations::within;
use flowmeter_harness::sync::cost::{Counts, Keeping, Pace};
use flowmeter_harness::sync::shuttle::{self as facade, Shuttle};
use flowmeter_harness::sync::{World, world};
use flowmeter_std::{sync as shim, thread};

// As in the program of the twins.
#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

/// What differs between the two.
trait Primitives: Send + Sync + 'static {
    type Number: Send + Sync + 'static;
    type Lock: Send + Sync + 'static;
    type Condition: Send + Sync + 'static;
    /// Of a thread that can be woken.
    type Name: Send + 'static;

    fn number() -> Self::Number;
    fn load(number: &Self::Number) -> u64;
    fn store(number: &Self::Number, value: u64);
    fn swap(number: &Self::Number, value: u64) -> u64;
    fn add(number: &Self::Number, value: u64) -> u64;
    fn exchange(number: &Self::Number, current: u64, new: u64) -> bool;
    fn update(number: &Self::Number, next: impl Fn(u64) -> u64);
    fn lock() -> Self::Lock;
    fn with<R>(lock: &Self::Lock, look: impl FnOnce(&mut u64) -> R) -> R;
    fn try_with(lock: &Self::Lock) -> bool;
    fn condition() -> Self::Condition;
    /// Waits until the number behind the lock is not 0, and takes it.
    fn wait(lock: &Self::Lock, condition: &Self::Condition) -> u64;
    fn notify_one(condition: &Self::Condition);
    fn notify_all(condition: &Self::Condition);
    /// Parks until the number is not 0, after it has told its name.
    fn park(number: &Self::Number, tell: impl FnOnce(Self::Name));
    fn unpark(name: &Self::Name);
    fn yield_now();
    /// Reads the clock.
    fn now();
}

macro_rules! numbers {
    ($atomic:ident) => {
        type Number = $atomic::atomic::AtomicU64;

        fn number() -> Self::Number {
            Self::Number::new(0)
        }
        fn load(number: &Self::Number) -> u64 {
            number.load($atomic::atomic::Ordering::SeqCst)
        }
        fn store(number: &Self::Number, value: u64) {
            number.store(value, $atomic::atomic::Ordering::SeqCst);
        }
        fn swap(number: &Self::Number, value: u64) -> u64 {
            number.swap(value, $atomic::atomic::Ordering::SeqCst)
        }
        fn add(number: &Self::Number, value: u64) -> u64 {
            number.fetch_add(value, $atomic::atomic::Ordering::SeqCst)
        }
        fn exchange(number: &Self::Number, current: u64, new: u64) -> bool {
            use $atomic::atomic::Ordering::SeqCst;
            number.compare_exchange(current, new, SeqCst, SeqCst).is_ok()
        }
        fn update(number: &Self::Number, next: impl Fn(u64) -> u64) {
            use $atomic::atomic::Ordering::SeqCst;
            let updated = number.fetch_update(SeqCst, SeqCst, |value| Some(next(value)));
            assert!(updated.is_ok());
        }
    };
}

struct Facade;

impl Primitives for Facade {
    numbers!(facade);
    type Lock = facade::Mutex<u64>;
    type Condition = facade::Condvar;
    type Name = facade::Unparker;

    fn lock() -> Self::Lock {
        facade::Mutex::new(0)
    }
    fn with<R>(lock: &Self::Lock, look: impl FnOnce(&mut u64) -> R) -> R {
        look(&mut lock.lock())
    }
    fn try_with(lock: &Self::Lock) -> bool {
        lock.try_lock().is_some()
    }
    fn condition() -> Self::Condition {
        facade::Condvar::new()
    }
    fn wait(lock: &Self::Lock, condition: &Self::Condition) -> u64 {
        let mut value = lock.lock();
        while *value == 0 {
            value = condition.wait(value);
        }
        std::mem::take(&mut *value)
    }
    fn notify_one(condition: &Self::Condition) {
        condition.notify_one();
    }
    fn notify_all(condition: &Self::Condition) {
        condition.notify_all();
    }
    fn park(number: &Self::Number, tell: impl FnOnce(Self::Name)) {
        let parker = facade::Parker::new();
        tell(parker.unparker());
        while Self::load(number) == 0 {
            parker.park();
        }
    }
    fn unpark(name: &Self::Name) {
        name.unpark();
    }
    fn yield_now() {
        facade::yield_now();
    }
    fn now() {
        facade::clock::now_nanos();
    }
}

struct Shim;

const POISON: &str = "no thread panics";

impl Primitives for Shim {
    numbers!(shim);
    type Lock = shim::Mutex<u64>;
    type Condition = shim::Condvar;
    type Name = thread::Thread;

    fn lock() -> Self::Lock {
        shim::Mutex::new(0)
    }
    fn with<R>(lock: &Self::Lock, look: impl FnOnce(&mut u64) -> R) -> R {
        look(&mut lock.lock().expect(POISON))
    }
    fn try_with(lock: &Self::Lock) -> bool {
        lock.try_lock().is_ok()
    }
    fn condition() -> Self::Condition {
        shim::Condvar::new()
    }
    fn wait(lock: &Self::Lock, condition: &Self::Condition) -> u64 {
        let mut value = lock.lock().expect(POISON);
        while *value == 0 {
            value = condition.wait(value).expect(POISON);
        }
        std::mem::take(&mut *value)
    }
    fn notify_one(condition: &Self::Condition) {
        condition.notify_one();
    }
    fn notify_all(condition: &Self::Condition) {
        condition.notify_all();
    }
    fn park(number: &Self::Number, tell: impl FnOnce(Self::Name)) {
        tell(thread::current());
        while Self::load(number) == 0 {
            thread::park();
        }
    }
    fn unpark(name: &Self::Name) {
        name.unpark();
    }
    fn yield_now() {
        thread::yield_now();
    }
    fn now() {
        let _ = flowmeter_std::time::Instant::now();
    }
}

struct Shared<P: Primitives> {
    count: P::Number,
    flag: P::Number,
    lock: P::Lock,
    /// What costs nothing: a real lock, which no thread of an execution waits for.
    names: std::sync::Mutex<Vec<P::Name>>,
    condition: P::Condition,
}

/// Turns of each thread.
const TURNS: u64 = 8;

/// Two threads use everything, some of it in vain. Each allocates once a turn, and one names the other.
fn program<P: Primitives>() {
    let shared = Arc::new(Shared::<P> {
        count: P::number(),
        flag: P::number(),
        lock: P::lock(),
        names: std::sync::Mutex::default(),
        condition: P::condition(),
    });
    let other = Arc::clone(&shared);
    let first = move || {
        let shared = other;
        for _ in 0..TURNS {
            allocate();
            drop((P::number(), P::lock(), P::condition()));
            drop(facade::Track::new(()));
            P::now();
            P::add(&shared.count, 1);
            P::update(&shared.count, |count| count + 1);
            P::wait(&shared.lock, &shared.condition);
        }
        P::park(&shared.flag, |name| shared.names.lock().expect(POISON).push(name));
        P::store(&shared.count, 0);
    };
    let second = move || {
        for turn in 0..TURNS {
            allocate();
            world::join(world::spawn(|| ()));
            world::block_on(async { P::swap(&shared.count, turn) });
            let count = P::load(&shared.count);
            P::exchange(&shared.count, count, count + 1);
            while P::with(&shared.lock, |value| std::mem::replace(value, 1)) == 1 {
                P::yield_now();
            }
            match turn % 2 {
                0 => P::notify_one(&shared.condition),
                _ => P::notify_all(&shared.condition),
            }
            P::try_with(&shared.lock);
        }
        let name = loop {
            // The lock is open again before the yield.
            let told = shared.names.lock().expect(POISON).pop();
            match told {
                Some(name) => break name,
                None => P::yield_now(),
            }
        };
        P::unpark(&name);
        P::store(&shared.flag, 1);
        P::unpark(&name);
        P::unpark(&name);
    };
    let threads = [
        world::spawn(move || within(first)),
        world::spawn(move || within(second)),
    ];
    threads.into_iter().for_each(world::join);
}

fn allocate() {
    drop(std::hint::black_box(Box::new(0_u64)));
}

fn cost<P: Primitives>(pace: Pace) -> Counts {
    let counts = Shuttle::count(pace, program::<P>).expect("it counts");
    counts.expect("it ends")
}

#[test]
fn one_program_costs_the_same_over_both() {
    let both = Pace::ALL.map(|pace| {
        let counts = cost::<Facade>(pace);
        assert_eq!(cost::<Shim>(pace), counts, "{}", pace.name());
        // What the world allocates for itself is not among them.
        assert_eq!(counts.allocations, Some(2 * TURNS + 1));
        counts.each()
    });
    let [one, other] = both;
    for ((name, count), (_, more)) in one.into_iter().zip(other) {
        assert!(count.max(more) > Some(0), "the program makes no {name}");
    }
}
