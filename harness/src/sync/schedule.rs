//! The failure of an exploration, and the schedule that reproduces exactly that execution.
//!
//! A schedule is a value, so it can be written to a file. It fits a model as long as the model makes the same steps, in
//! any build.

use ::std::fmt;

/// A failing execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Failure {
    /// The panic message, or how the threads wait for each other.
    pub message: String,
    /// How to reproduce it; `None` where executions cannot be repeated, as under std.
    pub schedule: Option<Schedule>,
    /// The model, where a whole family of models was explored.
    #[cfg_attr(feature = "serde", serde(default))]
    pub member: Option<Member>,
    /// Whether the explorer reached a limit of its own (steps, branches, threads). That is no fault of the
    /// implementation.
    #[cfg_attr(feature = "serde", serde(default))]
    pub limit: bool,
}

/// One model of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// The key by which the family finds it again.
    pub key: String,
    /// A description for people.
    pub told: String,
}

impl Failure {
    /// The violated rule: the words before the first colon, such as the id of a property.
    pub fn violated(&self) -> &str {
        violated(&self.message)
    }

    /// Whether both are the same failure along the same schedule. The places in the sources that the messages name do
    /// not matter: every edit above them moves them.
    pub fn is_as(&self, other: &Failure) -> bool {
        self.violated() == other.violated()
            && unplaced(&self.message) == unplaced(&other.message)
            && self.schedule == other.schedule
    }
}

/// A message without places such as `src/channel/mutex/state.rs:210` or `state.rs:210:13`.
fn unplaced(message: &str) -> String {
    let mut rest = message;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(".rs:") {
        let is_number = |c: char| c.is_ascii_digit() || c == ':';
        let number = after.trim_start_matches(is_number);
        if number.len() == after.len() {
            kept.push_str(before);
            kept.push_str(".rs:");
        } else {
            let is_between = |c: char| c.is_whitespace() || "(`'\"".contains(c);
            let path = before.rfind(is_between);
            let path = path.map_or(0, |at| {
                at + before[at..].chars().next().map_or(0, char::len_utf8)
            });
            kept.push_str(&before[..path]);
        }
        rest = number;
    }
    kept + rest
}

/// The words of a failure's message before its first colon, after std's own words of an assertion.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Schedule {
    /// shuttle: all decisions.
    Steps(Steps),
    /// loom: the number of the execution; their order is always the same.
    Nth {
        /// The results of `choose` in that exploration.
        choices: String,
        /// The one occasion for mischief that was taken; empty for none.
        mischief: String,
        /// How often a thread may have been preempted; `None` for no bound.
        preemptions: Option<usize>,
        /// The execution under those, counted from 1.
        execution: u64,
        /// How many operations of the facade it made until it failed.
        operations: u64,
        /// A fingerprint of these: which threads made which operations, and what they returned.
        fingerprint: u64,
    },
    /// sim: the only schedule.
    Turns,
}

impl Schedule {
    /// The number of switches between threads, where it is known.
    pub fn switches(&self) -> Option<usize> {
        match self {
            Schedule::Steps(steps) => Some(steps.switches()),
            Schedule::Nth { .. } | Schedule::Turns => None,
        }
    }
}

/// Every decision of an execution: the threads of its steps, and the random numbers drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Steps {
    /// A thread, and how many steps it made before a switch.
    pub runs: Vec<(u32, u32)>,
    /// A thread and a number that it drew, in the order of drawing.
    pub drawn: Vec<(u32, u64)>,
    /// Whether the drawn numbers could decide on mischief.
    pub mischief: bool,
}

impl Steps {
    /// The number of switches between threads.
    pub fn switches(&self) -> usize {
        self.runs.len().saturating_sub(1)
    }

    /// Whether these decisions begin with the other ones.
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
    use super::{Failure, Schedule, violated};

    #[test]
    fn a_failure_is_the_same_after_its_lines_have_moved() {
        let failed = |message: &str| Failure {
            schedule: Some(Schedule::Turns),
            ..Failure::from(message.to_owned())
        };
        for (before, after) in [
            ("C1: lost (src/c1.rs:20)", "C1: lost (src/c1.rs:21)"),
            (
                "deadlock: all wait\n  thread 0: park at src/a/b.rs:9\n  thread 1: lock at c.rs:9",
                "deadlock: all wait\n  thread 0: park at src/a/b.rs:19\n  thread 1: lock at d.rs:9",
            ),
            (
                "Causality violation: written at 'src/a.rs:9:1', read",
                "Causality violation: written at 'src/a.rs:7:41', read",
            ),
            (
                "leak: made at a.rs:1, b.rs:22",
                "leak: made at a.rs:3, b.rs:2",
            ),
        ] {
            assert!(failed(before).is_as(&failed(after)), "{before}");
        }
        for (before, after) in [
            ("C1: lost (c1.rs:20)", "C1: found (c1.rs:20)"),
            ("C1: lost (c1.rs:20)", "C2: lost (c1.rs:20)"),
            ("C1: left 1 (c1.rs:20)", "C1: left 2 (c1.rs:20)"),
            ("C1: lost 1 of a.rs:", "C1: lost 2 of a.rs:"),
            (
                "deadlock: all wait\n  thread 0: park at b.rs:9",
                "deadlock: all wait\n  thread 1: park at b.rs:9",
            ),
        ] {
            assert!(!failed(before).is_as(&failed(after)), "{before}");
        }
        let other = Failure::from("C1: lost".to_owned());
        assert!(!failed("C1: lost").is_as(&other), "another schedule");
    }

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
