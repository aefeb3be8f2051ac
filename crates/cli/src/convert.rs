//! `dunnage convert`: converts a message from one format to another.

use crate::{
    failure::{Failure, complain},
    input::{self, Source},
    known::KnownTexts,
    numbers::{Numbers, with_choice},
    proto::Proto,
};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use dunnage_formats::{
    Altered, Avro, AvroHeader, Csv, Error, Format, Id, Kind, Mapping, Reception, Value, shorten_binary32,
};
use dunnage_packed::{Layout, Receiver};
use dunnage_schema::Model;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{self, Write},
};

/// How many packed lines are kept as references of deltas.
const REFERENCES: usize = 64;

/// Convert a message from one format to another
///
/// Reads one message from the file or standard input; text output ends with a newline. Formats without field
/// names (protobuf, avro, thrift, struct, packed) need the schema of the message; for protobuf, --proto is enough.
///
/// With --lines every line is a message: text formats as they are, binary formats as hex. A line that cannot be
/// converted is reported with its number on standard error and has no output. The other lines are converted, and the
/// exit code is 1. An empty line is a message of zero bytes, which some binary formats have; in text formats, blank
/// lines are ignored.
///
/// Packed lines must be those of one device, in order, because a delta refers to an earlier line.
///
/// With --from csv the first line has the names of the fields, and each further line is a message. The output is that of
/// --lines.
#[derive(Args)]
pub struct Convert {
    /// Format of the input
    #[arg(long, value_name = "FORMAT", value_parser = source_format())]
    from: SourceFormat,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = format_id(Id::all()))]
    to: Id,
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    #[command(flatten)]
    known: KnownTexts,
    /// One message per line; binary formats as hex
    #[arg(long)]
    lines: bool,
    /// Read and write binary formats as hex
    #[arg(long)]
    hex: bool,
    /// Reject packed messages whose schema has no x-dunnage-check
    #[arg(long)]
    require_check: bool,
    /// Header before the Avro messages of the input, which is skipped
    #[arg(long, value_name = "HEADER", value_parser = avro_header(), default_value = "none")]
    avro_header: AvroHeader,
    /// How to read numbers that a binary format carries as binary32: exact keeps all digits (31.420000076293945), shortest
    /// takes the shortest decimal that is the same binary32 (31.42)
    #[arg(long, value_name = "CHOICE", value_enum, default_value = "exact")]
    binary32: Binary32,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    proto: Proto,
    #[command(flatten)]
    schemas: input::Schemas,
    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Binary32 {
    Exact,
    Shortest,
}

/// The format of the input.
#[derive(Clone, Copy)]
struct SourceFormat {
    /// The format of a message.
    id: Id,
    /// Whether the input is CSV, whose rows are read as JSON.
    is_csv: bool,
}

fn source_format() -> impl TypedValueParser<Value = SourceFormat> {
    PossibleValuesParser::new(Id::readable().map(Id::name).chain([CSV])).try_map(|name| match name.as_str() {
        CSV => Ok(SourceFormat { id: Id::Json, is_csv: true }),
        name => name.parse::<Id>().map(|id| SourceFormat { id, is_csv: false }),
    })
}

const CSV: &str = "csv";

/// Parses the name of a header before Avro messages.
fn avro_header() -> impl TypedValueParser<Value = AvroHeader> {
    let names = [
        PossibleValue::new("none"),
        PossibleValue::new(REGISTRY).help("the five bytes of Confluent's schema registry"),
        PossibleValue::new(SINGLE_OBJECT).help("the ten bytes of Avro's single-object encoding"),
    ];
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        REGISTRY => AvroHeader::Registry,
        SINGLE_OBJECT => AvroHeader::SingleObject,
        _ => AvroHeader::None,
    })
}

/// The names of headers.
const REGISTRY: &str = "registry";
const SINGLE_OBJECT: &str = "single-object";

/// Parses the name of one of `formats`. Help and completions list all of them.
fn format_id(formats: impl Iterator<Item = Id>) -> impl TypedValueParser<Value = Id> {
    PossibleValuesParser::new(formats.map(Id::name)).try_map(|name| name.parse::<Id>())
}

