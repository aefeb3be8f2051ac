//! Sources of C libraries, from the Debian archive that this machine uses.

use crate::{
    Failure,
    toolchain::{run, work},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder with the upstream source of a package, without the archive's top folder. Downloads and unpacks the source if it is missing.
/// `archive` is the file's name. Fails if the hash of the file is not `sha256`.
pub fn source(package: &str, archive: &str, sha256: &str) -> Result<PathBuf, Failure> {
    let folder = work().join("sources").join(archive);
    let unpacked = folder.join("unpacked");
    if unpacked.is_dir() {
        return Ok(unpacked);
    }
    let file = folder.join(archive);
    if !file.is_file() {
        fs::create_dir_all(&folder)?;
        download(package, &folder)?;
    }
    let found = run(Command::new("sha256sum").arg(&file))?;
    if !found.starts_with(sha256) {
        return Err(format!("{}: SHA-256 mismatch: {found}", file.display()).into());
    }
    let unfinished = folder.join("unfinished");
    fs::create_dir_all(&unfinished)?;
    run(Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(&unfinished).arg("--strip-components=1"))?;
    fs::rename(unfinished, &unpacked)?;
    Ok(unpacked)
}

/// Downloads the source package into `folder`.
fn download(package: &str, folder: &Path) -> Result<(), Failure> {
    let apt = work().join("apt");
    let updated = apt.join("updated");
    if !updated.exists() {
        fs::create_dir_all(apt.join("lists/partial"))?;
        fs::create_dir_all(apt.join("cache"))?;
        fs::write(apt.join("source.list"), source_lines("deb ", "/etc/apt/sources.list", "list")?)?;
        fs::write(apt.join("source.sources"), source_lines("Types: deb", "", "sources")?)?;
        run(apt_get(&apt).arg("update"))?;
        fs::write(updated, "")?;
    }
    run(apt_get(&apt).args(["source", "--download-only", "--tar-only", package]).current_dir(folder))?;
    Ok(())
}

/// apt-get with its own package lists, so that those of the machine do not change.
fn apt_get(apt: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let mut set = |key: &str, value: &Path| {
        command.arg("-o").arg(format!("{key}={}", value.display()));
    };
    set("Dir::Etc::sourcelist", Path::new("/dev/null"));
    set("Dir::Etc::sourceparts", apt);
    set("Dir::State::lists", &apt.join("lists"));
    set("Dir::Cache", &apt.join("cache"));
    command.arg("-qq");
    command
}

/// The machine's package sources of one kind, changed from binary packages to source packages.
fn source_lines(binary: &str, single: &str, extension: &str) -> Result<String, Failure> {
    let mut files = vec![PathBuf::from(single)];
    for entry in fs::read_dir("/etc/apt/sources.list.d")? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|e| e == extension) && path.is_file());
    let mut text = String::new();
    for file in files {
        for line in fs::read_to_string(file)?.lines() {
            let source_line =
                line.strip_prefix(binary).map(|rest| format!("{}-src{rest}", binary.trim_end()));
            // In a .list, a space follows `deb`, which is part of `binary` and was stripped.
            text.push_str(
                &source_line
                    .map_or(line.to_owned(), |line| line.replace("deb-src", "deb-src ").replace("  ", " ")),
            );
            text.push('\n');
        }
        text.push('\n');
    }
    Ok(text)
}
