//! The arguments for a user's own Protobuf definition.

use crate::failure::Failure;
use clap::Args;
use dunnage_formats::{Definition, Error, Protobuf};
use dunnage_schema::Model;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Proto {
    /// Your own Protobuf definition, in place of the one derived from a schema; it needs no schema
    #[arg(long = "proto", value_name = "FILE")]
    proto: Option<PathBuf>,
    /// Message of that definition, with or without its package [default: the first]
    #[arg(long = "proto-message", value_name = "NAME", requires = "proto")]
    proto_message: Option<String>,
    /// Folder of files that the definition imports, besides its own; repeatable
    #[arg(long = "proto-path", value_name = "FOLDER", requires = "proto")]
    proto_path: Vec<PathBuf>,
}

impl Proto {
    /// The definition's file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.proto.as_deref()
    }

    /// The definition, if there is one.
    pub fn definition(&self) -> Result<Option<Definition>, Failure> {
        let Some(file) = &self.proto else { return Ok(None) };
        let read = Definition::read(file, &self.proto_path, self.proto_message.as_deref());
        read.map(Some).map_err(|error| failure(file, &error))
    }

    /// The codec of the definition, for messages of `model` if there is one.
    pub fn codec(&self, model: Option<&Model>) -> Result<Option<Protobuf>, Failure> {
        let (Some(file), Some(definition)) = (&self.proto, self.definition()?) else { return Ok(None) };
        Protobuf::from_definition(&definition, model).map(Some).map_err(|error| failure(file, &error))
    }
}

fn failure(file: &Path, error: &Error) -> Failure {
    Failure::about(file.display(), error.reason())
}
