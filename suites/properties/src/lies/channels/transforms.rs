//! Faults injected into transforms: how often they run, what they emit, and when they end.

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Buffer, Emit, Panic, Transform, TransformError};

use super::super::told;
use super::super::values::{another, double, ghost};
use super::{HAD, Lying, halves, instead_of};
use crate::design::Parcel;
use crate::design::channels::operations::{Handles, Opened, Steps, Transforms};

/// A transform that behaves like the real one, except for one fault.
struct Transformed {
    real: Steps,
    /// Its inputs, kept as long as it lives.
    kept: Vec<Parcel>,
}

impl Transform<Parcel> for Transformed {
    fn step(&mut self, value: Parcel, emit: Emit<'_, Parcel>) -> ControlFlow<()> {
        if told("a transform is passed by") {
            return emit(value);
        }
        if told("a transform loses what it is given") {
            return ControlFlow::Continue(());
        }
        let value = if told("a transform keeps what it was given") {
            let ghost = ghost(&value).take();
            self.kept.push(value);
            match ghost {
                Some(ghost) => ghost,
                None => return ControlFlow::Continue(()),
            }
        } else {
            value
        };
        let again = told("a transform runs twice").then(|| double(&value));
        let in_vain = told("a transform runs again in vain").then(|| double(&value));
        let ends = self.real.step(value, &mut |value| emitted(value, emit));
        if let Some(value) = again.and_then(|spare| spare.take()) {
            let _ = self.real.step(value, emit);
        }
        if let Some(value) = in_vain.and_then(|spare| spare.take()) {
            let _ = self.real.step(value, &mut |_| ControlFlow::Continue(()));
        }
        if told("a transform ends the channel early") {
            return ControlFlow::Break(());
        }
        if told("a transform's end is not heard") {
            return ControlFlow::Continue(());
        }
        ends
    }

    fn complete(&mut self, emit: Emit<'_, Parcel>) {
        if told("a transform is not completed") {
            return;
        }
        if told("a transform is completed twice") {
            self.real.complete(emit);
        }
        self.real.complete(&mut |value| emitted(value, emit));
        if told("a transform is completed again in vain") {
            self.real.complete(&mut |_| ControlFlow::Continue(()));
        }
    }
}

fn emitted(value: Parcel, emit: Emit<'_, Parcel>) -> ControlFlow<()> {
    if told("what is emitted is lost") {
        return ControlFlow::Continue(());
    }
    if told("something else is emitted") {
        return emit(another(value));
    }
    if told("what is emitted comes twice")
        && let Some(second) = double(&value).take()
    {
        emit(value)?;
        return emit(second);
    }
    emit(value)
}

impl Transforms for Lying {
    fn open(&self, buffer: Buffer, transform: Steps, mut handler: Handles) -> Opened {
        if told("a transform is forgotten") {
            let real = self.0.base.open(buffer);
            return Ok(halves(buffer, real.ok_or(TransformError::NoSuchBuffer)?));
        }
        if told("a transform is refused") {
            return Err(TransformError::NoSuchBuffer);
        }
        let handler = move |panic: Panic| {
            if told("a panic is not handled") {
                return None;
            }
            let panic = if told("a handler is told of another panic") {
                Box::new("another")
            } else {
                panic
            };
            let stand_in = handler(panic);
            if told("what stands in is lost") {
                return None;
            }
            if told("something else stands in") {
                return stand_in.map(another);
            }
            stand_in
        };
        let transform = Box::new(Transformed {
            real: transform,
            kept: Vec::new(),
        });
        let table = self.0.transforms.expect(HAD);
        match table.open(instead_of(buffer), transform, Box::new(handler)) {
            Ok(real) => Ok(halves(buffer, real)),
            Err(why) if told("a transform is refused for another reason") => Err(match why {
                TransformError::Unbuffered => TransformError::NoSuchBuffer,
                TransformError::NoSuchBuffer => TransformError::Unbuffered,
            }),
            Err(why) => Err(why),
        }
    }
}
