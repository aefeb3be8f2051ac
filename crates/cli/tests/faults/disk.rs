//! A disk that can be filled.

use crate::{Failure, process};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A tmpfs of 64 MiB in its own mount namespace.
pub struct Disk {
    /// A sleeping process that keeps the namespace alive.
    holder: Child,
    /// The mount point in the namespace.
    folder: PathBuf,
}

impl Disk {
    /// Mounts a disk on `folder`.
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

    /// The command prefix that runs a command in the disk's namespace.
    pub fn enter(&self) -> Vec<String> {
        let target = format!("--target={}", self.holder.id());
        ["nsenter", &target, "--user", "--preserve-credentials", "--mount"].map(String::from).to_vec()
    }

    /// The path of the file `name` on the disk, inside the namespace.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The path of the file `name` on the disk, from outside the namespace.
    pub fn outside(&self, name: &str) -> PathBuf {
        let folder = self.folder.strip_prefix("/").unwrap_or(&self.folder);
        Path::new(&format!("/proc/{}/root", self.holder.id())).join(folder).join(name)
    }

    /// Fills the disk until `left` bytes are free.
    pub fn fill(&self, left: u64) -> Result<(), Failure> {
        let ballast = self.outside("ballast");
        let size = format!("--length={}", self.free()?.saturating_sub(left));
        process::run(Command::new("fallocate").arg(size).arg(ballast))
    }

    /// Frees the space that [`Disk::fill`] used.
    pub fn free_up(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.outside("ballast"))?)
    }

    fn free(&self) -> Result<u64, Failure> {
        let root = self.outside("");
        let output =
            Command::new("stat").args(["--file-system", "--format=%a %S"]).arg(root).output()?.stdout;
        let text = String::from_utf8(output)?;
        let (blocks, size) = text.trim().split_once(' ').ok_or("stat printed nothing")?;
        Ok(blocks.parse::<u64>()? * size.parse::<u64>()?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
