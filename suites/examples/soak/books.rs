//! Books of any number of values: counts and sums instead of a line for each.

use std::sync::atomic::{AtomicU64, Ordering};

/// For all values of this process.
pub static BOOKS: Books = Books::new();

/// Every sum is over hashes of the values' numbers, so that a lost value and a doubled one do not cancel out.
pub struct Books {
    made: AtomicU64,
    dropped: AtomicU64,
    accepted: Column,
    taken: Column,
}

struct Column {
    count: AtomicU64,
    sum: AtomicU64,
}

impl Column {
    const fn new() -> Column {
        Column {
            count: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }

    // Relaxed: read while all threads wait at a barrier.
    fn add(&self, number: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(mixed(number), Ordering::Relaxed);
    }

    fn read(&self) -> (u64, u64) {
        (
            self.count.load(Ordering::Relaxed),
            self.sum.load(Ordering::Relaxed),
        )
    }
}

/// SplitMix64's finaliser.
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Books {
    const fn new() -> Books {
        Books {
            made: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            accepted: Column::new(),
            taken: Column::new(),
        }
    }

    /// Its put was answered true.
    pub fn accepted(&self, value: &Ticket) {
        if value.kept {
            self.accepted.add(value.number);
        }
    }

    /// A take returned it.
    pub fn taken(&self, value: &Value) {
        if value.kept {
            self.taken.add(value.number);
        }
    }

    /// How many values were taken.
    pub fn through(&self) -> u64 {
        self.taken.count.load(Ordering::Relaxed)
    }

    /// Judges them while no value is in any channel or thread.
    ///
    /// # Errors
    /// The mismatch.
    pub fn judge(&self) -> Result<(), String> {
        let (accepted, taken) = (self.accepted.read(), self.taken.read());
        if accepted != taken {
            return Err(format!(
                "{} values were accepted and {} taken{}",
                accepted.0,
                taken.0,
                if accepted.0 == taken.0 {
                    ", but not the same ones"
                } else {
                    ""
                }
            ));
        }
        let made = self.made.load(Ordering::Relaxed);
        let dropped = self.dropped.load(Ordering::Relaxed);
        if made != dropped {
            return Err(format!("{made} values were made and {dropped} dropped"));
        }
        Ok(())
    }
}

/// A value that exists once.
#[derive(Debug)]
pub struct Value {
    number: u64,
    /// Whether it certainly comes out once its put is answered true: it went to a buffer that keeps all values, and
    /// its put was not abandoned.
    kept: bool,
}

/// The data of a value that is under way.
#[derive(Clone, Copy)]
pub struct Ticket {
    number: u64,
    kept: bool,
}

impl Value {
    pub fn new(kept: bool) -> Value {
        let number = BOOKS.made.fetch_add(1, Ordering::Relaxed);
        Value { number, kept }
    }

    pub fn ticket(&self) -> Ticket {
        Ticket {
            number: self.number,
            kept: self.kept,
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        BOOKS.dropped.fetch_add(1, Ordering::Relaxed);
    }
}
