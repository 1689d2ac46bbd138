//! `mix`: inputs that come and go, and can be soloed, muted and paused, to one channel (M5).
//!
//! A go block owns the consumers of the inputs. It waits on all inputs that are to be read, and on a channel that
//! signals changes: an alts over a set of channels that is built anew for each value.

use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;

use flowmeter_harness::channel::{AwaitAlts, Channels, Message, Offered, Order, Winner};
use flowmeter_harness::combinator::{Attribute, SoloMode};
use flowmeter_harness::executor::{Spawn, go};
use flowmeter_harness::pipeline::AtEnd;

use crate::channel::boxed;
use crate::pipeline::{ONE, TOO_MANY, open};
use crate::sync::{Arc, Mutex};

use super::Outlet;

/// A mix into `to`, which it never closes. It ends, with one value lost, when `to` refuses a value. It also ends when
/// the
/// [`Mix`] was dropped and no readable input is left.
///
/// ```
/// # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
/// use flowmeter_impls::channel::Buffer;
/// use flowmeter_impls::channel::mutex::{Channel, MutexChannels as C};
/// use flowmeter_impls::combinator::{Attribute, mix};
/// use flowmeter_impls::executor::Executors;
/// use flowmeter_impls::executor::fixed_pool::FixedPool;
///
/// let pool = FixedPool::new();
/// let (to, out) = Channel::split(Buffer::fixed(8));
/// let mix = mix::<C, &str>(&pool.spawner(), to);
/// let (singer, voice) = Channel::split(Buffer::Rendezvous);
/// let (drummer, drums) = Channel::split(Buffer::Rendezvous);
/// let voice = mix.admix(voice);
/// let drums = mix.admix(drums);
///
/// drummer.put("boom").unwrap();
/// assert_eq!(out.take(), Ok("boom"));
/// mix.toggle(&[(voice, Attribute::Solo, true), (drums, Attribute::Solo, false)]);
/// drummer.put("tock").unwrap();
/// singer.put("la").unwrap();
/// assert_eq!(out.take(), Ok("la"));
/// # }
/// ```
///
/// # Panics
/// When the channels have one producer only.
pub fn mix<C: AwaitAlts, T: Message>(spawner: &impl Spawn, to: C::Tx<T>) -> Mix<C, T> {
    let (change, changed) = open::<C, ()>(ONE);
    let desk = Arc::new(Mutex::new(Desk {
        next_number: 0,
        inputs: BTreeMap::new(),
        arrived: Vec::new(),
        mode: SoloMode::default(),
        ended: false,
    }));
    let mut mixing = Mixing {
        desk: Arc::clone(&desk),
        changed: Some(changed),
        inputs: Vec::new(),
    };
    let mut to = Outlet::<C, T>::new(to, AtEnd::LeaveOpen);
    go::<C, ()>(spawner, async move {
        while let Some(heard) = mixing.next().await {
            let open = match heard {
                Some(value) => to.put(value).await,
                None => true,
            };
            if !open {
                break;
            }
        }
        None
    });
    Mix {
        desk,
        change: Mutex::new(change),
    }
}

/// The handle of a [`mix`].
///
/// A change applies to all values taken after the go block has seen it. A change and a value that come at the same time
/// win in any order, as in every alts, so one more value may be taken. Whether a value that was taken already is put
/// depends on solo and mute at the moment of its put. Pausing its input does not stop it. A removed input counts as one
/// with nothing set.
pub struct Mix<C: Channels, T: Message> {
    desk: Arc<Mutex<Desk<C, T>>>,
    /// Full if the block has not yet seen the last change.
    change: Mutex<C::Tx<()>>,
}

/// An input of a [`Mix`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input(u64);

impl<C: Channels, T: Message> Mix<C, T> {
    /// Adds an input, neither soloed nor muted nor paused. It stays an input until it has ended or was removed. A mix
    /// that has ended drops it at once.
    pub fn admix(&self, from: C::Rx<T>) -> Input {
        let mut from = Some(from);
        let number = self.change(|desk| {
            let number = desk.next_number;
            desk.next_number += 1;
            if !desk.ended {
                desk.inputs.insert(number, Set::default());
                desk.arrived.extend(from.take().map(|from| (number, from)));
            }
            number
        });
        Input(number)
    }

    /// Removes an input; no effect if it is gone. To go on taking from its channel, keep another consumer of it.
    pub fn unmix(&self, input: Input) {
        self.change(|desk| desk.inputs.remove(&input.0));
    }

    /// Removes all inputs, as [`Mix::unmix`] does one.
    pub fn unmix_all(&self) {
        self.change(|desk| desk.inputs.clear());
    }

    /// Sets attributes of inputs, all at once; the others stay as they are. Inputs that are gone are ignored
    /// (core.async would add them).
    pub fn toggle(&self, changes: &[(Input, Attribute, bool)]) {
        self.change(|desk| {
            for (input, attribute, on) in changes {
                if let Some(set) = desk.inputs.get_mut(&input.0) {
                    *set.place_of(*attribute) = *on;
                }
            }
        });
    }

    /// Decides about inputs without solo while others have it. By default they are muted.
    pub fn solo_mode(&self, mode: SoloMode) {
        self.change(|desk| desk.mode = mode);
    }

    fn change<R>(&self, change: impl FnOnce(&mut Desk<C, T>) -> R) -> R {
        let answer = change(&mut self.desk.lock());
        let told = C::another_tx(&self.change.lock());
        let mut told = told.expect("a mix is made over channels with several producers");
        // Without a lock: it runs wakers.
        match C::offer(&mut told, ()) {
            // Refused: the mix has ended.
            Offered::Done | Offered::WouldWait(()) | Offered::Closed(()) => answer,
        }
    }
}

