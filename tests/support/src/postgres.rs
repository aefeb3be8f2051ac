//! A real PostgreSQL, on a free port of the loopback interface, with its data in a temporary folder. It is the database of ACME where
//! resources must survive a kill, because ACME's own files do not: it answers first and writes them a second later. It is also the receiver
//! of the output to PostgreSQL.

use crate::acme::free_port;
use crate::wait::wait_until;
use std::{
    fs::Permissions,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};
use tempfile::TempDir;

/// Debian's nobody and nogroup: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;
/// The role that owns everything, which needs no password.
pub const ROLE: &str = "acme";

pub struct Postgres {
    pub port: u16,
    /// Further settings, as `NAME=VALUE`.
    settings: Vec<String>,
    child: Option<Child>,
    folder: TempDir,
}

impl Postgres {
    /// Starts a server whose commits survive a kill of its clients, and not of the machine.
    pub fn start() -> Postgres {
        Postgres::start_with(&["fsync=off"])
    }

    /// Starts a server with these settings, as `NAME=VALUE`.
    pub fn start_with(settings: &[&str]) -> Postgres {
        let folder = TempDir::new().unwrap();
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut postgres = Postgres { port: free_port(), settings, child: None, folder };
        let mut make = postgres.command("initdb");
        make.arg(format!("--username={ROLE}"));
        make.args(["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"]);
        assert!(make.arg(postgres.data()).status().unwrap().success());
        postgres.restart();
        postgres
    }

    /// Starts the server again on the same port, after a kill.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        wait_until("PostgreSQL answers", || {
            // After a kill, the server does not start until the last process of the killed one has ended.
            let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            if self.child.as_mut().is_none_or(ended) {
                self.child = Some(self.serve().spawn().unwrap());
            }
            self.psql("postgres", "SELECT 1").status.success()
        });
    }

    /// Sends SIGKILL to the server, and waits until it has ended. Its other processes end by themselves when they notice.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://{ROLE}@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the folder of its data, with `pg_hba.conf`.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs statements in a database. Returns what they print: a line for each row, with `|` between columns.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql);
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Runs statements in a database.
    pub fn psql(&self, database: &str, sql: &str) -> Output {
        let mut psql = Command::new(programs().join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        psql.arg(self.url(database)).arg("--command").arg(sql).stdin(Stdio::null()).output().unwrap()
    }

    /// Adds a setting, as `NAME=VALUE`, for the next start.
    pub fn set(&mut self, setting: &str) {
        self.settings.push(setting.to_owned());
    }

    /// Writes a file into the folder of its data, which only the server may read.
    pub fn add(&self, name: &str, content: &[u8]) {
        let file = self.data().join(name);
        std::fs::write(&file, content).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Returns the lines of ACME's configuration that select this database.
    pub fn config(&self) -> String {
        format!(
            "databaseType=postgresql\n[database.postgresql]\nhost=127.0.0.1\nport={}\nrole={ROLE}\npassword=acme\n\
             database=postgres\nschema=acmecse\n",
            self.port
        )
    }

    fn serve(&self) -> Command {
        let mut serve = self.command("postgres");
        serve.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        serve.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]).stderr(Stdio::null());
        for setting in &self.settings {
            serve.arg("-c").arg(setting);
        }
        serve
    }

    /// Returns a command that does not run as root.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(programs().join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
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
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
