//! The order of entries in a round. It depends only on the seed, so that a run can be repeated.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use crate::hash::fnv1a;

/// The order in which the `entries` entries have their windows in that round.
///
/// Every round has an order of its own, so drift of the machine affects all entries alike.
pub fn order_of_round(seed: u64, scenario: &str, round: u32, entries: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(round_seed(
        seed, scenario, round,
    )));
    order
}

/// The seed of the workload's random choices in that round: the same for all entries.
pub fn round_seed(seed: u64, scenario: &str, round: u32) -> u64 {
    let numbers = seed.to_le_bytes().into_iter().chain(round.to_le_bytes());
    fnv1a(numbers.chain(scenario.bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed, round| order_of_round(seed, "channels/spsc-64", round, 8);
        assert_eq!(order(1, 0), order(1, 0));
        assert_ne!(order(1, 0), order(2, 0));
        assert_ne!(order(1, 0), order(1, 1));
        assert_ne!(
            order_of_round(1, "a", 0, 8),
            order_of_round(1, "b", 0, 8),
            "scenarios differ"
        );
    }

    #[test]
    fn every_entry_comes_once() {
        for round in 0..100 {
            let mut order = order_of_round(7, "x", round, 9);
            order.sort_unstable();
            assert_eq!(order, (0..9).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_entry_has_every_place_in_turn() {
        let mut seen = [[0_u32; 4]; 4];
        for round in 0..4_000 {
            for (place, who) in order_of_round(3, "x", round, 4).into_iter().enumerate() {
                seen[who][place] += 1;
            }
        }
        // Expected 1000 each; six standard deviations are 165.
        let fair = |count: &u32| (835..=1165).contains(count);
        assert!(seen.iter().flatten().all(fair), "{seen:?}");
    }
}
