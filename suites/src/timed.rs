//! The program that times. Workloads of all implementations take as long to compile as all other code together, and
//! only `measure` runs them. So the command does not contain them: another program does, and is built when it is first
//! needed.
//!
//! While the sources are where this program was compiled, cargo is asked each time whether that program is up to date:
//! an edited implementation is never timed as it was before. Without the sources, the program beside this one is taken.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names the program, in place of the one that cargo builds.
pub const VARIABLE: &str = "FLOWMETER_TIMED";

/// The program that times, as a package of the workspace that this program was compiled in.
#[derive(Clone, Copy, Debug)]
pub struct TimedProgram {
    /// Its package.
    pub package: &'static str,
    /// The package of the program that asks. Cargo builds for both, so that they share what both depend on.
    pub asking: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The folder of a manifest in the workspace: `env!("CARGO_MANIFEST_DIR")`.
    pub sources: &'static str,
    /// The file of its `main`, below the workspace.
    pub main: &'static str,
    /// A folder below the workspace with edits of the sources beside it, each of which gives a promise up.
    pub without: &'static str,
}

static TIMED: OnceLock<TimedProgram> = OnceLock::new();
static FOUND: OnceLock<Result<Found, String>> = OnceLock::new();

/// A program, held open: a run that has begun goes on with the same one when a newer is built.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    _open: Option<File>,
}

/// Lets that program time from here on.
///
/// # Panics
/// When it was called before.
pub(crate) fn serve_in(program: TimedProgram) {
    TIMED
        .set(program)
        .expect("the program that times is named once");
}

/// The program that times, as it was named. `None` where this one does.
pub(crate) fn named() -> Option<&'static TimedProgram> {
    TIMED.get()
}

/// The program that times. `None` where this one does. The first call builds it, which can take minutes.
pub(crate) fn program() -> Option<Result<&'static Path, String>> {
    let timed = TIMED.get()?;
    let found = FOUND.get_or_init(|| {
        let path = match std::env::var_os(VARIABLE) {
            Some(named) => PathBuf::from(named),
            None => timed.built()?,
        };
        held_open(path).map_err(|why| format!("{why}; {VARIABLE} can name another"))
    });
    Some(match found {
        Ok(found) => Ok(&found.path),
        Err(why) => Err(why.clone()),
    })
}

/// Opens a program that times.
///
/// # Errors
/// Why it cannot be opened, in a sentence.
pub(crate) fn held_open(path: PathBuf) -> Result<Found, String> {
    let file = File::open(&path)
        .map_err(|why| format!("{}, which times, cannot be opened: {why}", path.display()))?;
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let opened = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Found {
            path: opened.into(),
            _open: Some(file),
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        drop(file);
        Ok(Found { path, _open: None })
    }
}

impl TimedProgram {
    /// Builds the program beside this one, with the same profile.
    fn built(&self) -> Result<PathBuf, String> {
        let this = std::env::current_exe()
            .map_err(|why| format!("the path of this program is unknown: {why}"))?;
        self.built_beside(&this)
    }

    /// Builds it in the folder of that program, which cargo built, with the same profile. Where the sources or cargo are
    /// missing, takes what is there.
    ///
    /// # Errors
    /// When it cannot be built, or there is none.
    pub fn built_beside(&self, program: &Path) -> Result<PathBuf, String> {
        self.built_beside_with(program, &[])
    }

    /// The same, where cargo has these variables.
    pub(crate) fn built_beside_with(
        &self,
        program: &Path,
        variables: &[(&str, String)],
    ) -> Result<PathBuf, String> {
        let folder = program.parent().unwrap_or(Path::new("."));
        let timed = folder.join(self.file());
        let sources = Path::new(self.sources).join("Cargo.toml");
        let (Some(profile), Some(target), true) =
            (profile_of(folder), folder.parent(), sources.is_file())
        else {
            return self.beside(timed);
        };
        if !timed.is_file() {
            self.announce();
        }
        let mut cargo = self.cargo(&sources, target, profile);
        match cargo
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .status()
        {
            Ok(status) if status.success() => Ok(timed),
            Ok(status) => Err(format!(
                "{}, which times, was not built ({status}); `cargo build --package {} --bin {} --profile {profile}` shows why",
                self.name, self.package, self.name
            )),
            Err(why) if why.kind() == io::ErrorKind::NotFound => self.beside(timed),
            Err(why) => Err(format!("cargo cannot be started: {why}")),
        }
    }

