//! Finds the user who owns the other end of a local connection.
//!
//! A proxy on this machine connects from a loopback address on behalf of clients anywhere, and its requests need not reveal that. The
//! kernel knows the user of the socket at the other end, and a proxy usually runs as a user of its own. A peer therefore counts as local
//! only if its socket belongs to the user that the gateway runs as.

use std::{io, net::SocketAddr};

/// Whether the socket at `peer`, connected over TCP to the socket at `local` of this process, belongs to this process's user.
///
/// Fails if the kernel cannot tell: the socket is closed already, or belongs to another machine or network namespace.
#[cfg(target_os = "linux")]
pub fn is_own(peer: SocketAddr, local: SocketAddr) -> io::Result<bool> {
    Ok(user_of(peer, local)? == rustix::process::geteuid().as_raw())
}

/// Other systems do not report the user, so the rules about requests have to suffice.
#[cfg(not(target_os = "linux"))]
pub fn is_own(_: SocketAddr, _: SocketAddr) -> io::Result<bool> {
    Ok(true)
}

/// Asks the kernel for the user of the socket at `source` that is connected to `destination` (sock_diag(7)).
#[cfg(target_os = "linux")]
fn user_of(source: SocketAddr, destination: SocketAddr) -> io::Result<u32> {
    use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
    use netlink_packet_sock_diag::{
        SockDiagMessage,
        constants::{AF_INET, AF_INET6, IPPROTO_TCP},
        inet::{ExtensionFlags, InetRequest, SocketId, StateFlags},
    };
    use netlink_sys::{Socket, SocketAddr as Netlink, protocols::NETLINK_SOCK_DIAG};

    let (source_address, destination_address) = (source.ip().to_canonical(), destination.ip().to_canonical());
    let request = InetRequest {
        family: if source_address.is_ipv4() { AF_INET } else { AF_INET6 },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id: SocketId {
            source_port: source.port(),
            destination_port: destination.port(),
            source_address,
            destination_address,
            interface_id: 0,
            // Any socket with these addresses.
            cookie: [0xff; 8],
        },
    };
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);

    // The kernel answers during the send, so a non-blocking socket suffices.
    let socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.set_non_blocking(true)?;
    socket.send_to(&bytes, &Netlink::new(0, 0), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match NetlinkMessage::<SockDiagMessage>::deserialize(&answer).map_err(io::Error::other)?.payload {
        // A socket without an inode is closed. Some kernels report root as its user.
        NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(socket)) if socket.header.inode != 0 => {
            Ok(socket.header.uid)
        }
        NetlinkPayload::Error(error) => Err(error.to_io()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_process_is_its_users_until_it_is_closed() {
        for address in ["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, peer) = listener.accept().unwrap();
            let local = stream.local_addr().unwrap();
            assert!(is_own(peer, local).unwrap(), "{address}");
            drop(client);
            assert!(is_own(peer, local).is_err(), "{address}");
        }
        // The listener has no peer.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(is_own(([127, 0, 0, 1], 1).into(), listener).is_err());
    }
}
