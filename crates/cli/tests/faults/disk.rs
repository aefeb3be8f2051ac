//! A disk that fills up.

use crate::{Failure, process};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A file system of 64 MiB in memory, in a mount namespace of its own.
pub struct Disk {
    /// Keeps the namespace for as long as it sleeps.
    holder: Child,
    /// Where it is in the namespace.
    folder: PathBuf,
}

impl Disk {
    /// Mounts it on `folder`.
    pub fn mount(folder: &Path) -> Result<Disk, Failure> {
        fs::create_dir_all(folder)?;
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command.arg("mount -t tmpfs -o size=64m dunnage \"$1\" && touch \"$1/ready\" && exec sleep infinity");
        let holder = command.arg("sh").arg(folder).stdout(Stdio::null()).spawn()?;
        let mut disk = Disk { holder, folder: folder.to_owned() };
        let ready = disk.outside("ready");
        let mut ended = None;
        process::until("a file system is mounted", Duration::from_secs(20), || {
            ended = disk.holder.try_wait().unwrap();
            (ended.is_some() || ready.exists()).then_some(())
        })?;
        match ended {
            None => Ok(disk),
            Some(_) => Err("a file system cannot be mounted; user namespaces must be allowed".into()),
        }
    }

    /// The command before one that is to see it.
    pub fn enter(&self) -> Vec<String> {
        let target = format!("--target={}", self.holder.id());
        ["nsenter", &target, "--user", "--preserve-credentials", "--mount"].map(String::from).to_vec()
    }

    /// The file `name` on it, as who has entered sees it.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file `name` on it, as seen from the outside.
    pub fn outside(&self, name: &str) -> PathBuf {
        let folder = self.folder.strip_prefix("/").unwrap_or(&self.folder);
        Path::new(&format!("/proc/{}/root", self.holder.id())).join(folder).join(name)
    }

    /// Takes all room but `left` bytes.
    pub fn fill(&self, left: u64) -> Result<(), Failure> {
        let ballast = self.outside("ballast");
        let size = format!("--length={}", self.free()?.saturating_sub(left));
        process::run(Command::new("fallocate").arg(size).arg(ballast))
    }

    /// Gives the room back.
    pub fn relieve(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.outside("ballast"))?)
    }

    fn free(&self) -> Result<u64, Failure> {
        let root = self.outside("");
        let output =
            Command::new("stat").args(["--file-system", "--format=%a %S"]).arg(root).output()?.stdout;
        let text = String::from_utf8(output)?;
        let (blocks, size) = text.trim().split_once(' ').ok_or("stat says nothing")?;
        Ok(blocks.parse::<u64>()? * size.parse::<u64>()?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
