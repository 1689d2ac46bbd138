//! What an implementation owes is asked in one execution of a world, whatever its `open` does there.

use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::{Registry, Visitor, mutant};
use flowmeter_harness::sync::Exploration;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::shuttle::atomic::AtomicU32;
use flowmeter_impls_shuttle::channel::mutex::MutexChannels;
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::Checks;

/// A channel that works in `open`, at this many scheduling points. Alone they are far fewer than an execution may have.
struct Laborious;

const WORK: u32 = 5_000;

static OPENED: AtomicUsize = AtomicUsize::new(0);

impl Channels for Laborious {
    type Tx<T: Message> = <MutexChannels as Channels>::Tx<T>;
    type Rx<T: Message> = <MutexChannels as Channels>::Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        OPENED.fetch_add(1, Ordering::Relaxed);
        let work = AtomicU32::new(0);
        while work.fetch_add(1, Ordering::Relaxed) < WORK {}
        MutexChannels::open(buffer)
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        MutexChannels::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        MutexChannels::poll(rx)
    }
}

impl Blocking for Laborious {
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        MutexChannels::put(tx, value)
    }

    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        MutexChannels::take(rx)
    }
}

#[derive(Clone, Copy)]
struct OfLaborious;

impl Registry for OfLaborious {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        let laborious = mutant::<Laborious, _>(visitor, "laborious");
        laborious.channel().blocking().enter();
    }
}

pub fn models() -> Vec<Model> {
    vec![
        Model::new("shuttle::laborious-is-asked", || {
            let owed = asked(None).into_iter();
            let owed: usize = owed.map(|(_, cases)| cases.len()).sum();
            let opened = OPENED.load(Ordering::Relaxed);
            let told = format!("{owed} cases, {opened} channels opened");
            match owed > 0 && opened * WORK as usize > Exploration::STEPS {
                true => Ok(told),
                false => Err(told),
            }
        }),
        Model::new("shuttle::laborious-is-asked-for-each-property", || {
            let all = asked(None);
            if all.iter().all(|(_, cases)| cases.is_empty()) {
                return Err("it owes nothing".to_owned());
            }
            for cell in &all {
                let alone = asked(Some(cell.0));
                if alone != [cell.clone()] {
                    return Err(format!("among all: {cell:?}; alone: {alone:?}"));
                }
            }
            Ok(format!("{} properties", all.len()))
        }),
    ]
}

/// The properties that are asked for, each with the names of its cases.
fn asked(property: Option<&str>) -> Vec<(&'static str, Vec<String>)> {
    let checks = Checks::of_one::<Shuttle>(OfLaborious, "laborious", property);
    let cells = checks.cells().map(|cell| {
        let cases = cell.cases.into_iter().chain(cell.not_promised);
        (cell.property.name, cases.map(|case| case.name).collect())
    });
    cells.collect()
}
