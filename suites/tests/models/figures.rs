//! Figures of pipelines in virtual time, with a timer and the default configuration: the seed text's figures on n in
//! flight and more (P8), and the cost and benefit of a window (P5).

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowmeter_harness::channel::{Async, Buffer, Channels, Offered};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::shuttle::{Sim, clock};
use flowmeter_harness::sync::{Exploration, World};
use flowmeter_harness::timer::Sleep;
use flowmeter_impls_shuttle::channel::mutex::MutexChannels as C;
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool as E;
use flowmeter_impls_shuttle::pipeline::windowed::Window;
use flowmeter_impls_shuttle::pipeline::{CoreAsync, Finishes, Swapped, Unordered, Windowed};
use flowmeter_impls_shuttle::timer::heap::Heap;
use flowmeter_suites::isolation::Model;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const SECOND: Duration = Duration::from_secs(1);
const HEAD: Duration = Duration::from_secs(10);

/// The models.
pub fn models() -> Vec<Model> {
    let mut models = vec![
        figure("ten_of_a_second_at_3_in_core_async", 2_000, || {
            makespan(CoreAsync::default(), 3, seconds(1, 1))
        }),
        figure("ten_of_a_second_at_1_in_core_async", 4_000, || {
            makespan(CoreAsync::default(), 1, seconds(1, 1))
        }),
        figure("ten_of_a_second_at_3_swapped", 3_000, || {
            makespan(Swapped::default(), 3, seconds(1, 1))
        }),
        figure("ten_of_a_second_at_1_swapped", 5_000, || {
            makespan(Swapped::default(), 1, seconds(1, 1))
        }),
        figure("a_slow_head_at_1_in_core_async", 13_000, || {
            makespan(CoreAsync::default(), 1, seconds(10, 1))
        }),
        figure("a_slow_head_at_3_unordered", 10_000, || {
            makespan(Unordered::default(), 3, seconds(10, 1))
        }),
        figure("3000_behind_a_head_in_core_async", 15_000, || {
            makespan(CoreAsync::default(), 4, behind_a_head())
        }),
        figure("3000_behind_a_head_in_finishes", 17_500, || {
            makespan(Finishes::default(), 4, behind_a_head())
        }),
    ];
    for (window, millis) in [(4, 17_500), (64, 17_350), (1_024, 14_950), (3_001, 10_000)] {
        let name = format!("3000_behind_a_head_in_a_window_of_{window}");
        models.push(figure(&name, millis, move || {
            makespan(windowed(window), 4, behind_a_head())
        }));
    }
    models.extend(where_the_bound_holds("finishes", Finishes::default));
    models.extend(where_the_bound_holds("windowed", Windowed::default));
    models.extend(where_the_bound_holds("unordered", Unordered::default));
    for n in [1, 4, 16, 64] {
        let name = format!("figures::the_recommended_window_is_wide_enough_at_{n}");
        models.push(Model::new(name, move || recommended(n)));
    }
    models
}

fn where_the_bound_holds<P>(name: &str, pipeline: fn() -> P) -> [Model; 2]
where
    P: Pipelines<C, E> + Copy,
{
    [(3, 4_000), (1, 10_000)].map(|(n, millis)| {
        let name = format!("ten_of_a_second_at_{n}_in_{name}");
        figure(&name, millis, move || {
            makespan(pipeline(), n, seconds(1, 1))
        })
    })
}

fn figure(
    name: &str,
    millis: u64,
    seen: impl Fn() -> Result<Duration, String> + Send + Sync + 'static,
) -> Model {
    let expected = Duration::from_millis(millis);
    // A thousandth for rounding.
    let near = expected / 1_000;
    Model::new(format!("figures::{name}"), move || {
        let seen = seen()?;
        let told = format!("{seen:?}, {expected:?} expected");
        if seen.abs_diff(expected) <= near {
            Ok(told)
        } else {
            Err(told)
        }
    })
}

/// The head of ten, and the others.
fn seconds(head: u32, others: u32) -> Vec<Duration> {
    [vec![SECOND * head], vec![SECOND * others; 9]].concat()
}

