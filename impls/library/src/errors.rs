//! Why an operation failed. As in std, a value of any type may be in an error, and `Debug` does not show it. So `?`
//! accepts every error whose value the target accepts.

use std::error::Error;
use std::fmt;

const NO_RECEIVER: &str = "the channel is disconnected: it has no receiver left";
const NO_SENDER: &str = "the channel is empty, and disconnected: it has no sender left";

/// The channel has no receiver left. It holds the value that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why a value was not sent at once. It holds the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel has no room. In a rendezvous, no receiver waits.
    Full(T),
    /// The channel has no receiver left.
    Disconnected(T),
}

/// Why a value was not sent in time. It holds the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The time was over before there was room.
    Timeout(T),
    /// The channel has no receiver left.
    Disconnected(T),
}

/// The channel is empty and has no sender left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// Why no value was received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty. In a rendezvous, no sender waits.
    Empty,
    /// The channel is empty and has no sender left.
    Disconnected,
}

/// Why no value was received in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time was over before there was a value.
    Timeout,
    /// The channel is empty and has no sender left.
    Disconnected,
}

impl<T> SendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_RECEIVER)
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_SENDER)
    }
}

/// What an error with a value and two reasons has.
macro_rules! has_value {
    ($Error:ident, $Other:ident, $is_other:ident, $text:expr) => {
        impl<T> $Error<T> {
            /// The value that was not sent.
            pub fn into_inner(self) -> T {
                match self {
                    $Error::$Other(value) | $Error::Disconnected(value) => value,
                }
            }

            #[doc = concat!("Whether it is [`", stringify!($Error), "::", stringify!($Other), "`].")]
            pub fn $is_other(&self) -> bool {
                matches!(self, $Error::$Other(_))
            }

            #[doc = concat!("Whether it is [`", stringify!($Error), "::Disconnected`].")]
            pub fn is_disconnected(&self) -> bool {
                matches!(self, $Error::Disconnected(_))
            }
        }

        impl<T> fmt::Debug for $Error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $Error::$Other(_) => concat!(stringify!($Other), "(..)"),
                    $Error::Disconnected(_) => "Disconnected(..)",
                })
            }
        }

        impl<T> fmt::Display for $Error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $Error::$Other(_) => $text,
                    $Error::Disconnected(_) => NO_RECEIVER,
                })
            }
        }

        impl<T> From<SendError<T>> for $Error<T> {
            fn from(SendError(value): SendError<T>) -> Self {
                $Error::Disconnected(value)
            }
        }

        impl<T> Error for $Error<T> {}
    };
}

/// What an error without a value has.
macro_rules! has_none {
    ($Error:ident, $Other:ident, $is_other:ident, $text:expr) => {
        impl $Error {
            #[doc = concat!("Whether it is [`", stringify!($Error), "::", stringify!($Other), "`].")]
            pub fn $is_other(&self) -> bool {
                matches!(self, $Error::$Other)
            }

            #[doc = concat!("Whether it is [`", stringify!($Error), "::Disconnected`].")]
            pub fn is_disconnected(&self) -> bool {
                matches!(self, $Error::Disconnected)
            }
        }

        impl fmt::Display for $Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $Error::$Other => $text,
                    $Error::Disconnected => NO_SENDER,
                })
            }
        }

        impl From<RecvError> for $Error {
            fn from(_: RecvError) -> Self {
                $Error::Disconnected
            }
        }

        impl Error for $Error {}
    };
}

has_value!(TrySendError, Full, is_full, "the channel is full");
has_value!(
    SendTimeoutError,
    Timeout,
    is_timeout,
    "the time was over before there was room"
);
has_none!(TryRecvError, Empty, is_empty, "the channel is empty");
has_none!(
    RecvTimeoutError,
    Timeout,
    is_timeout,
    "the time was over before there was a value"
);

impl<T> Error for SendError<T> {}
impl Error for RecvError {}
