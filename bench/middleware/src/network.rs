//! Two network namespaces with a TUN device each, and the link between them.
//!
//! The client's end is in the namespace of the thread that calls [`Network::start`], the server's in a new one. The devices carry no
//! IPv6, and Linux keeps no metrics of earlier connections, so that a connection does not profit from the one before.

use crate::link::{Direction, Link};
use nix::sched::{CloneFlags, unshare};
use std::{
    fs, io,
    net::Ipv4Addr,
    path::PathBuf,
    process::Command,
    sync::{Arc, mpsc},
    thread,
};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The server's address.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The client's address.
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The largest IP packet, as on Ethernet.
const MTU: u16 = 1500;

/// Both namespaces and their link.
pub struct Network {
    /// The link: its conditions and its counts.
    pub link: Arc<Link>,
    /// The server's namespace, for `nsenter --net=...`. It lives as long as this process.
    pub server: PathBuf,
}

impl Network {
    /// Makes both ends and starts to forward.
    ///
    /// # Errors
    ///
    /// Fails without the right to make network namespaces and TUN devices (`CAP_NET_ADMIN`, and `/dev/net/tun`).
    pub fn start() -> io::Result<Network> {
        let client = Arc::new(end("client", CLIENT)?);
        let (sender, receiver) = mpsc::channel();
        // The namespace is this thread's, and ends with it.
        thread::spawn(move || {
            let made = server_end();
            let made_one = made.is_ok();
            if sender.send(made).is_ok() && made_one {
                loop {
                    thread::park();
                }
            }
        });
        let (server, path) = receiver.recv().map_err(io::Error::other)??;
        let server = Arc::new(server);
        let link = Arc::new(Link::default());
        link.forward(Direction::Up, client.clone(), server.clone());
        link.forward(Direction::Down, server, client);
        Ok(Network { link, server: path })
    }
}

fn server_end() -> io::Result<(SyncDevice, PathBuf)> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let path = fs::canonicalize("/proc/thread-self")?.join("ns/net");
    Ok((end("server", SERVER)?, path))
}

/// A device with this address in this thread's namespace.
fn end(name: &str, address: Ipv4Addr) -> io::Result<SyncDevice> {
    for (setting, value) in [("ipv6/conf/default/disable_ipv6", "1"), ("ipv4/tcp_no_metrics_save", "1")] {
        fs::write(format!("/proc/sys/net/{setting}"), value)?;
    }
    let device = DeviceBuilder::new().name(name).build_sync()?;
    for arguments in
        [format!("address add {address}/24 dev {name}"), format!("link set dev {name} mtu {MTU} up")]
    {
        let status = Command::new("ip").args(arguments.split(' ')).status()?;
        if !status.success() {
            return Err(io::Error::other(format!("ip {arguments}: {status}")));
        }
    }
    Ok(device)
}
