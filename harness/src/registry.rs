//! How an implementation takes part: one readable line a contestant.
//!
//! A [`Registry`] walks its contestants past anyone who implements [`Enrol`]:
//!
//! ```ignore
//! impl Registry for Everybody {
//!     fn channels<H: Enrol>(self, hall: &mut H) {
//!         own::<Mutex, _>(hall, "mutex").blocking().asynchronous().alts().enter();
//!         peer::<Bounded, _>(hall, "std", "1.95").blocking().family::<Unbounded>().blocking().enter();
//!     }
//! }
//! ```
//!
//! Each call hands the suites a *type*, so what they store is monomorphic and nothing timed goes
//! through `dyn`. Buffers and further halves are found by asking the family; a family that is
//! registered for something it does not implement does not compile.

use std::marker::PhantomData;

use crate::caps::{Capabilities, Capability, Claim, Origin};
use crate::channel::{
    Alts, Async, Blocking, Buffer, Callback, Channels, Promises, PutDeadline, TakeDeadline,
};
use crate::executor::Executors;

/// Who takes part.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// One name for all its families.
    pub name: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// Version of the crate it comes from.
    pub version: String,
    /// What it offers and promises.
    pub capabilities: Capabilities,
}

/// Those whom contestants are shown to: a suite keeps what it needs of each type.
///
/// Every method is called once for each family that has the trait; [`Enrol::contestant`] comes first.
pub trait Enrol: Sized {
    /// Whether that contestant is to be asked what it has, which opens channels: foreign code runs. Of those
    /// who are not asked the hall hears in [`Enrol::contestant`] what their registration says, and sees no
    /// family.
    fn asks(&self, _name: &str) -> bool {
        true
    }
    /// A contestant and all it claims.
    fn contestant(&mut self, _who: &Contestant) {}
    /// A family with blocking operations.
    fn blocking<C: Blocking>(&mut self, _who: &Contestant) {}
    /// A family with futures.
    fn asynchronous<C: Async>(&mut self, _who: &Contestant) {}
    /// A family whose threads and tasks meet on one channel.
    fn mixed<C: Blocking + Async>(&mut self, _who: &Contestant) {}
    /// A family with callbacks.
    fn callback<C: Callback + Blocking>(&mut self, _who: &Contestant) {}
    /// A family with deadlines on puts.
    fn put_deadline<C: PutDeadline>(&mut self, _who: &Contestant) {}
    /// A family with deadlines on takes.
    fn take_deadline<C: TakeDeadline>(&mut self, _who: &Contestant) {}
    /// A family with promises.
    fn promises<C: Promises + Blocking>(&mut self, _who: &Contestant) {}
    /// A family with alts.
    fn alts<C: Alts>(&mut self, _who: &Contestant) {}
}

/// A list of who takes part: a zero-sized type of the crate that has the contestants.
pub trait Registry: Copy + Send + Sync + 'static {
    /// Walks every channel past `hall`, in the order in which tables show them.
    fn channels<H: Enrol>(self, hall: &mut H);
}

/// A registry whose async rows are driven by an executor that it names: the same one for all of them.
pub trait AsyncRegistry: Registry {
    /// What runs the tasks.
    type Executor: Executors;
}

/// One of ours.
pub fn own<'h, C: Channels, H: Enrol>(hall: &'h mut H, name: &'static str) -> Entry<'h, C, H> {
    Entry::new(
        hall,
        name,
        Origin::Own,
        env!("CARGO_PKG_VERSION").to_owned(),
    )
}

/// An adapter of a published crate.
pub fn peer<'h, C: Channels, H: Enrol>(
    hall: &'h mut H,
    name: &'static str,
    version: impl Into<String>,
) -> Entry<'h, C, H> {
    Entry::new(hall, name, Origin::Peer, version.into())
}

/// One that is broken on purpose.
pub fn mutant<'h, C: Channels, H: Enrol>(hall: &'h mut H, name: &'static str) -> Entry<'h, C, H> {
    Entry::new(
        hall,
        name,
        Origin::Mutant,
        env!("CARGO_PKG_VERSION").to_owned(),
    )
}

/// A registration being written; ends with [`Entry::enter`].
#[must_use = "an entry takes part once it is entered"]
pub struct Entry<'h, C, H> {
    hall: &'h mut H,
    who: Contestant,
    visits: Vec<fn(&mut H, &Contestant)>,
    family: PhantomData<C>,
}

