//! `check --into`: verdicts become part of a run. Its report shows them, and cells that they disprove, or leave
//! undecided by a hang, lose their number. No proof, no number also applies when the proof comes after the number.
//! `claims --into` adds the results of the claims of the seed texts, `mutants --into` those of mutants, and `cost --into`
//! modelled costs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use flowmeter_measure::StageError;
use flowmeter_records::{
    Attack, Failure as Disproved, ModelledCost, Proof, RECORDS_FILE, Record, RunData, SeedClaim,
    Verdict, read_run,
};
use serde::Deserialize;

use super::failure::Failure;
use crate::campaign::{commit, no_number, relied_on};
use crate::scenario::ScenarioSpec;

/// A run that verdicts are added to.
#[derive(Debug)]
pub(super) struct Into {
    folder: PathBuf,
    data: RunData,
}

impl Into {
    /// Reads it. Refuses a folder without a run, and a run that has not ended: resuming it would cut off what was
    /// added.
    pub(super) fn read(folder: &Path) -> Result<Into, Failure> {
        let data = read_run(folder)?;
        if data.end.is_none() {
            return Err(Failure::input(format!(
                "--into {0}: this run has not come to its end; first `cargo flowmeter measure --resume -o {0}`",
                folder.display()
            )));
        }
        let ours = commit();
        if data.run.commit != ours {
            return Err(Failure::input(format!(
                "--into {}: measured at commit {}, and this is {ours}; use the build that measured it",
                folder.display(),
                data.run.commit
            )));
        }
        let folder = folder.to_owned();
        Ok(Into { folder, data })
    }

    /// Appends the verdicts on the run's implementations. Returns how many these were, and how many cells lose their
    /// number.
    pub(super) fn add<'a>(
        &self,
        proofs: impl Iterator<Item = &'a Proof>,
    ) -> Result<(usize, usize), Failure> {
        let mut records = Vec::new();
        let took_part = |proof: &&Proof| {
            let implementations = &self.data.implementations;
            implementations.contains_key(&proof.implementation)
        };
        for proof in proofs.filter(took_part) {
            records.push(Record::Proof(proof.clone()));
            // An inconclusive search of an explored world removes no number.
            if proof.verdict != Verdict::Inconclusive {
                let what = format!("{} under {}", proof.property, proof.world);
                let why = no_number(proof, &what);
                records.extend(why.into_iter().flat_map(|why| self.without(proof, why)));
            }
        }
        self.append(&records)?;
        let proofs = |record: &&Record| matches!(record, Record::Proof(_));
        let added = records.iter().filter(proofs).count();
        Ok((added, records.len() - added))
    }

    /// Appends the results of claims; returns the number of rows.
    pub(super) fn add_claims(&self, rows: &[SeedClaim]) -> Result<usize, Failure> {
        let records: Vec<Record> = rows.iter().cloned().map(Record::SeedClaim).collect();
        self.append(&records)?;
        Ok(records.len())
    }

    /// Appends the results of properties on mutants.
    pub(super) fn add_attacks(&self, attacks: impl Iterator<Item = Attack>) -> Result<(), Failure> {
        self.append(&attacks.map(Record::Mutant).collect::<Vec<_>>())
    }

    /// Appends the costs of what took part in the run; returns how many these are.
    pub(super) fn add_costs(&self, rows: &[ModelledCost]) -> Result<usize, Failure> {
        let took_part = |row: &&ModelledCost| {
            self.data.scenarios.contains_key(&row.scenario)
                && self.data.implementations.contains_key(&row.implementation)
        };
        let records = rows.iter().filter(took_part).cloned();
        let records: Vec<Record> = records.map(Record::ModelledCost).collect();
        self.append(&records)?;
        Ok(records.len())
    }

    fn append(&self, records: &[Record]) -> Result<(), Failure> {
        let path = self.folder.join(RECORDS_FILE);
        let lines: Vec<String> = (records.iter())
            .map(|record| serde_json::to_string(record).expect("records are plain data") + "\n")
            .collect();
        let opened = OpenOptions::new().append(true).open(&path);
        let written = opened.and_then(|mut file| file.write_all(lines.concat().as_bytes()));
        written.map_err(|why| Failure::write(&path, &why))
    }

    /// The cells that rely on that proof, without their number.
    fn without<'a>(
        &'a self,
        proof: &'a Proof,
        why: StageError,
    ) -> impl Iterator<Item = Record> + 'a {
        let windows = &self.data.windows;
        let was_timed = |scenario: &str| {
            let mut windows = windows.iter();
            windows.any(|w| w.scenario == scenario && w.implementation == proof.implementation)
        };
        // A scenario that this build does not know relies on no property that it could name.
        let relies = move |name: &str, spec: &serde_json::Value| {
            let spec = ScenarioSpec::deserialize(spec).ok();
            spec.is_some_and(|spec| relied_on(&spec, &proof.property)) && was_timed(name)
        };
        let scenarios = self.data.scenarios.values();
        let concerned = scenarios.filter(move |scenario| relies(&scenario.name, &scenario.spec));
        concerned.map(move |scenario| {
            Record::Failure(Disproved {
                scenario: scenario.name.clone(),
                implementation: proof.implementation.clone(),
                placebo: false,
                slowed_percent: None,
                build: None,
                fork: 0,
                round: None,
                kind: why.kind,
                message: why.message.clone(),
            })
        })
    }
}