fn behind_a_head() -> Vec<Duration> {
    [vec![HEAD], vec![Duration::from_millis(10); 3_000]].concat()
}

fn once() -> Exploration {
    Exploration {
        executions: 1,
        time: Duration::from_secs(120),
        ..Exploration::default()
    }
}

fn windowed(items: usize) -> Windowed {
    let items = NonZeroUsize::new(items).expect("a window has places");
    Windowed::with_window(Window::Items(items))
}

/// When the last result came.
fn makespan(
    pipeline: impl Pipelines<C, E> + Copy,
    n: usize,
    takes: Vec<Duration>,
) -> Result<Duration, String> {
    let seen = Arc::new(Mutex::new(None));
    let told = Arc::clone(&seen);
    let explored = Sim::explore(&once(), move || {
        let last = run(pipeline, n, &takes);
        told.lock()
            .expect("no thread panics while it holds the lock")
            .replace(last);
    });
    match explored.failure {
        Some(failure) => Err(failure.to_string()),
        None => {
            let seen = seen
                .lock()
                .expect("no thread panics while it holds the lock")
                .take();
            seen.ok_or_else(|| "it did not run".to_owned())
        }
    }
}

fn run(pipeline: impl Pipelines<C, E>, n: usize, takes: &[Duration]) -> Duration {
    let opens = "it has a fixed buffer";
    let (mut inputs, from) = C::open::<usize>(Buffer::fixed(takes.len())).expect(opens);
    for input in 0..takes.len() {
        assert_eq!(C::offer(&mut inputs, input), Offered::Done);
    }
    C::close(&inputs);
    let (to, mut results) = C::open::<usize>(Buffer::fixed(takes.len())).expect(opens);
    let executor = E::with_threads(NonZeroUsize::MIN);
    let n = NonZeroUsize::new(n).expect("there is parallelism");
    let timer = Heap::start();
    let begins = Sim::now_nanos();
    let end = start(pipeline, &executor, n, (from, to), timer, takes.into());
    Sim::block_on(end);
    let lasted = Duration::from_nanos(Sim::now_nanos() - begins);
    let mut came = 0;
    while Sim::block_on(C::take_async(&mut results)).is_ok() {
        came += 1;
    }
    assert_eq!(came, takes.len(), "a result for each item");
    drop(executor);
    lasted
}

fn start<P: Pipelines<C, E>>(
    pipeline: P,
    executor: &E,
    n: NonZeroUsize,
    (from, to): (<C as Channels>::Rx<usize>, <C as Channels>::Tx<usize>),
    timer: Heap,
    takes: Arc<[Duration]>,
) -> impl Future<Output = ()> + Send + use<P> {
    let timer = Arc::new(timer);
    let af = move |input: usize, mut port: ResultPort<C, usize, P::Permit>| {
        let (timer, takes) = (Arc::clone(&timer), takes[input]);
        async move {
            timer.sleep_until(clock::after(takes)).await;
            let _ = port.put(input).await;
        }
    };
    pipeline.start(executor.spawner(), n, from, to, af, AtEnd::Close)
}

/// Makespan over ideal, for exponential durations. The ideal has n servers that take the items in order.
fn recommended(n: usize) -> Result<String, String> {
    const MEAN: f64 = 10_000_000.0;
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut exponential = || {
        let uniform: f64 = random.random_range(f64::EPSILON..1.0);
        Duration::from_nanos((-uniform.ln() * MEAN) as u64)
    };
    let takes: Vec<Duration> = (0..100 * n.max(4)).map(|_| exponential()).collect();
    let mut free = vec![Duration::ZERO; n];
    for takes in &takes {
        let next = free.iter_mut().min().expect("there is a server");
        *next += *takes;
    }
    let ideal = free.into_iter().max().expect("there is a server");
    let pipeline = Windowed::with_window(Window::RECOMMENDED);
    let over = makespan(pipeline, n, takes)?.as_secs_f64() / ideal.as_secs_f64();
    let told = format!("{over:.4} times the ideal");
    if over <= 1.05 { Ok(told) } else { Err(told) }
}
