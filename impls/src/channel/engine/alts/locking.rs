//! The order in which an alts locks its channels.

/// The channels of an alts, each once, in the order of their keys.
pub(super) struct Locking {
    /// For each channel, a clause that names it.
    pub(super) clauses: Vec<usize>,
    /// For each clause, the position of its channel.
    pub(super) places: Vec<usize>,
}

impl Locking {
    /// From the keys of the clauses' channels.
    pub(super) fn new(keys: &[u64]) -> Self {
        let mut clauses: Vec<usize> = (0..keys.len()).collect();
        clauses.sort_by_key(|clause| keys[*clause]);
        clauses.dedup_by_key(|clause| keys[*clause]);
        let place = |key: &u64| clauses.binary_search_by_key(key, |clause| keys[*clause]);
        let places = keys
            .iter()
            .map(|key| place(key).expect("every clause's channel is among them"))
            .collect();
        Locking { clauses, places }
    }
}
