//! The hardware threads on which the system lets a thread run. Linux alone tells and changes them.

pub use self::system::{of_process, of_thread, restrict};

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{c_int, c_ulong};
    use std::io;

    /// More hardware threads than Linux supports.
    const MOST: usize = 1 << 13;
    const BITS: usize = c_ulong::BITS as usize;
    type Mask = [c_ulong; MOST / BITS];

    // std links the C library itself; the package libc would be the library's only dependency.
    unsafe extern "C" {
        fn sched_getaffinity(thread: c_int, bytes: usize, mask: *mut Mask) -> c_int;
        fn sched_setaffinity(thread: c_int, bytes: usize, mask: *const Mask) -> c_int;
    }

    fn of(thread: c_int) -> Option<Vec<usize>> {
        let mut mask: Mask = [0; MOST / BITS];
        // SAFETY: `mask` is writable and of the size that is given.
        let answer = unsafe { sched_getaffinity(thread, size_of::<Mask>(), &mut mask) };
        let is_in = |core: &usize| mask[core / BITS] >> (core % BITS) & 1 == 1;
        (answer == 0).then(|| (0..MOST).filter(is_in).collect())
    }

    /// Those of the calling thread; `None` where the system does not say.
    pub fn of_thread() -> Option<Vec<usize>> {
        of(0)
    }

    /// Those of the process's first thread, wherever the calling one was restricted to; `None` where the system does
    /// not say.
    pub fn of_process() -> Option<Vec<usize>> {
        if cfg!(miri) {
            // Some versions of it know the calling thread alone.
            return of_thread();
        }
        // The first thread has the number of its process.
        of(std::process::id().try_into().ok()?)
    }

    /// Lets the calling thread, and those that it starts, run on these alone.
    ///
    /// # Errors
    /// What the system says, and `InvalidInput` for a number that no hardware thread has.
    pub fn restrict(cores: &[usize]) -> io::Result<()> {
        let mut mask: Mask = [0; MOST / BITS];
        for &core in cores {
            let word = mask.get_mut(core / BITS);
            *word.ok_or(io::ErrorKind::InvalidInput)? |= 1 << (core % BITS);
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
    use std::io;

    /// `None`: this system does not say.
    pub fn of_thread() -> Option<Vec<usize>> {
        None
    }

    /// `None`: this system does not say.
    pub fn of_process() -> Option<Vec<usize>> {
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_restricted_thread_is_told_its_own_and_those_of_its_process() {
        let all = of_process().expect("Linux says");
        let last = all[all.len() - 1];
        let restricted = std::thread::spawn(move || {
            restrict(&[last]).expect("it may run there");
            (of_thread(), of_process())
        });
        let told = restricted.join().expect("it does not panic");
        assert_eq!(told, (Some(vec![last]), Some(all)));
    }

    #[test]
    fn a_number_beyond_all_hardware_threads_is_refused() {
        assert!(restrict(&[usize::MAX]).is_err());
    }
}
