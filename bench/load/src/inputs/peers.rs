//! Peer servers for the same load generators. Neither stores a message durably before it acknowledges it.

use crate::{Failure, dtls::Key, mqtt, server};
use std::{
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A running server, which is killed when this is dropped.
pub struct Peer {
    child: Child,
    pub address: SocketAddr,
}

impl Peer {
    /// Starts mosquitto with its default persistence: in memory, and in a file every half hour and at exit.
    pub fn mosquitto(folder: &Path) -> Result<Peer, Failure> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = format!(
            "listener {} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location {}/\nmax_queued_messages 0\n\
             max_inflight_messages 0\nlog_type error\nuser root\n",
            address.port(),
            folder.display()
        );
        let path = folder.join("mosquitto.conf");
        std::fs::write(&path, config)?;
        // Debian's folder is not in every user's path.
        let debian_path = Path::new("/usr/sbin/mosquitto");
        let program = if debian_path.exists() { debian_path } else { Path::new("mosquitto") };
        let peer = Peer::start(Command::new(program).arg("-c").arg(path), address, "mosquitto")?;
        peer.wait(|| TcpStream::connect(address).is_ok())?;
        Ok(peer)
    }

    /// Starts libcoap's example server, which creates resources dynamically (`-d`). With a key, it is the build with OpenSSL, and `address` is the
    /// one of DTLS.
    pub fn libcoap(key: Option<&Key>) -> Result<Peer, Failure> {
        let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
        let program = if key.is_some() { "coap-server-openssl" } else { "coap-server-notls" };
        let mut command = Command::new(program);
        command.args(["-A", "127.0.0.1", "-p", &address.port().to_string(), "-d", "100000", "-v", "0"]);
        command.args(key.iter().flat_map(|key| ["-k", &key.secret]));
        let mut peer = Peer::start(&mut command, address, "libcoap3-bin")?;
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        socket.connect(address)?;
        // An empty confirmable message is answered with a reset.
        peer.wait(|| socket.send(&[0x40, 0, 0, 1]).is_ok() && socket.recv(&mut [0; 16]).is_ok())?;
        // DTLS uses the next port.
        peer.address.set_port(address.port() + u16::from(key.is_some()));
        Ok(peer)
    }

    fn start(command: &mut Command, address: SocketAddr, package: &str) -> Result<Peer, Failure> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| format!("{package}: {e} (apt install {package})"))?;
        Ok(Peer { child, address })
    }

    fn wait(&self, mut ready: impl FnMut() -> bool) -> Result<(), Failure> {
        let begun = Instant::now();
        while !ready() {
            if begun.elapsed() > Duration::from_secs(20) {
                return Err("a peer did not start".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub fn processor_seconds(&self) -> Result<f64, Failure> {
        server::processor_seconds(self.child.id())
    }

    pub fn memory_mb(&self) -> Result<f64, Failure> {
        server::memory_mb(self.child.id(), "VmHWM")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Its state is not needed any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Leaves a persistent session that subscribes to every message, so that the broker queues them. Without one it would drop them.
pub async fn subscribe_to_all(broker: SocketAddr) -> Result<(), Failure> {
    let mut connect = mqtt::connect("later", Duration::from_secs(60));
    // Clear the clean-session flag, so that the session persists. The flags follow the protocol's name and level.
    connect[9] = 0;
    let mut stream = mqtt::open(broker, &connect).await?;
    stream.write_all(&mqtt::subscribe("v1/#")).await?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await?;
    match answer {
        [0x90, 3, 0, 1, 1] => Ok(stream.write_all(&[0xe0, 0]).await?),
        other => Err(format!("the broker answered SUBSCRIBE with {other:?}").into()),
    }
}
