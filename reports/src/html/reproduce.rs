//! The exact command, commit and seed behind a chart.

use flowmeter_harness::record::RunData;

/// The command that measures these scenarios again.
pub fn command(scenarios: &[String]) -> String {
    format!("cargo flowmeter measure -s {}", shell_quoted(&pattern(scenarios)))
}

/// Commit and seed of the runs.
pub fn provenance(runs: &[RunData]) -> String {
    let each = runs.iter().map(|run| {
        let (commit, dirty) = match run.run.commit.split_once('-') {
            Some((commit, rest)) => (commit, format!("-{rest}")),
            None => (run.run.commit.as_str(), String::new()),
        };
        let short: String = commit.chars().take(12).collect();
        format!("commit {short}{dirty}, seed {}", run.run.seed)
    });
    let mut each: Vec<String> = each.collect();
    each.dedup();
    each.join("; ")
}

/// A regular expression that matches exactly these names; what they begin with is said once.
fn pattern(names: &[String]) -> String {
    let Some((first, rest)) = names.split_first() else {
        return "^$".to_owned();
    };
    if rest.is_empty() {
        return format!("^{}$", regex_escaped(first));
    }
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let common = rest.iter().map(|name| shared(first, name)).min().unwrap_or(0);
    let prefix: String = first.chars().take(common).collect();
    let endings: Vec<String> = names
        .iter()
        .map(|name| regex_escaped(&name.chars().skip(common).collect::<String>()))
        .collect();
    format!("^{}({})$", regex_escaped(&prefix), endings.join("|"))
}

fn regex_escaped(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    text.chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// As one word of a POSIX shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_of(names: &[&str]) -> String {
        command(&names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn one_scenario_is_named_exactly() {
        assert_eq!(
            command_of(&["channels/spsc-64"]),
            "cargo flowmeter measure -s '^channels/spsc-64$'"
        );
    }

    #[test]
    fn several_share_their_beginning() {
        assert_eq!(
            command_of(&["channels/spsc-1", "channels/spsc-1024"]),
            "cargo flowmeter measure -s '^channels/spsc-1(|024)$'"
        );
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(
            command_of(&["a'; rm -rf ~ #(.*)"]),
            r"cargo flowmeter measure -s '^a'\''; rm -rf ~ #\(\.\*\)$'"
        );
    }
}
