//! Whether a family can make a claim at all. [`suite!`](crate::suite!) asks at compile time: a claim that no property
//! could check would never fail.

use flowmeter_harness::caps::Claim;

/// What a family has of what claims are about.
#[derive(Clone, Copy, Debug)]
pub struct Has {
    /// It is a channel.
    pub channel: bool,
    /// It is a timer that calls back.
    pub timer: bool,
    /// It is a limiter.
    pub limiter: bool,
    /// It is a pipeline that may have more items in flight than its parallelism.
    pub pipeline: bool,
    /// It is an executor.
    pub executor: bool,
    /// It is of a kind about which no claim is made: a further pipeline, go blocks, combinators.
    pub unclaimed: bool,
    /// Its channels have futures.
    pub asynchronous: bool,
    /// Its channels have alts.
    pub alts: bool,
    /// Futures wait for its deadlines.
    pub sleep: bool,
}

/// Checks the claims of a family, and the bound of a pipeline.
///
/// # Panics
/// With a sentence on the first claim that the family cannot make, or if it is of no kind.
pub const fn supported(claims: &[Claim], has_bound: bool, has: Has) {
    assert!(
        has.channel || has.timer || has.limiter || has.pipeline || has.executor || has.unclaimed,
        "an implementation has no adapter: implement a trait of flowmeter's `channel`, `timer`, `limiter`, `pipeline`, \
         `transform_pipeline`, `parallel_map`, `executor` or `combinator` for its family; pipelines also need `Default`"
    );
    assert!(
        has.pipeline || !has_bound,
        "a bound such as `(n + 2)` is about items in flight: implement `Pipelines` for the family, or remove the bound"
    );
    let mut at = 0;
    while at < claims.len() {
        let (can, why) = needed(claims[at], has);
        if !can {
            panic!("{}", why);
        }
        at += 1;
    }
}

/// Whether a family can make the claim, and what to do where it cannot.
const fn needed(claim: Claim, has: Has) -> (bool, &'static str) {
    macro_rules! only {
        ($can:expr, $claim:literal, $about:literal, $trait:literal) => {
            (
                $can,
                concat!(
                    "the claim `",
                    $claim,
                    "` is about ",
                    $about,
                    ": implement ",
                    $trait,
                    " for the family, or remove the claim"
                ),
            )
        };
    }
    use Claim::*;
    match claim {
        WaiterFifo => only!(
            has.channel || has.limiter,
            "WaiterFifo",
            "channels and limiters",
            "`Channels` or `Limiters`"
        ),
        CallsUnlocked => only!(
            has.channel || has.timer || has.limiter,
            "CallsUnlocked",
            "channels, timers and limiters",
            "`Channels`, `Timers` or `Limiters`"
        ),
        PanicSafe => only!(
            has.channel || has.timer || has.executor,
            "PanicSafe",
            "channels, timers and executors",
            "`Channels`, `Timers` or `Executors`"
        ),
        Tickless => only!(
            has.timer || has.limiter,
            "Tickless",
            "timers and limiters",
            "`Timers` or `Limiters`"
        ),
        CancelSafe => only!(has.asynchronous, "CancelSafe", "futures", "`Async`"),
        KeepsBuffered => only!(has.channel, "KeepsBuffered", "channels", "`Channels`"),
        PendingPutsSurvive => only!(has.channel, "PendingPutsSurvive", "channels", "`Channels`"),
        BoundedWaiters => only!(has.channel, "BoundedWaiters", "channels", "`Channels`"),
        NonBlockingTry => only!(has.channel, "NonBlockingTry", "channels", "`Channels`"),
        Disconnect => only!(has.channel, "Disconnect", "channels", "`Channels`"),
        StrictPriority => only!(has.alts, "StrictPriority", "alts", "`Alts`"),
        StrictDefault => only!(has.alts, "StrictDefault", "alts", "`Alts`"),
        UniformChoice => only!(has.alts, "UniformChoice", "alts", "`Alts`"),
        DeadlineOrder => only!(has.timer, "DeadlineOrder", "timers", "`Timers`"),
        IsolatedCallbacks => only!(has.timer, "IsolatedCallbacks", "timers", "`Timers`"),
        AnswersSleepers => only!(has.sleep, "AnswersSleepers", "futures of timers", "`Sleep`"),
        Coalescing => (
            false,
            "the claim `Coalescing` is about timeouts, which `suite!` does not register: write a `Registry`",
        ),
        WindowBound => only!(has.limiter, "WindowBound", "limiters", "`Limiters`"),
        RateBound => only!(has.limiter, "RateBound", "limiters", "`Limiters`"),
        WakesOnce => only!(has.limiter, "WakesOnce", "limiters", "`Limiters`"),
        PassesOn => only!(has.limiter, "PassesOn", "limiters", "`Limiters`"),
        RunsBesideBlocked => only!(
            has.executor,
            "RunsBesideBlocked",
            "executors",
            "`Executors`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Has = Has {
        channel: false,
        timer: false,
        limiter: false,
        pipeline: false,
        executor: false,
        unclaimed: false,
        asynchronous: false,
        alts: false,
        sleep: false,
    };
    const CHANNEL: Has = Has {
        channel: true,
        ..NOTHING
    };

    #[test]
    fn a_family_makes_the_claims_that_its_traits_support() {
        supported(&[Claim::KeepsBuffered, Claim::WaiterFifo], false, CHANNEL);
        let alts = Has {
            alts: true,
            ..CHANNEL
        };
        supported(&[Claim::StrictPriority], false, alts);
        let limiter = Has {
            limiter: true,
            ..NOTHING
        };
        supported(&[Claim::WaiterFifo, Claim::Tickless], false, limiter);
        let executor = Has {
            executor: true,
            ..NOTHING
        };
        supported(
            &[Claim::RunsBesideBlocked, Claim::PanicSafe],
            false,
            executor,
        );
        supported(&[Claim::CallsUnlocked], false, limiter);
        let pipeline = Has {
            pipeline: true,
            ..NOTHING
        };
        supported(&[], true, pipeline);
    }

    #[test]
    #[should_panic(
        expected = "the claim `StrictPriority` is about alts: implement `Alts` for the family, or remove the claim"
    )]
    fn a_claim_without_its_trait_is_refused() {
        supported(
            &[Claim::KeepsBuffered, Claim::StrictPriority],
            false,
            CHANNEL,
        );
    }

    #[test]
    #[should_panic(expected = "an implementation has no adapter")]
    fn a_family_of_no_kind_is_refused() {
        supported(&[], false, NOTHING);
    }

    #[test]
    #[should_panic(expected = "a bound such as `(n + 2)` is about items in flight")]
    fn a_bound_of_what_is_no_pipeline_is_refused() {
        supported(&[], true, CHANNEL);
    }
}
