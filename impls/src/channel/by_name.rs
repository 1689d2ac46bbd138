//! `Debug` for what has nothing to show but its name.

/// Shows each of these by its name: the parameters of the implementation, and the type.
macro_rules! debug_by_name {
    ($([$($parameter:tt)*] $name:ident $(<$($argument:tt),+>)?;)+) => {$(
        impl<$($parameter)*> std::fmt::Debug for $name $(<$($argument),+>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )+};
}

pub(super) use debug_by_name;
