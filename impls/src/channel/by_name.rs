//! `Debug` for types that show only their name.

/// Shows each of these types by its name. The arguments are the parameters of the implementation, and the type.
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
