//! A process and everything that it starts: a group that is killed together.
//!
//! A script may start a program without replacing itself (`exec`). Killing only the script would leave the program
//! running beside all later measurements. An interrupt from the terminal does not reach the group either; ending it is
//! the engine's task.

use std::process::{Child, Command};

/// Makes the started process the leader of a new group.
pub fn of_its_own(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Kills a process that leads a group, with all processes in it, and waits for it. The process must not have been
/// waited for before: its number could belong to another process by then.
///
/// # Errors
/// When it cannot be waited for.
pub fn end(process: &mut Child) -> std::io::Result<std::process::ExitStatus> {
    #[cfg(unix)]
    if let Ok(leader) = i32::try_from(process.id()) {
        // SAFETY: kill takes any numbers and touches no memory. The leader has not been waited for yet, so no other
        // process or group has its number.
        let _ = unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
    // Killing a process that has ended does not change its exit status.
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
        // Its output ends when the last process that can write to it has ended.
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}
