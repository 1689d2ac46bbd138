//! Values out of nowhere, for lies about what was put.

use std::any::Any;

use flowmeter_harness::check::Token;

/// A value that has not been handed out yet: where nobody wants it, it is not dropped either, for tokens count that.
pub(super) struct Spare<T>(Option<T>);

impl<T> Spare<T> {
    pub(super) fn take(mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// The value once more, where its type is known.
pub(super) fn double<T: 'static>(value: &T) -> Spare<T> {
    Spare(copied::<T, u8>(value, |v| v).or_else(|| {
        copied::<T, u32>(value, |v| v)
            .or_else(|| copied::<T, usize>(value, |v| v))
            .or_else(|| made(value, |token: &Token| token.forged()))
            .or_else(|| {
                made(value, |parcel: &Option<Token>| {
                    parcel.as_ref().map(Token::forged)
                })
            })
    }))
}

/// The value once more, of which nobody counts the drop.
pub(super) fn ghost<T: 'static>(value: &T) -> Spare<T> {
    let ghost = made(value, |token: &Token| token.ghost());
    let ghost = ghost.or_else(|| {
        made(value, |parcel: &Option<Token>| {
            parcel.as_ref().map(Token::ghost)
        })
    });
    Spare(ghost.or_else(|| double(value).take()))
}

/// Another number.
pub(super) fn another<T: 'static>(value: &T) -> Option<T> {
    copied::<T, u32>(value, |v| v ^ 0x40).or_else(|| copied::<T, usize>(value, |v| v ^ 0x40))
}

/// A number that nobody put, or put once before.
pub(super) fn number<T: 'static>() -> Option<T> {
    cast(1_u32)
        .or_else(|| cast(1_usize))
        .or_else(|| cast(1_u8))
        .or_else(|| cast(()))
}

fn copied<T: 'static, U: Copy + 'static>(value: &T, other: impl FnOnce(U) -> U) -> Option<T> {
    made(value, |value: &U| other(*value))
}

fn made<T: 'static, U: 'static>(value: &T, make: impl FnOnce(&U) -> U) -> Option<T> {
    let value: &U = (value as &dyn Any).downcast_ref()?;
    cast(make(value))
}

fn cast<T: 'static, U: 'static>(value: U) -> Option<T> {
    let value: Box<dyn Any> = Box::new(value);
    value.downcast().ok().map(|value| *value)
}
