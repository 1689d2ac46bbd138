//! What a workload's own loop takes without the implementation: random choices, stamps, sums and checks. It is part of
//! every number of the workload. Where the workload has several threads, one thread does what all of them do.

use flowmeter_measure::clock;

/// How long a batch takes at least. Reading the clock is then a thousandth of it.
const BATCH_NANOS: u64 = 30_000;

/// Batches that are timed; the result is their median.
const BATCHES: usize = 9;

/// Nanoseconds per operation of the loop that `turns` runs so many times, with `operations` in each turn. It takes some
/// half a millisecond.
pub fn nanos(operations: u64, mut turns: impl FnMut(u64)) -> f64 {
    let mut time = |count: u64| {
        let began = clock::now_nanos();
        turns(count);
        clock::now_nanos() - began
    };
    let mut count = 1;
    // Twice, since an interrupt may make a short batch seem long.
    while time(count).min(time(count)) < BATCH_NANOS {
        count *= 2;
    }
    let mut took: [u64; BATCHES] = std::array::from_fn(|_| time(count));
    took.sort_unstable();
    took[BATCHES / 2] as f64 / (count * operations) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_its_share_of_a_turn() {
        let mut random = 1_u64;
        let mut multiply = |turns: u64| {
            for _ in 0..turns * 1_000 {
                random = std::hint::black_box(random.wrapping_mul(6_364_136_223_846_793_005));
            }
        };
        let whole = nanos(1, &mut multiply);
        let each = nanos(1_000, &mut multiply);
        assert!(each > 0.0 && each < whole / 50.0, "{each} of {whole}");
    }
}
