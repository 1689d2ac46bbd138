//! The exact command, commit and seed behind a chart.

use std::collections::BTreeSet;

use flowmeter_records::{RunData, Window};

/// The commands that measure these scenarios again as each run measured them, with all implementations of the
/// run: a ratio depends on which implementations were measured together. Runs that were measured alike share
/// a line.
///
/// The window length is that of the timed windows, which a budget may have shortened.
pub fn commands(runs: &[RunData], scenarios: &[String], all: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for run in runs {
        let concerns = |name: &String| scenarios.contains(name);
        let windows: Vec<&Window> = run
            .windows
            .iter()
            .filter(|w| concerns(&w.scenario))
            .collect();
        let failures = run.failures.iter().filter(|f| concerns(&f.scenario));
        let implementation: BTreeSet<&String> = windows
            .iter()
            .map(|window| &window.implementation)
            .chain(failures.map(|failure| &failure.implementation))
            .collect();
        if implementation.is_empty() {
            continue;
        }
        let implementation: Vec<String> = implementation.into_iter().cloned().collect();
        let show_all: Vec<&str> = run.implementations.keys().map(String::as_str).collect();
        let command = format!(
            "cargo flowmeter measure -s {} -i {}{}",
            shell_quoted(&pattern(scenarios, all)),
            shell_quoted(&pattern(&implementation, &show_all)),
            protocol(run, &windows)
        );
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// The command of a run, and its provenance.
pub struct Whole {
    /// Its commit and seed; with the start time if there are several runs.
    pub said: String,
    pub command: String,
}

/// The commands that repeat whole runs.
pub fn whole(runs: &[&RunData]) -> Vec<Whole> {
    let said = |run: &RunData| {
        let build = provenance(std::slice::from_ref(run));
        match runs.len() {
            1 => build,
            _ => format!("{}: {build}", run.run.started),
        }
    };
    let each = runs.iter().map(|run| Whole {
        said: said(run),
        command: run.run.command.clone(),
    });
    each.collect()
}

/// The command that has criterion time a scenario again.
pub fn bench(scenario: &str) -> String {
    let pattern = format!("^{}/", regex_escaped(scenario));
    format!("cargo bench -- {}", shell_quoted(&pattern))
}

/// The options for the protocol of a run.
fn protocol(run: &RunData, windows: &[&Window]) -> String {
    let run = &run.run;
    let mut lengths: Vec<u64> = match run.budget_seconds {
        // An open loop at a low rate lasts longer than requested, and will do so again.
        None => Vec::new(),
        Some(_) => windows.iter().map(|window| window.nanos).collect(),
    };
    lengths.sort_unstable();
    let nanos = lengths.get(lengths.len() / 2).unwrap_or(&run.window_nanos);
    let millis = ((*nanos as f64 / 1e6).round() as u64).max(1);
    let mut said = format!(
        " --forks {} --rounds {} --window {millis} --seed {}",
        run.forks, run.rounds, run.seed
    );
    if !matches!(run.pinning.as_str(), "" | "free") {
        said.push_str(" --pin ");
        said.push_str(&shell_quoted(&run.pinning));
    }
    if let Some(percent) = run.slowed_percent {
        said.push_str(&format!(" --slowed {percent}"));
    }
    let folders = [
        ("--against", &run.against),
        ("--scenario-dir", &run.scenario_dir),
        ("--foreign-dir", &run.foreign_dir),
    ];
    for (option, folder) in folders {
        if let Some(folder) = folder {
            said.push_str(&format!(" {option}={}", shell_quoted(folder)));
        }
    }
    said
}

/// Commit and seed of the runs.
pub fn provenance(runs: &[RunData]) -> String {
    let each = runs.iter().map(|run| {
        let (commit, dirty) = match run.run.commit.split_once('-') {
            Some((commit, rest)) => (commit, format!("-{rest}")),
            None => (run.run.commit.as_str(), String::new()),
        };
        let short: String = commit.chars().take(12).collect();
        let build = if run.run.unoptimised {
            ", unoptimised"
        } else {
            ""
        };
        format!("commit {short}{dirty}{build}, seed {}", run.run.seed)
    });
    let mut each: Vec<String> = each.collect();
    each.dedup();
    each.join("; ")
}

/// A regular expression that matches exactly these of all names. Their common prefix is written once, and
/// alone if that is enough.
fn pattern(names: &[String], all: &[&str]) -> String {
    let Some((first, rest)) = names.split_first() else {
        return "^$".to_owned();
    };
    if rest.is_empty() {
        return format!("^{}$", regex_escaped(first));
    }
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let common = rest
        .iter()
        .map(|name| shared(first, name))
        .min()
        .unwrap_or(0);
    let prefix: String = first.chars().take(common).collect();
    // Cut at word boundaries: `-(1|1024)` is clearer than `-1(|024)`.
    let words_end = prefix.rfind(['-', '/', '_', '.']).map_or(0, |at| at + 1);
    let prefix = &prefix[..words_end];
    let common = prefix.chars().count();
    if !prefix.is_empty()
        && all.iter().filter(|name| name.starts_with(prefix)).count() == names.len()
    {
        return format!("^{}", regex_escaped(prefix));
    }
    let endings: Vec<String> = names
        .iter()
        .map(|name| regex_escaped(&name.chars().skip(common).collect::<String>()))
        .collect();
    format!("^{}({})$", regex_escaped(prefix), endings.join("|"))
}

fn regex_escaped(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    text.chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// Quotes a text as one word of a POSIX shell.
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern_of(names: &[&str]) -> String {
        let all = [
            "channels/spsc-1",
            "channels/spsc-64",
            "channels/spsc-1024",
            "alts/a-1",
            "alts/a-2",
        ];
        let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        shell_quoted(&pattern(&names, &all))
    }

    #[test]
    fn one_scenario_is_named_exactly() {
        assert_eq!(pattern_of(&["channels/spsc-64"]), "'^channels/spsc-64$'");
    }

    #[test]
    fn several_share_their_first_words() {
        assert_eq!(
            pattern_of(&["channels/spsc-1", "channels/spsc-1024"]),
            "'^channels/spsc-(1|1024)$'"
        );
    }

    #[test]
    fn all_that_begin_alike_need_no_endings() {
        assert_eq!(pattern_of(&["alts/a-1", "alts/a-2"]), "'^alts/a-'");
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(
            pattern_of(&["a'; rm -rf ~ #(.*)"]),
            r"'^a'\''; rm -rf ~ #\(\.\*\)$'"
        );
    }
}
