//! A property: its file, its module, its line among all of them, who owes it, and its name in the row of its statement.

use flowmeter_harness::caps::Kind;

use super::super::failure::Failure;
use super::checkout::{Begun, Checkout, before, behind_last, in_row, sorted_in};
use super::kinds::Beginning;
use super::names::{is_word, no_name, taken};

const ALL: &str = "suites/src/properties/mod.rs";
const STATEMENTS: &str = "SEMANTICS.md";

pub(super) fn begun(checkout: &Checkout, name: &str) -> Begun {
    let (id, rest) = name.split_once('-').unwrap_or((name, ""));
    let (letter, number) = id.split_at(id.chars().next().map_or(0, char::len_utf8));
    let beginning = Beginning::of_letter(letter)
        .filter(|_| number.parse::<u32>().is_ok() && rest.split('-').all(is_word));
    let Some(beginning) = beginning else {
        return Err(no_name(
            name,
            "the id of a statement on channels (c, b or a and its number), timers (t), limiters (l) or executors (g) and \
             words, such as c3-never-over; those of other kinds begin as a copy of their neighbour in \
             suites/src/properties",
        ));
    };
    let statement = id.to_ascii_uppercase();
    let semantics = checkout.read(STATEMENTS)?;
    if semantics.contains(&format!("`{name}`")) {
        return Err(taken(name, "is there already"));
    }
    owed_by_all(&semantics, &statement, beginning.kind)
        .map_err(|why| Failure::input(format!("{name}: {why}")))?;
    let module = name.replace('-', "_");
    // In quotes: forms have a NAME of their own.
    let text = (beginning.property)
        .replace("\"NAME\"", &format!("\"{name}\""))
        .replace("ID", &statement);
    let (folder, path) = match beginning.module {
        "" => (String::new(), String::new()),
        module => (format!("{module}/"), format!("{module}::")),
    };
    let declared = |text: &str| {
        let declares = beginning.declares;
        sorted_in(text, (declares, ";"), &format!("{declares}{module};"))
    };
    let owed = |text: &str| {
        let owed = beginning.owed.replace("MODULE", &module);
        before(text, beginning.owed_before, &owed)
    };
    // Tables show those of a statement together.
    let listed = |text: &str| {
        let line = format!("    &{path}{module}::PROPERTY,");
        behind_last(text, &format!("    &{path}{id}_"), &line)
    };
    let files = vec![
        checkout.fresh(&format!("suites/src/properties/{folder}{module}.rs"), text)?,
        checkout.edited(ALL, |text| match beginning.module {
            "" => listed(&declared(text)?),
            _ => listed(text),
        })?,
        checkout.edited(beginning.owing, |text| match beginning.module {
            "" => owed(text),
            _ => owed(&declared(text)?),
        })?,
        checkout.edited(STATEMENTS, |text| in_row(text, &statement, name))?,
    ];
    let next = format!(
        "next: cargo fmt --all, write what has to hold, and ask cargo flowmeter check -p '^{name}$'"
    );
    Ok((files, next))
}

/// Whether everybody of that kind owes a statement: what begins here is owed by all of them. Otherwise why not.
fn owed_by_all(semantics: &str, id: &str, kind: Kind) -> Result<(), String> {
    let begin = format!("| {id} |");
    let row = semantics.lines().find(|line| line.starts_with(&begin));
    let cells: Vec<&str> = row.unwrap_or_default().split('|').map(str::trim).collect();
    let [_, _, held_by, owed_by, ..] = cells[..] else {
        return Err(format!(
            "{STATEMENTS} has no statement {id}; state it there first, and give it a row in the table"
        ));
    };
    if held_by != "property" {
        return Err(format!(
            "the row of {id} in {STATEMENTS} says {held_by}, not property; choose another statement, or say so there first"
        ));
    }
    if !owed_by.starts_with(&format!("every {kind}")) {
        return Err(format!(
            "{id} is not owed by every {kind} but has in its row in {STATEMENTS}: {owed_by}; begin with a copy of its \
             neighbour in suites/src/properties"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::checkout::tests::{gained, refusal, this};
    use super::*;

    #[test]
    fn it_is_owed_listed_and_stated() {
        for (name, folder, last, row) in [
            ("c3-begun", "", "c3_capacity", "`c3-capacity`, `c3-begun` |"),
            (
                "c2-begun",
                "",
                "c2_order",
                "`c2-outcomes` (std world), `c2-begun` |",
            ),
            (
                "t2-begun",
                "timers",
                "timers::t2_once",
                "`t2-once`, `t2-begun` |",
            ),
            (
                "l3-begun",
                "limiters",
                "limiters::l3_waiters",
                "`l3-waiters`, `l3-begun` |",
            ),
            (
                "g2-begun",
                "executors",
                "executors::g2_parking",
                "`g2-parking`, `g2-begun` |",
            ),
        ] {
            let (files, _) = begun(&this(), name).unwrap();
            let module = name.replace('-', "_");
            let properties = this().root.join("suites/src/properties").join(folder);
            assert_eq!(files[0].path, properties.join(format!("{module}.rs")));
            assert!(files[0].text.contains(&format!("name: \"{name}\"")));
            // It is no word of Rust.
            assert_eq!(files[0].text.matches(name).count(), 1, "{name}");
            let id = name[..2].to_ascii_uppercase();
            let says = format!("\"{id}: nothing is checked yet\"");
            assert!(files[0].text.contains(&says));
            let all: Vec<&str> = files[1..3].iter().flat_map(gained).collect();
            let has = |what: &str| all.iter().filter(|line| line.contains(what)).count();
            assert_eq!(has(&format!("mod {module};")), 1, "{all:?}");
            assert_eq!(has(&format!("{module}::PROPERTY,")), 2, "{all:?}");
            assert_eq!(has(&format!("{module}::cases::<")), 1, "{all:?}");
            let lines: Vec<&str> = files[1].text.lines().collect();
            let listed = format!("{module}::PROPERTY,");
            let at = lines.iter().position(|line| line.ends_with(&listed));
            let line_before = lines[at.expect("it is listed") - 1];
            assert!(line_before.starts_with(&format!("    &{last}::")), "{name}");
            assert!(files[3].text.contains(row), "{name}");
        }
    }

    #[test]
    fn what_is_there_or_is_no_name_or_not_owed_by_all_is_refused() {
        let there = "is there already; choose another name";
        let no_name = "a name is the id of a statement";
        let of_some = "begin with a copy of its neighbour";
        for (name, says) in [
            ("c2-order", there),
            ("t2-once", there),
            ("t1-in-alts", there),
            ("c4-waiter-fifo", there),
            ("p1-something", no_name),
            ("é1-something", no_name),
            ("c3", no_name),
            ("c3-Capital", no_name),
            ("", no_name),
            ("c99-not-stated", "SEMANTICS.md has no statement C99"),
            ("t9-mine", "the row of T9 in SEMANTICS.md says measured"),
            ("a8-mine", "the row of A8 in SEMANTICS.md says measured"),
            (
                "g4-mine",
                "the row of G4 in SEMANTICS.md says documentation",
            ),
            ("b4-mine", "the row of B4 in SEMANTICS.md says compile-fail"),
            ("c12-mine", of_some),
            ("a1-mine", of_some),
            ("t7-mine", of_some),
            ("l1-mine", of_some),
            ("g3-mine", of_some),
            ("g5-mine", of_some),
        ] {
            let told = refusal(begun(&this(), name));
            assert!(told.contains(says), "{name}: {told}");
        }
    }
}
