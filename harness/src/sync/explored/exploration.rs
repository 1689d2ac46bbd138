//! One exploration: counts executions, and keeps panic messages instead of printing them.

use ::std::cell::RefCell;
use ::std::panic::{
    AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook,
};
use ::std::sync::{Arc, Once, OnceLock};

use super::super::world::{self, Primitives};
use super::super::{Explored, Failure, panic_text, trace};
use super::{Engine, Word, census, made, place, thread, track};

#[derive(Default)]
struct Trial {
    executions: u64,
    /// The panic messages of the present execution, with their places.
    said: Vec<String>,
}

thread_local! {
    static TRIAL: RefCell<Option<Trial>> = const { RefCell::new(None) };
}

/// Runs a whole exploration. `search` returns whether it was complete, and the failure.
pub fn explore(search: impl FnOnce() -> (bool, Option<Failure>)) -> Explored {
    if let Err(nested) = begin() {
        return Explored {
            executions: 0,
            complete: false,
            undecided: 0,
            failure: Some(nested.into()),
        };
    }
    let (complete, failure) = search();
    Explored {
        executions: end(),
        complete: complete && failure.is_none(),
        undecided: 0,
        failure,
    }
}

/// As [`explore`], on an operating-system thread of its own. A checker may leave a failing thread of a model amid its
/// panic. The operating-system thread that ran it then counts as panicking forever.
pub fn explore_apart(search: impl FnOnce() -> (bool, Option<Failure>) + Send) -> Explored {
    ::std::thread::scope(|scope| {
        let explored = scope.spawn(|| explore(search)).join();
        explored.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Makes this operating-system thread one that explores. Until [`end`], panics here are kept and not printed.
///
/// # Errors
/// When it explores already: an exploration inside a model.
fn begin() -> Result<(), String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !keep(panic) {
                before(panic);
            }
        }));
    });
    TRIAL.with_borrow_mut(|trial| match trial {
        Some(_) => Err("a model explores a model".to_owned()),
        None => {
            *trial = Some(Trial::default());
            Ok(())
        }
    })
}

/// Ends the exploration; returns the number of executions.
fn end() -> u64 {
    let executions = executions();
    TRIAL.with_borrow_mut(|trial| *trial = None);
    executions
}

/// Executions so far.
pub fn executions() -> u64 {
    TRIAL.with_borrow(|trial| trial.as_ref().map_or(0, |trial| trial.executions))
}

/// Whether the panic belongs to an explored model, and was kept. Uses little stack, since a model's stack is small.
fn keep(panic: &PanicHookInfo<'_>) -> bool {
    let kept = TRIAL.try_with(|trial| {
        let mut trial = trial.try_borrow_mut().ok()?;
        let trial = trial.as_mut()?;
        let text = panic_text(panic.payload());
        // A line of the checker or of this facade says nothing about the model.
        let of_model = |file: &str| !file.starts_with('/') && !file.contains("sync/explored/");
        let at = panic.location().filter(|at| of_model(at.file()));
        let at = at.map(|at| format!(" ({})", place(at)));
        trial.said.push(format!("{text}{}", at.unwrap_or_default()));
        made::panics();
        Some(())
    });
    matches!(kept, Ok(Some(())))
}

/// What is called before each execution, and after the last one.
static BETWEEN: OnceLock<fn()> = OnceLock::new();

/// Has `hook` called before each execution that begins from now on, and after the last one of an exploration.
///
/// # Panics
/// When there is another hook.
#[cfg(feature = "shuttle")]
pub fn between(hook: fn()) {
    let kept = *BETWEEN.get_or_init(|| hook);
    assert!(::std::ptr::fn_addr_eq(kept, hook), "there is one hook");
}

/// Runs one execution of the model, inside the checker. `eager` timers may fire while other threads could run.
///
/// # Panics
/// With the model's panic, and when the execution before this one left a leak.
pub fn execute<E: Engine>(eager: u32, model: &dyn Fn()) {
    if let Some(leak) = census::end().as_ref().and_then(track::leaks) {
        panic!("{leak}");
    }
    TRIAL.with_borrow_mut(|trial| {
        if let Some(trial) = trial {
            trial.executions += 1;
            trial.said.clear();
        }
    });
    if let Some(hook) = BETWEEN.get() {
        hook();
    }
    made::begin();
    let [clock, orders] = [(); 2].map(|()| Arc::new(E::Word::new(0)));
    E::leave_out(&clock);
    E::leave_out(&orders);
    world::enter(E::PRIMITIVES);
    census::begin(clock, orders, eager);
    E::set_me(0);
    trace::begin(E::me);
    model();
    thread::leave(0);
    E::leave();
    // Code that runs over the facade lets panics fail the execution. Other code may catch them.
    if BETWEEN.get().is_some() && has_said() {
        resume_unwind(Box::new(()));
    }
}

/// Whether a panic of this execution was kept.
fn has_said() -> bool {
    TRIAL.with_borrow(|trial| trial.as_ref().is_some_and(|trial| !trial.said.is_empty()))
}

/// Runs the checker, and returns the failure.
pub fn attempt(check: impl FnOnce()) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(check));
    world::enter(Primitives::Std);
    if let Some(hook) = BETWEEN.get() {
        hook();
    }
    let census = census::end();
    let Err(panic) = outcome else {
        return census.as_ref().and_then(track::leaks);
    };
    // The census belongs to threads that will never run again. Dropping it would call into a checker that is gone.
    ::std::mem::forget(census);
    let said = TRIAL.with_borrow_mut(|trial| trial.as_mut().map(|t| ::std::mem::take(&mut t.said)));
    let said = said.unwrap_or_default().join("\n");
    Some(if said.is_empty() {
        panic_text(&*panic)
    } else {
        said
    })
}
