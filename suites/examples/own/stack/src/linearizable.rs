//! The stack against a vector.

use flowmeter_linearizable::{Sequential, check};
use proptest::prelude::*;

use super::Stack;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Spec(Vec<u8>);

#[derive(Clone, Debug)]
enum Op {
    Push(u8),
    Pop,
}

#[derive(Clone, Debug, PartialEq)]
enum Ret {
    Pushed(bool),
    Popped(Option<u8>),
}

impl Sequential for Spec {
    type Op = Op;
    type Ret = Ret;

    fn apply(&mut self, op: &Op) -> Ret {
        match op {
            Op::Push(value) => {
                let fits = self.0.len() < super::NODES;
                self.0.extend(fits.then_some(*value));
                Ret::Pushed(fits)
            }
            Op::Pop => Ret::Popped(self.0.pop()),
        }
    }

    // A node that a pop has not given back yet is missing: a push may find no room though there is some.
    fn declines(&self, op: &Op, ret: &Ret) -> bool {
        matches!(op, Op::Push(_)) && *ret == Ret::Pushed(false)
    }
}

fn apply(stack: &Stack, op: &Op) -> Ret {
    match op {
        Op::Push(value) => Ret::Pushed(stack.push(*value)),
        Op::Pop => Ret::Popped(stack.pop()),
    }
}

fn operations() -> impl Strategy<Value = Op> {
    prop_oneof![(0..9_u8).prop_map(Op::Push), Just(Op::Pop)]
}

check! {
    mod stack;
    spec: Spec::default(),
    subject: Stack::new(),
    calls: apply,
    operations: operations(),
}

check! {
    mod without_tag;
    spec: Spec::default(),
    subject: Stack::without_tag(),
    calls: apply,
    operations: operations(),
    worlds: [#[should_panic(expected = "not linearizable")] shuttle],
}
