//! A process and whatever it starts: a group that ends as one.
//!
//! A script may start a program without standing aside for it (`exec`). Killed alone it would leave that running, beside all
//! that is measured afterwards. An interrupt from the terminal does not reach the group either: it is the engine's to end it.

use std::process::{Child, Command};

/// Has what it starts begin a group of its own.
pub fn of_its_own(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Ends a process that began a group, with all that is in it, and waits for it. Nobody may have waited for it before: its
/// number could be another's by then.
///
/// # Errors
/// When it cannot be waited for.
pub fn end(process: &mut Child) -> std::io::Result<std::process::ExitStatus> {
    #[cfg(unix)]
    if let Ok(leader) = i32::try_from(process.id()) {
        // SAFETY: kill takes any numbers and touches no memory. The group is that of the process, which is not waited for
        // yet, so that nobody else has its number.
        let _ = unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
    // Killing what has ended does not change how it ended.
    let _ = process.kill();
    process.wait()
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn what_a_script_has_started_ends_with_it() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 600 & echo begun; wait"])
            .stdout(Stdio::piped());
        of_its_own(&mut command);
        let mut script = command.spawn().unwrap();
        let mut output = script.stdout.take().unwrap();
        output.read_exact(&mut [0; 6]).unwrap();
        assert!(!end(&mut script).unwrap().success());
        // Its output ends when the last who could write to it has ended.
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}
