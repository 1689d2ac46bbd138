//! The contract of Flowmeter. It defines:
//!
//! - what a channel, a timer, a pipeline, a limiter, an executor and a family of combinators are ([`channel`],
//!   [`timer`], [`pipeline`], [`transform_pipeline`], [`parallel_map`], [`limiter`], [`executor`], [`combinator`]);
//! - what they may claim ([`caps`]);
//! - how they are registered ([`registry`]);
//! - the primitives they are written against, in three worlds ([`sync`]), and what is asked of the machine
//!   ([`machine`]).
//!
//! Invariant: nothing here knows an implementation. Without features this crate is only the traits and the std world,
//! so an application that needs a channel has few dependencies. The feature `check` adds the parts that verify.

pub mod caps;
pub mod channel;
pub mod combinator;
pub mod executor;
pub mod limiter;
pub mod machine;
pub mod parallel_map;
pub mod pipeline;
pub mod registry;
pub mod sync;
pub mod timer;
pub mod transform_pipeline;

#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "check")]
pub mod history;
#[cfg(feature = "check")]
pub mod spec;
