//! nginx in front of the replicas of a server, as in the paper's testbed: `least_conn`, persistent connections.

use crate::{Failure, server::Running};
use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command},
    time::{Duration, Instant},
};

/// A running nginx. It is stopped when this is dropped.
pub struct Nginx {
    child: Child,
    pub address: SocketAddr,
}

impl Nginx {
    /// Starts nginx with its files in `folder`. Fails if it does not listen within 10 s.
    pub fn start(folder: &Path, replicas: &[Running]) -> Result<Nginx, Failure> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let servers: String =
            replicas.iter().map(|replica| format!("    server {};\n", replica.address)).collect();
        let file = folder.join("nginx.conf");
        std::fs::write(&file, config(address, &servers))?;
        let child = Command::new("nginx")
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(&file)
            .arg("-e")
            .arg(folder.join("nginx.log"))
            .spawn()
            .map_err(|e| format!("nginx: {e} (apt install nginx)"))?;
        let nginx = Nginx { child, address };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > Duration::from_secs(10) {
                let log = std::fs::read_to_string(folder.join("nginx.log")).unwrap_or_default();
                return Err(format!("nginx did not start: {log}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM lets the master stop its workers, which SIGKILL would leave running.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn config(address: SocketAddr, servers: &str) -> String {
    format!(
        "daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid nginx.pid;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000;
  upstream replicas {{
    least_conn;
{servers}    keepalive 256;
    keepalive_requests 1000000;
  }}
  server {{
    listen {address} backlog=4096;
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection \"\";
    }}
  }}
}}
"
    )
}