    /// Builds it from the sources of another checkout, in a target folder there, with the profile of that program.
    ///
    /// # Errors
    /// When it cannot be built.
    pub(crate) fn built_in(&self, checkout: &Path, program: &Path) -> Result<PathBuf, String> {
        let folder = program.parent().unwrap_or(Path::new("."));
        let profile = profile_of(folder).unwrap_or("release");
        let (manifest, target) = (checkout.join("Cargo.toml"), checkout.join("target"));
        let mut cargo = self.cargo(&manifest, &target, profile);
        match cargo.status() {
            Ok(status) if status.success() => {
                let folder = if profile == "dev" { "debug" } else { profile };
                Ok(target.join(folder).join(self.file()))
            }
            Ok(status) => Err(format!(
                "{} was not built in {} ({status})",
                self.name,
                checkout.display()
            )),
            Err(why) => Err(format!("cargo cannot be started: {why}")),
        }
    }

    /// The build of both packages.
    fn cargo(&self, manifest: &Path, target: &Path, profile: &str) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["build", "--quiet", "--package", self.package])
            .args(["--package", self.asking])
            .args(["--bin", self.name, "--profile", profile])
            .arg("--manifest-path")
            .arg(manifest)
            .arg("--target-dir")
            .arg(target);
        cargo
    }

    fn file(&self) -> String {
        format!("{}{}", self.name, std::env::consts::EXE_SUFFIX)
    }

    /// The program that was built earlier.
    fn beside(&self, timed: PathBuf) -> Result<PathBuf, String> {
        match timed.is_file() {
            true => Ok(timed),
            false => Err(format!(
                "{} is missing, which times, and cannot be built here; install package {} there, or name it by {VARIABLE}",
                timed.display(),
                self.package
            )),
        }
    }

    /// The first build is a long one.
    fn announce(&self) {
        if io::stderr().is_terminal() {
            // If stderr is closed, the build is as silent as cargo.
            let _ = writeln!(
                anstream::stderr(),
                "building {}, which times: about two minutes the first time",
                self.name
            );
        }
    }
}

/// The profile of programs in that folder of a target. `None` where cargo has not built them there, but put them: what was
/// installed has no builds beside it.
fn profile_of(folder: &Path) -> Option<&str> {
    if !folder.join("deps").is_dir() {
        return None;
    }
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => Some("dev"),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NOWHERE: TimedProgram = TimedProgram {
        package: "timed",
        asking: "command",
        name: "timed",
        sources: "/nowhere",
        main: "main.rs",
        without: "without",
    };

    #[test]
    fn without_sources_the_program_beside_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let command = folder.path().join("command");
        let why = NOWHERE.built_beside(&command).unwrap_err();
        assert!(why.contains(VARIABLE), "{why}");
        let timed = folder
            .path()
            .join(format!("timed{}", std::env::consts::EXE_SUFFIX));
        fs::write(&timed, "").unwrap();
        assert_eq!(NOWHERE.built_beside(&command), Ok(timed));
    }

    #[test]
    fn an_installed_program_takes_the_one_that_is_installed_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        // The sources are still where it was compiled.
        let installed = TimedProgram {
            sources: env!("CARGO_MANIFEST_DIR"),
            ..NOWHERE
        };
        let why = installed.built_beside(&bin.join("command")).unwrap_err();
        assert!(why.contains("install package timed there"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_newer_build_leaves_a_run_with_the_program_that_it_began_with() {
        let folder = tempfile::tempdir().unwrap();
        let timed = folder.path().join("timed");
        fs::write(&timed, "older").unwrap();
        let found = held_open(timed.clone()).unwrap();
        fs::remove_file(&timed).unwrap();
        fs::write(&timed, "newer").unwrap();
        assert_eq!(fs::read_to_string(found.path).unwrap(), "older");
    }
}
