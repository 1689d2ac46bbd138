//! Tests that all our pipelines share: how they end, and how they run.

use std::future::pending;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use flowmeter_harness::channel::{Buffer, Callback, Channels, Message, Offered, Polled};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::windowed::Window;
use super::*;
use crate::channel::mutex::MutexChannels as C;
use crate::executor::fixed_pool::FixedPool as E;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, block_on, yield_now};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn one_thread() -> E {
    E::with_threads(NonZeroUsize::MIN)
}

/// A full channel that holds those values.
fn holding<T: Message>(
    values: impl ExactSizeIterator<Item = T>,
) -> (<C as Channels>::Tx<T>, <C as Channels>::Rx<T>) {
    let (mut tx, rx) = open::<C, T>(Buffer::fixed(values.len()));
    for value in values {
        assert!(matches!(C::offer(&mut tx, value), Offered::Done));
    }
    (tx, rx)
}

/// Closes a channel when the last input is gone.
struct Inputs(<C as Channels>::Tx<()>);

impl Drop for Inputs {
    fn drop(&mut self) {
        C::close(&self.0);
    }
}

/// A result that panics when it is dropped, unless another result has done so.
struct Explosive(Arc<AtomicBool>);

impl Drop for Explosive {
    fn drop(&mut self) {
        if !self.0.swap(true, Ordering::SeqCst) {
            resume_unwind(Box::new("a refused result"));
        }
    }
}

/// A refused result kills the loop that delivers. The input, which stays open, is then dropped with its contents, and
/// the end is signalled.
fn stops<P: Pipelines<C, E> + Copy>(pipeline: P) {
    for items in [1, 100] {
        let executor = one_thread();
        let (gone, mut all_gone) = open::<C, ()>(ONE);
        let inputs = Arc::new(Inputs(gone));
        let (_open, from) = holding((0..items).map(|_| Arc::clone(&inputs)));
        drop(inputs);
        let (to, _results) = open::<C, Explosive>(ONE);
        C::close(&to);
        let exploded = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&exploded);
        let af = move |_: Arc<Inputs>, mut port: ResultPort<C, Explosive, P::Permit>| {
            let result = Explosive(Arc::clone(&exploded));
            async move {
                let _ = port.put(result).await;
            }
        };
        let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
        block_on(end);
        block_on(next::<C, ()>(&mut all_gone));
        assert!(seen.load(Ordering::SeqCst), "nothing was refused");
    }
}

/// No more places than items in flight: the loop that begins items waits for one.
fn narrow() -> Windowed {
    Windowed::with_window(Window::Items(TWO))
}

#[test]
fn a_death_at_the_output_stops_core_async() {
    stops(CoreAsync::default());
}

#[test]
fn a_death_at_the_output_stops_swapped() {
    stops(Swapped::default());
}

#[test]
fn a_death_at_the_output_stops_finishes() {
    stops(Finishes::default());
}

#[test]
fn a_death_at_the_output_stops_unordered() {
    stops(Unordered::default());
}

#[test]
fn a_death_at_the_output_stops_windowed() {
    stops(narrow());
}

/// As many puts wait at the output as a channel admits, so the loop that delivers the first result dies there. The
/// result behind it would follow a gap.
fn leaves_no_gap<P: Pipelines<C, E>>(pipeline: P) {
    const ADMITTED: usize = 1_024;
    let executor = one_thread();
    let (to, mut results) = open::<C, usize>(ONE);
    for _ in 0..=ADMITTED {
        C::put_then(&to, usize::MAX, |_| ());
    }
    let (dead, is_dead) = open::<C, ()>(ONE);
    let is_dead = Mutex::new(Some(is_dead));
    let af = move |input, mut port: ResultPort<C, usize, P::Permit>| {
        let waits = is_dead.lock().take_if(|_| input == 1);
        async move {
            if let Some(mut waits) = waits {
                next::<C, ()>(&mut waits).await;
            }
            let _ = port.put(input).await;
        }
    };
    let (inputs, from) = holding(0..2);
    C::close(&inputs);
    let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
    while executor.panics() == 0 {
        yield_now();
    }
    for _ in 0..=ADMITTED {
        assert_eq!(C::poll(&mut results), Polled::Done(usize::MAX));
    }
    C::close(&dead);
    block_on(end);
    assert_eq!(C::poll(&mut results), Polled::Closed);
}

