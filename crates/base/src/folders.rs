//! Creates folders that survive a power failure.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Creates the folder at `path` and its missing parents. All their names are durable on return: a synchronized file is still lost if the
/// name of a folder above it was never written.
pub fn create(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let above = above(path);
    create(above)?;
    match fs::create_dir(path) {
        // Another process was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync(above)
}

/// Synchronizes the folder that contains `path`, so that its creation, renaming or removal is durable.
pub fn sync_above(path: &Path) -> io::Result<()> {
    sync(above(path))
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_once_and_a_file_in_the_way_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create(&deep).unwrap();
        create(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(create(&folder.path().join("file")).is_err());
        assert!(create(&folder.path().join("file/below")).is_err());
    }
}
