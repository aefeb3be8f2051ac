//! The Unix socket of the admin interface. Only the gateway's own user and root get in. It replaces the socket of a gateway that was
//! killed.

use axum::serve::Listener;
use std::{
    fs, io,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::net::{UnixListener, unix};

/// Longest path of a socket, in bytes: `sun_path` of unix(7), without the zero at its end.
const PATH: usize = 107;

/// A socket that cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("[admin] socket {path}: {message}")]
pub struct SocketError {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

/// Accepts connections of the gateway's own user and of root. Dropping it removes the file.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl Socket {
    /// Creates the socket at `path`. Replaces a socket that nothing listens on, as a killed gateway leaves it. Fails if something listens,
    /// or if the file is not a socket.
    pub fn bind(path: &Path) -> Result<Socket, SocketError> {
        let failed = |message: String| SocketError { path: path.to_owned(), message };
        let io = |e: io::Error| failed(e.to_string());
        check_length(path)?;
        if let Ok(there) = fs::symlink_metadata(path) {
            if !there.file_type().is_socket() {
                return Err(failed("the path names a file that is not a socket".into()));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(failed("another process listens on it".into()));
            }
            fs::remove_file(path).map_err(io)?;
        }
        let listener = UnixListener::bind(path).map_err(io)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(io)?;
        let owner = fs::metadata(path).map_err(io)?.uid();
        Ok(Socket { listener, path: path.to_owned(), owner })
    }

    async fn accept(&self) -> io::Result<(tokio::net::UnixStream, unix::SocketAddr)> {
        loop {
            let (stream, address) = self.listener.accept().await?;
            // Another user may have connected before the permissions were set.
            let user = stream.peer_cred()?.uid();
            if user == self.owner || user == 0 {
                return Ok((stream, address));
            }
            tracing::warn!(user, "another user's connection to the admin socket is refused");
        }
    }
}

/// Rejects a path that is too long for a socket.
pub fn check_length(path: &Path) -> Result<(), SocketError> {
    let length = path.as_os_str().as_bytes().len();
    if length <= PATH {
        return Ok(());
    }
    let message = format!(
        "the path has {length} bytes, but must have at most {PATH}: use a shorter one, or \"\" for no socket"
    );
    Err(SocketError { path: path.to_owned(), message })
}

impl Listener for Socket {
    type Io = tokio::net::UnixStream;
    type Addr = unix::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match Socket::accept(self).await {
                Ok(accepted) => return accepted,
                Err(e) => {
                    // The process is out of file descriptors, or the connection was closed already. The pause avoids a busy loop.
                    tracing::debug!(error = %e, "cannot accept a connection to the admin socket");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_the_owners_and_goes_with_the_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        let socket = Socket::bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn what_a_killed_gateway_left_is_replaced_and_what_is_in_use_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        // The standard library's listener leaves its file, as a killed process does.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let _socket = Socket::bind(&path).unwrap();
        let e = Socket::bind(&path).err().unwrap().to_string();
        assert!(e.contains("another process") && path.exists(), "{e}");
        let file = folder.path().join("file");
        fs::write(&file, "precious").unwrap();
        assert!(Socket::bind(&file).err().unwrap().to_string().contains("not a socket"));
        assert_eq!(fs::read(&file).unwrap(), b"precious");
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let name =
            |length: usize| folder.path().join("x".repeat(length - folder.path().as_os_str().len() - 1));
        assert!(Socket::bind(&name(PATH)).is_ok());
        let e = Socket::bind(&name(PATH + 1)).err().unwrap().to_string();
        assert!(e.contains("has 108 bytes") && e.contains("at most 107"), "{e}");
    }
}
