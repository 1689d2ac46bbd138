//! A finding as one word: the program's number, the steps that made it smaller, and the schedule.
//!
//! Its parts are separated by `.`. An example is `17.6.0x4+2x3.2:9fm`:
//!
//! - program 17;
//! - the bits of 6 after its first: one step that made the program smaller, and one that was taken back;
//! - the number of each operation that was left out after that, with `-` in front: none here;
//! - four steps of thread 0, then three of thread 2;
//! - 9f (hexadecimal), which thread 2 drew; `m` says that the drawn numbers decide on mischief.

use std::fmt::{self, Write};

use flowmeter_harness::sync::Steps;

/// How to find a program and its schedule again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replay {
    pub(crate) program: u64,
    pub(crate) path: Vec<bool>,
    pub(crate) left_out: Vec<usize>,
    /// `None` where a schedule is not recorded.
    pub(crate) steps: Option<Steps>,
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.program)?;
        // A leading one keeps leading zeroes.
        let bits: Vec<bool> = std::iter::once(true).chain(self.path.clone()).collect();
        let padding = (4 - bits.len() % 4) % 4;
        let bits: Vec<bool> = std::iter::repeat_n(false, padding).chain(bits).collect();
        for digit in bits.chunks(4) {
            let value = digit
                .iter()
                .fold(0, |value, bit| 2 * value + u32::from(*bit));
            write!(f, "{value:x}")?;
        }
        for number in &self.left_out {
            write!(f, "-{number}")?;
        }
        let Some(steps) = &self.steps else {
            return Ok(());
        };
        let runs: Vec<String> = steps.runs.iter().map(|(t, n)| format!("{t}x{n}")).collect();
        let drawn: Vec<String> = steps
            .drawn
            .iter()
            .map(|(t, n)| format!("{t}:{n:x}"))
            .collect();
        write!(f, ".{}.{}", runs.join("+"), drawn.join("+"))?;
        match steps.mischief {
            true => f.write_char('m'),
            false => Ok(()),
        }
    }
}

impl Replay {
    /// Reads what was written; `None` where it is something else.
    pub(crate) fn read(text: &str) -> Option<Replay> {
        let mut parts = text.trim().split('.');
        let program = parts.next()?.parse().ok()?;
        let mut smaller = parts.next()?.split('-');
        let mut bits = Vec::new();
        for digit in smaller.next()?.chars() {
            let value = digit.to_digit(16)?;
            bits.extend((0..4).rev().map(|bit| value & 1 << bit != 0));
        }
        let first = bits.iter().position(|bit| *bit)?;
        let path = bits.split_off(first + 1);
        let left_out = smaller
            .map(|number| number.parse().ok())
            .collect::<Option<Vec<usize>>>()?;
        let Some(runs) = parts.next() else {
            return Some(Replay {
                program,
                path,
                left_out,
                steps: None,
            });
        };
        let drawn = parts.next()?;
        let (drawn, mischief) = match drawn.strip_suffix('m') {
            Some(drawn) => (drawn, true),
            None => (drawn, false),
        };
        let run = |part: &str| {
            let (thread, count) = part.split_once('x')?;
            Some((thread.parse().ok()?, count.parse().ok()?))
        };
        let number = |part: &str| {
            let (thread, number) = part.split_once(':')?;
            Some((thread.parse().ok()?, u64::from_str_radix(number, 16).ok()?))
        };
        let listed = |text: &'_ str| -> Vec<String> {
            let parts = text.split('+').filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        let steps = Steps {
            runs: listed(runs)
                .iter()
                .map(|part| run(part))
                .collect::<Option<_>>()?,
            drawn: listed(drawn)
                .iter()
                .map(|part| number(part))
                .collect::<Option<_>>()?,
            mischief,
        };
        parts.next().is_none().then_some(Replay {
            program,
            path,
            left_out,
            steps: Some(steps),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let steps = |mischief| Steps {
            runs: vec![(0, 4), (2, 3), (0, 1)],
            drawn: vec![(0, u64::MAX), (2, 0)],
            mischief,
        };
        for path in [vec![], vec![false], vec![true, false, false, true, false]] {
            for steps in [
                None,
                Some(Steps::default()),
                Some(steps(true)),
                Some(steps(false)),
            ] {
                let replay = Replay {
                    program: 17,
                    path: path.clone(),
                    left_out: vec![3; path.len()],
                    steps,
                };
                let written = replay.to_string();
                assert_eq!(Replay::read(&written), Some(replay), "{written}");
            }
        }
        assert_eq!(
            Replay {
                program: 17,
                path: vec![true, false],
                left_out: vec![],
                steps: Some(Steps {
                    runs: vec![(0, 4), (2, 3)],
                    drawn: vec![(2, 0x9f)],
                    mischief: true
                }),
            }
            .to_string(),
            "17.6.0x4+2x3.2:9fm"
        );
    }

    #[test]
    fn something_else_is_refused() {
        for text in [
            "",
            "17",
            "x.1",
            "17.0",
            "17.g",
            "17.1.0x4",
            "17.1.0y4.",
            "17.1.0x4.1:z",
            "17.1...",
            "17.1.0x4..2",
            "17.1-",
            "17.1-x",
        ] {
            assert_eq!(Replay::read(text), None, "{text}");
        }
    }
}
