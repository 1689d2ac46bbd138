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

/// A parcel as another type of another size, for every second channel of an alts over several types. The frame comes
/// first, so an implementation that reads one type in place of the other finds no parcel.
#[repr(C)]
pub(crate) struct Framed {
    frame: [u64; 3],
    parcel: Parcel,
}

/// The contents of every frame. None of these numbers is an address.
const FRAME: [u64; 3] = [
    0x666c_6f77_6d65_7465,
    0x7266_7261_6d65_6431,
    0x6672_616d_6564_3233,
];

/// How a value is copied and compared.
#[derive(Clone, Copy)]
struct Copies {
    copy: fn(&Value) -> Box<Value>,
    same: fn(&Value, &Value) -> bool,
}

/// How the values of a channel are taken out.
pub(crate) type Unpack<T> = fn(Parcel) -> T;

/// How the values of a producer are packed, and those that come back are taken out.
pub(crate) struct Packing<T> {
    pub(crate) pack: fn(T) -> Parcel,
    pub(crate) unpack: Unpack<T>,
}

impl<T> Clone for Packing<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Packing<T> {}

impl<T: Send + 'static> Packing<T> {
    /// As a parcel.
    pub(crate) const PLAIN: Packing<T> = Packing {
        pack: Parcel::of,
        unpack: Parcel::open,
    };
    /// As a parcel in a frame.
    pub(crate) const FRAMED: Packing<T> = Packing {
        pack: Parcel::framed,
        unpack: Parcel::unframed,
    };
}

impl<T: Clone + PartialEq + Send + 'static> Packing<T> {
    /// As a parcel that can be copied.
    pub(crate) const COPIED: Packing<T> = Packing {
        pack: Parcel::copied,
        unpack: Parcel::open,
    };
}

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
        *asked.downcast().expect(SAME)
    }

    /// Packs a value in a frame that only [`Parcel::unframed`] opens.
    pub(crate) fn framed<T: Send + 'static>(value: T) -> Parcel {
        Parcel::of(Framed {
            frame: FRAME,
            parcel: Parcel::of(value),
        })
    }

    /// The value in a frame.
    ///
    /// # Panics
    /// When there is no frame, it is damaged, or the value is of another type.
    pub(crate) fn unframed<T: 'static>(self) -> T {
        let Framed { frame, parcel } = self.open();
        assert_eq!(frame, FRAME, "{SAME}");
        parcel.open()
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

#[cfg(test)]
mod tests {
    use std::mem::offset_of;
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_frame_stands_where_a_plain_slot_has_its_parcel() {
        assert_eq!(offset_of!(Framed, frame), 0);
        assert!(size_of::<Framed>() > size_of::<Parcel>());
    }

    #[test]
    fn a_framed_value_is_opened_as_what_it_is() {
        assert_eq!(Parcel::framed(7_u32).unframed::<u32>(), 7);
        let panics = |open: fn() -> u32| assert!(catch_unwind(open).is_err());
        panics(|| Parcel::framed(7_u32).open());
        panics(|| Parcel::of(7_u32).unframed());
        panics(|| {
            let damaged = Framed {
                frame: [0; 3],
                parcel: Parcel::of(7_u32),
            };
            Parcel::of(damaged).unframed()
        });
    }
}
