//! What differs between kinds of contestants where something begins: the texts, and the places that have to know of them.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use flowmeter_harness::caps::Kind;

/// How something of a kind begins.
#[derive(Debug)]
pub(super) struct Beginning {
    pub kind: Kind,
    /// Its implementation, a whole file; `TYPE` and `NAME` are replaced.
    pub implementation: &'static str,
    /// Its scenario, a whole file.
    pub scenario: &'static str,
    /// Its property, a whole file; `"NAME"` and `ID` are replaced.
    pub property: &'static str,
    /// What the registry says of it, behind `own::<TYPE, _>(hall, "NAME")`.
    pub offers: &'static str,
    /// The same in the table of capabilities.
    pub has: &'static str,
    /// In that table, who stands behind those of ours.
    pub behind: &'static str,
    /// Letters with which ids of its statements begin.
    pub letters: &'static [&'static str],
    /// Module of its properties, below `properties`; empty where that is `properties` itself.
    pub module: &'static str,
    /// How that declares a property.
    pub declares: &'static str,
    /// The file in which its properties are owed.
    pub owing: &'static str,
    /// Before this.
    pub owed_before: &'static str,
    /// In these words; `MODULE` is replaced.
    pub owed: &'static str,
}

/// The first is what nobody says anything else of.
pub(super) const BEGINNINGS: [Beginning; 4] = [
    Beginning {
        kind: Kind::Channel,
        implementation: include_str!("channel/implementation.txt"),
        scenario: include_str!("channel/scenario.txt"),
        property: include_str!("channel/property.txt"),
        offers: ".channel().blocking()",
        has: "fixed blocking",
        behind: "crossbeam-channel",
        letters: &["c", "b", "a"],
        module: "",
        declares: "mod ",
        owing: "suites/src/properties/checks.rs",
        owed_before: "        self.owe(\n            who,\n            &c1_conservation::PROPERTY",
        owed: "        let cases = super::MODULE::cases::<C, W>();\n        self.owe(who, &super::MODULE::PROPERTY, cases);\n",
    },
    Beginning {
        kind: Kind::Timer,
        implementation: include_str!("timer/implementation.txt"),
        scenario: include_str!("timer/scenario.txt"),
        property: include_str!("timer/property.txt"),
        offers: ".timer()",
        has: "schedule",
        behind: "tokio-sleep",
        letters: &["t"],
        module: "timers",
        declares: "pub(super) mod ",
        owing: "suites/src/properties/timers/mod.rs",
        owed_before: "        (&t1_never_early::PROPERTY, t1_never_early::cases",
        owed: "        (&MODULE::PROPERTY, MODULE::cases::<F, W>()),\n",
    },
    Beginning {
        kind: Kind::Limiter,
        implementation: include_str!("limiter/implementation.txt"),
        scenario: include_str!("limiter/scenario.txt"),
        property: include_str!("limiter/property.txt"),
        offers: ".limiter().blocking_limit().claims(&[WindowBound])",
        has: "blocking try-acquire window-bound",
        behind: "governor",
        letters: &["l"],
        module: "limiters",
        declares: "pub(super) mod ",
        owing: "suites/src/properties/limiters/mod.rs",
        owed_before: "    if claims(who, Claim::WindowBound) {\n        owed.push((&l1_window::PROPERTY, l1_window::cases",
        owed: "    owed.push((&MODULE::PROPERTY, MODULE::cases::<L, F, W>()));\n",
    },
    Beginning {
        kind: Kind::Executor,
        implementation: include_str!("executor/implementation.txt"),
        scenario: include_str!("executor/scenario.txt"),
        property: include_str!("executor/property.txt"),
        offers: ".executor::<MutexChannels>()",
        has: "tasks",
        behind: "tokio",
        letters: &["g"],
        module: "executors",
        declares: "pub(super) mod ",
        owing: "suites/src/properties/executors/mod.rs",
        owed_before: "        (&g1_go::PROPERTY, g1_go::cases",
        owed: "        (&MODULE::PROPERTY, MODULE::cases::<E, C, W>()),\n",
    },
];

impl Beginning {
    /// Reads one by the name of its kind.
    pub(super) fn parser() -> impl TypedValueParser<Value = &'static Beginning> {
        let names = BEGINNINGS.map(|it| it.kind.name());
        PossibleValuesParser::new(names).map(|name| {
            let named = BEGINNINGS.iter().find(|it| it.kind.name() == name);
            named.expect("no other name is let through")
        })
    }

    /// Of the kind whose scenarios lie in that folder: `timers` and `timers-async` are of timers. Whoever makes a folder
    /// of its own begins with a channel. Nothing where those of that folder have no beginning here.
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

    /// Its scenario in that folder, whose name says who waits there: threads, tasks, or both.
    pub(super) fn scenario_in(&self, group: &str) -> String {
        let form = match group.rsplit_once('-') {
            Some((_, "async")) => "form = \"async\"",
            Some((_, "mixed")) if self.kind == Kind::Channel => "form = \"mixed\"",
            _ => return self.scenario.to_owned(),
        };
        (self.scenario)
            .replace("form = \"blocking\"", form)
            .replace("form = \"callback\"", form)
    }

    /// Of the kind whose statements begin with that letter.
    pub(super) fn of_letter(letter: &str) -> Option<&'static Beginning> {
        BEGINNINGS.iter().find(|it| it.letters.contains(&letter))
    }
}
