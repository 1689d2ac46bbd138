//! Lies about transforms: how often they run, what they emit, and when they end.

use std::ops::ControlFlow;

use flowmeter_harness::channel::{
    Buffer, Emit, Handler, Message, Opened, Panic, Transform, TransformError, Transforms,
};

use super::super::told;
use super::super::values::{another, double, ghost};
use super::{Lying, halves, instead_of};

/// A transform that does what `F` does, but for one lie.
struct Transformed<F, T> {
    real: F,
    /// What it was given, as long as it lives.
    kept: Vec<T>,
}

impl<T: Message, F: Transform<T>> Transform<T> for Transformed<F, T> {
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
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

    fn complete(&mut self, emit: Emit<'_, T>) {
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

fn emitted<T: Message>(value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
    if told("what is emitted is lost") {
        return ControlFlow::Continue(());
    }
    if told("something else is emitted") {
        return emit(another(&value).unwrap_or(value));
    }
    if told("what is emitted comes twice")
        && let Some(second) = double(&value).take()
    {
        emit(value)?;
        return emit(second);
    }
    emit(value)
}

impl<C: Transforms> Transforms for Lying<C> {
    fn open_transformed<T: Message>(
        buffer: Buffer,
        transform: impl Transform<T>,
        mut handler: impl Handler<T>,
    ) -> Result<Opened<Self, T>, TransformError> {
        if told("a transform is forgotten") {
            let real = C::open(buffer).ok_or(TransformError::NoSuchBuffer)?;
            return Ok(halves::<C, T>(buffer, real));
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
                return stand_in.map(|value| another(&value).unwrap_or(value));
            }
            stand_in
        };
        let transform = Transformed {
            real: transform,
            kept: Vec::new(),
        };
        let opened = C::open_transformed(instead_of(buffer), transform, handler);
        match opened {
            Ok(real) => Ok(halves::<C, T>(buffer, real)),
            Err(why) if told("a transform is refused for another reason") => Err(match why {
                TransformError::Unbuffered => TransformError::NoSuchBuffer,
                TransformError::NoSuchBuffer => TransformError::Unbuffered,
            }),
            Err(why) => Err(why),
        }
    }
}
