//! `dunnage generate`: the definition of a schema's messages for another system, or code for them.

use crate::{
    failure::{Failure, complain},
    fit, input,
};
use clap::{Args, ValueEnum};
use dunnage_codegen::{Mapped, Mapping, avro, c, cddl, proto, thrift, ts013, ts013_examples};
use dunnage_packed::Layout;
use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

/// Write a schema's messages as C, JavaScript, Protobuf, Avro, Thrift or CDDL
///
/// The definitions are those that the formats protobuf, avro and thrift of the other commands and of the gateway
/// use, so what a device encodes with them is understood. Comments say how to get each value back. cddl is the message itself,
/// for the tools that check CBOR and JSON.
///
/// C is the packed format: a struct, and functions that write and read its bits. ts013 is the packed format for LoRaWAN
/// network servers, as LoRa Alliance TS013 has it: one file of ECMAScript 5.1 with decodeUplink, encodeDownlink and
/// decodeDownlink for The Things Stack and ChirpStack 4, and the schema's examples beside it.
///
/// Files are named like the schema's title: Container becomes container.proto, container.h and container.c, or
/// container.js and container.examples.json.
#[derive(Args)]
pub struct Generate {
    /// Language of the output
    language: Language,
    /// Schema of the messages: a JSON Schema file, or the name of a bundled one
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    /// Link that every message has to fit, for C: when the largest does not, its fields are listed, and nothing is written
    #[arg(long, value_name = "ID")]
    link: Option<String>,
    /// Directory of the files; it is made when it is not there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Language {
    /// C99 for the packed format
    C,
    /// JavaScript for the packed format on LoRaWAN network servers
    Ts013,
    /// Protocol Buffers, proto3
    Proto,
    /// Apache Avro, a JSON schema
    Avro,
    /// Apache Thrift
    Thrift,
    /// CDDL (RFC 8610), for checking messages in CBOR or JSON
    Cddl,
}

impl Generate {
    pub fn run(self) -> Result<(), Failure> {
        let model = input::schema(&self.schema)?;
        let name = model.name.to_lowercase();
        if self.link.is_some() && !matches!(self.language, Language::C) {
            return Err(Failure::Usage("--link is for C".into()));
        }
        let mapped = || Mapped::of(&model, Mapping::Exact);
        match self.language {
            Language::C => self.c(&Layout::new(&model)),
            Language::Ts013 => self.ts013(&name, &Layout::new(&model)),
            Language::Proto => self.write(&name, "proto", &proto(mapped().record(), Mapping::Exact)),
            Language::Avro => self.write(&name, "avsc", &avro(mapped().record())),
            Language::Thrift => self.write(&name, "thrift", &thrift(mapped().record())),
            Language::Cddl => self.write(&name, "cddl", &cddl(&model)),
        }
    }

    fn c(&self, layout: &Layout) -> Result<(), Failure> {
        let link = self.link.as_deref().map(link).transpose()?;
        let limit = link.and_then(|link| Some(c::Link { name: link.name, limit: link.max_payload_bytes? }));
        let files = c::c(layout, limit).map_err(|faults| self.refused(&faults))?;
        link.map_or(Ok(()), |link| fit::check(layout, link))?;
        self.write(&files.name, "h", &files.header)?;
        self.write(&files.name, "c", &files.source)
    }

    fn ts013(&self, name: &str, layout: &Layout) -> Result<(), Failure> {
        let codec = ts013(layout, &self.schema).map_err(|parts| self.refused(&parts))?;
        let messages = input::schema_examples(&self.schema)?;
        let examples = ts013_examples(layout, &messages)
            .map_err(|(i, error)| Failure::about(format!("{}: example {}", self.schema, i + 1), error))?;
        self.write(name, "js", &codec)?;
        self.write(name, "examples.json", &examples)
    }

    /// Names the parts of the schema that code cannot be generated for.
    fn refused(&self, faults: &[impl Display]) -> Failure {
        for fault in faults {
            complain(format_args!("{}: {fault}", self.schema));
        }
        Failure::Reported
    }

    fn write(&self, name: &str, ending: &str, text: &str) -> Result<(), Failure> {
        let folder: &Path = &self.output;
        fs::create_dir_all(folder).map_err(|e| Failure::about(folder.display(), e))?;
        let file = folder.join(format!("{name}.{ending}"));
        fs::write(&file, text).map_err(|e| Failure::about(file.display(), e))
    }
}

/// The link called `id`.
fn link(id: &str) -> Result<&'static dunnage_links::Link, Failure> {
    dunnage_links::link(id).ok_or_else(|| {
        let ids: Vec<_> = dunnage_links::catalogue().iter().map(|link| link.id).collect();
        Failure::Usage(format!("no link is called {id}; there are {}", ids.join(", ")))
    })
}
