//! Adapters of published crates. They claim exactly what their crates document. Each
//! file begins with a table of the claims and the places that document them. After the table it says what is not
//! claimed, and why.
//!
//! Those that have twins (`impls/twins`) are compiled for the explored worlds too. The others run in the std world only.
//!
//! These take no part:
//!
//! - oneshot: its halves are used up by their first value, and the properties of channels use them again.
//! - forte: its pools are static and never end, so waiting tasks cannot be dropped with their executor.
//! - chili: it joins two closures and spawns nothing.
//! - st3: it is the queue of an executor, and no executor.
//!
//! tokio's alternative timer (`Builder::enable_alt_timer`) takes no part. It exists only if everything is compiled with
//! `--cfg tokio_unstable`.

mod answered;
pub mod async_channel;
#[cfg(not(feature = "shuttle"))]
pub mod async_io;
pub mod crossbeam;
pub mod crossfire;
pub mod flume;
pub mod futures_buffered;
pub mod futures_channel;
pub mod governor;
#[cfg(not(feature = "shuttle"))]
pub mod hash_wheel_timer;
pub mod kanal;
pub mod leaky_bucket;
pub mod loole;
#[cfg(not(feature = "shuttle"))]
pub mod os_sleep;
mod panic_watch;
#[cfg(not(feature = "shuttle"))]
pub mod par_stream;
#[cfg(not(feature = "shuttle"))]
pub mod rayon;
pub mod rtrb;
pub mod smol;
#[cfg(not(feature = "shuttle"))]
pub mod spin_sleep;
#[cfg(not(feature = "shuttle"))]
pub mod std;
pub mod tachyonix;
pub mod thingbuf;
pub mod tokio;
pub mod tokio_delay_queue;
pub mod tokio_executor;
mod tokio_runtime;
pub mod tokio_semaphore;
pub mod tokio_sleep;

use ::std::collections::HashMap;
use ::std::sync::LazyLock;

/// The versions in this workspace's lock file, by crate. Of several versions, the newest comes last and stays.
static VERSIONS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let quoted = |line: &'static str| line.split('"').nth(1);
    let mut lines = include_str!("../../../Cargo.lock").lines();
    let mut versions = HashMap::new();
    while let Some(line) = lines.next() {
        if line.starts_with("name = ") {
            versions.extend(quoted(line).zip(lines.next().and_then(quoted)));
        }
    }
    versions
});

/// Version of a crate in this workspace's lock file. If there are several, the newest, because other crates depend on
/// older ones.
pub fn version(package: &str) -> &'static str {
    VERSIONS.get(package).copied().unwrap_or("unknown")
}
