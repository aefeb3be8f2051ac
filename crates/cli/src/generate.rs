//! `dunnage generate`: writes code for a schema's messages, or their definition for another system.

mod sql;

use crate::{
    failure::{Failure, complain},
    fit, input,
    link_id::LinkId,
    output,
};
use clap::{Args, ValueEnum};
use dunnage_codegen::{Mapped, Mapping, avro, c, cddl, grafana, proto, thrift, ts013, ts013_examples};
use dunnage_formats::Value;
use dunnage_links::Link;
use dunnage_packed::Layout;
use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// Generate C, JavaScript, Protobuf, Avro, Thrift, CDDL, SQL or a dashboard from a schema
///
/// The other commands and the gateway use the same definitions for the formats protobuf, avro and thrift, so they can
/// decode what a device encodes with them. Comments explain how to convert each field to its value. cddl describes the
/// message itself, for tools that validate CBOR and JSON.
///
/// c is code for the packed format: a struct, and functions that write and read its bits. dunnage_message.h and
/// dunnage_message.c have the code that all messages of a program share; its names begin with dunnage_, regardless of
/// --prefix. It writes plain messages; with --modes and a schema that `dunnage schema train` has written, also prior forms
/// and deltas, which take fewer bytes. These need dunnage_modes.h, too.
///
/// ts013 is code for the packed format on LoRaWAN network servers, according to LoRa Alliance TS013: one file of
/// ECMAScript 5.1 with decodeUplink, encodeDownlink and decodeDownlink for The Things Stack and ChirpStack 4, and one
/// file with the schema's examples.
///
/// sql is a table of PostgreSQL with a typed column for each field, as the gateway's output to PostgreSQL fills it. grafana
/// is a dashboard of Grafana for that table: a time series for each number, the latest values, and silent devices.
///
/// Files are named after the schema's title, or after its file if it has none: Container becomes container.proto,
/// container.h and container.c, or container.js and container.examples.json. Each written file is listed on standard
/// output. A file that was not generated for a schema of this name is not overwritten. A warning is printed if the file
/// has a different layout in the same slot, because the gateway would misread devices that still use the old code.
#[derive(Args)]
pub struct Generate {
    /// Language of the output
    language: Language,
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Link that every message must fit (C only); if the largest does not fit, lists its fields and writes nothing; `dunnage plan --help` lists the IDs
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Option<&'static Link>,
    /// Require of the link only that some part of every message fits: the fewest readings of a series, without the properties with x-dunnage-drop (C only)
    #[arg(long, requires = "link")]
    fit: bool,
    /// Prefix of all C names and files: acme makes the struct acme_Weather in acme_weather.h
    #[arg(long, value_name = "NAME")]
    prefix: Option<c::Prefix>,
    /// Also write code for packed modes 1 (prior) and 2 (delta), for a schema with statistics (C only)
    #[arg(long)]
    modes: bool,
    #[command(flatten)]
    sql: sql::Sql,
    /// Output directory, created if missing
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
    /// SQL of PostgreSQL and TimescaleDB, a table
    Sql,
    /// A dashboard of Grafana for that table
    Grafana,
}

impl Generate {
    /// Returns the name under which a gateway knows the schema, that of its file or of the bundled one; for standard input, `title`.
    fn schema_name(&self, title: &str) -> String {
        match &*self.schema {
            "-" => title.to_owned(),
            given => {
                Path::new(given).file_stem().map_or(title.into(), |stem| stem.to_string_lossy().into_owned())
            }
        }
    }

