//! The base build of `ab`: the program that times, built from another commit.
//!
//! The commit is checked out in a git worktree below `target/flowmeter/ab`, with a target folder of its own. Both are
//! kept: the next comparison with that commit builds nothing. A build without a promise is a commit of its own, whose
//! parent is the commit that keeps it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::timed::TimedProgram;
use crate::without::Without;

/// Names the program of the base build, in place of the one that cargo builds.
pub const VARIABLE: &str = "FLOWMETER_BASE";

/// A commit with a program that times.
#[derive(Debug)]
pub(crate) struct Base {
    timed: TimedProgram,
    /// The top of the checkout.
    top: PathBuf,
    /// Its full name.
    commit: String,
}

impl Base {
    /// The commit of that name in the checkout that this program was compiled from.
    ///
    /// # Errors
    /// When there is no such commit, or it has no program that times.
    pub(crate) fn find(timed: TimedProgram, revision: &str) -> Result<Base, String> {
        let sources = Path::new(timed.sources);
        let top = git(sources, &["rev-parse", "--show-toplevel"]).map_err(|why| {
            format!(
                "{} is no git checkout ({why}), so no other commit can be built",
                timed.sources
            )
        })?;
        let top = PathBuf::from(top);
        let commit = format!("{revision}^{{commit}}");
        let commit = git(
            &top,
            &[
                "rev-parse",
                "--quiet",
                "--verify",
                "--end-of-options",
                &commit,
            ],
        );
        let commit = commit.map_err(|_| {
            format!(
                "--base {revision}: {} has no such commit; give a commit, a branch or a tag",
                top.display()
            )
        })?;
        let base = Base { timed, top, commit };
        let main = format!("{}:{}", base.commit, base.timed.main);
        match git(&base.top, &["cat-file", "-e", &main]) {
            Ok(_) => Ok(base),
            Err(_) => Err(format!(
                "--base {revision}: {} has no program {}{}",
                base.short(),
                base.timed.name,
                base.oldest()
            )),
        }
    }

