//! A real PostgreSQL, on a free port of the loopback interface, with its data in a temporary folder. It is ACME's
//! database where resources must survive a kill. ACME's own files do not, because it answers first and writes them a second later.

use crate::acme::free_port;
use crate::wait::wait_until;
use std::{
    net::TcpStream,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Debian's nobody and nogroup: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;

pub struct Postgres {
    pub port: u16,
    child: Child,
    _folder: TempDir,
}

impl Postgres {
    pub fn start() -> Postgres {
        let folder = TempDir::new().unwrap();
        let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        if root {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(programs().join(program));
            command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
            if root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let data = folder.path().join("data");
        let mut make = command("initdb");
        make.args(["--username=acme", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"]);
        assert!(make.arg(&data).status().unwrap().success());
        let port = free_port();
        let mut serve = command("postgres");
        serve.arg("-D").arg(&data).arg("-k").arg(folder.path());
        // Only ACME is killed, so commits survive without waiting for the disk.
        serve.args(["-c", "fsync=off", "-h", "127.0.0.1", "-p", &port.to_string()]).stderr(Stdio::null());
        let child = serve.spawn().unwrap();
        wait_until("PostgreSQL listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Postgres { port, child, _folder: folder }
    }

    /// Returns the lines of ACME's configuration that select this database.
    pub fn config(&self) -> String {
        format!(
            "databaseType=postgresql\n[database.postgresql]\nhost=127.0.0.1\nport={}\nrole=acme\npassword=acme\n\
             database=postgres\nschema=acmecse\n",
            self.port
        )
    }
}

/// Returns the folder with the programs of the newest installed version, on Debian.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path()).max();
    let folder =
        newest.unwrap_or_else(|| panic!("PostgreSQL is missing; please run: apt-get install postgresql"));
    assert!(Path::exists(&folder.join("bin/initdb")), "{} has no bin/initdb", folder.display());
    folder.join("bin")
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
