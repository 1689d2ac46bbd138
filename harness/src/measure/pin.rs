//! Which cores a thread may run on. Where a system has no such thing, that is an answer, not an error.

use std::sync::OnceLock;

/// A recorded axis of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Wherever the system puts it.
    #[default]
    Free,
    /// All threads on the first core.
    OneCore,
    /// The i-th thread on the i-th core, around again when there are more threads than cores.
    CorePerThread,
}

/// What became of pinning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// The thread runs there from now on.
    Done,
    /// This system cannot pin threads.
    Unsupported,
    /// The system refused, and said why.
    Refused(String),
}

/// The cores that this process was given, as it was when first asked for: pin nothing before.
/// `None` where the system does not say.
pub fn cores() -> Option<&'static [usize]> {
    static CORES: OnceLock<Option<Vec<usize>>> = OnceLock::new();
    CORES.get_or_init(system::allowed).as_deref()
}

/// How the workers of this process are pinned, once [`decide`] has said.
static OF_PROCESS: OnceLock<Pinning> = OnceLock::new();

/// Says how the workers of this process are pinned, once and before it starts a thread; the answer tells whether
/// they can be.
///
/// On one core the calling thread is put there, and whatever it starts inherits that. Otherwise it stays free, so that
/// what asks how many cores there are is told so, and each worker asks for [`worker`].
pub fn decide(pinning: Pinning) -> Pinned {
    let pinning = *OF_PROCESS.get_or_init(|| pinning);
    match (pinning, pin(pinning, 0)) {
        (Pinning::CorePerThread, Pinned::Done) => pin(Pinning::Free, 0),
        (_, outcome) => outcome,
    }
}

/// How the workers of this process are pinned; free unless [`decide`] said otherwise.
pub fn of_process() -> Pinning {
    OF_PROCESS.get().copied().unwrap_or_default()
}

/// Puts the calling thread where the `index`-th worker of a workload belongs.
pub fn worker(index: usize) -> Pinned {
    match of_process() {
        Pinning::CorePerThread => pin(Pinning::CorePerThread, index),
        // Where the process is, and it with it.
        Pinning::Free | Pinning::OneCore => Pinned::Done,
    }
}

/// Pins the calling thread as the `index`-th of its scenario. Threads that it starts inherit that.
pub fn pin(pinning: Pinning, index: usize) -> Pinned {
    let Some(cores) = cores().filter(|cores| !cores.is_empty()) else {
        return Pinned::Unsupported;
    };
    match pinning {
        Pinning::Free => system::restrict(cores),
        Pinning::OneCore => system::restrict(&cores[..1]),
        Pinning::CorePerThread => {
            let core = index % cores.len();
            system::restrict(&cores[core..=core])
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::{size_of, zeroed};

    use super::Pinned;

    pub(super) fn allowed() -> Option<Vec<usize>> {
        // SAFETY: a cpu_set_t is an array of integers, for which all bits zero is a value.
        let mut set: libc::cpu_set_t = unsafe { zeroed() };
        // SAFETY: `set` is writable and of the size that is given; 0 is the calling thread.
        let answer = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
        let is_in = |core: &usize| {
            // SAFETY: the index is below the size of the set.
            unsafe { libc::CPU_ISSET(*core, &set) }
        };
        (answer == 0).then(|| (0..libc::CPU_SETSIZE as usize).filter(is_in).collect())
    }

    pub(super) fn restrict(cores: &[usize]) -> Pinned {
        // SAFETY: as above.
        let mut set: libc::cpu_set_t = unsafe { zeroed() };
        for &core in cores {
            // SAFETY: `allowed` found it, so it is below the size of the set.
            unsafe { libc::CPU_SET(core, &mut set) };
        }
        // SAFETY: `set` is readable and of the size that is given; 0 is the calling thread.
        match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } {
            0 => Pinned::Done,
            _ => Pinned::Refused(std::io::Error::last_os_error().to_string()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Pinned;

    pub(super) fn allowed() -> Option<Vec<usize>> {
        None
    }

    pub(super) fn restrict(_: &[usize]) -> Pinned {
        Pinned::Unsupported
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_and_a_freed_one_has_all_cores_again() {
        let all = cores().expect("Linux says").to_vec();
        std::thread::spawn(move || {
            assert_eq!(pin(Pinning::CorePerThread, all.len()), Pinned::Done);
            assert_eq!(system::allowed(), Some(all[..1].to_vec()), "around again");
            assert_eq!(pin(Pinning::Free, 0), Pinned::Done);
            assert_eq!(system::allowed(), Some(all));
        })
        .join()
        .unwrap();
    }
}