#[test]
fn nothing_follows_a_death_at_the_output_of_finishes() {
    leaves_no_gap(Finishes::default());
}

#[test]
fn nothing_follows_a_death_at_the_output_of_unordered() {
    leaves_no_gap(Unordered::default());
}

/// The first result is refused, and the second item never ends. A producer that waits to put a further input is
/// refused.
fn lets_go_of_its_input<P: Pipelines<C, E>>(pipeline: P) {
    let executor = one_thread();
    let (to, results) = open::<C, ()>(ONE);
    drop(results);
    let (second, second_begins) = open::<C, ()>(ONE);
    let second_begins = Mutex::new(Some(second_begins));
    let af = move |input, mut port: ResultPort<C, (), P::Permit>| {
        let waits = second_begins.lock().take_if(|_| input == 0);
        if input == 1 {
            C::close(&second);
        }
        async move {
            if let Some(mut waits) = waits {
                next::<C, ()>(&mut waits).await;
            } else if input == 1 {
                pending::<()>().await;
            }
            let _ = port.put(()).await;
        }
    };
    let (mut inputs, from) = holding(0..100);
    let end = pipeline.start(executor.spawner(), TWO, from, to, af, AtEnd::Close);
    while block_on(put::<C, _>(&mut inputs, 100)) {}
    drop(end);
}

#[test]
fn finishes_lets_go_of_its_input_beside_an_item_that_never_ends() {
    lets_go_of_its_input(Finishes::default());
}

#[test]
fn unordered_lets_go_of_its_input_beside_an_item_that_never_ends() {
    lets_go_of_its_input(Unordered::default());
}

#[test]
fn windowed_lets_go_of_its_input_beside_an_item_that_never_ends() {
    lets_go_of_its_input(narrow());
}

/// No item waits for anything. A task that the first item spawns still runs before the last item begins.
fn gives_way<P: Pipelines<C, E>>(pipeline: P) {
    const ITEMS: usize = 1_000;
    let executor = one_thread();
    let begun = Arc::new(AtomicUsize::new(0));
    let (tells, mut told) = open::<C, usize>(ONE);
    let bystander = Mutex::new(Some((executor.spawner(), tells)));
    let af = move |_: usize, mut port: ResultPort<C, (), P::Permit>| {
        begun.fetch_add(1, Ordering::SeqCst);
        if let Some((spawner, mut tells)) = bystander.lock().take() {
            let begun = Arc::clone(&begun);
            spawner.spawn(async move {
                put::<C, _>(&mut tells, begun.load(Ordering::SeqCst)).await;
            });
        }
        async move {
            let _ = port.put(()).await;
        }
    };
    let (inputs, from) = holding(0..ITEMS);
    C::close(&inputs);
    let (to, _results) = open::<C, ()>(Buffer::fixed(ITEMS));
    let spawner = executor.spawner();
    block_on(pipeline.start(spawner, NonZeroUsize::MIN, from, to, af, AtEnd::Close));
    let before = block_on(next::<C, usize>(&mut told)).expect("it tells");
    assert!(
        before < ITEMS,
        "all items had begun before another task ran"
    );
}

#[test]
fn finishes_gives_way() {
    gives_way(Finishes::default());
}

#[test]
fn unordered_gives_way() {
    gives_way(Unordered::default());
}

#[test]
fn windowed_gives_way() {
    let wide = Window::Items(NonZeroUsize::new(2_000).unwrap());
    gives_way(Windowed::with_window(wide));
}