impl Convert {
    pub fn run(self) -> Result<(), Failure> {
        let SourceFormat { id: from_id, is_csv } = self.from;
        let sides = [from_id, self.to];
        if self.proto.file().is_some() && !sides.contains(&Id::Protobuf) {
            return Err(Failure::Usage("--proto is for --from protobuf or --to protobuf".into()));
        }
        let defined = |id: &Id| *id == Id::Protobuf && self.proto.file().is_some();
        let without_schema = sides.into_iter().find(|id| id.needs_schema() && !defined(id));
        if let (Some(id), None) = (without_schema, &self.schema) {
            return Err(Failure::Usage(format!("{id} needs the schema of the message: --schema")));
        }
        let model = self.schema.as_deref().map(|name| self.schemas.model(name)).transpose()?;
        if self.require_check
            && sides.contains(&Id::Packed)
            && model.as_ref().is_some_and(|model| model.check() == 0)
        {
            let message = "has no x-dunnage-check, but --require-check is set; add \"x-dunnage-check\": 2 at its top level";
            return Err(Failure::about(self.schema.as_deref().unwrap_or_default(), message));
        }
        let by_line = self.lines || is_csv;
        let hex = self.hex || by_line;
        let own = self.proto.codec(model.as_ref())?;
        let open = |id: Id| match &own {
            Some(own) if id == Id::Protobuf => Ok(Box::new(own.clone()) as Box<dyn Format>),
            _ => id.open(model.as_ref(), Mapping::Exact),
        };
        let from: Box<dyn Format> = match &model {
            Some(model) if from_id == Id::Avro => Box::new(Avro::new(model)?.with_header(self.avro_header)),
            _ => open(from_id)?,
        };
        let has_deltas = |model: &&Model| from_id == Id::Packed && self.lines && model.statistics().is_some();
        let receiver = model.as_ref().filter(has_deltas).map(|model| {
            let layout = Layout::new(model).map_err(|e| Failure::Failed(e.to_string()))?;
            Ok::<_, Failure>(RefCell::new(Receiver::new(layout, REFERENCES)))
        });
        let known = self.known.texts()?;
        let omits = |_: &&Model| self.to == Id::Packed && !known.is_empty();
        let conversion = Conversion {
            omitting: model.as_ref().filter(omits).map(Layout::untrained),
            receiver: receiver.transpose()?,
            from_json: from_id == Id::Json,
            bare_avro: from_id == Id::Avro && self.avro_header == AvroHeader::None,
            from,
            shortens: self.binary32 == Binary32::Shortest && !from_id.is_text(),
            to: open(self.to)?,
            known,
            numbers: self.numbers,
            hex_in: hex && !from_id.is_text(),
            hex_out: hex && !self.to.is_text(),
            newline: hex || self.to.is_text(),
            source: self.source,
        };
        match (is_csv, by_line) {
            (true, _) => conversion.rows(),
            (false, true) => conversion.lines(),
            (false, false) => conversion.whole(),
        }
    }
}

struct Conversion {
    /// The layout that omits what the receiver knows, if that is given.
    omitting: Option<Layout>,
    /// Decodes packed messages that follow one another, because a delta refers to one before it.
    receiver: Option<RefCell<Receiver<Layout>>>,
    /// Whether the input is JSON, so that an encoding error can name the place of the value in the input.
    from_json: bool,
    /// Whether the input is Avro without a header, so that an error can name the one that a message seems to have.
    bare_avro: bool,
    from: Box<dyn Format>,
    /// Whether numbers that are binary32 become the shortest decimals.
    shortens: bool,
    to: Box<dyn Format>,
    known: BTreeMap<String, String>,
    numbers: Numbers,
    hex_in: bool,
    hex_out: bool,
    /// Whether to end the output with a newline.
    newline: bool,
    source: Source,
}

