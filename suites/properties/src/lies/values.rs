//! Values that were never put, for faults.

use std::any::TypeId;

use flowmeter_harness::check::Token;

use crate::design::Parcel;

/// A value that may not be handed out. If it is not, it is not dropped either, since tokens count their drops.
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

/// A copy of the value, where its type is known.
pub(super) fn double(value: &Parcel) -> Spare {
    let double = value.remade(|value: &u8| *value);
    let double = double.or_else(|| value.remade(|value: &u32| *value));
    let double = double.or_else(|| value.remade(|value: &usize| *value));
    let double = double.or_else(|| value.remade(Token::forged));
    Spare(
        double.or_else(|| value.remade(|token: &Option<Token>| token.as_ref().map(Token::forged))),
    )
}

/// A copy of the value that is not counted when it is dropped.
pub(super) fn ghost(value: &Parcel) -> Spare {
    let ghost = value.remade(Token::ghost);
    let ghost =
        ghost.or_else(|| value.remade(|token: &Option<Token>| token.as_ref().map(Token::ghost)));
    Spare(ghost.or_else(|| double(value).take()))
}

/// The value, replaced by another number where it is one.
pub(super) fn another(value: Parcel) -> Parcel {
    let another = value.remade(|value: &u32| value ^ 0x40);
    let another = another.or_else(|| value.remade(|value: &usize| value ^ 0x40));
    another.unwrap_or(value)
}

/// A number of that type that was never put, or was put once before.
pub(super) fn number(of: TypeId) -> Option<Parcel> {
    fn one<T: Send + 'static>(of: TypeId, value: T) -> Option<Parcel> {
        (of == TypeId::of::<T>()).then(|| Parcel::of(value))
    }
    one(of, 1_u32)
        .or_else(|| one(of, 1_usize))
        .or_else(|| one(of, 1_u8))
        .or_else(|| one(of, ()))
}
