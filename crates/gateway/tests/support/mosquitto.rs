//! A real MQTT broker: mosquitto, on a free port of the loopback interface, without persistence.

use super::acme::free_port;
use std::{
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

pub struct Mosquitto {
    pub port: u16,
    child: Option<Child>,
}

impl Mosquitto {
    pub fn start() -> Mosquitto {
        let mut broker = Mosquitto { port: free_port(), child: None };
        broker.restart();
        broker
    }

    /// Starts it again after a kill, on its port. It remembers nothing.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        // Debian's place is not in every user's path.
        let debians = Path::new("/usr/sbin/mosquitto");
        let program = if debians.exists() { debians } else { Path::new("mosquitto") };
        let mut command = Command::new(program);
        command.args(["-p", &self.port.to_string()]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("mosquitto is installed: apt-get install mosquitto"));
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "mosquitto does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// SIGKILL, and wait until it is gone.
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
