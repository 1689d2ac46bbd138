//! The one list of who takes part. Nothing outside this file names an implementation.

use flowmeter_harness::caps::Claim;
use flowmeter_harness::registry::{Enrol, Registry, own};

use crate::channel::mutex::MutexChannels;

/// Everybody: ours in every world, the published crates in the std world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everybody;

impl Registry for Everybody {
    fn channels<H: Enrol>(self, hall: &mut H) {
        own::<MutexChannels, _>(hall, "mutex")
            .blocking()
            .asynchronous()
            .callback()
            .put_deadline()
            .take_deadline()
            .promises()
            .alts()
            .claims(&[
                Claim::WaiterFifo,
                Claim::CancelSafe,
                Claim::KeepsBuffered,
                Claim::PendingPutsSurvive,
                Claim::BoundedWaiters,
                Claim::UniformChoice,
            ])
            .enter();
    }
}
