//! Prints a counterexample for people, in 100 columns: the sentence, the operations of each thread in time, the
//! operations that wait for each other, and the longest explanation.

use std::fmt;

use super::Counterexample;
use crate::history::{Answer, Clause, Storage, channel_name, columns, paragraph};
use crate::spec::Step;

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", paragraph(&self.violation.to_string()))?;
        for (channel, storage) in self.history.channels.iter().enumerate() {
            writeln!(f, "channel {}: {storage:?}", channel_name(channel))?;
        }
        writeln!(f, "\n{}", columns(&self.history))?;
        for op in 0..self.history.operations.len() {
            if self.history.operations[op].answer == Answer::Pending {
                writeln!(f, "{}", paragraph(&self.wait(op)))?;
            }
        }
        match self.culprit {
            Some(op) => writeln!(
                f,
                "Before operation {op} was answered, this explains everything:"
            )?,
            None => writeln!(f, "This explains every answer:")?,
        }
        for (at, step) in self.prefix.iter().enumerate() {
            writeln!(
                f,
                "{}",
                paragraph(&format!("{:>4}. {}", at + 1, self.step(*step)))
            )?;
        }
        if self.prefix.is_empty() {
            writeln!(f, "      nothing has to happen")?;
        }
        match self.culprit {
            Some(op) => {
                let text = format!("Nothing explains that {} as well.", self.answered(op));
                writeln!(f, "{}", paragraph(&text))
            }
            None => writeln!(f, "Nothing explains that the rest waits as well."),
        }
    }
}

impl Counterexample {
    /// The steps that explain everything before the unexplained answer, one sentence each.
    pub fn explained(&self) -> Vec<String> {
        self.prefix.iter().map(|step| self.step(*step)).collect()
    }

    /// The number of the unexplained operation, in the order of calls.
    pub fn culprit_by_call(&self) -> Option<usize> {
        let operations = &self.history.operations;
        let culprit = &operations[self.culprit?];
        let before = operations.iter().filter(|o| o.invoked < culprit.invoked);
        Some(before.count())
    }

    fn call(&self, op: usize) -> String {
        let operation = &self.history.operations[op];
        format!("{op} {} of thread {}", operation.call, operation.thread)
    }

    fn answered(&self, op: usize) -> String {
        let answer = self.history.operations[op].answer_text();
        format!("{} was answered \"{answer}\"", self.call(op))
    }

    /// What a pending operation waits for, and which other operations wait there.
    fn wait(&self, op: usize) -> String {
        let operations = &self.history.operations;
        let clauses = operations[op].call.clauses();
        let waits_for = |clause: &Clause| match (clause, self.history.channels[clause.channel()]) {
            (Clause::Take { .. }, _) => "a value or a close",
            (Clause::Put { .. }, Storage::Rendezvous) => "a taker or a close",
            (Clause::Put { .. }, _) => "room or a close",
        };
        let reason = match clauses {
            [] => String::new(),
            [one] => format!(": it waits for {}", waits_for(one)),
            _ => {
                let each: Vec<String> = (clauses.iter())
                    .map(|clause| format!("{clause} for {}", waits_for(clause)))
                    .collect();
                format!(": {}", each.join(", "))
            }
        };
        let mut text = format!("{} is pending{reason}", self.call(op));
        let mut there = Vec::new();
        for (other, operation) in operations.iter().enumerate() {
            let opposite = |clause: &Clause| {
                clauses.iter().any(|mine| {
                    let (put, take) = match (mine, clause) {
                        (Clause::Put { channel, .. }, Clause::Take { channel: other })
                        | (Clause::Take { channel: other }, Clause::Put { channel, .. }) => {
                            (channel, other)
                        }
                        _ => return false,
                    };
                    put == take
                })
            };
            let waits = operation.answer == Answer::Pending && other != op;
            if waits && operation.call.clauses().iter().any(opposite) {
                there.push(self.call(other));
            }
        }
        if !there.is_empty() {
            text.push_str("; it could meet ");
            text.push_str(&there.join(", "));
        }
        text
    }

    fn step(&self, step: Step) -> String {
        let clause = |(op, clause): (usize, usize)| {
            let operation = &self.history.operations[op];
            match operation.call.clauses() {
                [_] => format!("{op} {}", operation.call),
                clauses => format!("{} of {op}", clauses[clause]),
            }
        };
        match step {
            Step::Request(port) => format!("{} begins to wait", clause(port)),
            Step::Look(port) => format!("{} is seen unable", clause(port)),
            Step::Store(port) => format!("{} stores", clause(port)),
            Step::Reserve(port) => format!("{} holds room for its value", clause(port)),
            Step::Receive(port) => format!("{} takes what is first in line", clause(port)),
            Step::Meet { put, take } => format!("{} meets {}", clause(put), clause(take)),
            Step::Refuse(port) => format!("{} finds the channel closed", clause(port)),
            Step::End(port) => format!("{} finds the channel closed and empty", clause(port)),
            Step::GiveUp(op) => format!("{op} {} gives up", self.history.operations[op].call),
            Step::Cancel(op) => format!("{op} {} is cancelled", self.history.operations[op].call),
            Step::Close(op) => format!("{op} {}", self.history.operations[op].call),
        }
    }
}
