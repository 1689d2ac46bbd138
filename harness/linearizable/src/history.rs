//! What the threads of one execution called, and what they were answered.

use flowmeter_harness::history::{Interval, Mark, Place, Stamps, predecessors};
use flowmeter_harness::sync::world;

use crate::Sequential;
use crate::program::Program;

/// A call, and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Operation<P: Sequential> {
    /// Its number in the program.
    pub(crate) number: usize,
    pub(crate) thread: usize,
    pub(crate) op: P::Op,
    /// `None` while it is pending.
    pub(crate) ret: Option<P::Ret>,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
}

impl<P: Sequential> Operation<P> {
    /// An operation that is called now.
    pub(crate) fn called(thread: usize, number: usize, op: P::Op) -> Operation<P> {
        Operation {
            number,
            thread,
            op,
            ret: None,
            invoked: world::stamp(),
            returned: u64::MAX,
        }
    }

    /// The call in words.
    pub(crate) fn call(&self) -> String {
        format!("{} {:?}", self.number, self.op)
    }

    /// The call and its answer.
    pub(crate) fn told(&self) -> String {
        match &self.ret {
            Some(ret) => format!("{} -> {ret:?}", self.call()),
            None => format!("{} -> pending", self.call()),
        }
    }
}

/// All operations that were called in one execution.
#[derive(Clone, Debug)]
pub(crate) struct History<P: Sequential> {
    /// In the order of their calls.
    pub(crate) operations: Vec<Operation<P>>,
    /// For each operation the set of those that precede it.
    pub(crate) predecessors: Vec<u64>,
    /// Whether the pending operations wait and will wait for ever.
    pub(crate) rests: bool,
}

impl<P: Sequential> History<P> {
    /// The history of these operations of the program, taken in the world of the calling thread.
    pub(crate) fn new(
        program: &Program<P::Op>,
        mut operations: Vec<Operation<P>>,
        rests: bool,
    ) -> History<P> {
        operations.sort_by_key(|operation| operation.invoked);
        let interval = |operation: &Operation<P>| Interval {
            thread: operation.thread,
            invoked: operation.invoked,
            returned: operation.ret.is_some().then_some(operation.returned),
        };
        let intervals: Vec<Interval> = operations.iter().map(interval).collect();
        // Whole phases precede each other, whatever the stamps say.
        let phases: Vec<usize> = operations.iter().map(|o| program.phase(o.thread)).collect();
        let mut links = Vec::new();
        for (later, phase) in phases.iter().enumerate() {
            let earlier = (0..operations.len()).filter(|earlier| phases[*earlier] < *phase);
            links.extend(earlier.map(|earlier| (earlier, later)));
        }
        let stamps = match world::stamp_margin() {
            Some(margin) => Stamps::Order { margin },
            None => Stamps::Schedule,
        };
        History {
            predecessors: predecessors(&intervals, &links, stamps),
            operations,
            rests,
        }
    }

    /// The calls and answers, in the order of their stamps. The columns are threads of the program.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<(u64, Mark)> = Vec::new();
        for operation in &self.operations {
            let mark = |place, text| Mark {
                column: operation.thread,
                place,
                text,
            };
            marks.push((operation.invoked, mark(Place::Call, operation.call())));
            if let Some(ret) = &operation.ret {
                let text = format!("{} {ret:?}", operation.number);
                marks.push((operation.returned, mark(Place::Answer, text)));
            }
        }
        marks.sort_by_key(|(stamp, _)| *stamp);
        marks.into_iter().map(|(_, mark)| mark).collect()
    }
}
