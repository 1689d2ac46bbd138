//! Values that are distinguishable and count their own drops.

// Plain std atomics in every world: what a checker writes must not add an ordering between the threads
// of a model, nor a step to its schedule.
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes tokens and counts the drops of each.
#[derive(Clone, Debug)]
pub struct Mint {
    drops: Arc<[AtomicU32]>,
}

/// A value that exists once.
pub struct Token {
    id: usize,
    drops: Arc<[AtomicU32]>,
}

impl Mint {
    /// A mint for tokens `0..count`.
    pub fn new(count: usize) -> Mint {
        Mint {
            drops: (0..count).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// How many tokens there can be.
    pub fn count(&self) -> usize {
        self.drops.len()
    }

    /// The token of that number. Make each only once.
    ///
    /// # Panics
    /// When the number is not below [`Mint::count`].
    pub fn token(&self, id: usize) -> Token {
        assert!(
            id < self.drops.len(),
            "token {id} of a mint for {}",
            self.drops.len()
        );
        Token {
            id,
            drops: Arc::clone(&self.drops),
        }
    }

    /// How often the token of that number was dropped.
    pub fn drops(&self, id: usize) -> u32 {
        // Relaxed: read after the threads that dropped it are joined.
        self.drops[id].load(Ordering::Relaxed)
    }
}

impl Token {
    /// Its number.
    pub fn id(&self) -> usize {
        self.id
    }

    /// A duplicate of the value, for channels that are broken on purpose.
    #[must_use]
    pub fn forged(&self) -> Token {
        Token {
            id: self.id,
            drops: Arc::clone(&self.drops),
        }
    }

    /// As [`Token::forged`], but its drop is not counted.
    #[must_use]
    pub fn ghost(&self) -> Token {
        Mint::new(self.id + 1).token(self.id)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token {}", self.id)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // Relaxed: the count is read only after a join.
        self.drops[self.id].fetch_add(1, Ordering::Relaxed);
    }
}
