//! A real S3 server, versitygw, on a free port of the loopback interface. Its buckets are folders and its objects are files, so what it has can
//! be read without a client.

use crate::{acme::free_port, tools::tool, wait::wait_until};
use std::{
    collections::BTreeMap,
    fs,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// The credentials.
pub const KEY: &str = "tester";
pub const SECRET: &str = "secret-of-the-tester";

pub struct S3 {
    pub address: SocketAddr,
    child: Option<Child>,
    folder: TempDir,
}

impl S3 {
    pub fn start() -> S3 {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let mut server = S3 { address, child: None, folder: TempDir::new().unwrap() };
        server.restart();
        server
    }

    /// Starts the server again on the same port, after a kill.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        let mut command = Command::new(tool("bin/versitygw"));
        command.env("ROOT_ACCESS_KEY", KEY).env("ROOT_SECRET_KEY", SECRET);
        command.args(["--quiet", "--port", &self.address.to_string(), "posix"]).arg(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        wait_until("the S3 server listens", || TcpStream::connect(self.address).is_ok());
    }

    /// Sends SIGKILL to the server, and waits until it has ended.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Makes a bucket.
    pub fn make(&self, bucket: &str) {
        fs::create_dir(self.bucket(bucket)).unwrap();
    }

    /// Returns the folder of a bucket.
    pub fn bucket(&self, bucket: &str) -> PathBuf {
        self.folder.path().join(bucket)
    }

    /// Returns all objects of a bucket by their keys.
    pub fn objects(&self, bucket: &str) -> BTreeMap<String, Vec<u8>> {
        let mut objects = BTreeMap::new();
        let root = self.bucket(bucket);
        read(&root, &root, &mut objects);
        objects
    }
}

/// Adds the files in `folder`, except the server's own, whose folder begins with a dot.
fn read(root: &Path, folder: &Path, objects: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let key = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && !key.starts_with('.') {
            read(root, &path, objects);
        } else if path.is_file() {
            objects.insert(key, fs::read(&path).unwrap());
        }
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
