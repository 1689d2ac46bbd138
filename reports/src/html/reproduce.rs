//! The exact command, commit and seed behind a chart.

use flowmeter_harness::record::RunData;

/// The command that measures these scenarios again, out of all that there are.
pub fn command(scenarios: &[String], all: &[&str]) -> String {
    format!(
        "cargo flowmeter measure -s {}",
        shell_quoted(&pattern(scenarios, all))
    )
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

/// A regular expression that matches exactly these of all names; what they begin with is said once, and
/// nothing else where that suffices.
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
    // Whole words only: `-(1|1024)` says more than `-1(|024)`.
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

/// As one word of a POSIX shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_of(names: &[&str]) -> String {
        let all = [
            "channels/spsc-1",
            "channels/spsc-64",
            "channels/spsc-1024",
            "alts/a-1",
            "alts/a-2",
        ];
        command(
            &names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>(),
            &all,
        )
    }

    #[test]
    fn one_scenario_is_named_exactly() {
        assert_eq!(
            command_of(&["channels/spsc-64"]),
            "cargo flowmeter measure -s '^channels/spsc-64$'"
        );
    }

    #[test]
    fn several_share_their_first_words() {
        assert_eq!(
            command_of(&["channels/spsc-1", "channels/spsc-1024"]),
            "cargo flowmeter measure -s '^channels/spsc-(1|1024)$'"
        );
    }

    #[test]
    fn all_that_begin_alike_need_no_endings() {
        assert_eq!(
            command_of(&["alts/a-1", "alts/a-2"]),
            "cargo flowmeter measure -s '^alts/a-'"
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
