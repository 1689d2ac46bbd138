//! The order of entries in a round. It depends only on the seed, so that a run can be repeated.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::plan::Entry;
use flowmeter_records::hash::fnv1a;

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

/// As [`order_of_round`], with each base build beside the entry that it follows in `entries`. Which of the two is first
/// is drawn for every two rounds, and the other is first in the second of them.
pub(super) fn order_of_entries(
    seed: u64,
    scenario: &str,
    round: u32,
    entries: &[Entry],
) -> Vec<usize> {
    let is_second = |index: usize| entries[index].build.is_some();
    let firsts: Vec<usize> = (0..entries.len())
        .filter(|&i| i == 0 || !is_second(i))
        .collect();
    let mut draws = Pcg64Mcg::seed_from_u64(!round_seed(seed, scenario, round / 2));
    let swaps: Vec<bool> = firsts.iter().map(|_| draws.random()).collect();
    let order = order_of_round(seed, scenario, round, firsts.len());
    let pairs = order.into_iter().flat_map(|place| {
        let end = firsts.get(place + 1).copied().unwrap_or(entries.len());
        let mut pair: Vec<usize> = (firsts[place]..end).collect();
        if swaps[place] ^ (round % 2 == 1) {
            pair.reverse();
        }
        pair
    });
    pairs.collect()
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
    fn without_a_base_build_the_order_is_that_of_the_round() {
        let entries: Vec<Entry> = (0..7).map(|n| Entry::new(n.to_string())).collect();
        for round in 0..20 {
            assert_eq!(
                order_of_entries(5, "x", round, &entries),
                order_of_round(5, "x", round, 7)
            );
        }
    }

    #[test]
    fn two_builds_are_neighbours_and_each_is_first_in_every_second_round() {
        let names = ["ant", "bee", "cat"];
        let mut entries: Vec<Entry> = Vec::new();
        for name in names {
            entries.extend([Entry::new(name), Entry::base(name)]);
        }
        entries.push(Entry::placebo("ant"));
        let mut first = [0_u32; 3];
        for block in 0..500 {
            for round in [2 * block, 2 * block + 1] {
                let order = order_of_entries(5, "x", round, &entries);
                let place = |index: usize| order.iter().position(|&at| at == index).unwrap();
                for (pair, first) in first.iter_mut().enumerate() {
                    assert_eq!(place(2 * pair).abs_diff(place(2 * pair + 1)), 1);
                    *first += u32::from(place(2 * pair) < place(2 * pair + 1));
                }
                assert_eq!(order.len(), 7);
            }
            assert_eq!(first, [block + 1; 3]);
        }
    }

    #[test]
    fn every_entry_has_every_place_in_turn() {
        let mut seen = [[0_u32; 4]; 4];
        for round in 0..4_000 {
            for (place, entry) in order_of_round(3, "x", round, 4).into_iter().enumerate() {
                seen[entry][place] += 1;
            }
        }
        // Expected 1000 each; six standard deviations are 165.
        let fair = |count: &u32| (835..=1165).contains(count);
        assert!(seen.iter().flatten().all(fair), "{seen:?}");
    }
}