    /// Its commit with the edits that give these promises up. The same commit and edits give the same name.
    ///
    /// Mutants are not in it, because they are edits of the sources as they were.
    ///
    /// # Errors
    /// When a promise is not known, or an edit does not fit the sources.
    pub(crate) fn without(self, promises: &[String]) -> Result<(Base, Without), String> {
        let folder = Path::new(self.timed.without);
        let without = Without::read(&self.top.join(folder), promises)?;
        let sources = folder.with_file_name("src");
        let path = |file: &str| sources.join(file).display().to_string();
        let read = |file: &str| {
            git(
                &self.top,
                &["show", &format!("{}:{}", self.commit, path(file))],
            )
        };
        let edited = without
            .edited(|file| read(file).map(|text| text + "\n"))
            .map_err(|why| format!("--without {}: {why}", promises.join(",")))?;

        let index = format!("target/flowmeter/ab/index-{}", std::process::id());
        let index = self.top.join(index);
        let made = std::fs::create_dir_all(index.with_file_name(""));
        made.map_err(|why| format!("{}: {why}", index.display()))?;
        let with_index = |arguments: &[&str], input: &str| {
            let mut command = Command::new("git");
            command.env("GIT_INDEX_FILE", &index);
            for role in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{role}_NAME"), "flowmeter");
                command.env(format!("GIT_{role}_EMAIL"), "");
                command.env(format!("GIT_{role}_DATE"), "2000-01-01T00:00:00Z");
            }
            told(command.arg("-C").arg(&self.top).args(arguments), input)
        };
        let committed = || {
            with_index(&["read-tree", &self.commit], "")?;
            let mutants = path("mutants/*.toml");
            let remove = [
                "rm",
                "-r",
                "-f",
                "--cached",
                "--quiet",
                "--ignore-unmatch",
                "--",
            ];
            with_index(&[&remove[..], &[&mutants]].concat(), "")?;
            for (file, text) in &edited {
                let blob = with_index(&["hash-object", "-w", "--stdin"], text)?;
                let entry = format!("100644,{blob},{}", path(file));
                with_index(&["update-index", "--cacheinfo", &entry], "")?;
            }
            let tree = with_index(&["write-tree"], "")?;
            let message = format!("Without {}", promises.join(", "));
            with_index(
                &["commit-tree", &tree, "-p", &self.commit, "-m", &message],
                "",
            )
        };
        let commit = committed();
        // If it stays, it is in a folder of builds.
        let _ = std::fs::remove_file(&index);
        Ok((
            Base {
                commit: commit?,
                ..self
            },
            without,
        ))
    }

    /// Whether the checkout differs from it in files that git knows.
    pub(crate) fn has_changes(&self) -> bool {
        let changed = git(
            &self.top,
            &["diff", "--name-only", &self.commit, "--", "*.rs", "*.toml"],
        );
        changed != Ok(String::new())
    }

    /// The start of its name.
    pub(crate) fn short(&self) -> &str {
        self.commit.get(..12).unwrap_or(&self.commit)
    }

    /// The oldest commit that has the program, as the end of a sentence; empty where git does not know it.
    pub(crate) fn oldest(&self) -> String {
        let log = ["log", "--diff-filter=A", "--format=%h", "HEAD", "--"];
        let log = git(&self.top, &[&log[..], &[self.timed.main]].concat());
        match log.as_deref().map(|log| log.lines().last()) {
            Ok(Some(oldest)) => format!("; the oldest commit that has it is {oldest}"),
            _ => String::new(),
        }
    }

    /// Where its sources are checked out.
    pub(crate) fn folder(&self) -> PathBuf {
        self.top.join("target/flowmeter/ab").join(self.short())
    }

    /// Builds its program, with the profile of that program.
    ///
    /// # Errors
    /// When it cannot be checked out or built.
    pub(crate) fn built_as(&self, program: &Path) -> Result<PathBuf, String> {
        let folder = self.folder();
        let path = folder.display().to_string();
        if !folder.exists() {
            // By force: a worktree that was deleted by hand is still registered.
            let add = ["worktree", "add", "--quiet", "--force", "--detach"];
            git(&self.top, &[&add[..], &[&path, &self.commit]].concat())
                .map_err(|why| format!("{path} cannot be checked out: {why}"))?;
        }
        // Without a `.git` of its own git would answer for the checkout around it.
        let is_worktree = folder.join(".git").is_file();
        let is = |arguments: &[&str], wanted: &str| {
            is_worktree && git(&folder, arguments).is_ok_and(|answer| answer == wanted)
        };
        // Cargo itself may write the lock file.
        let changes = ["status", "--porcelain", "--", ".", ":(exclude)Cargo.lock"];
        if !is(&["rev-parse", "HEAD"], &self.commit) || !is(&changes, "") {
            return Err(format!(
                "{path} is not the unchanged {}; delete that folder",
                self.short()
            ));
        }
        self.timed.built_in(&folder, program)
    }
}

/// The answer of git, or its complaint.
fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    told(
        Command::new("git").arg("-C").arg(folder).args(arguments),
        "",
    )
}

