//! Mutation by site: a broken call is found where it matters, and only there. Each model has a process of its own, as
//! one mutation requires.

use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_harness::sync::loom::{self, Loom};
use flowmeter_harness::sync::shuttle::{self, Shuttle};
use flowmeter_harness::sync::sites::{Breakage, Kind, Mutation, Site, break_one, listed};
use flowmeter_harness::sync::{Exploration, Explored, World};
use flowmeter_suites::isolation::Model;

/// The models.
pub fn models() -> Vec<Model> {
    let finds = |name: &str, kind, breakage, says: &'static str, explore: fn() -> Explored| {
        Model::finds(name, says, move || broken(kind, breakage, explore))
    };
    let survives = |name: &str, kind, breakage, explore: fn() -> Explored| {
        Model::holds(name, move || broken(kind, breakage, explore))
    };
    vec![
        Model::new("sites::calls_are_listed_by_their_lines", lines),
        finds(
            "sites::a_dropped_notification_is_found_by_loom",
            Kind::NotifyOne,
            Breakage::Dropped,
            "waits in a condvar at suites/tests/models/sites.rs:",
            || explore::<Loom>(loom_gate),
        ),
        finds(
            "sites::a_dropped_notification_is_found_by_shuttle",
            Kind::NotifyOne,
            Breakage::Dropped,
            "waits in a condvar at suites/tests/models/sites.rs:",
            || explore::<Shuttle>(shuttle_gate),
        ),
        finds(
            "sites::a_release_that_is_relaxed_is_found",
            Kind::Store,
            Breakage::Relaxed,
            "Causality violation",
            || explore::<Loom>(spinlock),
        ),
        finds(
            "sites::an_acquire_that_is_relaxed_is_found",
            Kind::CompareExchangeWeak,
            Breakage::Relaxed,
            "Causality violation",
            || explore::<Loom>(spinlock),
        ),
        survives(
            "sites::a_weak_exchange_in_a_loop_may_fail",
            Kind::CompareExchangeWeak,
            Breakage::FailsOnce,
            || explore::<Loom>(spinlock),
        ),
        finds(
            "sites::a_fence_left_out_is_found",
            Kind::Fence,
            Breakage::Dropped,
            "both missed",
            || explore::<Loom>(announcements),
        ),
        finds(
            "sites::a_dropped_unpark_is_found",
            Kind::Unpark,
            Breakage::Dropped,
            "waits in park at suites/tests/models/sites.rs:",
            || explore::<Loom>(parking),
        ),
        survives(
            "sites::an_order_that_does_not_matter_survives",
            Kind::ReadModifyWrite,
            Breakage::Relaxed,
            || explore::<Loom>(counting),
        ),
        survives(
            "sites::a_notification_that_no_thread_waits_for_survives",
            Kind::NotifyAll,
            Breakage::Dropped,
            || explore::<Loom>(loom_gate),
        ),
    ]
}

fn explore<W: World>(model: fn()) -> Explored {
    let plan = Exploration {
        executions: 2_000,
        time: Duration::from_secs(20),
        ..Exploration::default()
    };
    W::explore(&plan, model)
}

/// Explores with the one site of that kind broken.
fn broken(kind: Kind, breakage: Breakage, explore: fn() -> Explored) -> Explored {
    let fails = |why: String| Explored {
        executions: 0,
        complete: false,
        undecided: 0,
        failure: Some(why.into()),
    };
    let (whole, sites) = listed(explore);
    if let Some(failure) = whole.failure {
        return fails(format!("unbroken: {failure}"));
    }
    let of_kind: Vec<Site> = sites.into_iter().filter(|site| site.kind == kind).collect();
    let [site] = &of_kind[..] else {
        return fails(format!("not one site: {of_kind:?}"));
    };
    let site = site.clone();
    if let Err(mutation) = break_one(Mutation { site, breakage }) {
        return fails(format!("a second mutation: {mutation:?}"));
    }
    explore()
}

fn lines() -> Result<String, String> {
    let (_, sites) = listed(|| explore::<Loom>(counting));
    let here = file!();
    let expected: BTreeSet<(&str, Kind, Option<&str>)> = [
        (here, Kind::ReadModifyWrite, Some("AcqRel")),
        (here, Kind::Load, Some("Relaxed")),
    ]
    .into();
    let seen: BTreeSet<(&str, Kind, Option<&str>)> = sites
        .iter()
        .map(|site| (site.file.as_str(), site.kind, site.order.as_deref()))
        .collect();
    let lines: BTreeSet<u32> = sites.iter().map(|site| site.line).collect();
    if seen == expected && lines.len() == 2 {
        Ok(format!("{sites:?}"))
    } else {
        Err(format!("{sites:?}"))
    }
}

/// One thread opens a gate for another; the last notification has no waiter.
macro_rules! gate {
    ($sync:ident) => {{
        let gate = $sync::Arc::new(($sync::Mutex::new(false), $sync::Condvar::new()));
        let opener = {
            let gate = gate.clone();
            $sync::spawn(move || {
                *gate.0.lock() = true;
                gate.1.notify_one();
            })
        };
        let mut open = gate.0.lock();
        while !*open {
            open = gate.1.wait(open);
        }
        drop(open);
        opener.join();
        gate.1.notify_all();
    }};
}

fn loom_gate() {
    gate!(loom);
}

fn shuttle_gate() {
    gate!(shuttle);
}

fn spinlock() {
    use loom::atomic::{AtomicBool, Ordering};
    let shared = loom::Arc::new((
        AtomicBool::new(false),
        super::loom_world::Shared::new(0_u32),
    ));
    let add = |shared: &(AtomicBool, super::loom_world::Shared<u32>)| {
        while shared
            .0
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            loom::spin_hint();
        }
        shared.1.set(shared.1.get() + 1);
        shared.0.store(false, Ordering::Release);
    };
    let other = {
        let shared = shared.clone();
        loom::spawn(move || add(&shared))
    };
    add(&shared);
    other.join();
}

/// Each of two threads announces itself and looks for the other.
fn announcements() {
    use loom::atomic::{AtomicUsize, Ordering, fence};
    let flags = loom::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let look = |flags: &[AtomicUsize; 2], me: usize| {
        flags[me].store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        flags[1 - me].load(Ordering::Relaxed)
    };
    let other = {
        let flags = flags.clone();
        loom::spawn(move || look(&flags, 1))
    };
    let mine = look(&flags, 0);
    assert!(mine + other.join() > 0, "both missed");
}

fn parking() {
    use loom::atomic::{AtomicBool, Ordering};
    let come = loom::Arc::new(AtomicBool::new(false));
    let parker = loom::Parker::new();
    let other = {
        let (come, unparker) = (come.clone(), parker.unparker());
        loom::spawn(move || {
            come.store(true, Ordering::Relaxed);
            unparker.unpark();
        })
    };
    while !come.load(Ordering::Relaxed) {
        parker.park();
    }
    other.join();
}

/// Threads are joined before the sum is read: the additions need no order.
fn counting() {
    use loom::atomic::{AtomicUsize, Ordering};
    let counter = loom::Arc::new(AtomicUsize::new(0));
    let others = [(); 2].map(|()| {
        let counter = counter.clone();
        loom::spawn(move || counter.fetch_add(1, Ordering::AcqRel))
    });
    for other in others {
        other.join();
    }
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}
