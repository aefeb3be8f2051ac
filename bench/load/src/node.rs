//! The service of the paper, rebuilt: see `node/server.js`.

use crate::Failure;
use std::process::{Command, Stdio};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node");

/// Installs the service's packages as `package-lock.json` pins them. One of them may be compiled, which takes a minute or two.
pub fn install() -> Result<(), Failure> {
    let lock = format!("{FOLDER}/package-lock.json");
    let installed = format!("{FOLDER}/node_modules/.dunnage-lock");
    let wanted = std::fs::read(&lock)?;
    if std::fs::read(&installed).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    eprintln!("installing the packages of the Node service");
    let status = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(FOLDER)
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("npm: {e} (apt install nodejs npm)"))?;
    if !status.success() {
        return Err(format!("npm ci failed in {FOLDER}").into());
    }
    Ok(std::fs::write(installed, wanted)?)
}

/// The command that starts the service. The caller must add the folder as an argument.
pub fn command() -> Command {
    let mut command = Command::new("node");
    command.arg(format!("{FOLDER}/server.js")).env("NODE_ENV", "production");
    command
}
