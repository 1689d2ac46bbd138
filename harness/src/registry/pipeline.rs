//! Registration of pipelines of all kinds, and of parallel maps.

use std::num::NonZeroUsize;

use crate::caps::{Capability, Kind};
use crate::channel::Async;
use crate::executor::Executors;
use crate::parallel_map::ParallelMaps;
use crate::pipeline::Pipelines;
use crate::transform_pipeline::TransformPipelines;

use super::{Entry, Registering, Visitor};

impl<'h, P, V: Visitor> Registering<'h, P, V> {
    /// A pipeline with its default configuration, over those channels, on that executor. It may have `over_n` tasks in
    /// flight beyond its parallelism (P1).
    pub fn pipeline<C: Async, E: Executors>(self, over_n: usize) -> Entry<'h, P, V>
    where
        P: Pipelines<C, E> + Default,
    {
        let mut entry = self.of_kind(Kind::Pipeline).visit(V::pipeline::<P, C, E>);
        entry.implementation.capabilities.bound_over_n = Some(over_n);
        if P::ORDERED {
            entry = entry.derive(Capability::Ordered);
        }
        if P::default().window(NonZeroUsize::MIN).is_some() {
            entry = entry.derive(Capability::Window);
        }
        entry
    }
    /// A pipeline that transforms, with its default configuration, over those channels, on that executor. It may have
    /// as many concurrent calls as it has workers (P6).
    pub fn workers<C: Async, E: Executors>(self) -> Entry<'h, P, V>
    where
        P: TransformPipelines<C, E> + Default,
    {
        let entry = self.of_kind(Kind::Pipeline);
        let mut entry = entry
            .derive(Capability::Workers)
            .visit(V::workers::<P, C, E>);
        entry.implementation.capabilities.bound_over_n = Some(0);
        if P::ORDERED {
            entry = entry.derive(Capability::Ordered);
        }
        if P::MAY_BLOCK {
            entry = entry.derive(Capability::MayBlock);
        }
        entry
    }

    /// A parallel map with its default configuration, over those channels, on that executor. It may have as many inputs
    /// in flight as its parallelism (P7).
    pub fn parallel_map<C: Async, E: Executors>(self) -> Entry<'h, P, V>
    where
        P: ParallelMaps<C, E> + Default,
    {
        let entry = self.of_kind(Kind::Pipeline);
        let mut entry = entry
            .derive(Capability::ParallelMap)
            .visit(V::parallel_map::<P, C, E>);
        entry.implementation.capabilities.bound_over_n = Some(0);
        if P::LAZY {
            entry = entry.derive(Capability::Lazy);
        }
        entry
    }
}
