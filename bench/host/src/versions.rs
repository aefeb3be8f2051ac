//! The versions of the measured libraries.

const LOCK: &str = include_str!("../../../Cargo.lock");

/// The version of the crate `name` in this build's lock file; `unknown` if the lock file does not list it.
pub fn version(name: &str) -> &'static str {
    let package = format!("name = \"{name}\"\nversion = \"");
    let version = LOCK.split_once(&package).and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown")
}
