//! The hardware threads on which the system lets a thread run. Linux alone tells and changes them.

pub use self::system::{allowed, restrict};

#[cfg(target_os = "linux")]
mod system {
    use ::std::ffi::{c_int, c_ulong};
    use ::std::io;

    /// As many hardware threads as a `cpu_set_t` of C has bits.
    const MOST: usize = 1024;
    const BITS: usize = c_ulong::BITS as usize;
    type Mask = [c_ulong; MOST / BITS];

    // std links the C library itself; the package libc would be the library's only dependency.
    unsafe extern "C" {
        fn sched_getaffinity(thread: c_int, bytes: usize, mask: *mut Mask) -> c_int;
        fn sched_setaffinity(thread: c_int, bytes: usize, mask: *const Mask) -> c_int;
    }

    /// Those of the calling thread; `None` where the system does not say.
    pub fn allowed() -> Option<Vec<usize>> {
        let mut mask: Mask = [0; MOST / BITS];
        // SAFETY: `mask` is writable and of the size that is given; 0 is the calling thread.
        let answer = unsafe { sched_getaffinity(0, size_of::<Mask>(), &mut mask) };
        let is_in = |core: &usize| mask[core / BITS] >> (core % BITS) & 1 == 1;
        (answer == 0).then(|| (0..MOST).filter(is_in).collect())
    }

    /// Lets the calling thread, and those that it starts, run on these alone.
    ///
    /// # Errors
    /// What the system says.
    pub fn restrict(cores: &[usize]) -> io::Result<()> {
        let mut mask: Mask = [0; MOST / BITS];
        for &core in cores {
            mask[core / BITS] |= 1 << (core % BITS);
        }
        // SAFETY: `mask` is readable and of the size that is given; 0 is the calling thread.
        match unsafe { sched_setaffinity(0, size_of::<Mask>(), &mask) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use ::std::io;

    /// `None`: this system does not say.
    pub fn allowed() -> Option<Vec<usize>> {
        None
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn restrict(_: &[usize]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
