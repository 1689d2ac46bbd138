//! An implementation of ours: its file, its module, its line in the registry and its row in the table of capabilities.

use super::checkout::{Begun, Checkout, Written, at_end_of, sorted_in};
use super::kinds::Beginning;
use super::names::{code, has_word, is_crate, is_in_prelude, is_keyword, is_word, no_name, taken};

pub(super) fn begun(checkout: &Checkout, name: &str, beginning: &Beginning) -> Begun {
    let parts: Vec<&str> = name.split('_').collect();
    if !parts.iter().all(|part| is_word(part)) {
        return Err(no_name(
            name,
            "small letters and digits in words with _ between them, such as ring or two_locks",
        ));
    }
    let capital = |part: &&str| part[..1].to_ascii_uppercase() + &part[1..];
    let family: String = parts.iter().map(capital).collect();
    let text = beginning
        .implementation
        .replace("TYPE", &family)
        .replace("NAME", name);
    let kind = beginning.kind.name();
    let entry = format!(
        "        own::<{family}, _>(hall, \"{name}\"){}.enter();\n",
        beginning.offers
    );
    let row = format!("    (\"{name}\", Origin::Own, \"{}\"),\n", beginning.has);
    let named = format!("use crate::{kind}::{name}::{family};");
    let table = checkout.edited("impls/tests/capabilities.rs", |text| {
        let behind = text.find(&format!("\"{}\"", beginning.behind))?;
        let at = text[..behind].rfind("\n    (")? + 1;
        Some(format!("{}{row}{}", &text[..at], &text[at..]))
    })?;
    let modules = checkout.edited(&format!("impls/src/{kind}/mod.rs"), |text| {
        sorted_in(text, ("pub mod ", ";"), &format!("pub mod {name};"))
    })?;
    let registry = checkout.edited("impls/src/registry.rs", |text| {
        let text = sorted_in(text, ("use crate::", ";"), &named)?;
        let begin = format!("    fn {kind}s<H: Enrol>(self, hall: &mut H) {{");
        at_end_of(&text, &begin, "\n    }\n", &entry)
    })?;
    // Names are unique over all kinds, modules in their folder, types in the registry.
    let elsewhere = registry.text.replacen(&named, "", 1);
    let elsewhere = elsewhere.replacen(&entry, "", 1);
    if has_two_rows(&table, name) || declares_twice(&modules, name) {
        return Err(taken(name, "is there already"));
    }
    if is_crate(&checkout.read("impls/Cargo.toml")?, name) {
        return Err(taken(
            name,
            "is a crate, and paths that begin with it would mean the new module",
        ));
    }
    if let Some(why) = kept(name, &family, beginning) {
        return Err(taken(name, &why));
    }
    if has_type(&elsewhere, &family) {
        let why = format!("its type would be {family}, which impls/src/registry.rs names already");
        return Err(taken(name, &why));
    }
    let files = vec![
        checkout.fresh(&format!("impls/src/{kind}/{name}.rs"), text)?,
        modules,
        registry,
        table,
    ];
    let next =
        format!("next: cargo fmt --all, write it, and ask cargo flowmeter check -i '^{name}$'");
    Ok((files, next))
}

/// Why that would not compile, whoever is there.
fn kept(name: &str, family: &str, beginning: &Beginning) -> Option<String> {
    if is_keyword(name) {
        return Some("is a word of Rust itself".to_owned());
    }
    if is_in_prelude(family) {
        return Some(format!("its type would be {family}, a name of Rust itself"));
    }
    let mut lines = code(beginning.implementation);
    lines.any(|line| has_word(line, family)).then(|| {
        let kind = beginning.kind;
        format!("its type would be {family}, a name in what every {kind} begins with")
    })
}

fn has_two_rows(table: &Written, name: &str) -> bool {
    // Some rows have lines of their own for each of their parts.
    let packed: String = table.text.split_whitespace().collect();
    let row = format!("(\"{name}\",Origin");
    packed.matches(&row).count() > 1
}

fn declares_twice(modules: &Written, name: &str) -> bool {
    let module = format!("mod {name};");
    modules.text.matches(&module).count() > 1
}

