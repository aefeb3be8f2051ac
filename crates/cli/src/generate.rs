//! `dunnage generate`: the definition of a schema's messages for another system, or code for them.

use crate::{
    compare::link_id,
    failure::{Failure, complain},
    fit, input, output,
};
use clap::{Args, ValueEnum};
use dunnage_codegen::{Mapped, Mapping, avro, c, cddl, proto, thrift, ts013, ts013_examples};
use dunnage_links::Link;
use dunnage_packed::Layout;
use std::{
    fmt::Display,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Lines at the start of a generated file that are the same however its schema changes.
const START: usize = 1;

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
/// Files are named like the schema's title, or like its file when it has none: Container becomes container.proto,
/// container.h and container.c, or container.js and container.examples.json. Each file that is written is listed on
/// standard output. A file that was not generated for a schema of this name is not overwritten.
#[derive(Args)]
pub struct Generate {
    /// Language of the output
    language: Language,
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Link that every message has to fit, for C: when the largest does not, its fields are listed, and nothing is written
    #[arg(long, value_name = "ID", value_parser = link_id())]
    link: Option<&'static Link>,
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
        let model = self.schemas.model(&self.schema)?;
        let name = model.name.to_lowercase();
        if self.link.is_some() && !matches!(self.language, Language::C) {
            return Err(Failure::Usage("--link is for C".into()));
        }
        let mapped = || Mapped::of(&model, Mapping::Exact);
        match self.language {
            Language::C => self.c(&Layout::new(&model)),
            Language::Ts013 => self.ts013(&name, &Layout::new(&model)),
            Language::Proto => self.write(&name, &[("proto", &proto(mapped().record(), Mapping::Exact))]),
            Language::Avro => self.write(&name, &[("avsc", &avro(mapped().record()))]),
            Language::Thrift => self.write(&name, &[("thrift", &thrift(mapped().record()))]),
            Language::Cddl => self.write(&name, &[("cddl", &cddl(&model))]),
        }
    }

    fn c(&self, layout: &Layout) -> Result<(), Failure> {
        let link = self.link;
        let limit = link.and_then(|link| Some(c::Link { name: link.name, limit: link.max_payload_bytes? }));
        let files = c::c(layout, limit).map_err(|faults| self.refused(&faults))?;
        link.map_or(Ok(()), |link| fit::check(layout, link))?;
        self.write(&files.name, &[("h", &files.header), ("c", &files.source)])?;
        say_slot(layout);
        Ok(())
    }

    fn ts013(&self, name: &str, layout: &Layout) -> Result<(), Failure> {
        let codec = ts013(layout, &self.schema).map_err(|parts| self.refused(&parts))?;
        let messages = input::schema_examples(&self.schema)?;
        let examples = ts013_examples(layout, &messages)
            .map_err(|(i, error)| Failure::about(format!("{}: example {}", self.schema, i + 1), error))?;
        self.write(name, &[("js", &codec), ("examples.json", &examples)])?;
        say_slot(layout);
        Ok(())
    }

    /// Names the parts of the schema that code cannot be generated for.
    fn refused(&self, faults: &[impl Display]) -> Failure {
        for fault in faults {
            complain(format_args!("{}: {fault}", self.schema));
        }
        Failure::Reported
    }

    /// Writes the files, all of them or none.
    fn write(&self, name: &str, files: &[(&str, &str)]) -> Result<(), Failure> {
        let folder: &Path = &self.output;
        fs::create_dir_all(folder).map_err(|e| Failure::about(folder.display(), e))?;
        let files: Vec<(PathBuf, &str)> =
            files.iter().map(|(ending, text)| (folder.join(format!("{name}.{ending}")), *text)).collect();
        if let Some((file, _)) = files.iter().find(|(file, text)| is_of_another(file, text)) {
            return Err(Failure::about(
                file.display(),
                format!(
                    "this file was not generated for a schema called {name}, and is not overwritten: \
                     give the schema another title, write to another folder with -o, or remove the file"
                ),
            ));
        }
        let mut output = output::stdout();
        for (file, text) in files {
            fs::write(&file, text).map_err(|e| Failure::about(file.display(), e))?;
            writeln!(output, "{}", file.display())?;
        }
        Ok(output.flush()?)
    }
}

/// Says which slot the messages have, and what tells them from those of other layouts.
fn say_slot(layout: &Layout) {
    let fingerprint: String = layout.fingerprint().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let check = match layout.check() {
        Some(check) => format!("a check of {} byte(s)", check.bytes()),
        None => "no check: x-dunnage-check adds one".to_owned(),
    };
    // When standard error is closed there is nobody to read it.
    let _ = writeln!(anstream::stderr().lock(), "slot {}, layout {fingerprint}..., {check}", layout.slot());
}

/// Whether `file` holds something that does not begin like `text`, where generated files say what they are.
fn is_of_another(file: &Path, text: &str) -> bool {
    let start = |text: &str| text.lines().take(START).map(str::to_owned).collect::<Vec<_>>();
    fs::read_to_string(file).is_ok_and(|old| !old.is_empty() && start(&old) != start(text))
}
