//! Compiles the text of a `.proto` file to a descriptor.

use crate::{Error, Kind};
use prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

const NAME: &str = "message.proto";

/// Resolves the only file.
struct Source(String);

impl FileResolver for Source {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == NAME { File::from_source(name, &self.0) } else { Err(protox::Error::file_not_found(name)) }
    }
}

/// Returns the first message that the file defines.
pub(super) fn first_message(source: &str) -> Result<MessageDescriptor, Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Source(source.to_owned()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file(NAME).map_err(invalid)?;
    // Decode the descriptors into a new pool. The compiler's own pool was made before it read the options, so it would pack fields with
    // `[packed = false]`.
    let set = compiler.encode_file_descriptor_set();
    let pool = DescriptorPool::decode(set.as_slice()).map_err(invalid)?;
    let message = pool.get_file_by_name(NAME).and_then(|file| file.messages().next());
    message.ok_or_else(|| Error::new(Kind::Type, 0, "the .proto file defines no message"))
}

fn invalid(e: impl std::fmt::Display) -> Error {
    Error::new(Kind::Malformed, 0, format!("the .proto file does not compile: {e}"))
}
