//! The servers that the tests start. `tests/tools/install` provides them.

use std::path::{Path, PathBuf};

/// Returns the path of a program such as `bin/nats-server` or `venv/bin/acmecse`, below `target/tools` or the folder that
/// `DUNNAGE_TOOLS` names.
pub fn tool(name: &str) -> PathBuf {
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let path = std::env::var_os("DUNNAGE_TOOLS").map_or_else(standard, PathBuf::from).join(name);
    assert!(path.exists(), "{} is missing; please run: tests/tools/install", path.display());
    path
}
