//! Scenario files: TOML to [`ScenarioSpec`]. Unknown and senseless input is refused with file, line, key and what was
//! expected.
//!
//! A file is read twice, first for its workload and then with the parameters of that workload. A value that is kept
//! until its type is known would lose its position in the file.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{Form, MessageKind, ScenarioSpec};
use crate::workloads::{Work, WorkloadName};

/// Why scenarios could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A file or folder cannot be read.
    #[error("{}: {source}; name a folder of scenario files", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file contains something invalid.
    #[error("{}:{line}: {}{message}", .path.display(), .key.as_ref().map(|k| format!("`{k}`: ")).unwrap_or_default())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key on that line, if there is one.
        key: Option<String>,
        /// What is wrong and what was expected.
        message: String,
    },
    /// Two files give a scenario of the same name.
    #[error("two scenarios are called `{name}`; rename one of the files")]
    Twice {
        /// The name.
        name: String,
    },
    /// A folder has no scenario in it.
    #[error("{}: no scenario file (*.toml) in it; name another folder", .path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
}

/// First reading: all but the parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    title: Sentence,
    why: Sentence,
    workload: WorkloadName,
    priority: Option<u32>,
    #[serde(rename = "params")]
    _params: IgnoredAny,
}

/// Second reading: the parameters.
#[derive(Deserialize)]
struct Body<P> {
    params: P,
}

/// Text that is not blank.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Sentence(String);

impl TryFrom<String> for Sentence {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err("expected a sentence, not an empty text");
        }
        Ok(Sentence(words.join(" ")))
    }
}

/// Reads one scenario from the text of its file; `path` is only named in errors.
///
/// # Errors
/// [`ScenarioError::Invalid`].
pub fn parse(name: &str, path: &Path, text: &str) -> Result<ScenarioSpec, ScenarioError> {
    let source = Source { path, text };
    let head: Head = source.read()?;
    let work = head.workload.read(&source)?;
    match &work {
        Work::Stream(params) if params.form == Form::Callback => {
            return Err(source.refuse("form", "expected `blocking`, `async` or `mixed`"));
        }
        Work::Stream(params)
            if params.form != Form::Blocking && params.message != MessageKind::Word =>
        {
            return Err(source.refuse(
                "message",
                "expected `8B`, the only message of streams with tasks",
            ));
        }
        Work::PingPong(params) if !matches!(params.form, Form::Blocking | Form::Async) => {
            return Err(source.refuse("form", "expected `blocking` or `async`"));
        }
        Work::TimerChurn(params) => {
            if let Some((key, expected)) = params.contradiction() {
                return Err(source.refuse(key, expected));
            }
        }
        _ => {}
    }
    Ok(ScenarioSpec {
        name: name.to_owned(),
        title: head.title.0,
        why: head.why.0,
        priority: head.priority,
        work,
    })
}

/// Reads every `*.toml` below `folder`, sorted by name; names are paths below it without `.toml`.
///
/// # Errors
/// [`ScenarioError`], for the first file that is wrong.
pub fn from_folder(folder: &Path) -> Result<Vec<ScenarioSpec>, ScenarioError> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        let path = folder.to_owned();
        return Err(ScenarioError::Empty { path });
    }
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|source| ScenarioError::Io {
            path: path.clone(),
            source,
        })?;
        parse(&name_below(folder, path), path, &text)
    };
    files.iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ScenarioError> {
    let io = |source| ScenarioError::Io {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// `channels/spsc-64`; a file directly in `folder` belongs to the group with the name of the folder.
fn name_below(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let parts = below.components();
    let mut parts: Vec<_> = parts.map(|c| c.as_os_str().to_string_lossy()).collect();
    if parts.len() == 1 {
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let group = absolute
            .file_name()
            .map(|f| f.to_string_lossy().into_owned());
        parts.insert(0, group.unwrap_or_else(|| "channels".to_owned()).into());
    }
    parts.join("/")
}

/// A file being read.
pub(crate) struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    /// Its parameters, for a workload with that type of them.
    pub(crate) fn params<P: DeserializeOwned>(&self) -> Result<P, ScenarioError> {
        self.read().map(|body: Body<P>| body.params)
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, ScenarioError> {
        toml::from_str(self.text).map_err(|error| {
            let start = error.span().unwrap_or(Range { start: 0, end: 0 }).start;
            ScenarioError::Invalid {
                path: self.path.to_owned(),
                line: self.line_number(start),
                key: self.key_at(start),
                message: one_line(error.message()),
            }
        })
    }

    /// An error at the line of that key.
    fn refuse(&self, key: &str, message: &str) -> ScenarioError {
        let is_key = |line: &str| line.split('=').next().is_some_and(|k| k.trim() == key);
        ScenarioError::Invalid {
            path: self.path.to_owned(),
            line: self.text.lines().position(is_key).map_or(1, |n| n + 1),
            key: Some(key.to_owned()),
            message: message.to_owned(),
        }
    }

    fn line_number(&self, offset: usize) -> usize {
        self.before(offset).matches('\n').count() + 1
    }

    /// The key, or the table's header, on the line of `offset`.
    fn key_at(&self, offset: usize) -> Option<String> {
        let begins = self
            .before(offset)
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let line = self.text.get(begins..)?.lines().next()?.trim();
        let key = match line.strip_prefix('[') {
            Some(header) => header.split(']').next()?,
            None => line.split_once('=')?.0,
        };
        Some(key.trim().to_owned()).filter(|key| !key.is_empty())
    }

    fn before(&self, offset: usize) -> &str {
        self.text.get(..offset).unwrap_or(self.text)
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