    pub fn run(self) -> Result<(), Failure> {
        let (model, text) = self.schemas.model_and_text(&self.schema)?;
        let name = model.name().to_lowercase();
        if self.link.is_some() && !matches!(self.language, Language::C) {
            return Err(Failure::Usage("--link is for C only".into()));
        }
        if self.prefix.is_some() && !matches!(self.language, Language::C) {
            return Err(Failure::Usage("--prefix is for C only".into()));
        }
        if self.modes && !matches!(self.language, Language::C) {
            return Err(Failure::Usage("--modes is for C only".into()));
        }
        if self.sql.is_given() && !matches!(self.language, Language::Sql) {
            return Err(Failure::Usage(
                "--table, --decimals, --json, --partitions and --timescale are for sql only".into(),
            ));
        }
        let mapped = || Mapped::of(&model, Mapping::Exact);
        match self.language {
            Language::C => self.c(&input::layout(&model, &self.schema)?),
            Language::Ts013 => self.ts013(
                &name,
                &input::layout(&model, &self.schema)?,
                &input::schema_examples(&self.schema, &text)?,
            ),
            Language::Proto => self.write(&name, &[("proto", &proto(&mapped()))]),
            Language::Avro => self.write(&name, &[("avsc", &avro(&mapped()))]),
            Language::Thrift => self.write(&name, &[("thrift", &thrift(&mapped()))]),
            Language::Cddl => self.write(&name, &[("cddl", &cddl(&model))]),
            Language::Sql => {
                self.write(&name, &[("sql", &self.sql.script(&model, &text, &self.schema_name(&name)))])
            }
            Language::Grafana => {
                let table = self.sql.table(&model, &text, &self.schema_name(&name));
                self.write(&name, &[("dashboard.json", &grafana(&table, model.name()))])
            }
        }
    }

    fn c(&self, layout: &Layout) -> Result<(), Failure> {
        let link = self.link;
        let limit = link.and_then(|link| Some(c::Link { name: &link.name, limit: link.max_payload_bytes? }));
        let prefix = self.prefix.clone().unwrap_or_default();
        let options = c::Options { link: limit, prefix, fit: self.fit, modes: self.modes };
        let files = c::c(layout, &options).map_err(|faults| self.refused(&faults))?;
        link.map_or(Ok(()), |link| fit::check(layout, link, self.fit))?;
        let shared: Vec<_> = c::SUPPORT.iter().copied().chain(files.modes.map(|_| c::MODES)).collect();
        for (name, text) in &shared {
            self.check_shared(name, text)?;
        }
        self.write(&files.name, &[("h", &files.header), ("c", &files.source)])?;
        self.write_shared(&shared)?;
        say_slot(layout);
        say_unchecked(layout);
        if let Some(cost) = files.modes {
            say_cost(cost);
        }
        Ok(())
    }

    fn ts013(&self, name: &str, layout: &Layout, messages: &[Value]) -> Result<(), Failure> {
        let codec = ts013(layout, &self.schema).map_err(|parts| self.refused(&parts))?;
        let examples = ts013_examples(layout, messages)
            .map_err(|(i, error)| Failure::about(format!("{}: example {}", self.schema, i + 1), error))?;
        self.write(name, &[("js", &codec), ("examples.json", &examples)])?;
        say_slot(layout);
        Ok(())
    }

    /// Reports each part of the schema for which no code can be generated.
    fn refused(&self, faults: &[impl Display]) -> Failure {
        for fault in faults {
            complain(format_args!("{}: {fault}", self.schema));
        }
        Failure::Reported
    }

    /// Writes all of the files, or none.
    fn write(&self, name: &str, files: &[(&str, &str)]) -> Result<(), Failure> {
        let folder: &Path = &self.output;
        fs::create_dir_all(folder).map_err(|e| Failure::about(folder.display(), e))?;
        for (ending, text) in files {
            let file = folder.join(format!("{name}.{ending}"));
            if is_of_another(&file, start(ending, text)).map_err(|e| Failure::about(file.display(), e))? {
                return Err(Failure::about(
                    file.display(),
                    format!(
                        "this file was not generated for a schema called {name}, and is not overwritten: \
                         give the schema another title, write to another folder with -o, or remove the file"
                    ),
                ));
            }
        }
        let mut output = output::stdout();
        for (ending, text) in files {
            let file = folder.join(format!("{name}.{ending}"));
            warn_of_change(&fs::read_to_string(&file).unwrap_or_default(), text);
            write_file(&file, text, &mut output)?;
        }
        Ok(output.flush()?)
    }

    /// Writes the code that all messages share.
    fn write_shared(&self, files: &[(&str, &str)]) -> Result<(), Failure> {
        let mut output = output::stdout();
        for (name, text) in files {
            write_file(&self.output.join(name), text, &mut output)?;
        }
        Ok(output.flush()?)
    }

