//! Where the servers are that the tests start: what `tests/tools/install` provides.

use std::path::{Path, PathBuf};

/// The program `name` below `target/tools`, or below the folder that `DUNNAGE_TOOLS` names: `bin/nats-server`, `venv/bin/acmecse`.
pub fn tool(name: &str) -> PathBuf {
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let path = std::env::var_os("DUNNAGE_TOOLS").map_or_else(standard, PathBuf::from).join(name);
    assert!(path.exists(), "{} is missing; please run: tests/tools/install", path.display());
    path
}
