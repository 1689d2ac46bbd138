//! The processor's counters of this process, where the machine has them. Virtual machines often have none, and a system
//! may forbid them.

use std::sync::{Mutex, OnceLock, PoisonError};

use flowmeter_records::Counters;

static OF_PROCESS: OnceLock<Option<Mutex<system::Pair>>> = OnceLock::new();

/// Begins to count, on this thread and on those that it starts from now on.
pub fn begin() {
    OF_PROCESS.get_or_init(|| system::Pair::open().ok().map(Mutex::new));
}

/// What was counted since [`begin`]; `None` where the machine has no counters.
pub fn now() -> Option<Counters> {
    let pair = OF_PROCESS.get()?.as_ref()?;
    let mut pair = pair.lock().unwrap_or_else(PoisonError::into_inner);
    pair.read().ok()
}

/// What can be counted here, or why nothing can.
pub fn described() -> String {
    match system::Pair::open() {
        Ok(_) => "instructions, cache misses".to_owned(),
        Err(why) => format!("none: {why}"),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::{self, ErrorKind};

    use perf_event::events::{Event, Hardware};
    use perf_event::{Builder, Counter};

    use super::Counters;

    pub(super) struct Pair {
        instructions: Counter,
        cache_misses: Counter,
    }

    impl Pair {
        /// The error is a reason.
        pub(super) fn open() -> Result<Pair, String> {
            let open = |event| opened(event).map_err(|why| reason(&why));
            Ok(Pair {
                instructions: open(Hardware::INSTRUCTIONS)?,
                cache_misses: open(Hardware::CACHE_MISSES)?,
            })
        }

        pub(super) fn read(&mut self) -> io::Result<Counters> {
            Ok(Counters {
                instructions: self.instructions.read()?,
                cache_misses: self.cache_misses.read()?,
            })
        }
    }

    /// A counter of the code of this process, without the kernel's.
    pub(super) fn opened(event: impl Event) -> io::Result<Counter> {
        let mut counter = Builder::new(event).inherit(true).build()?;
        counter.enable()?;
        Ok(counter)
    }

    fn reason(error: &io::Error) -> String {
        match error.kind() {
            ErrorKind::NotFound => "this machine has no counters".to_owned(),
            ErrorKind::PermissionDenied => {
                "the system forbids them (kernel.perf_event_paranoid)".to_owned()
            }
            _ => error.to_string(),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Counters;

    pub(super) struct Pair;

    impl Pair {
        pub(super) fn open() -> Result<Pair, String> {
            Err("only Linux is asked for them".to_owned())
        }

        pub(super) fn read(&mut self) -> std::io::Result<Counters> {
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use perf_event::events::Software;

    use super::*;

    /// A counter of the kernel's stands for those that this machine may lack.
    #[test]
    fn threads_that_begin_later_are_counted_while_they_live() {
        let Ok(mut nanos) = system::opened(Software::TASK_CLOCK) else {
            return; // The system forbids even these.
        };
        let (worked, works) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let worker = std::thread::spawn(move || {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            worked.send(()).unwrap();
            let _ = ends.recv();
        });
        works.recv().unwrap();
        let counted = nanos.read().unwrap();
        drop(end);
        worker.join().unwrap();
        assert!(counted > 1_000_000, "{counted} ns of 20 ms");
    }

    #[test]
    fn a_machine_without_counters_says_so() {
        begin();
        assert_eq!(now().is_some(), !described().starts_with("none: "));
    }
}
