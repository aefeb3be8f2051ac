//! Sources of C libraries that ship in packages for other languages. The pins are beside `peer.toml`. No code of the packages is run.

use crate::{
    Failure,
    toolchain::{run, work},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Fetches the crates that `Cargo.lock` pins. Returns the folder, which has a folder for each.
pub fn cargo(peer: &Path) -> Result<PathBuf, Failure> {
    fetch(peer, |folder| {
        let mut command = Command::new("cargo");
        command
            .args(["vendor", "--locked", "--quiet", "--manifest-path"])
            .arg(peer.join("Cargo.toml"))
            .arg(folder);
        Ok(command)
    })
}

/// Fetches the npm packages that `package-lock.json` pins. Returns the folder, which has a folder for each.
pub fn npm(peer: &Path) -> Result<PathBuf, Failure> {
    let folder = fetch(peer, |folder| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(peer.join(file), folder.join(file))?;
        }
        let mut command = Command::new("npm");
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]).current_dir(folder);
        Ok(command)
    })?;
    Ok(folder.join("node_modules"))
}

/// The folder that `command` fills. Runs `command` only if the folder does not exist.
fn fetch(peer: &Path, command: impl FnOnce(&Path) -> Result<Command, Failure>) -> Result<PathBuf, Failure> {
    let folder = work().join("sources").join(peer.file_name().ok_or("a peer without a name")?);
    let unfinished = folder.with_extension("unfinished");
    if !folder.is_dir() {
        println!("fetching {}", folder.display());
        fs::create_dir_all(&unfinished)?;
        run(&mut command(&unfinished)?)?;
        fs::rename(unfinished, &folder)?;
    }
    Ok(folder)
}