/// Whether a registry has something of that name. What a trait calls a type in it, `type Sleep = Heap`, is not in the way.
fn has_type(registry: &str, family: &str) -> bool {
    let mut in_the_way = code(registry).map(|line| {
        let of_trait = line.strip_prefix("    type ");
        let is = of_trait.and_then(|line| line.split_once(" = "));
        is.map_or(line, |(_, is)| is)
    });
    in_the_way.any(|line| has_word(line, family))
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::caps::Kind;

    use super::super::checkout::tests::{gained, refusal, this};
    use super::super::kinds::BEGINNINGS;
    use super::*;

    fn of(kind: Kind) -> &'static Beginning {
        let of = BEGINNINGS.iter().find(|it| it.kind == kind);
        of.expect("a kind that begins here")
    }

    #[test]
    fn it_is_known_wherever_one_has_to_be() {
        for (kind, offers, has) in [
            (Kind::Channel, "channel().blocking()", "fixed blocking"),
            (Kind::Timer, "timer()", "schedule"),
            (
                Kind::Limiter,
                "limiter().blocking_limit().claims(&[WindowBound])",
                "blocking try-acquire window-bound",
            ),
            (Kind::Executor, "executor::<MutexChannels>()", "tasks"),
        ] {
            let (files, _) = begun(&this(), "two_locks", of(kind)).unwrap();
            let path = format!("impls/src/{kind}/two_locks.rs");
            assert!(files[0].path.ends_with(path));
            assert!(files[0].text.contains(" for TwoLocks {"), "{kind}");
            assert!(!files[0].text.contains("NAME") && !files[0].text.contains("TYPE"));
            assert_eq!(gained(&files[1]), ["pub mod two_locks;"]);
            let registry = gained(&files[2]);
            assert_eq!(
                registry[0],
                format!("use crate::{kind}::two_locks::TwoLocks;")
            );
            let entry = format!("own::<TwoLocks, _>(hall, \"two_locks\").{offers}.enter();");
            assert_eq!(registry[1].trim(), entry);
            let (of_kind, _) = files[2].text.split_once(&entry).unwrap();
            let (_, of_kind) = of_kind.rsplit_once("    fn ").unwrap();
            assert!(
                of_kind.starts_with(&format!("{kind}s<H: Enrol>")),
                "{of_kind}"
            );
            let row = format!("    (\"two_locks\", Origin::Own, \"{has}\"),");
            assert_eq!(gained(&files[3]), [row]);
        }
    }

    #[test]
    fn a_name_that_means_something_else_is_free() {
        // What some contestant has, and what a trait calls a type in the registry.
        for (kind, name) in [(Kind::Timer, "sleep"), (Kind::Executor, "tasks")] {
            let begun = begun(&this(), name, of(kind));
            assert!(begun.is_ok(), "{name}: {begun:?}");
        }
    }

    #[test]
    fn what_is_there_or_is_no_name_or_would_not_compile_is_refused() {
        let there = "is there already; choose another name";
        let no_name = "a name is small letters";
        let of_rust = "is a word of Rust itself; choose";
        for (kind, name, says) in [
            (Kind::Channel, "condvar", there),
            (Kind::Channel, "mutex", there),
            (Kind::Channel, "heap", there),
            (Kind::Channel, "batch", there),
            (Kind::Timer, "service", there),
            (Kind::Timer, "wheel", "Wheel, which impls/src/registry.rs"),
            (Kind::Channel, "TwoLocks", no_name),
            (Kind::Channel, "../escape", no_name),
            (Kind::Channel, "", no_name),
            (Kind::Timer, "loop", of_rust),
            (Kind::Limiter, "self", of_rust),
            (Kind::Executor, "yield", of_rust),
            (Kind::Channel, "std", "is a crate"),
            (Kind::Timer, "core", "is a crate"),
            (Kind::Limiter, "alloc", "is a crate"),
            (Kind::Executor, "libc", "is a crate"),
            (Kind::Channel, "flowmeter_harness", "is a crate"),
            (Kind::Channel, "option", "Option, a name of Rust itself"),
            (Kind::Limiter, "vec", "Vec, a name of Rust itself"),
            (Kind::Channel, "state", "every channel begins with"),
            (Kind::Timer, "deadline", "every timer begins with"),
            (Kind::Limiter, "quota", "every limiter begins with"),
            (Kind::Executor, "spawner", "every executor begins with"),
        ] {
            let told = refusal(begun(&this(), name, of(kind)));
            assert!(told.contains(says), "{name}: {told}");
        }
    }
}
