//! `dunnage generate`: the definition of a schema's messages for another system.

use crate::{failure::Failure, input};
use clap::{Args, ValueEnum};
use dunnage_codegen::{Mapped, Mapping, avro, proto, thrift};
use std::{fs, path::PathBuf};

/// Write the Protobuf, Avro or Thrift definition of a schema's messages
///
/// It is the definition that the formats protobuf, avro and thrift of the other commands and of the gateway
/// use, so what a device encodes with it is understood. Comments say how to get each value back. The file is
/// named like the schema's title: Container becomes container.proto.
#[derive(Args)]
pub struct Generate {
    /// Language of the definition
    language: Language,
    /// Schema of the messages: a JSON Schema file, or the name of a bundled one
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    /// Directory of the file; it is made when it is not there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Language {
    /// Protocol Buffers, proto3
    Proto,
    /// Apache Avro, a JSON schema
    Avro,
    /// Apache Thrift
    Thrift,
}

impl Generate {
    pub fn run(self) -> Result<(), Failure> {
        let model = input::schema(&self.schema)?;
        let mapped = Mapped::of(&model, Mapping::Exact);
        let (text, ending) = match self.language {
            Language::Proto => (proto(mapped.record(), Mapping::Exact), "proto"),
            Language::Avro => (avro(mapped.record()), "avsc"),
            Language::Thrift => (thrift(mapped.record()), "thrift"),
        };
        fs::create_dir_all(&self.output).map_err(|e| Failure::about(self.output.display(), e))?;
        let file = self.output.join(format!("{}.{ending}", model.name.to_lowercase()));
        fs::write(&file, text).map_err(|e| Failure::about(file.display(), e))
    }
}
