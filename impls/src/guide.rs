//! A walk through the library, from one call with a time limit to a search over many.
//!
//! # A call that may take too long
//!
//! The text that made core.async's timeouts known sends an HTTP request and gives up after 300 ms. In Clojure:
//!
//! ```text
//! (def ch (a/chan 1))
//! (http/get url #(a/put! ch %))
//! (a/go
//!   (let [[v c] (a/alts! [ch (a/timeout 300)])]
//!     (if (= c ch)
//!       v
//!       (do (a/close! ch) :timeout))))
//! ```
//!
//! The same here, with a thread that waits:
//!
//! ```
//! use std::time::Duration;
//!
//! use flowmeter_impls::alts;
//! use flowmeter_impls::channel::Buffer;
//! use flowmeter_impls::channel::mutex::Channel;
//! # fn get(_url: &str, then: impl FnOnce(String) + Send + 'static) {
//! #     std::thread::spawn(|| then("<html>".to_owned()));
//! # }
//!
//! let ch = Channel::new(Buffer::fixed(1));
//! let answer = ch.clone();
//! get("…", move |page| {
//!     // Refused, and given back, when the answer comes too late: the channel is closed then.
//!     let _too_late = answer.put(page);
//! });
//! let page = alts! {
//!     take(ch) => |page| page,
//!     timeout(Duration::from_millis(300)) => {
//!         ch.close();
//!         None
//!     },
//! }?;
//! assert_eq!(page.as_deref(), Some("<html>"));
//! # Ok::<(), flowmeter_impls::channel::AltsError>(())
//! ```
//!
//! And with a go block on core.async's pool. As there, the timeout is a channel that closes, so it stands among the
//! clauses like any other, and several alts may share it:
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use std::time::Duration;
//!
//! use flowmeter_harness::executor::{Executors, go};
//! use flowmeter_harness::timer::{Timeouts, Timers};
//! use flowmeter_impls::alts_async;
//! use flowmeter_impls::channel::Buffer;
//! use flowmeter_impls::channel::mutex::{Channel, Consumer, MutexChannels};
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//! use flowmeter_impls::timer::heap::Heap;
//! # fn get(_url: &str, _then: impl FnOnce(String) + Send + 'static) {}
//!
//! let pool = FixedPool::new();
//! let timer = <Heap as Timers>::start();
//!
//! let ch = Channel::<String>::new(Buffer::fixed(1));
//! let answer = ch.clone();
//! get("…", move |page| drop(answer.offer(page)));
//! let late: Consumer<()> =
//!     Timeouts::<MutexChannels>::timeout(&timer, Duration::from_millis(300));
//! let said = go::<MutexChannels, _>(&pool.spawner(), async move {
//!     let page = alts_async! {
//!         take(ch) => |page| page,
//!         take(late) => |_| {
//!             ch.close();
//!             None
//!         },
//!     };
//!     Some(page.ok().flatten().unwrap_or_else(|| "timeout".to_owned()))
//! });
//! assert_eq!(said.take().as_deref(), Ok("timeout"));
//! # }
//! ```
//!
//! Two differences from the original are deliberate. These timeouts are not shared. core.async hands one channel to all
//! requests within ten milliseconds, so closing it ends the others' timeouts too ([`delay_queue`](crate::timer)
//! reproduces that design). And `Duration::MAX` waits for ever instead of overflowing.
//!
//! # A search over many, with a deadline
//!
//! The search returns what was found in time. When the last searcher drops its producer the channel closes, and the
//! search ends early. When the search is over its consumer is dropped, and a searcher's next put is refused and tells
//! it to stop.
//!
//! The program is `examples/fan_out.rs`; `docs/fan_out.md` shows it beside the same program in crossbeam and in Go.
//!
//! # Go blocks put together
//!
//! core.async's functions over channels are in [`combinator`](crate::combinator): they distribute one channel to many
//! and merge many into one, fold, group, and publish by topic. Each is a go block of its own, on any executor:
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use flowmeter_impls::channel::Buffer;
//! use flowmeter_impls::channel::mutex::MutexChannels as C;
//! use flowmeter_impls::combinator::{into, split, to_chan, unique};
//! use flowmeter_impls::executor::Executors;
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//!
//! let pool = FixedPool::new();
//! let go = pool.spawner();
//! let room = Buffer::fixed(4);
//!
//! let lines = to_chan::<C, _>(&go, ["# news", "it rains", "it rains", "# sports"]);
//! let lines = unique::<C, _>(&go, lines, room);
//! let (heads, texts) = split::<C, &str>(&go, lines, |line| line.starts_with('#'), (room, room));
//! let heads = into::<C, _, Vec<&str>>(&go, Vec::new(), heads);
//! assert_eq!(heads.take().as_deref(), Ok(&["# news", "# sports"][..]));
//! assert!(texts.iter().eq(["it rains"]));
//! # }
//! ```
//!
//! # What else timers do
//!
//! Begin with [`HierarchicalWheel`](crate::timer::hierarchical_wheel::HierarchicalWheel); `heap` and `hashed_wheel` are
//! the same service around another index. A timer can be cancelled, moved, or allowed to be late so that several share
//! a wake-up. Futures can sleep, tick without drift, and time out. An [`Agenda`](crate::timer::service::Agenda) is a
//! wheel without a thread, for a program that has a loop already. If you have a core to spare and cannot wait for the
//! system to wake a thread, use a wheel that is [`Spinning`](crate::timer::service::Spinning).
//!
//! ```
//! use std::time::Duration;
//!
//! use flowmeter_harness::sync::Deadline;
//! use flowmeter_harness::sync::std::{block_on, clock};
//! use flowmeter_harness::timer::{Cancel, Coalesce, Reset, Timers};
//! use flowmeter_impls::timer::futures::{Elapsed, Interval, timeout_at};
//! use flowmeter_impls::timer::hierarchical_wheel::HierarchicalWheel;
//!
//! let timers = HierarchicalWheel::new();
//! let idle = timers.schedule(clock::after(Duration::from_secs(30)), |_| println!("hang up"));
//! assert!(timers.reset(&idle, clock::after(Duration::from_secs(60))));
//! assert!(timers.cancel(&idle));
//!
//! // Late by up to a second, if other timers then share the wake-up.
//! let window = Duration::from_secs(1);
//! timers.schedule_within(clock::after(window), window, |fired| println!("{}", fired.due));
//!
//! block_on(async {
//!     let mut seconds = Interval::new(&timers, Deadline::from_nanos(0), Duration::from_secs(1));
//!     assert_eq!(seconds.tick().await, Deadline::from_nanos(0));
//!     let soon = clock::after(Duration::from_millis(1));
//!     let never = std::future::pending::<()>();
//!     assert_eq!(timeout_at(&timers, soon, never).await, Err(Elapsed));
//! });
//! ```
//!
//! # What else halves do
//!
//! A batch takes the channel's lock once for all values that need not wait. A permit holds room for a value that is
//! still to be made. A callback runs on the thread that meets the other side, so it should not wait there. A bare
//! `Channel` has these methods too.
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use flowmeter_impls::channel::Buffer;
//! use flowmeter_impls::channel::mutex::Channel;
//!
//! let (tx, rx) = Channel::split(Buffer::fixed(4));
//! tx.put_many(&mut [1, 2].into())?;
//! let permit = tx.reserve()?;
//! permit.fill(3).expect("the channel is open");
//!
//! let mut taken = Vec::new();
//! rx.take_many(NonZeroUsize::MAX, &mut taken)?;
//! assert_eq!(taken, [1, 2, 3]);
//!
//! rx.take_then(|answer| assert_eq!(answer, Ok(4)));
//! tx.put(4)?;
//! drop(tx);
//! assert_eq!(rx.iter().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
