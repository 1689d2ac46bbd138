//! A process and everything that it starts: a group that is killed together.
//!
//! A script may start a program without replacing itself (`exec`). Killing only the script would leave the program
//! running beside all later measurements. An interrupt from the terminal does not reach the group either; ending it is
//! the engine's task.
//!
//! A group that rests is stopped: its timers, collectors and pools take no time of others. Where the engine is killed
//! meanwhile, the system kills the process that leads it. A script therefore replaces itself by its program (`exec`).

use std::process::{Child, Command};

/// Makes the started process the leader of a new group.
pub fn of_its_own(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Has the system kill the started process when the thread that starts it ends. Elsewhere than on Linux a stopped group
/// without a parent in its session gets `SIGHUP`.
pub fn dies_with_its_starter(command: &mut Command) {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl may be called between fork and exec, and touches no memory here.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Kills a process that leads a group, with all processes in it, and waits for it. The process must not have been
/// waited for before: its number could belong to another process by then.
///
/// # Errors
/// When it cannot be waited for.
pub fn end(process: &mut Child) -> std::io::Result<std::process::ExitStatus> {
    #[cfg(unix)]
    signal(process, libc::SIGKILL);
    // Killing a process that has ended does not change its exit status.
    let _ = process.kill();
    process.wait()
}

/// Stops all processes of the group that this process leads, until [`goes_on`]. The same holds for it as for [`end`].
pub fn rests(process: &Child) {
    #[cfg(unix)]
    signal(process, libc::SIGSTOP);
    #[cfg(not(unix))]
    let _ = process;
}

/// Lets a stopped group go on.
pub fn goes_on(process: &Child) {
    #[cfg(unix)]
    signal(process, libc::SIGCONT);
    #[cfg(not(unix))]
    let _ = process;
}

/// Sends a signal to a group. One that has ended gets none.
#[cfg(unix)]
fn signal(leader: &Child, signal: libc::c_int) {
    if let Ok(leader) = i32::try_from(leader.id()) {
        // SAFETY: kill takes any numbers and touches no memory. The leader has not been waited for yet, so no other
        // process or group has its number.
        let _ = unsafe { libc::kill(-leader, signal) };
    }
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
