//! Compiles `.proto` files to descriptors.

use super::edition;
use crate::{Error, Kind};
use dunnage_schema::read_text;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use std::path::{Component, Path, PathBuf};

const NAME: &str = "message.proto";

/// One message of a user's `.proto` file.
///
/// ```
/// use dunnage_formats::{Definition, OutlineKind};
///
/// let source = "syntax = \"proto3\"; message Ping {} message Reading { sint32 celsius = 3; }";
/// let definition = Definition::of(source, Some("Reading"))?;
/// let outline = definition.outline()?;
/// let field = outline.find(0, 3).unwrap();
/// assert_eq!((field.name.as_str(), &field.kind), ("celsius", &OutlineKind::Zigzag));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Definition(pub(super) MessageDescriptor);

impl Definition {
    /// Compiles the text of a file that imports nothing but Google's well-known types. `message` is the name of the message, with or
    /// without its package; without it, the first message of the file is used.
    ///
    /// # Errors
    /// `malformed`: the definition does not compile, or has no such message.
    pub fn of(source: &str, message: Option<&str>) -> Result<Definition, Error> {
        compile(NAME, source.to_owned(), Vec::new(), message)
    }

    /// Compiles the file at `path`. Its imports are looked up in its own folder, and then in `folders`.
    ///
    /// # Errors
    /// `malformed`: a file cannot be read, the definition does not compile, or it has no such message.
    pub fn read(path: &Path, folders: &[PathBuf], message: Option<&str>) -> Result<Definition, Error> {
        let source = std::fs::File::open(path).and_then(read_text);
        let source = source.map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))?;
        if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
            let reason = format!("proto_path (--proto-path): there is no folder {}", missing.display());
            return Err(Error::new(Kind::Malformed, 0, reason));
        }
        let own = path.parent().unwrap_or(Path::new("")).to_owned();
        let name = folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let name = name.or(path.file_name().map(Path::new)).and_then(Path::to_str).unwrap_or(NAME);
        let folders = [own].into_iter().chain(folders.iter().cloned()).collect();
        compile(name, source, folders, message)
    }
}

/// Finds the file itself, and others in folders.
struct Files {
    name: String,
    source: String,
    folders: Vec<PathBuf>,
}

impl FileResolver for Files {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == self.name {
            return edition::parse(name, &self.source);
        }
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let paths = self.folders.iter().filter(|_| is_inside).map(|folder| folder.join(name));
        match paths.into_iter().find(|path| path.is_file()) {
            Some(path) => edition::parse(name, &std::fs::File::open(path).and_then(read_text)?),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn compile(
    name: &str,
    source: String,
    folders: Vec<PathBuf>,
    message: Option<&str>,
) -> Result<Definition, Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Files { name: name.to_owned(), source, folders });
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file(name).map_err(|e| invalid(&e))?;
    // Decode the descriptors into a new pool. The compiler's own pool was made before it read the options, so it would pack fields with
    // `[packed = false]`.
    let set = compiler.encode_file_descriptor_set();
    let pool = DescriptorPool::decode(set.as_slice()).map_err(|e| invalid(&e.into()))?;
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

/// Returns an error that begins with the file, and the line and column if they are known.
fn invalid(e: &protox::Error) -> Error {
    // That is what an error of the compiler prints for programmers; a further error has a line of its own.
    let all = if e.file().is_some() { format!("{e:?}") } else { e.to_string() };
    let mut reason = all.lines().next().unwrap_or_default().to_owned();
    if let Some(file) = e.file().filter(|file| !reason.contains(*file)) {
        reason.insert_str(0, &format!("{file}: "));
    }
    let hint = match e.is_file_not_found() {
        true => "; proto_path (--proto-path) names further folders",
        false => "",
    };
    Error::new(Kind::Malformed, 0, format!("the .proto file does not compile: {reason}{hint}"))
}
