//! Describes the machine that measures.

use std::{fs, process::Command, sync::OnceLock, thread};

/// The processor, the number of cores and the compiler, such as `AMD EPYC, 2 cores, Linux, rustc 1.95.0`. The compiler's version is omitted where
/// no compiler is installed.
pub fn environment() -> &'static str {
    static ENVIRONMENT: OnceLock<String> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut parts = vec![processor(), format!("{cores} cores"), std::env::consts::OS.to_owned()];
        parts.extend(compiler());
        parts.join(", ")
    })
}

/// The processor's name as the kernel reports it, otherwise its architecture.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// `rustc` and its version.
fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}
