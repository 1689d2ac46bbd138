//! Draws programs, and makes them smaller. A drawn program is found again by its number and by the steps of shrinking.

use proptest::collection::vec;
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::program::{Program, Shape};

/// A program, and how to make it smaller.
pub(crate) struct Draw<O: Clone> {
    tree: Box<dyn ValueTree<Value = Program<O>>>,
    number: u64,
    /// Each step of shrinking: whether it simplified. The others took a simplification back.
    path: Vec<bool>,
}

/// The strategy of programs of that shape.
pub(crate) fn programs<O: Clone + std::fmt::Debug + 'static>(
    operations: &BoxedStrategy<O>,
    shape: &Shape,
) -> BoxedStrategy<Program<O>> {
    let several = |count| vec(operations.clone(), count);
    let parts = (
        several(0..=shape.before),
        vec(several(shape.each.clone()), shape.threads.clone()),
        several(0..=shape.after),
    );
    parts
        .prop_map(|(before, threads, after)| Program::new(before, threads, after))
        .boxed()
}

impl<O: Clone + std::fmt::Debug> Draw<O> {
    /// The program of that number.
    ///
    /// # Errors
    /// When the strategy gives none.
    pub(crate) fn new(
        programs: &BoxedStrategy<Program<O>>,
        number: u64,
    ) -> Result<Draw<O>, String> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        let config = Config {
            failure_persistence: None,
            ..Config::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let tree = programs.new_tree(&mut TestRunner::new_with_rng(config, rng));
        Ok(Draw {
            tree: tree.map_err(|why| format!("the strategy gives no operations: {why}"))?,
            number,
            path: Vec::new(),
        })
    }

    pub(crate) fn program(&self) -> Program<O> {
        self.tree.current()
    }

    /// The number by which it was drawn.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The steps of shrinking so far.
    pub(crate) fn path(&self) -> &[bool] {
        &self.path
    }

    /// Goes to a smaller program, or takes that back. Whether there is another program now.
    pub(crate) fn step(&mut self, simplify: bool) -> bool {
        self.path.push(simplify);
        match simplify {
            true => self.tree.simplify(),
            false => self.tree.complicate(),
        }
    }
}
