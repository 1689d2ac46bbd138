//! The workloads of an implementation, and the values of their parameters.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::scenario::ScenarioSpec;

/// `{ workload = "stream", form = "blocking", buffer = ["rendezvous", "fixed"] }`. Parameters that are not named may
/// have any value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Runs {
    /// The workload's name.
    workload: String,
    /// Values that a parameter may have.
    #[serde(flatten)]
    params: BTreeMap<String, Values>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Values {
    One(Word),
    Several(Vec<Word>),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Number(u64),
    Truth(bool),
}

impl Values {
    fn have(&self, value: &Value) -> bool {
        match self {
            Values::One(word) => word.is(value),
            Values::Several(words) => words.iter().any(|word| word.is(value)),
        }
    }
}

impl Word {
    /// `fixed` also matches `{ fixed = 64 }`: the capacity makes no difference. `number` matches any number.
    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Word::Text(text), Value::String(other)) => text == other,
            (Word::Text(text), Value::Object(table)) => table.contains_key(text),
            (Word::Text(text), Value::Number(_)) => text == "number",
            (Word::Number(number), other) => other.as_u64() == Some(*number),
            (Word::Truth(truth), other) => other.as_bool() == Some(*truth),
            _ => false,
        }
    }
}

impl Runs {
    /// Whether that scenario is one of them.
    pub(super) fn has(&self, scenario: &ScenarioSpec) -> bool {
        let work = serde_json::to_value(&scenario.work).expect("a workload is plain data");
        let given = &work["params"];
        work["workload"] == *self.workload
            && self
                .params
                .iter()
                .all(|(name, values)| given.get(name).is_some_and(|value| values.have(value)))
    }
}
