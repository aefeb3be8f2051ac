//! Child processes that run this program again, so that the system limits the memory and the time of a computation.

use std::{env, io, path::PathBuf, time::Duration};

/// Returns the program that runs. Its file may have been replaced since the start; on Linux the link leads to the one that runs.
///
/// # Errors
/// The path is unknown.
pub fn program() -> io::Result<PathBuf> {
    match cfg!(target_os = "linux") {
        true => Ok("/proc/self/exe".into()),
        false => env::current_exe(),
    }
}

/// Bounds the memory of this process, in bytes, and its processor time if `time` is given. It writes no core file.
///
/// # Errors
/// The system refuses a limit.
#[cfg(unix)]
pub fn restrict(memory: u64, time: Option<Duration>) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let time = time.map(|time| (Resource::Cpu, time.as_secs().saturating_add(1)));
    for (resource, most) in [(Resource::Data, memory), (Resource::Core, 0)].into_iter().chain(time) {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Does nothing: this system has no such limits.
#[cfg(not(unix))]
pub fn restrict(_memory: u64, _time: Option<Duration>) -> io::Result<()> {
    Ok(())
}
