//! A real MQTT broker: mosquitto, on a free port of the loopback interface.

use crate::acme::free_port;
use crate::wait::wait_until;
use std::{
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

pub struct Mosquitto {
    pub port: u16,
    child: Option<Child>,
    /// The configuration file, if there is one.
    file: Option<PathBuf>,
}

impl Mosquitto {
    /// Starts a broker without persistence.
    pub fn start() -> Mosquitto {
        let mut broker = Mosquitto { port: free_port(), child: None, file: None };
        broker.restart();
        broker
    }

    /// Starts a broker that stores sessions and messages in `folder`. `more` are further lines of its configuration.
    pub fn start_in(folder: &Path, more: &str) -> Mosquitto {
        let port = free_port();
        let file = folder.join("mosquitto.conf");
        let (place, slash) = (folder.display(), "/");
        let text = format!(
            "listener {port} 127.0.0.1\nuser root\npersistence true\npersistence_location {place}{slash}\n\
             max_queued_messages 0\n{more}\n"
        );
        std::fs::write(&file, text).unwrap();
        let mut broker = Mosquitto { port, child: None, file: Some(file) };
        broker.restart();
        broker
    }

    /// Starts the broker again on the same port, after a kill or a stop.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        // Debian's folder is not in the path of every user.
        let debians = Path::new("/usr/sbin/mosquitto");
        let program = if debians.exists() { debians } else { Path::new("mosquitto") };
        let mut command = Command::new(program);
        match &self.file {
            None => command.args(["-p", &self.port.to_string()]),
            Some(file) => command.arg("-c").arg(file),
        };
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("mosquitto is installed: apt-get install mosquitto"));
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        wait_until("mosquitto listens", || TcpStream::connect(address).is_ok());
    }

    /// Stops the broker gracefully, so that it writes its state to the disk.
    pub fn stop(&mut self) {
        let mut child = self.child.take().unwrap();
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        child.wait().unwrap();
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}
