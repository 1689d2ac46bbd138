//! Values out of nowhere, for lies about what was put.

use std::any::TypeId;

use flowmeter_harness::check::Token;

use crate::design::Parcel;

/// A value that has not been handed out yet: where nobody wants it, it is not dropped either, for tokens count that.
pub(super) struct Spare(Option<Parcel>);

impl Spare {
    pub(super) fn take(mut self) -> Option<Parcel> {
        self.0.take()
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// The value once more, where its type is known.
pub(super) fn double(value: &Parcel) -> Spare {
    let double = value.remade(|value: &u8| *value);
    let double = double.or_else(|| value.remade(|value: &u32| *value));
    let double = double.or_else(|| value.remade(|value: &usize| *value));
    let double = double.or_else(|| value.remade(Token::forged));
    Spare(
        double.or_else(|| value.remade(|token: &Option<Token>| token.as_ref().map(Token::forged))),
    )
}

/// The value once more, of which nobody counts the drop.
pub(super) fn ghost(value: &Parcel) -> Spare {
    let ghost = value.remade(Token::ghost);
    let ghost =
        ghost.or_else(|| value.remade(|token: &Option<Token>| token.as_ref().map(Token::ghost)));
    Spare(ghost.or_else(|| double(value).take()))
}

/// Another number in the place of the value, where that is one.
pub(super) fn another(value: Parcel) -> Parcel {
    let another = value.remade(|value: &u32| value ^ 0x40);
    let another = another.or_else(|| value.remade(|value: &usize| value ^ 0x40));
    another.unwrap_or(value)
}

/// A number of that type that nobody put, or put once before.
pub(super) fn number(of: TypeId) -> Option<Parcel> {
    fn one<T: Send + 'static>(of: TypeId, value: T) -> Option<Parcel> {
        (of == TypeId::of::<T>()).then(|| Parcel::of(value))
    }
    one(of, 1_u32)
        .or_else(|| one(of, 1_usize))
        .or_else(|| one(of, 1_u8))
        .or_else(|| one(of, ()))
}
