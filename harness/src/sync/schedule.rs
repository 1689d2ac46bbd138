//! What an exploration failed with, and which execution that was: enough to see exactly that one again.
//!
//! A schedule is a value, so that it can be written to a file. It fits a model as long as the model makes the same
//! steps, in whatever build.

use ::std::fmt;

/// A failing execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Failure {
    /// What the panic said, or how the threads wait for each other.
    pub message: String,
    /// How to see it again; `None` where nothing repeats an execution, as under std.
    pub schedule: Option<Schedule>,
    /// Which model, where a whole family of them was explored.
    #[cfg_attr(feature = "record", serde(default))]
    pub member: Option<Member>,
    /// Whether the explorer came to a limit of its own (steps, branches, threads), which convicts nobody.
    #[cfg_attr(feature = "record", serde(default))]
    pub limit: bool,
}

/// One model of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// By which the family finds it again.
    pub key: String,
    /// What it does, for people.
    pub told: String,
}

impl Failure {
    /// What was violated: the words before the first colon, such as the id of a property.
    pub fn violated(&self) -> &str {
        violated(&self.message)
    }
}

/// The words of a failure's message before its first colon; std's own words of an assertion come before those.
fn violated(message: &str) -> &str {
    let line = message.lines().find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    let told = match line.split_once("` failed: ") {
        Some((assertion, told)) if assertion.starts_with("assertion `") => told,
        _ => line,
    };
    told.split(':').next().unwrap_or_default()
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure {
            message,
            schedule: None,
            member: None,
            limit: false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.member {
            Some(member) => write!(f, "\n{}", member.told),
            None => Ok(()),
        }
    }
}

/// One execution of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "record", serde(rename_all = "kebab-case"))]
pub enum Schedule {
    /// shuttle: all that was decided.
    Steps(Steps),
    /// loom: which one of those that it comes to, always in the same order.
    Nth {
        /// The answers to `choose` under which it explored.
        choices: String,
        /// The one occasion for mischief that was taken; empty for none.
        mischief: String,
        /// How often a thread may have been preempted; `None` for no bound.
        preemptions: Option<usize>,
        /// The execution under those, counted from 1.
        execution: u64,
    },
    /// sim: the only one there is.
    Turns,
}

impl Schedule {
    /// How often another thread goes on, where that is known.
    pub fn switches(&self) -> Option<usize> {
        match self {
            Schedule::Steps(steps) => Some(steps.switches()),
            Schedule::Nth { .. } | Schedule::Turns => None,
        }
    }
}

/// Every decision of an execution: who made its steps, and which random numbers it drew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Steps {
    /// A thread and how many steps it made before another one went on.
    pub runs: Vec<(u32, u32)>,
    /// A thread and a number that it drew, in the order of drawing.
    pub drawn: Vec<(u32, u64)>,
    /// Whether what was drawn might decide on mischief.
    pub mischief: bool,
}

impl Steps {
    /// How often another thread went on.
    pub fn switches(&self) -> usize {
        self.runs.len().saturating_sub(1)
    }

    /// Whether these decisions are the other ones, and perhaps more after them.
    #[cfg(feature = "shuttle")]
    pub(super) fn begins_with(&self, other: &Steps) -> bool {
        let Some(((task, steps), before)) = other.runs.split_last() else {
            return true;
        };
        let goes_on = |(made, count): &(u32, u32)| made == task && count >= steps;
        self.drawn.starts_with(&other.drawn)
            && self.runs.starts_with(before)
            && self.runs.get(before.len()).is_some_and(goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::violated;

    #[test]
    fn what_was_violated_stands_before_the_first_colon() {
        for (message, words) in [
            ("C1: a value was lost", "C1"),
            (
                "assertion `left == right` failed: T1: early\n  left: 1",
                "T1",
            ),
            (
                "assertion `left == right` failed\n  left: 1",
                "assertion `left == right` failed",
            ),
            ("deadlock: every thread waits\n  thread 0: park", "deadlock"),
            (
                "\nCausality violation: Concurrent write",
                "Causality violation",
            ),
            ("alas", "alas"),
            ("", ""),
        ] {
            assert_eq!(violated(message), words);
        }
    }
}
