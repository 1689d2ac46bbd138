//! All small programs over an alphabet of operations: up to three threads of up to three operations each. Every set
//! of threads occurs once, since the order of threads does not matter. Programs are numbered, and made on request.

use flowmeter_harness::channel::{Buffer, Order};

use super::program::{Operation, Port, Program, Wait};

/// An alphabet.
#[derive(Clone, Debug)]
pub(super) struct Scenarios {
    channels: usize,
    operations: Vec<Operation>,
}

/// Put, take, offer, poll and close of one channel: 644,956 programs for each buffer.
pub(super) fn puts_and_takes() -> Scenarios {
    let one = |port, wait| several([port], Order::Random, wait);
    Scenarios {
        channels: 1,
        operations: vec![
            one(Port::Put(0), Wait::Forever),
            one(Port::Take(0), Wait::Forever),
            one(Port::Put(0), Wait::Not),
            one(Port::Take(0), Wait::Not),
            Operation::Close(0),
        ],
    }
}

/// Alts over two channels that take, that put, and that do both by priority or not at all. Beside them a put to the
/// first, a take from the second, and the close of the first: 2,929,290 programs for each buffer.
pub(super) fn alts() -> Scenarios {
    let [takes, puts] = [Port::Take, Port::Put].map(|port| [port(0), port(1)]);
    Scenarios {
        channels: 2,
        operations: vec![
            several(takes, Order::Random, Wait::Forever),
            several(puts, Order::Random, Wait::Forever),
            several([Port::Take(0), Port::Put(1)], Order::Priority, Wait::Not),
            several([Port::Put(0)], Order::Random, Wait::Forever),
            several([Port::Take(1)], Order::Random, Wait::Forever),
            Operation::Close(0),
        ],
    }
}

fn several<const N: usize>(ports: [Port; N], order: Order, wait: Wait) -> Operation {
    Operation::Alts {
        ports: ports.into(),
        order,
        wait,
    }
}

impl Scenarios {
    /// How many different threads of up to three operations there are.
    fn threads(&self) -> u64 {
        let k = self.operations.len() as u64;
        1 + k + k * k + k * k * k
    }

    /// How many programs there are.
    pub(super) fn count(&self) -> u64 {
        choose_three(self.threads() + 2)
    }

    /// The program of that number, which is below [`Scenarios::count`].
    pub(super) fn program(&self, number: u64, buffer: Buffer) -> Program {
        // Three of n with repetition are three different ones of n + 2.
        let greatest = last(number, choose_three);
        let rest = number - choose_three(greatest);
        let middle = last(rest, choose_two);
        let threads = [greatest - 2, middle - 1, rest - choose_two(middle)];
        let threads = threads.map(|thread| self.thread(thread));
        Program {
            channels: vec![buffer; self.channels],
            threads: threads.into_iter().filter(|t| !t.is_empty()).collect(),
        }
    }

    /// The operations of that number: none, then single ones, pairs, triples.
    fn thread(&self, mut number: u64) -> Vec<Operation> {
        let k = self.operations.len() as u64;
        let mut operations = Vec::new();
        // In base k with digits from 1, every number is one sequence.
        while number > 0 {
            number -= 1;
            operations.push(self.operations[(number % k) as usize].clone());
            number /= k;
        }
        operations
    }
}

fn choose_two(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

fn choose_three(n: u64) -> u64 {
    n * n.saturating_sub(1) * n.saturating_sub(2) / 6
}

/// The last n for which `count(n)` does not exceed the number.
fn last(number: u64, count: fn(u64) -> u64) -> u64 {
    let (mut low, mut high) = (0, 1);
    while count(high) <= number {
        (low, high) = (high, high * 2);
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if count(middle) <= number {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_set_of_threads_has_one_number() {
        let scenarios = Scenarios {
            channels: 1,
            operations: vec![Operation::Close(0), Operation::Close(1)],
        };
        // Fifteen threads of none to three of two operations.
        assert_eq!(scenarios.count(), 15 * 16 * 17 / 6);
        let mut seen = HashSet::new();
        for number in 0..scenarios.count() {
            let program = scenarios.program(number, Buffer::fixed(1));
            assert!(program.threads.iter().all(|thread| thread.len() <= 3));
            let mut threads: Vec<String> = program
                .threads
                .iter()
                .map(|thread| format!("{thread:?}"))
                .collect();
            threads.sort();
            assert!(seen.insert(threads), "{number}");
        }
    }

    #[test]
    fn the_alphabets_are_as_large_as_they_say() {
        assert_eq!(puts_and_takes().count(), 644_956);
        assert_eq!(alts().count(), 2_929_290);
    }
}
