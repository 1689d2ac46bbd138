//! The value in an erased channel: any value, as one type. Each family of channels is then compiled for one message
//! type.

use std::any::{Any, TypeId};

/// A value without its type.
type Value = dyn Any + Send;

/// A value without its type, and the operations on it that exist.
pub(crate) struct Parcel {
    value: Box<Value>,
    copies: Option<Copies>,
    /// Adds the value of another parcel to it.
    add: Option<fn(&mut Value, Parcel)>,
}

/// A parcel as another type of another size, for every second channel of an alts over several types.
pub(crate) struct Framed {
    parcel: Parcel,
    _frame: [u64; 3],
}

/// How a value is copied and compared.
#[derive(Clone, Copy)]
struct Copies {
    copy: fn(&Value) -> Box<Value>,
    same: fn(&Value, &Value) -> bool,
}

/// How the values of a channel are packed.
pub(crate) type Pack<T> = fn(T) -> Parcel;

/// How the values of a channel are taken out.
pub(crate) type Unpack<T> = fn(Parcel) -> T;

impl Parcel {
    /// Packs a value. A parcel stays as it is.
    pub(crate) fn of<T: Send + 'static>(value: T) -> Parcel {
        let value: Box<Value> = Box::new(value);
        match value.downcast() {
            Ok(parcel) => *parcel,
            Err(value) => Parcel {
                value,
                copies: None,
                add: None,
            },
        }
    }

    /// Packs a value that a promise copies for each take, or a mult for each tap.
    pub(crate) fn copied<T: Clone + PartialEq + Send + 'static>(value: T) -> Parcel {
        Parcel {
            copies: Some(Copies {
                copy: |value| Box::new(unpacked::<T>(value).clone()),
                same: |one, other| unpacked::<T>(one) == unpacked(other),
            }),
            ..Parcel::of(value)
        }
    }

    /// Packs a collection of values.
    pub(crate) fn collection<T: 'static, B: Extend<T> + Send + 'static>(values: B) -> Parcel {
        Parcel {
            add: Some(|values, value| {
                let values: &mut B = values.downcast_mut().expect(SAME);
                values.extend([value.open()]);
            }),
            ..Parcel::of(values)
        }
    }

    /// The value, or the parcel itself where that type is requested.
    ///
    /// # Panics
    /// When it is of another type: both halves of a channel carry the same.
    pub(crate) fn open<T: 'static>(self) -> T {
        let asked: Box<dyn Any> = if TypeId::of::<T>() == TypeId::of::<Parcel>() {
            Box::new(self)
        } else {
            self.value
        };
        match asked.downcast() {
            Ok(value) => *value,
            Err(framed) => framed.downcast::<Framed>().expect(SAME).parcel.open(),
        }
    }

    /// Packs a value in a frame that only [`Parcel::open`] opens.
    pub(crate) fn framed<T: Send + 'static>(value: T) -> Parcel {
        Parcel::of(Framed {
            parcel: Parcel::of(value),
            _frame: [0x0ff; 3],
        })
    }

    /// A parcel with a value made from this one's; `None` where that has another type.
    pub(crate) fn remade<T: Send + 'static>(&self, make: impl FnOnce(&T) -> T) -> Option<Parcel> {
        let value = make(self.value.downcast_ref()?);
        Some(Parcel {
            value: Box::new(value),
            ..*self
        })
    }

    /// A reference to the value.
    ///
    /// # Panics
    /// When it is of another type.
    pub(crate) fn look<T: 'static>(&self) -> &T {
        unpacked(&*self.value)
    }

    fn copies(&self) -> Copies {
        self.copies.expect("what is copied was packed so")
    }
}

impl Clone for Parcel {
    fn clone(&self) -> Parcel {
        Parcel {
            value: (self.copies().copy)(&*self.value),
            copies: self.copies,
            add: self.add,
        }
    }
}

impl PartialEq for Parcel {
    fn eq(&self, other: &Parcel) -> bool {
        (self.copies().same)(&*self.value, &*other.value)
    }
}

impl Extend<Parcel> for Parcel {
    fn extend<I: IntoIterator<Item = Parcel>>(&mut self, values: I) {
        let add = self.add.expect("what is added to was packed so");
        values
            .into_iter()
            .for_each(|value| add(&mut *self.value, value));
    }
}

const SAME: &str = "both halves of a channel carry the same type";

fn unpacked<T: 'static>(value: &Value) -> &T {
    value.downcast_ref().expect(SAME)
}