    /// Returns an error if the folder has shared code of another version, because the messages already in the folder need that
    /// version.
    fn check_shared(&self, name: &str, text: &str) -> Result<(), Failure> {
        let file = self.output.join(name);
        match fs::read(&file) {
            Ok(old) if old != text.as_bytes() => Err(Failure::about(
                file.display(),
                "this file is from another version of dunnage, and messages in this folder may need it: \
                 remove the files dunnage_*, and generate all messages of the folder again",
            )),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::about(file.display(), error))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a file and lists its path.
fn write_file(file: &Path, text: &str, list: &mut impl Write) -> Result<(), Failure> {
    fs::write(file, text).map_err(|e| Failure::about(file.display(), e))?;
    Ok(writeln!(list, "{}", file.display())?)
}

/// Prints the slot, the start of the fingerprint and the check, which distinguish the messages from those of other layouts.
fn say_slot(layout: &Layout) {
    let fingerprint: String = layout.fingerprint().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let check = match layout.check() {
        Some(check) => format!("a check of {} byte(s)", check.bytes()),
        None => "no check: x-dunnage-check adds one".to_owned(),
    };
    // If standard error is closed, the line cannot be shown.
    let from = if layout.has_slot_byte() { "" } else { " from the port" };
    let _ =
        writeln!(anstream::stderr().lock(), "slot {}{from}, layout {fingerprint}..., {check}", layout.slot());
}

/// The slot of generated C or TS013 code, and the fingerprint of its layout, as their comments and macros have them.
fn identity(text: &str) -> Option<(&str, &str)> {
    let value = |words: &[&str], macro_end: &str| {
        text.lines().find_map(|line| {
            let (name, value) =
                line.strip_prefix("#define ").or(line.strip_prefix(" * "))?.split_once(' ')?;
            let is_it = words.contains(&name) || name.ends_with(macro_end);
            value.split([',', '"']).find(|value| is_it && !value.is_empty())
        })
    };
    Some((value(&["slot", "port"], "_SLOT")?, value(&["layout"], "_FINGERPRINT")?))
}

/// Warns if `old` has another layout in the same slot as `new`: both are the text of a generated file.
fn warn_of_change(old: &str, new: &str) {
    if let (Some((slot, before)), Some((now, after))) = (identity(old), identity(new))
        && slot == now
        && before != after
    {
        complain(format_args!(
            "warning: the replaced file had a different layout, {}..., in slot {slot}: if devices or stored messages use it, change x-dunnage-slot \
             and keep the old schema; `dunnage schema diff OLD NEW` lists the differences",
            before.get(..8).unwrap_or(before)
        ));
    }
}

/// Prints the keywords that the C code does not check.
fn say_unchecked(layout: &Layout) {
    let checks = c::device_checks(layout);
    // If standard error is closed, the lines cannot be shown.
    let mut error = anstream::stderr().lock();
    if !checks.is_empty() {
        let _ = writeln!(error, "the code does not check these keywords; the program must, before it sends:");
    }
    for check in checks {
        let _ = writeln!(error, "  {check}");
    }
}

/// Prints the costs of modes 1 and 2 besides code.
fn say_cost(cost: c::Cost) {
    let c::Cost { prior_tables, delta_tables, record, state, .. } = cost;
    // If standard error is closed, the lines cannot be shown.
    let _ = writeln!(
        anstream::stderr().lock(),
        "mode 1 (prior): {prior_tables} B of tables in flash, {record} B on the stack\n\
         mode 2 (delta): {delta_tables} B more of tables, {state} B of state in RAM"
    );
}

/// The first lines of the generated `text`. They name the schema, and stay the same when the schema changes.
fn start<'a>(ending: &str, text: &'a str) -> &'a [u8] {
    let lines = match ending {
        "js" | "dashboard.json" => 2,
        "avsc" | "examples.json" => 3,
        _ => 1,
    };
    let length = text.split_inclusive('\n').take(lines).map(str::len).sum();
    &text.as_bytes()[..length]
}

/// Whether `file` exists and is not empty, but does not begin with `start`.
fn is_of_another(file: &Path, start: &[u8]) -> io::Result<bool> {
    let mut old = Vec::new();
    match File::open(file) {
        Ok(file) => file.take(start.len() as u64).read_to_end(&mut old)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(!old.is_empty() && old != start)
}
