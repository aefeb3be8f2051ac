//! Creates files that only their owner can read and write.

use std::{fs::File, io, os::unix::fs::OpenOptionsExt, path::Path};

/// The mode of the buffer's files: they contain the devices' messages, so only the owner has access.
pub const MODE: u32 = 0o600;

/// Creates an empty file at `path` with [`MODE`], whatever the umask. SQLite gives the log and its index the same mode. An existing file is
/// not opened: on closing it, POSIX would release the locks that SQLite holds on it.
pub fn make_private(path: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).mode(MODE).open(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}
