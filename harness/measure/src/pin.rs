//! Which cores a thread may run on. On a system without pinning, the result says so; it is not an error.

use std::sync::OnceLock;

use flowmeter_harness::machine::affinity;

use super::topology::Places;

/// Where threads run: a recorded axis of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Wherever the system puts them.
    #[default]
    Free,
    /// All threads on the first core.
    OneCore,
    /// The i-th thread on the i-th core, socket by socket. Second hardware threads of the cores follow, then it starts
    /// over.
    CorePerThread,
    /// The hardware threads of a core come next to each other: two threads share a core.
    Siblings,
    /// Sockets come in turn: two threads are on two sockets.
    Sockets,
    /// [`CorePerThread`](Self::CorePerThread) in scenarios with threads that can be pinned one by one, and free in
    /// others. A process is told one of the two.
    WherePossible,
}

impl Pinning {
    /// Whether each thread is pinned by itself.
    pub fn is_by_thread(self) -> bool {
        match self {
            Pinning::CorePerThread | Pinning::Siblings | Pinning::Sockets => true,
            Pinning::Free | Pinning::OneCore | Pinning::WherePossible => false,
        }
    }

    /// What this machine lacks for it.
    pub fn lacking(self) -> Option<&'static str> {
        let counted = || Places::of_process().map(Places::counted);
        match self {
            Pinning::Siblings => match counted() {
                None => Some("this system does not say which hardware threads share a core"),
                Some(it) if it.hardware_threads == it.cores => {
                    Some("no core here has two hardware threads for this process")
                }
                Some(_) => None,
            },
            Pinning::Sockets => match counted() {
                None => Some("this system does not say which cores share a socket"),
                Some(it) if it.sockets == 1 => Some("this process has cores of one socket only"),
                Some(_) => None,
            },
            _ => None,
        }
    }

    /// The hardware threads in the order in which threads get them.
    fn order(self) -> Option<Vec<usize>> {
        let places = Places::of_process();
        match (self, places) {
            (Pinning::Siblings, places) => places.map(Places::siblings_first),
            (Pinning::Sockets, places) => places.map(Places::sockets_in_turn),
            (_, Some(places)) => Some(places.cores_first()),
            (_, None) => cores().map(<[usize]>::to_vec),
        }
    }
}

/// The result of pinning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// The thread runs there from now on.
    Done,
    /// This system cannot pin threads.
    Unsupported,
    /// The system refused, for this reason.
    Refused(String),
}

/// The cores of this process at the first call, so do not pin anything before. `None` where the system does not say.
pub fn cores() -> Option<&'static [usize]> {
    static CORES: OnceLock<Option<Vec<usize>>> = OnceLock::new();
    CORES.get_or_init(affinity::of_thread).as_deref()
}

/// How the workers of this process are pinned, as set by [`decide`].
static OF_PROCESS: OnceLock<Pinning> = OnceLock::new();

/// Sets how the workers of this process are pinned, once and before it starts a thread. Returns whether they can be.
///
/// With one core the calling thread is pinned to it, and the threads that it starts inherit that. Otherwise it stays
/// free, so that code that asks for the number of cores gets the full number, and each worker calls [`worker`].
pub fn decide(pinning: Pinning) -> Pinned {
    let pinning = *OF_PROCESS.get_or_init(|| pinning);
    match pin(pinning, 0) {
        Pinned::Done if pinning.is_by_thread() => pin(Pinning::Free, 0),
        outcome => outcome,
    }
}

/// How the workers of this process are pinned; free unless [`decide`] set it.
pub fn of_process() -> Pinning {
    OF_PROCESS.get().copied().unwrap_or_default()
}

/// Pins the calling thread as the `index`-th worker of a workload.
pub fn worker(index: usize) -> Pinned {
    match of_process() {
        pinning if pinning.is_by_thread() => pin(pinning, index),
        // The worker inherits the pinning of its process.
        _ => Pinned::Done,
    }
}

/// Pins the calling thread as the `index`-th of its scenario. Threads that it starts inherit that.
pub fn pin(pinning: Pinning, index: usize) -> Pinned {
    let Some(cores) = cores().filter(|cores| !cores.is_empty()) else {
        return Pinned::Unsupported;
    };
    match pinning {
        Pinning::Free | Pinning::WherePossible => restrict(cores),
        Pinning::OneCore => restrict(&cores[..1]),
        Pinning::CorePerThread | Pinning::Siblings | Pinning::Sockets => {
            if let Some(why) = pinning.lacking() {
                return Pinned::Refused(why.to_owned());
            }
            match pinning.order() {
                Some(order) => restrict(&[order[index % order.len()]]),
                None => Pinned::Unsupported,
            }
        }
    }
}

/// Lets the calling thread run on these alone.
fn restrict(cores: &[usize]) -> Pinned {
    match affinity::restrict(cores) {
        Ok(()) => Pinned::Done,
        Err(why) => Pinned::Refused(why.to_string()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_the_machine_lacks_is_refused_with_the_reason() {
        for pinning in [Pinning::Siblings, Pinning::Sockets] {
            let placed = |index| {
                let worker =
                    std::thread::spawn(move || (pin(pinning, index), affinity::of_thread()));
                worker.join().unwrap()
            };
            let [(first, here), (second, there)] = [placed(0), placed(1)];
            if let Some(why) = pinning.lacking() {
                assert_eq!(
                    [first, second],
                    [(); 2].map(|()| Pinned::Refused(why.to_owned()))
                );
                continue;
            }
            assert_eq!([first, second], [Pinned::Done, Pinned::Done]);
            let both = [here.unwrap(), there.unwrap()].concat();
            let counted = Places::of(&both).expect("Linux says").counted();
            match pinning {
                Pinning::Siblings => assert_eq!((counted.hardware_threads, counted.cores), (2, 1)),
                _ => assert_eq!(counted.sockets, 2),
            }
        }
    }

    #[test]
    fn a_pinned_thread_stays_and_a_freed_one_has_all_cores_again() {
        let all = cores().expect("Linux says").to_vec();
        std::thread::spawn(move || {
            assert_eq!(pin(Pinning::CorePerThread, all.len()), Pinned::Done);
            assert_eq!(
                affinity::of_thread(),
                Some(all[..1].to_vec()),
                "around again"
            );
            assert_eq!(pin(Pinning::Free, 0), Pinned::Done);
            assert_eq!(affinity::of_thread(), Some(all));
        })
        .join()
        .unwrap();
    }
}
