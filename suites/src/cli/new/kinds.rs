//! What differs between kinds in `new`: the texts, and the places to edit.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use flowmeter_harness::caps::Kind;

use super::pattern;

/// How `new` begins something of a kind.
#[derive(Debug)]
pub(super) struct Beginning {
    pub kind: Kind,
    /// Its implementation, a whole file; `TYPE` and `NAME` are replaced.
    pub implementation: &'static str,
    /// Its scenario, a whole file.
    pub scenario: &'static str,
    /// Its property, a whole file; `"NAME"` and `ID` are replaced.
    pub property: &'static str,
    /// The registry's entry, after `own::<TYPE, _>(visitor, "NAME")`.
    pub offers: &'static str,
    /// The same in the table of capabilities.
    pub has: &'static str,
    /// The last of ours in that table.
    pub last: &'static str,
    /// The letters of its statements' ids.
    pub letters: &'static str,
    /// Path to the module of its properties, from `properties`, such as `timers::`.
    pub module: &'static str,
}

macro_rules! beginning {
    ($kind:ident, $texts:literal, $($field:ident: $value:literal),+ $(,)?) => {
        Beginning {
            kind: Kind::$kind,
            implementation: include_str!(concat!($texts, "/implementation.txt")),
            scenario: include_str!(concat!($texts, "/scenario.txt")),
            property: include_str!(concat!($texts, "/property.txt")),
            $($field: $value,)+
        }
    };
}

/// The first one is the default.
pub(super) const BEGINNINGS: [Beginning; 4] = [
    beginning!(
        Channel,
        "channel",
        offers: ".channel().blocking()",
        has: "fixed blocking",
        last: "condvar",
        letters: "cba",
        module: "",
    ),
    beginning!(
        Timer,
        "timer",
        offers: ".timer()",
        has: "schedule",
        last: "hierarchical_wheel-spinning",
        letters: "t",
        module: "timers::",
    ),
    beginning!(
        Limiter,
        "limiter",
        offers: ".limiter().blocking_limit().claims(&[WindowBound])",
        has: "blocking try-acquire window-bound",
        last: "token_bucket",
        letters: "l",
        module: "limiters::",
    ),
    beginning!(
        Executor,
        "executor",
        offers: ".executor::<MutexChannels>()",
        has: "tasks",
        last: "state_machine",
        letters: "g",
        module: "executors::",
    ),
];

impl Beginning {
    /// Parses the name of a kind.
    pub(super) fn parser() -> impl TypedValueParser<Value = &'static Beginning> {
        let names = BEGINNINGS.map(|it| it.kind.name());
        PossibleValuesParser::new(names).map(|name| {
            let named = BEGINNINGS.iter().find(|it| it.kind.name() == name);
            named.expect("no other name is let through")
        })
    }

    /// The kind of the scenarios in that folder: `timers` and `timers-async` are for timers. A new folder is for
    /// channels. `None` where the kind of that folder is not supported by `new`.
    pub(super) fn of_group(group: &str) -> Option<&'static Beginning> {
        let first = group.split('-').next().unwrap_or(group);
        let is_of = |kind: Kind| first.strip_suffix('s') == Some(kind.name());
        if first == "alts" {
            return None;
        }
        match Kind::ALL.iter().find(|&&kind| is_of(kind)) {
            Some(&kind) => BEGINNINGS.iter().find(|it| it.kind == kind),
            None => Some(&BEGINNINGS[0]),
        }
    }

    /// Its scenario in that folder; the folder's name says whether threads, tasks, or both wait.
    pub(super) fn scenario_in(&self, group: &str) -> String {
        let form = match group.rsplit_once('-') {
            Some((_, "async")) => "form = \"async\"",
            Some((_, "mixed")) if self.kind == Kind::Channel => "form = \"mixed\"",
            _ => return self.scenario.to_owned(),
        };
        let said = pattern(r#"form = "\w+""#);
        said.replace(self.scenario, form).into_owned()
    }

    /// The kind of the statements with that letter.
    pub(super) fn of_letter(letter: &str) -> Option<&'static Beginning> {
        BEGINNINGS.iter().find(|it| it.letters.contains(letter))
    }
}
