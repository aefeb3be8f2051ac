//! PostgreSQL, where ACME keeps its resources when it is to have them after a kill.

use crate::{
    Failure,
    acme::free_port,
    process::{self, end, run, signal},
};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

/// A server with one empty database, `acme`, of the user `acme`.
pub struct Postgres {
    child: Child,
    pub port: u16,
    _folder: TempDir,
}

impl Postgres {
    pub fn start() -> Result<Postgres, Failure> {
        let folder = TempDir::new()?;
        let programs = programs()?;
        // It refuses to run as root.
        let root = Command::new("id").arg("-u").output()?.stdout == b"0\n";
        if root {
            run(Command::new("chown").arg("postgres").arg(folder.path()))?;
        }
        let command = |program: &str| {
            let path = programs.join(program);
            let mut command = Command::new(if root { "setpriv" } else { path.to_str().unwrap() });
            if root {
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
            }
            command.current_dir(folder.path());
            command
        };
        run(command("initdb").args(["-D", "data", "-A", "trust", "-U", "acme", "-E", "UTF8", "--no-sync"]))?;
        let port = free_port();
        let log = File::create(folder.path().join("log"))?;
        // Nobody pulls this machine's plug, and only ACME is killed: what was committed stays without fsync.
        let settings =
            ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "full_page_writes=off"];
        let mut server = command("postgres");
        server.args(["-D", "data", "-p", &port.to_string()]);
        server.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let child = server.stdout(log.try_clone()?).stderr(log).spawn()?;
        let postgres = Postgres { child, port, _folder: folder };
        process::until("PostgreSQL starts", Duration::from_secs(60), || {
            let mut create = Command::new(programs.join("createdb"));
            create.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "acme", "acme"]);
            create.stderr(Stdio::null()).status().unwrap().success().then_some(())
        })?;
        Ok(postgres)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT: at once, with all its processes.
        let _ = signal(&self.child, "QUIT");
        let _ = end(&mut self.child, Duration::from_secs(10));
    }
}

/// The folder of the newest version that is installed.
fn programs() -> Result<PathBuf, Failure> {
    let versions =
        Path::new("/usr/lib/postgresql").read_dir().map_err(|_| "install the package postgresql")?;
    let folder = versions.flatten().map(|version| version.path().join("bin")).max();
    Ok(folder.ok_or("install the package postgresql")?)
}
