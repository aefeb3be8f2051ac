//! Compiles `.proto` files to descriptors.

use crate::{Error, Kind};
use dunnage_schema::read_text;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver};
use std::path::{Path, PathBuf};

const NAME: &str = "message.proto";

/// One message of a user's `.proto` file.
#[derive(Debug, Clone)]
pub struct Definition(pub(super) MessageDescriptor);

impl Definition {
    /// Compiles the text of a file that imports nothing but Google's well-known types. `message` is the name of the message, with or
    /// without its package; without it, the first message of the file is used.
    pub fn of(source: &str, message: Option<&str>) -> Result<Definition, Error> {
        compile(NAME, source, &[], message)
    }

    /// Compiles the file at `path`. What it imports is looked for in its own folder, and then in `folders`.
    pub fn read(path: &Path, folders: &[PathBuf], message: Option<&str>) -> Result<Definition, Error> {
        let source = std::fs::File::open(path).and_then(read_text);
        let source = source.map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))?;
        let own = path.parent().unwrap_or(Path::new(""));
        let name = folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let name = name.or(path.file_name().map(Path::new)).and_then(Path::to_str).unwrap_or(NAME);
        let folders: Vec<_> = [own].into_iter().chain(folders.iter().map(PathBuf::as_path)).collect();
        compile(name, &source, &folders, message)
    }
}

/// Resolves the file itself.
struct Source(String, String);

impl FileResolver for Source {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == self.0 {
            File::from_source(name, &self.1)
        } else {
            Err(protox::Error::file_not_found(name))
        }
    }
}

fn compile(name: &str, source: &str, folders: &[&Path], message: Option<&str>) -> Result<Definition, Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Source(name.to_owned(), source.to_owned()));
    for folder in folders {
        resolver.add(IncludeFileResolver::new((*folder).to_owned()));
    }
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file(name).map_err(invalid)?;
    // Decode the descriptors into a new pool. The compiler's own pool was made before it read the options, so it would pack fields with
    // `[packed = false]`.
    let set = compiler.encode_file_descriptor_set();
    let pool = DescriptorPool::decode(set.as_slice()).map_err(invalid)?;
    let Some(wanted) = message else {
        let first = pool.get_file_by_name(name).and_then(|file| file.messages().next());
        let none = || Error::new(Kind::Type, 0, "the .proto file defines no message");
        return first.map(Definition).ok_or_else(none);
    };
    let file = pool.get_file_by_name(name);
    let package = file.as_ref().map_or("", |file| file.package_name());
    let full = format!("{package}.{wanted}");
    let found = pool.get_message_by_name(wanted).or_else(|| pool.get_message_by_name(&full));
    found.map(Definition).ok_or_else(|| {
        let names: Vec<_> =
            file.iter().flat_map(|file| file.messages()).map(|m| m.full_name().to_owned()).collect();
        let reason = format!("the definition has no message {wanted}; the file has {}", names.join(", "));
        Error::new(Kind::Type, 0, reason)
    })
}

fn invalid(e: impl std::fmt::Display) -> Error {
    let reason = e.to_string();
    if reason.contains("found 'edition'") {
        let reason = "the .proto file has an edition, and the compiler protox 0.10 reads none (as of 2026-11); \
            write syntax = \"proto3\", with `optional` where a field has presence, or syntax = \"proto2\"";
        return Error::new(Kind::Type, 0, reason);
    }
    Error::new(Kind::Malformed, 0, format!("the .proto file does not compile: {reason}"))
}