/// The answer of that git, which reads `input`.
fn told(git: &mut Command, input: &str) -> Result<String, String> {
    let failed = |why: std::io::Error| format!("git cannot be started: {why}");
    let (from, to) = (Stdio::piped(), Stdio::piped());
    let started = git.stdin(Stdio::piped()).stdout(from).stderr(to).spawn();
    let mut running = started.map_err(failed)?;
    if let Some(mut to_it) = running.stdin.take() {
        // If it does not read, its answer says why.
        let _ = to_it.write_all(input.as_bytes());
    }
    let output = running.wait_with_output().map_err(failed)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr).replace('\n', " ")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A checkout of two commits, of which the second has a program that prints its name.
    struct Checkout {
        folder: tempfile::TempDir,
        timed: TimedProgram,
    }

    impl Checkout {
        fn new() -> Checkout {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            let run = |arguments: &[&str]| git(folder.path(), arguments).unwrap();
            let commit = |subject: &str| {
                run(&["add", "."]);
                let user = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm"];
                run(&[&user[..], &[subject]].concat());
            };
            run(&["init", "-q"]);
            fs::write(at(".gitignore"), "target\n").unwrap();
            commit("first");
            let manifest = "[package]\nname = \"timed\"\nversion = \"0.1.0\"\n[workspace]\n";
            fs::write(at("Cargo.toml"), manifest).unwrap();
            let lock = "version = 4\n\n[[package]]\nname = \"timed\"\nversion = \"0.1.0\"\n";
            fs::write(at("Cargo.lock"), lock).unwrap();
            fs::create_dir(at("src")).unwrap();
            fs::write(at("src/main.rs"), "fn main() { println!(\"base\") }\n").unwrap();
            fs::create_dir_all(at("without/timed")).unwrap();
            let edit = "file = \"main.rs\"\ninstead_of = \"base\"\nwrite = \"less\"\n";
            let file = format!("says = \"it says less\"\n[[edit]]\n{edit}");
            fs::write(at("without/timed/politeness.toml"), file).unwrap();
            commit("second");
            let sources = folder.path().display().to_string();
            let timed = TimedProgram {
                package: "timed",
                asking: "timed",
                name: "timed",
                sources: Box::leak(sources.into_boxed_str()),
                main: "src/main.rs",
                without: "without",
            };
            Checkout { folder, timed }
        }

        fn base(&self, revision: &str) -> Result<Base, String> {
            Base::find(self.timed, revision)
        }
    }

    #[test]
    fn a_commit_is_built_in_a_worktree_that_is_kept() {
        let checkout = Checkout::new();
        let base = checkout.base("HEAD").unwrap();
        let beside = checkout.folder.path().join("target/debug/command");
        let program = base.built_as(&beside).unwrap();
        let output = Command::new(&program).output().unwrap();
        assert_eq!(output.stdout, b"base\n");
        let built = fs::metadata(&program).unwrap().modified().unwrap();
        assert_eq!(base.built_as(&beside), Ok(program.clone()));
        assert_eq!(fs::metadata(&program).unwrap().modified().unwrap(), built);
        // Deleted by hand, it is checked out again; changed by hand, it is refused.
        fs::remove_dir_all(base.folder()).unwrap();
        assert_eq!(base.built_as(&beside), Ok(program));
        fs::write(base.folder().join("src/main.rs"), "").unwrap();
        let why = base.built_as(&beside).unwrap_err();
        assert!(why.contains("delete that folder"), "{why}");
    }

    #[test]
    fn a_build_without_a_promise_is_a_commit_with_its_edits() {
        let checkout = Checkout::new();
        let without = |promise: &str| {
            checkout
                .base("HEAD")
                .unwrap()
                .without(&[promise.to_owned()])
        };
        let (base, given_up) = without("politeness").unwrap();
        let beside = checkout.folder.path().join("target/debug/command");
        let output = Command::new(base.built_as(&beside).unwrap()).output();
        assert_eq!(output.unwrap().stdout, b"less\n");
        assert!(given_up.implementations.contains("timed"));
        assert_eq!(without("politeness").unwrap().0.commit, base.commit);
        let why = without("speed").unwrap_err();
        assert!(why.contains("give one of politeness"), "{why}");
        // The checkout itself is as it was.
        let changes = git(checkout.folder.path(), &["status", "--porcelain"]);
        assert_eq!(changes.as_deref(), Ok(""));
        let changed = checkout.folder.path().join("src/main.rs");
        fs::write(changed, "fn main() {}\n").unwrap();
        let user = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qam",
            "third",
        ];
        git(checkout.folder.path(), &user).unwrap();
        let why = without("politeness").unwrap_err();
        assert_eq!(why, "--without politeness: main.rs: there is no `base`");
    }

    #[test]
    fn a_commit_that_is_missing_or_has_no_program_is_refused_in_a_sentence() {
        let checkout = Checkout::new();
        let why = checkout.base("nosuch").unwrap_err();
        assert!(why.contains("--base nosuch: "), "{why}");
        assert!(why.contains("has no such commit"), "{why}");
        let why = checkout.base("HEAD~1").unwrap_err();
        let second = git(checkout.folder.path(), &["rev-parse", "--short", "HEAD"]).unwrap();
        assert!(why.contains("has no program timed"), "{why}");
        assert!(why.ends_with(&second), "{why}");
        assert!(!why.contains('\n'), "{why}");
    }
}