impl<'h, C: Channels, H: Enrol> Entry<'h, C, H> {
    fn new(hall: &'h mut H, name: &'static str, origin: Origin, version: String) -> Self {
        let who = Contestant {
            name,
            origin,
            version,
            capabilities: Capabilities::default(),
        };
        Entry {
            hall,
            who,
            visits: Vec::new(),
            family: PhantomData,
        }
        .ask_the_family()
    }

    /// Goes on with another family of the same contestant.
    pub fn family<D: Channels>(self) -> Entry<'h, D, H> {
        let Entry {
            hall, who, visits, ..
        } = self;
        Entry {
            hall,
            who,
            visits,
            family: PhantomData,
        }
        .ask_the_family()
    }

    fn ask_the_family(mut self) -> Self {
        if !self.hall.asks(self.who.name) {
            return self;
        }
        let buffers = [
            (Buffer::Rendezvous, Capability::Rendezvous),
            (Buffer::fixed(1), Capability::Fixed),
            (Buffer::Unbounded, Capability::Unbounded),
            (
                Buffer::Dropping(std::num::NonZeroUsize::MIN),
                Capability::Dropping,
            ),
            (
                Buffer::Sliding(std::num::NonZeroUsize::MIN),
                Capability::Sliding,
            ),
        ];
        for (buffer, capability) in buffers {
            if let Some((tx, rx)) = C::open::<()>(buffer) {
                self = self.derive(capability);
                if C::another_tx(&tx).is_some() {
                    self = self.derive(Capability::MultiProducer);
                }
                if C::another_rx(&rx).is_some() {
                    self = self.derive(Capability::MultiConsumer);
                }
                if C::same_tx(&tx, &tx).or(C::same_rx(&rx, &rx)).is_some() {
                    self = self.derive(Capability::Identity);
                }
                if C::close(&tx) {
                    self = self.derive(Capability::Close);
                }
            }
        }
        self
    }

    fn derive(mut self, capability: Capability) -> Self {
        self.who.capabilities.derived.insert(capability);
        self
    }

    fn visit(mut self, visit: fn(&mut H, &Contestant)) -> Self {
        self.visits.push(visit);
        self
    }

    /// Has blocking operations.
    pub fn blocking(self) -> Self
    where
        C: Blocking,
    {
        self.derive(Capability::Blocking).visit(H::blocking::<C>)
    }

    /// Has futures.
    pub fn asynchronous(self) -> Self
    where
        C: Async,
    {
        self.derive(Capability::Async).visit(H::asynchronous::<C>)
    }

    /// Threads and tasks may use one channel at once.
    pub fn mixed(self) -> Self
    where
        C: Blocking + Async,
    {
        self.derive(Capability::Mixed).visit(H::mixed::<C>)
    }

    /// Has callbacks.
    pub fn callback(self) -> Self
    where
        C: Callback + Blocking,
    {
        self.derive(Capability::Callback).visit(H::callback::<C>)
    }

    /// Has deadlines on puts.
    pub fn put_deadline(self) -> Self
    where
        C: PutDeadline,
    {
        self.derive(Capability::PutDeadline)
            .visit(H::put_deadline::<C>)
    }

    /// Has deadlines on takes.
    pub fn take_deadline(self) -> Self
    where
        C: TakeDeadline,
    {
        self.derive(Capability::TakeDeadline)
            .visit(H::take_deadline::<C>)
    }

    /// Has promises.
    pub fn promises(self) -> Self
    where
        C: Promises + Blocking,
    {
        self.derive(Capability::Promise).visit(H::promises::<C>)
    }

    /// Has alts.
    pub fn alts(self) -> Self
    where
        C: Alts,
    {
        self.derive(Capability::Alts).visit(H::alts::<C>)
    }

    /// Promises that behaviour.
    pub fn claims(mut self, claims: &[Claim]) -> Self {
        self.who.capabilities.claims.extend(claims);
        self
    }

    /// Takes part.
    pub fn enter(self) {
        self.hall.contestant(&self.who);
        if !self.hall.asks(self.who.name) {
            return;
        }
        for visit in self.visits {
            visit(self.hall, &self.who);
        }
    }
}