impl<C: Channels, T: Message> Drop for Mix<C, T> {
    fn drop(&mut self) {
        C::close(&self.change.lock());
    }
}

impl<C: Channels, T: Message> fmt::Debug for Mix<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desk = self.desk.lock();
        f.debug_struct("Mix")
            .field("mode", &desk.mode)
            .field("inputs", &desk.inputs)
            .finish()
    }
}

/// The settings.
struct Desk<C: Channels, T: Message> {
    next_number: u64,
    inputs: BTreeMap<u64, Set>,
    /// Inputs that the block has not received yet.
    arrived: Vec<(u64, C::Rx<T>)>,
    mode: SoloMode,
    ended: bool,
}

/// The settings of an input.
#[derive(Clone, Copy, Debug, Default)]
struct Set {
    solo: bool,
    mute: bool,
    pause: bool,
}

impl Set {
    fn place_of(&mut self, attribute: Attribute) -> &mut bool {
        match attribute {
            Attribute::Solo => &mut self.solo,
            Attribute::Mute => &mut self.mute,
            Attribute::Pause => &mut self.pause,
        }
    }
}

impl<C: Channels, T: Message> Desk<C, T> {
    fn has_solo(&self) -> bool {
        self.inputs.values().any(|set| set.solo)
    }

    /// Whether an input with these settings is read. Solo takes precedence over pause, as core.async documents it
    /// (version 1.5.648 itself does not read a soloed input that is paused).
    fn reads(&self, set: Set) -> bool {
        let paused_by_others = self.mode == SoloMode::Pause && self.has_solo();
        set.solo || !(set.pause || paused_by_others)
    }

    /// Whether values of an input with these settings are put.
    fn hears(&self, set: Set) -> bool {
        if self.has_solo() { set.solo } else { !set.mute }
    }
}

/// The state of the go block.
struct Mixing<C: Channels, T: Message> {
    desk: Arc<Mutex<Desk<C, T>>>,
    /// `None` once the mix was dropped: then nothing changes any more.
    changed: Option<C::Rx<()>>,
    inputs: Vec<(u64, C::Rx<T>)>,
}

impl<C: Channels, T: Message> Drop for Mixing<C, T> {
    fn drop(&mut self) {
        let mut desk = self.desk.lock();
        desk.ended = true;
        desk.inputs.clear();
        let arrived = std::mem::take(&mut desk.arrived);
        drop(desk);
        drop(arrived);
    }
}

/// The outcome of the block's alts.
enum Brought<T> {
    Change,
    /// A value of the input with that index; `None` once it has ended.
    Value(usize, Option<T>),
}

impl<C: AwaitAlts, T: Message> Mixing<C, T> {
    /// `Some(Some(value))` is to be put, `Some(None)` means that there is nothing to put this time, and `None` is the
    /// end.
    async fn next(&mut self) -> Option<Option<T>> {
        let reads = self.look();
        if self.changed.is_none() && !reads.contains(&true) {
            return None;
        }
        let heard = match self.wait(&reads).await {
            Brought::Change => None,
            Brought::Value(index, None) => {
                let (number, ended) = self.inputs.swap_remove(index);
                self.desk.lock().inputs.remove(&number);
                drop(ended);
                None
            }
            Brought::Value(index, Some(value)) => self.hears(index).then_some(value),
        };
        Some(heard)
    }

    /// Brings the inputs up to date; returns which of them are to be read.
    fn look(&mut self) -> Vec<bool> {
        let mut desk = self.desk.lock();
        self.inputs.append(&mut desk.arrived);
        let (stay, gone) = std::mem::take(&mut self.inputs)
            .into_iter()
            .partition(|(number, _)| desk.inputs.contains_key(number));
        self.inputs = stay;
        let sets = self.inputs.iter().map(|(number, _)| desk.inputs[number]);
        let reads = sets.map(|set| desk.reads(set)).collect();
        drop(desk);
        // Outside the lock: channels that end here wake tasks.
        drop::<Vec<_>>(gone);
        reads
    }

    /// Waits for a change, or for a value of the inputs that are to be read.
    async fn wait(&mut self, reads: &[bool]) -> Brought<T> {
        let mut change = self.changed.as_mut().map(|changed| C::take_clause(changed));
        let inputs = self.inputs.iter_mut().enumerate().zip(reads);
        let mut takes: Vec<_> = inputs
            .filter(|(_, reads)| **reads)
            .map(|((index, (_, input)), _)| (index, C::take_clause(input)))
            .collect();
        let winner = {
            let takes = takes.iter_mut().map(|(_, take)| C::any_take(take));
            let mut clauses: Vec<_> = takes
                .chain(change.as_mut().map(C::any_take::<()>))
                .collect();
            boxed::run_async::<C>(&mut clauses, Order::Random, pending()).await
        };
        match winner.expect(TOO_MANY) {
            Winner::Clause(won) if won < takes.len() => {
                let (index, take) = &mut takes[won];
                Brought::Value(*index, C::taken(take))
            }
            Winner::Clause(_) => {
                let told = change.as_mut().and_then(C::taken::<()>);
                drop(change);
                if told.is_none() {
                    self.changed = None;
                }
                Brought::Change
            }
            Winner::Default | Winner::TimedOut => unreachable!("it waits for ever"),
        }
    }

    /// Whether a value of that input is to be put. An input that was removed meanwhile counts as one with nothing set.
    fn hears(&self, index: usize) -> bool {
        let desk = self.desk.lock();
        let set = desk.inputs.get(&self.inputs[index].0);
        desk.hears(set.copied().unwrap_or_default())
    }
}
