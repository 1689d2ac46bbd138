//! A test runs in a process of its own, so that an abort, an overflow of the stack or a loop without end is one failed
//! test. It also keeps back what an explorer prints while it shrinks a finding.
//!
//! That process is the same test program, asked for this test alone. It writes its answer to a file.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Names the file for the answer, in the process that is asked.
const ANSWER: &str = "FLOWMETER_ANSWER";
/// How often to look whether that process has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How many of its last lines tell how it ended.
const LAST: usize = 8;

/// What was explored, or the finding.
pub(crate) type Answer = Result<String, String>;

/// The file for the answer, if this process is asked for one.
pub(crate) fn asked() -> Option<PathBuf> {
    env::var_os(ANSWER).map(PathBuf::from)
}

/// Leaves an answer.
///
/// # Panics
/// When the file cannot be written.
pub(crate) fn leave(answer: &Answer, file: &Path) {
    let (word, text) = match answer {
        Ok(text) => ("held", text),
        Err(text) => ("found", text),
    };
    // A file that is there is whole.
    let written = file.with_extension("new");
    fs::write(&written, format!("{word}\n{text}")).expect("the answer is written");
    fs::rename(written, file).expect("the answer is put in its place");
}

/// The answer of a process that runs the test.
pub(crate) fn ask(test: &str, limit: Duration) -> Answer {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let name = format!(
        "flowmeter-{}-{}",
        process::id(),
        ASKED.fetch_add(1, Ordering::Relaxed)
    );
    let file = env::temp_dir().join(name);
    let printed = file.with_extension("printed");
    // A process of that number may have been killed before it removed its own.
    let _ = fs::remove_file(&file);
    let answer = run(test, limit, &file, &printed)
        .unwrap_or_else(|why| Err(format!("undecided: no process was started: {why}")));
    for file in [&file, &printed] {
        // One of them may not be there.
        let _ = fs::remove_file(file);
    }
    answer
}

fn run(test: &str, limit: Duration, file: &Path, printed: &Path) -> io::Result<Answer> {
    let mut child = Command::new(env::current_exe()?)
        .args([test, "--exact", "--nocapture", "--include-ignored"])
        .env(ANSWER, file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(printed)?)
        .spawn()?;
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(Err(format!(
                "undecided: no answer after {} seconds. A loop of the structure does not end, or it waits in a way \
                 that the world does not see",
                limit.as_secs()
            )));
        }
        sleep(LOOK);
    };
    if let Ok(text) = fs::read_to_string(file) {
        return Ok(match text.split_once('\n') {
            Some(("held", told)) => Ok(told.to_owned()),
            Some((_, found)) => Err(found.to_owned()),
            None => Err(text),
        });
    }
    let lines = fs::read_to_string(printed).unwrap_or_default();
    let lines: Vec<&str> = lines.lines().collect();
    let last = lines[lines.len().saturating_sub(LAST)..].join("\n  ");
    Ok(Err(match status.success() {
        true => "undecided: the program did not run the test. It needs Rust's own test harness"
            .to_owned(),
        false => format!("crash: the process of the test has ended, {status}:\n  {last}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_an_earlier_process_left_is_no_answer() {
        // A process of the same number may have been killed between the two.
        let stale = env::temp_dir().join(format!("flowmeter-{}-0", process::id()));
        fs::write(&stale, "held\nearlier").expect("it is written");
        let answer = ask("no::such::test", Duration::from_secs(60));
        let why = answer.expect_err("no test has run");
        assert!(why.contains("did not run the test"), "{why}");
    }
}
