//! A real nginx on a free port of the loopback interface.

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

const STREAM: &str = "load_module /usr/lib/nginx/modules/ngx_stream_module.so;";

pub struct Nginx {
    pub address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Nginx {
    /// Starts nginx with an HTTP server that has `locations`.
    pub fn start(locations: &str) -> Nginx {
        Nginx::start_as("root", locations)
    }

    /// As [`Nginx::start`], with workers of `user`. Without the rights of root, nginx ignores `user` and runs as the user of the tests.
    pub fn start_as(user: &str, locations: &str) -> Nginx {
        Nginx::run(user, "", |address| http(&format!("server {{\nlisten {address};\n{locations}\n}}")))
    }

    /// Starts nginx with workers of `user` that forward TCP connections to `to`.
    pub fn forward_tcp_as(user: &str, to: SocketAddr) -> Nginx {
        Nginx::run(user, STREAM, |address| {
            format!("stream {{ server {{ listen {address}; proxy_pass {to}; }} }}\n")
        })
    }

    /// Starts nginx with `deploy/nginx.conf.template`, in front of `gateways`.
    pub fn balance(gateways: &[SocketAddr]) -> Nginx {
        let template = include_str!("../../../../deploy/nginx.conf.template");
        let servers: String = gateways.iter().map(|at| format!("server {at} max_fails=0; ")).collect();
        Nginx::run("root", "", |address| {
            http(&template.replace("${GATEWAYS}", &servers).replace("${LISTEN}", &address.to_string()))
        })
    }

    /// Starts nginx with `deploy/nginx.stream-template`, whose variables are `values`. `${MQTT_LISTEN}` becomes its own address.
    pub fn balance_streams(values: &[(&str, String)]) -> Nginx {
        let template = include_str!("../../../../deploy/nginx.stream-template");
        let streams = values.iter().fold(template.to_owned(), |text, (variable, value)| {
            assert!(text.contains(variable), "{variable}");
            text.replace(variable, value)
        });
        Nginx::run("root", STREAM, |address| {
            format!("stream {{\n{}\n}}\n", streams.replace("${MQTT_LISTEN}", &address.to_string()))
        })
    }

    fn run(user: &str, modules: &str, blocks: impl FnOnce(SocketAddr) -> String) -> Nginx {
        let address: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let folder = TempDir::new().unwrap();
        let blocks = blocks(address);
        let config = format!(
            "{modules}\ndaemon off;\nuser {user};\nworker_processes 1;\npid nginx.pid;\nevents {{}}\n{blocks}"
        );
        fs::write(folder.path().join("nginx.conf"), config).unwrap();
        // Debian's folder is not in the path of every user.
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

/// Returns the block for HTTP, with the temporary files in the folder of this nginx.
fn http(inside: &str) -> String {
    let temporary_paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {name};\n"))
        .concat();
    format!("http {{\naccess_log off;\n{temporary_paths}\n{inside}\n}}\n")
}
