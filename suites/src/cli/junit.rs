//! Verdicts as XML for build servers.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmeter_records::{Proof, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::failure::Failure;
use super::verdicts::sentence;

/// A file of verdicts that will be written. It is created before anything is proved, so that an unwritable path fails
/// at once and not after an hour.
pub(super) struct Junit {
    path: PathBuf,
    partial: PathBuf,
    file: File,
}

impl Junit {
    /// Creates a temporary file beside it, and leaves an existing file unchanged.
    pub(super) fn begin(path: &Path) -> Result<Junit, Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = path.with_file_name(name);
        let file = match path.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => File::create(&partial),
        };
        Ok(Junit {
            path: path.to_owned(),
            file: file.map_err(|why| Failure::write(path, &why))?,
            partial,
        })
    }

    /// Writes all of it: a suite for each implementation and world, a case for each property.
    pub(super) fn finish<'a>(self, proofs: impl Iterator<Item = &'a Proof>) -> Result<(), Failure> {
        // Names and sentences contain no characters that XML does not allow.
        let text = report(proofs).to_string().expect("a report of text is XML");
        let mut file = self.file;
        let written = file.write_all(text.as_bytes());
        let written = written.and_then(|()| fs::rename(&self.partial, &self.path));
        written.map_err(|why| Failure::write(&self.path, &why))
    }
}

fn report<'a>(proofs: impl Iterator<Item = &'a Proof>) -> Report {
    let mut report = Report::new("flowmeter");
    let proofs: Vec<&Proof> = proofs.collect();
    let together =
        |a: &&Proof, b: &&Proof| (&a.implementation, &a.world) == (&b.implementation, &b.world);
    for proofs in proofs.chunk_by(together) {
        let name = format!("{} under {}", proofs[0].implementation, proofs[0].world);
        let mut suite = TestSuite::new(name.clone());
        let mut took = 0.0;
        for proof in proofs {
            let mut case = TestCase::new(name_of(proof), status(proof));
            case.set_classname(name.clone());
            case.set_time(Duration::from_secs_f64(proof.seconds));
            if proof.verdict == Verdict::Pass && proof.detail.is_some() {
                case.set_system_out(sentence(proof));
            }
            suite.add_test_case(case);
            took += proof.seconds;
        }
        suite.set_time(Duration::from_secs_f64(took));
        report.add_test_suite(suite);
    }
    report
}

/// A property that is claimed in part has two cases.
fn name_of(proof: &Proof) -> String {
    match proof.verdict {
        Verdict::NotPromisedBroken | Verdict::NotPromisedUnbroken => {
            format!("{} (not promised)", proof.property)
        }
        _ => proof.property.clone(),
    }
}

/// A counterexample and a hang are failures; a missing verdict is an error. What is not promised is skipped, in words.
fn status(proof: &Proof) -> TestCaseStatus {
    let kind = match proof.verdict {
        Verdict::Pass => return TestCaseStatus::success(),
        Verdict::Unclaimed
        | Verdict::NotPromisedBroken
        | Verdict::NotPromisedUnbroken
        | Verdict::NotInstrumentable => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(sentence(proof));
            return skipped;
        }
        Verdict::Fail | Verdict::Hung => NonSuccessKind::Failure,
        Verdict::Inconclusive | Verdict::Error => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(sentence(proof));
    let detail = proof.detail.iter().chain(&proof.replay);
    status.set_description(detail.cloned().collect::<Vec<_>>().join("\n"));
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(world: &str, property: &str, verdict: Verdict) -> Proof {
        Proof {
            implementation: "mutex".to_owned(),
            property: property.to_owned(),
            world: world.to_owned(),
            verdict,
            complete: false,
            executions: 3,
            seconds: 0.5,
            counterexample: None,
            detail: Some("took <3> & \u{1}9".to_owned()),
            replay: None,
            bound: None,
        }
    }

    #[test]
    fn each_verdict_is_what_a_build_server_makes_of_it() {
        let proofs = [
            proof("std", "c1-conservation", Verdict::Pass),
            proof("std", "c2-order", Verdict::Fail),
            proof("loom", "c1-conservation", Verdict::Inconclusive),
            proof("loom", "c2-order", Verdict::Error),
            proof("loom", "c3-capacity", Verdict::Unclaimed),
            proof("loom", "c4-waiters", Verdict::Hung),
            proof("loom", "c9-cancel", Verdict::NotPromisedBroken),
        ];
        let text = report(proofs.iter()).to_string().unwrap();
        for part in [
            "<testsuite name=\"mutex under std\" tests=\"2\" disabled=\"0\" errors=\"0\" failures=\"1\"",
            "<testsuite name=\"mutex under loom\" tests=\"5\" disabled=\"2\" errors=\"2\" failures=\"1\"",
            "<testcase name=\"c9-cancel (not promised)\"",
            "<skipped message=\"not promised and broken: mutex c9-cancel under loom: took",
            "<failure message=\"hung: mutex c4-waiters under loom: took",
            "<system-out>pass mutex c1-conservation under std: took",
            "time=\"0.500\"",
            "took &lt;3&gt; &amp; ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1}'), "{text}");
    }
}
