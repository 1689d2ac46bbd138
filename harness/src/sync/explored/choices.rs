//! A script of choices for a checker without a choice operator: the model is explored once per script,
//! and the script advances like an odometer over the choices that were actually asked for.
//!
//! A choice is named by the thread that asks and how often it has asked, so that its meaning does not
//! depend on the schedule.

use ::std::cell::RefCell;

use super::census;

struct Digit {
    thread: usize,
    nth: usize,
    of: usize,
    value: usize,
}

thread_local! {
    static SCRIPT: RefCell<Vec<Digit>> = const { RefCell::new(Vec::new()) };
}

/// Forgets the script.
pub fn clear() {
    SCRIPT.with_borrow_mut(Vec::clear);
}

/// The next script; `false` when that was the last.
pub fn advance() -> bool {
    SCRIPT.with_borrow_mut(|script| {
        while let Some(last) = script.last_mut() {
            last.value += 1;
            if last.value < last.of {
                return true;
            }
            script.pop();
        }
        false
    })
}

/// The script, for [`follow`].
pub fn written() -> String {
    let digits = SCRIPT.with_borrow(|script| {
        let digit = |digit: &Digit| {
            let Digit {
                thread,
                nth,
                of,
                value,
            } = digit;
            format!("{thread}.{nth}={value}/{of}")
        };
        script.iter().map(digit).collect::<Vec<_>>()
    });
    digits.join(" ")
}

/// Takes up a script that was [`written`]; `false` when it is none.
pub fn follow(written: &str) -> bool {
    let digit = |text: &str| {
        let (asked, answer) = text.split_once('=')?;
        let (thread, nth) = asked.split_once('.')?;
        let (value, of) = answer.split_once('/')?;
        Some(Digit {
            thread: thread.parse().ok()?,
            nth: nth.parse().ok()?,
            of: of.parse().ok()?,
            value: value.parse().ok()?,
        })
    };
    let digits: Option<Vec<Digit>> = written.split_whitespace().map(digit).collect();
    let known = digits.is_some();
    SCRIPT.set(digits.unwrap_or_default());
    known
}

/// The script's word on the next choice of `thread`.
pub fn choose(thread: usize, n: usize) -> usize {
    let nth = census::with(|census| {
        let entry = census.thread(thread);
        entry.chosen += 1;
        entry.chosen
    });
    SCRIPT.with_borrow_mut(|script| {
        let known = script
            .iter_mut()
            .find(|digit| digit.thread == thread && digit.nth == nth);
        match known {
            Some(digit) => {
                // Under another schedule the same choice may be among more or fewer.
                digit.of = digit.of.max(n);
                digit.value % n
            }
            None => {
                script.push(Digit {
                    thread,
                    nth,
                    of: n,
                    value: 0,
                });
                0
            }
        }
    })
}
