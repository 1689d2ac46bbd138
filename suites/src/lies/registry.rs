//! Everybody of a registry, each as one who may lie.

use flowmeter_harness::caps::Origin;
use flowmeter_harness::channel::{
    Alts, Async, Blocking, Callback, Promises, PutDeadline, TakeDeadline,
};
use flowmeter_harness::registry::{Contestant, Enrol, Registry};

use super::channels::Lying;

/// Our own contestants of that registry, under their names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lies<R>(pub R);

impl<R: Registry> Registry for Lies<R> {
    fn channels<H: Enrol>(self, hall: &mut H) {
        self.0.channels(&mut Wrapping(hall));
    }
}

/// Shows a hall every family of ours as one that may lie.
struct Wrapping<'h, H>(&'h mut H);

/// Hands every family on, wrapped.
macro_rules! wrap {
    ($($visit:ident<$family:ident: [$($bound:tt)+]>;)+) => {$(
        fn $visit<$family: $($bound)+>(&mut self, who: &Contestant) {
            if who.origin == Origin::Own {
                self.0.$visit::<Lying<$family>>(who);
            }
        }
    )+};
}

impl<H: Enrol> Enrol for Wrapping<'_, H> {
    fn asks(&self, name: &str) -> bool {
        self.0.asks(name)
    }

    fn contestant(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0.contestant(who);
        }
    }

    wrap! {
        blocking<C: [Blocking]>;
        asynchronous<C: [Async]>;
        mixed<C: [Blocking + Async]>;
        callback<C: [Callback + Blocking]>;
        put_deadline<C: [PutDeadline]>;
        take_deadline<C: [TakeDeadline]>;
        promises<C: [Promises + Blocking]>;
        alts<C: [Alts]>;
    }
}
