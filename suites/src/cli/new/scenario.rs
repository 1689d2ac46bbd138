//! A scenario: its file, and its line in the list of those that are compiled in.

use super::super::failure::Failure;
use super::checkout::{Begun, Checkout, sorted_in};
use super::kinds::Beginning;
use super::names::no_name;

pub(super) fn begun(checkout: &Checkout, name: &str) -> Begun {
    let parts = name.split_once('/');
    let Some((group, _)) = parts.filter(|(group, rest)| is_dashed(group) && is_dashed(rest)) else {
        return Err(no_name(
            name,
            "the folder and the file, in small letters, digits and dashes, such as channels/my-load",
        ));
    };
    let Some(beginning) = Beginning::of_group(group) else {
        return Err(Failure::input(format!(
            "{name}: scenarios of channels, timers, limiters and executors begin here; those of {group} begin as a copy of \
             their neighbour in suites/scenarios"
        )));
    };
    let files = vec![
        checkout.fresh(
            &format!("suites/scenarios/{name}.toml"),
            beginning.scenario_in(group),
        )?,
        checkout.edited("suites/src/scenario/curated.rs", |text| {
            sorted_in(text, ("    \"", "\","), &format!("    \"{name}\","))
        })?,
    ];
    let next = format!(
        "next: say what it isolates, and run cargo flowmeter measure -s '^{name}$' --quick"
    );
    Ok((files, next))
}

/// Small letters and digits, in words with dashes between them.
fn is_dashed(part: &str) -> bool {
    let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.split('-')
        .all(|word| !word.is_empty() && word.chars().all(is_small))
}

#[cfg(test)]
mod tests {
    use super::super::checkout::tests::{gained, refusal, this};
    use super::*;

    #[test]
    fn it_can_be_read_and_is_of_what_its_folder_says() {
        for (name, workload, form) in [
            ("channels/my-load", "stream", "blocking"),
            ("channels/spsc-128", "stream", "blocking"),
            ("channels-async/my-load", "stream", "async"),
            ("channels-mixed/my-load", "stream", "mixed"),
            ("timers/my-load", "timer-churn", "callback"),
            ("timers/churn-2k", "timer-churn", "callback"),
            ("timers-async/my-load", "timer-churn", "async"),
            ("timers-idle/2k", "timer-churn", "callback"),
            ("limiters/my-load", "limiter-burst", "blocking"),
            ("limiters-async/my-load", "limiter-burst", "async"),
            ("executors/my-load", "spawn-join", "async"),
            ("mine/my-load", "stream", "blocking"),
        ] {
            let (files, _) = begun(&this(), name).unwrap();
            let scenario = crate::scenario::parse(name, &files[0].path, &files[0].text);
            let record = scenario.unwrap().record();
            assert_eq!(record.group, name.split('/').next().unwrap());
            assert_eq!(record.params["workload"], workload, "{name}");
            assert_eq!(record.form, form, "{name}");
            assert_eq!(gained(&files[1]), [format!("    \"{name}\",")]);
            let lines = files[1].text.lines();
            let list: Vec<&str> = lines.filter(|line| line.starts_with("    \"")).collect();
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn what_is_there_or_is_no_name_or_of_something_else_is_refused() {
        let no_name = "a name is the folder and the file";
        let elsewhere = "begin as a copy of their neighbour in suites/scenarios";
        for (name, says) in [
            ("channels/spsc-64", "is there already"),
            ("no-folder", no_name),
            ("channels/", no_name),
            ("channels/two--dashes", no_name),
            ("channels/Capital", no_name),
            ("channels/../../escape", no_name),
            ("alts/mine", elsewhere),
            ("pipelines/mine", elsewhere),
            ("pipelines-async/mine", elsewhere),
            ("combinators/mine", elsewhere),
        ] {
            let told = refusal(begun(&this(), name));
            assert!(told.contains(says), "{name}: {told}");
        }
    }
}
