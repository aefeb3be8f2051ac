//! Files that only their owner may read and write.

use std::{fs::File, io, os::unix::fs::OpenOptionsExt, path::Path};

/// Who may read and write the buffer's files: their owner. They hold what devices have sent.
pub const MODE: u32 = 0o600;

/// Makes an empty file at `path` that only its owner may read and write, whatever the umask; SQLite gives the log and its index
/// the same mode. A file that is there is not opened: to close it would give up the locks that SQLite has on it.
pub fn make_private(path: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).mode(MODE).open(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}
