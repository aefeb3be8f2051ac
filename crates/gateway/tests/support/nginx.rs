//! A real nginx on a free port of the loopback interface, with a server whose locations are given.

use super::acme::free_port;
use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub struct Nginx {
    pub address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Nginx {
    pub fn start(locations: &str) -> Nginx {
        let address: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let folder = TempDir::new().unwrap();
        let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {name};\n"))
            .concat();
        let config = format!(
            "daemon off;\nuser root;\nworker_processes 1;\npid nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}\
             server {{\nlisten {address};\n{locations}\n}}\n}}\n"
        );
        fs::write(folder.path().join("nginx.conf"), config).unwrap();
        // Debian's place is not in every user's path.
        let debians = Path::new("/usr/sbin/nginx");
        let program = if debians.exists() { debians } else { Path::new("nginx") };
        let mut command = Command::new(program);
        command.arg("-p").arg(folder.path()).args(["-c", "nginx.conf", "-e", "nginx.log"]);
        let child = command.spawn().expect("nginx is installed: apt-get install nginx");
        let mut nginx = Nginx { address, child, folder };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = nginx.child.try_wait().unwrap().is_some();
            assert!(
                !ended && begun.elapsed() < Duration::from_secs(30),
                "nginx does not start: {}",
                nginx.log()
            );
            thread::sleep(Duration::from_millis(20));
        }
        nginx
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("nginx.log")).unwrap_or_default()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM lets the master end its workers, which SIGKILL would leave behind.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("nginx: {}", self.log());
        }
    }
}
