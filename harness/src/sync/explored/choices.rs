//! A script of choices for a checker without a choice operator. The model is explored once per script. The script
//! advances like an odometer over the choices that the model made.
//!
//! A choice is identified by its thread and the number of choices that the thread made before. So its meaning does not
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

/// Clears the script.
pub fn clear() {
    SCRIPT.with_borrow_mut(Vec::clear);
}

/// Advances to the next script; `false` when that was the last.
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

/// The script as text, for [`follow`].
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

/// Loads a script from its text ([`written`]); `false` if the text is invalid.
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

/// The script's value for the next choice of `thread`.
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
                // Under another schedule the same choice may have more or fewer alternatives.
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