impl Conversion {
    fn whole(&self) -> Result<(), Failure> {
        let bytes = self.source.message(self.hex_in)?;
        let mut output = self.convert(&bytes).map_err(|error| {
            self.source.blame(match self.from_json {
                true => input::json_failure(with_choice(&error), &bytes, "--lines reads one per line"),
                false => Failure::Failed(with_choice(&error) + &self.header_hint(&bytes)),
            })
        })?;
        if self.newline && output.last() != Some(&b'\n') {
            output.push(b'\n');
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(&output)?;
        Ok(stdout.flush()?)
    }

    fn lines(&self) -> Result<(), Failure> {
        let mut source = self.source.open()?;
        // Standard output is flushed after each line, so that a live stream has no delay.
        let mut stdout = io::stdout().lock();
        let (mut line, mut number, mut failed) = (Vec::new(), 0u64, false);
        while let read @ 1.. =
            input::line(&mut source, self.hex_in, &mut line).map_err(|e| self.source.blame(e))?
        {
            number += read;
            match self.line(&line) {
                Ok(output) => {
                    stdout.write_all(&output)?;
                    stdout.write_all(b"\n")?;
                }
                Err(error) => {
                    failed = true;
                    let error = with_choice(&error);
                    match self.source.file() {
                        Some(path) => complain(format_args!("{}: line {number}: {error}", path.display())),
                        None => complain(format_args!("line {number}: {error}")),
                    }
                }
            }
        }
        stdout.flush()?;
        if failed { Err(Failure::Reported) } else { Ok(()) }
    }

    fn rows(&self) -> Result<(), Failure> {
        let bytes = self.source.all()?;
        let text = str::from_utf8(&bytes).map_err(|error| Failure::about(&self.source, error))?;
        let csv = Csv::new(text).map_err(|error| Failure::Failed(self.source.csv_reason(text, &error)))?;
        let (mut stdout, mut failed) = (io::stdout().lock(), false);
        for row in csv.rows() {
            // An error in the message is at the field with the value.
            let in_row = |error: Error| {
                let at = csv.offset_of(row.start, error.pointer());
                error.at_offset(at)
            };
            match row.message.and_then(|json| self.line(json.as_bytes()).map_err(in_row)) {
                Ok(output) => {
                    stdout.write_all(&output)?;
                    stdout.write_all(b"\n")?;
                }
                Err(error) => {
                    failed = true;
                    complain(self.source.csv_reason(text, &error));
                }
            }
        }
        stdout.flush()?;
        if failed { Err(Failure::Reported) } else { Ok(()) }
    }

    /// Names the header that a message seems to have.
    fn header_hint(&self, bytes: &[u8]) -> String {
        let name = match bytes {
            [0, _, _, _, _, ..] if self.bare_avro => REGISTRY,
            [0xc3, 1, ..] if self.bare_avro => SINGLE_OBJECT,
            _ => return String::new(),
        };
        format!("; if a header precedes the message, --avro-header {name} skips it")
    }

    /// Converts the message of one line and returns it as one line, without a newline.
    fn line(&self, line: &[u8]) -> Result<Vec<u8>, Error> {
        let mut output = match self.hex_in {
            true => self.convert(&input::from_hex(line)?)?,
            false => self.convert(line)?,
        };
        output.pop_if(|end| *end == b'\n');
        if output.contains(&b'\n') {
            return Err(Error::new(Kind::Type, 0, "the message takes more than one line"));
        }
        Ok(output)
    }

    /// Checks that the texts that packed omits equal the given ones, which the receiver would insert.
    fn check_known(&self, message: &Value) -> Result<(), Error> {
        let omitted = self.omitting.iter().flat_map(|layout| layout.root().known_texts(message));
        for (name, text) in omitted {
            if let Some(given) = self.known.get(&name).filter(|given| **given != text) {
                let reason = format!("the {name} of this message is {text:?}, not {given:?} as given");
                return Err(Error::of_value(Kind::Range, "", reason));
            }
        }
        Ok(())
    }

    fn convert(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        input::within_limit(bytes)?;
        let (known, altered) = ((&self.known).into(), Altered::default());
        let reception = Reception { known, numbers: self.numbers.of(&altered), ..Reception::default() };
        let mut message = match &self.receiver {
            Some(receiver) => receiver.borrow_mut().decode(bytes, known)?,
            None => self.from.decode_from(bytes, &reception)?,
        };
        if self.shortens {
            shorten_binary32(&mut message);
        }
        self.check_known(&message)?;
        let mut output = Vec::new();
        self.to.encode(&message, &mut output).map_err(|e| match self.from_json {
            true => e.in_json(bytes),
            false => e,
        })?;
        Ok(if self.hex_out { input::to_hex(&output).into_bytes() } else { output })
    }
}
