//! Adapters of published crates. They run in the std world only, and claim exactly what their crates document. Each
//! file begins with a table of the claims and the places that document them. After the table it says what is not
//! claimed, and why.
//!
//! tokio's alternative timer (`Builder::enable_alt_timer`) takes no part. It exists only if everything is compiled with
//! `--cfg tokio_unstable`.

mod answered;
pub mod async_channel;
pub mod async_io;
pub mod crossbeam;
pub mod crossfire;
pub mod flume;
pub mod futures_buffered;
pub mod governor;
pub mod hash_wheel_timer;
pub mod kanal;
pub mod leaky_bucket;
pub mod loole;
pub mod os_sleep;
mod panic_watch;
pub mod par_stream;
pub mod rayon;
pub mod smol;
pub mod spin_sleep;
pub mod std;
pub mod thingbuf;
pub mod tokio;
pub mod tokio_delay_queue;
pub mod tokio_executor;
mod tokio_runtime;
pub mod tokio_semaphore;
pub mod tokio_sleep;

/// Version of a crate in this workspace's lock file. If there are several, the newest, because other crates depend on
/// older ones.
pub fn version(package: &str) -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let name = format!("name = \"{package}\"");
    let after = lock.rsplit_once(&name).map_or("", |(_, after)| after);
    let version = after
        .lines()
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \""));
    version.map_or("unknown", |rest| rest.trim_end_matches('"'))
}
