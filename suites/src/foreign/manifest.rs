//! The manifest of a folder: `contestants.toml`.
//!
//! ```toml
//! [[language]]
//! start = ["./start", "17"]          # run in this folder; with --version beside it says one line, or why it cannot
//! claims = true                      # with --claims it re-enacts the seed texts
//!
//! [[language.contestant]]
//! name = "jdk17-array-blocking-queue"
//! kind = "channel"                   # as `list` has them
//! offers = ["blocking"]              # capabilities, as `list` has them
//! runs = [{ workload = "stream", form = "blocking", buffer = "fixed", message = "8B" }]
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmeter_harness::caps::{Capabilities, Capability, Kind, Origin};
use flowmeter_harness::registry::Registered;
use serde::Deserialize;

use super::Foreigner;
use super::runs::Runs;

/// Its name in each folder.
pub const FILE: &str = "contestants.toml";

/// Why a manifest is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {message}", .path.display(), .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ManifestError {
    path: PathBuf,
    line: Option<usize>,
    message: String,
}

/// The contents of a manifest.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) languages: Vec<(Language, Vec<Stated>)>,
}

/// A language that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Language {
    /// Absolute, since the process is started in it.
    folder: PathBuf,
    start: Vec<String>,
    claims: bool,
}

/// An implementation as its manifest states it.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub(super) name: &'static str,
    kind: Kind,
    offers: BTreeSet<Capability>,
    reference: bool,
    pub(super) runs: Vec<Runs>,
    manifest: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    language: Vec<WrittenLanguage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLanguage {
    start: Vec<String>,
    #[serde(default)]
    claims: bool,
    #[serde(default)]
    contestant: Vec<WrittenImplementation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenImplementation {
    name: String,
    kind: String,
    #[serde(default)]
    offers: Vec<String>,
    #[serde(default)]
    reference: bool,
    runs: Vec<Runs>,
}

/// The manifests of the folders in `folder`, by name. A folder without one is skipped.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Manifest>, ManifestError> {
    let unread = |why: std::io::Error| ManifestError {
        path: folder.to_owned(),
        line: None,
        message: format!("{why}; name a folder of implementations in other languages"),
    };
    let folder = folder.canonicalize().map_err(unread)?;
    let entries = fs::read_dir(&folder).map_err(unread)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join(FILE)))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Manifest, ManifestError> {
    let wrong = |line, message| ManifestError {
        path: path.to_owned(),
        line,
        message,
    };
    let text = fs::read_to_string(path).map_err(|why| wrong(None, why.to_string()))?;
    let written: Written = toml::from_str(&text).map_err(|why| {
        let line = why
            .span()
            .map(|span| 1 + text[..span.start].matches('\n').count());
        wrong(line, why.message().trim().to_owned())
    })?;
    let folder = path.parent().expect("a file is in a folder").to_owned();
    let language = |written: WrittenLanguage| {
        if written.start.is_empty() {
            return Err(wrong(None, "`start` names no program".to_owned()));
        }
        let language = Language {
            folder: folder.clone(),
            start: written.start,
            claims: written.claims,
        };
        let implementations = written.contestant.into_iter();
        let stated = implementations.map(|it| stated(it, path));
        Ok((language, stated.collect::<Result<_, _>>()?))
    };
    let languages = written.language.into_iter().map(language);
    Ok(Manifest {
        languages: languages.collect::<Result<_, _>>()?,
    })
}

fn stated(written: WrittenImplementation, path: &Path) -> Result<Stated, ManifestError> {
    let unknown = |what: &str, word: &str| ManifestError {
        path: path.to_owned(),
        line: None,
        message: format!("{}: there is no {what} `{word}`", written.name),
    };
    let kind = Kind::ALL.iter().find(|kind| kind.name() == written.kind);
    let kind = *kind.ok_or_else(|| unknown("kind", &written.kind))?;
    let offers = written.offers.iter().map(|word| {
        let mut all = Capability::ALL.iter().copied();
        all.find(|capability| capability.name() == word)
            .ok_or_else(|| unknown("capability", word))
    });
    let offers = offers.collect::<Result<_, _>>()?;
    Ok(Stated {
        kind,
        offers,
        reference: written.reference,
        runs: written.runs,
        manifest: path.to_owned(),
        // Implementations are named as long as the program runs; those of the registry are constants.
        name: written.name.leak(),
    })
}

impl Stated {
    /// With the version that its language reports.
    pub(super) fn taking_part(self, language: &Language, version: &str) -> Foreigner {
        Foreigner {
            implementation: Registered {
                name: self.name,
                kind: self.kind,
                origin: Origin::Foreign,
                version: version.to_owned(),
                capabilities: Capabilities {
                    derived: self.offers,
                    ..Capabilities::default()
                },
                reference: self.reference,
                family: "",
            },
            runs: self.runs,
            language: language.clone(),
        }
    }

    pub(super) fn entered_twice(&self) -> ManifestError {
        ManifestError {
            path: self.manifest.clone(),
            line: None,
            message: format!("{} takes part twice; rename one of the two", self.name),
        }
    }
}

impl Language {
    /// The name of its folder and the arguments of its program: `jvm 17`.
    pub(crate) fn name(&self) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        let words = self.start[1..].iter().map(String::as_str);
        let words =
            std::iter::once(folder.to_string_lossy().into_owned()).chain(words.map(str::to_owned));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The command that starts it, in its folder.
    pub(super) fn command(&self) -> Command {
        let program = &self.start[0];
        // A path is relative to its folder; a name without a slash is searched in the system's path.
        let mut command = match program.contains('/') {
            true => Command::new(self.folder.join(program)),
            false => Command::new(program),
        };
        command.args(&self.start[1..]).current_dir(&self.folder);
        command
    }

    pub(super) fn version_command(&self) -> Command {
        let mut command = self.command();
        command.arg("--version");
        command
    }

    /// The command that re-enacts the claims of the seed texts, where there is one.
    pub(crate) fn claims_command(&self) -> Option<Command> {
        let mut command = self.command();
        command.arg("--claims");
        self.claims.then_some(command)
    }
}
