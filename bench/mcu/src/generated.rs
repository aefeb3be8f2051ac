//! Measures code that is generated from a schema: ours (packed) and nanopb's (Protobuf, exact mapping), for the same messages.
//!
//! Both firmwares contain the message as bytes that the host has encoded. They decode it into their struct and encode it again. The result
//! must be the same bytes, otherwise the figures are withheld. The structs differ, but both hold the same scaled integers.

use crate::{
    Failure, avr,
    board::{Board, Missing, Size},
    library::{Library, Style},
    report::{self, Event},
    results::{Origin, Record},
    toolchain::{firmware_folder, run, work},
};
use dunnage_codegen::{
    Mapped, Mapping,
    c::{Options, SUPPORT},
    proto,
};
use dunnage_formats::{Format, Protobuf};
use dunnage_packed::Layout;
use dunnage_pson::Value;
use dunnage_schema::{Model, Type, bundled};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The compiler options of all firmware here.
const OPTIONS: &str = "-Os -flto";

/// The firmwares that are built for each contender, to measure their sizes. Only `both` is run.
const PARTS: [&str; 4] = ["nothing", "encode", "decode", "both"];

/// A schema with the message that is measured.
struct Subject {
    name: String,
    model: Model,
    message: Value,
}

/// Generated code for a subject, and how it is called.
struct Contender {
    library: &'static str,
    format: &'static str,
    version: String,
    /// The message, encoded by the host.
    wire: Vec<u8>,
    /// Generated sources, by file name.
    files: Vec<(String, String)>,
    /// Further sources, and the folders of their headers.
    sources: Vec<PathBuf>,
    include: Vec<PathBuf>,
    /// C code: the headers, the type `message_type`, and its functions `encode` and `decode`.
    calls: String,
}

/// Measures every bundled schema's first example on `board`.
pub fn measure(board: &dyn Board) -> Result<Vec<Record>, Failure> {
    let mut rows = Vec::new();
    for subject in subjects()? {
        for contender in [ours(&subject)?, nanopb(&subject)?] {
            let place = format!("{} of {} on {}", contender.library, subject.name, board.target());
            rows.extend(measure_contender(board, &subject, &contender).map_err(|e| format!("{place}: {e}"))?);
        }
    }
    Ok(rows)
}

fn subjects() -> Result<Vec<Subject>, Failure> {
    let subject = |(name, text): &(&str, &str)| {
        let schema: serde_json::Value = serde_json::from_str(text)?;
        let example = schema.pointer("/examples/0").ok_or("a bundled schema without an example")?;
        let message = serde_json::from_value(example.clone())?;
        Ok(Subject { name: (*name).to_owned(), model: Model::compile(text)?, message })
    };
    bundled().iter().map(subject).collect()
}

fn ours(subject: &Subject) -> Result<Contender, Failure> {
    let layout = Layout::new(&subject.model).expect("a layout");
    let mut wire = Vec::new();
    layout.encode(&subject.message, &mut wire)?;
    let name = subject.model.name();
    let generated = dunnage_codegen::c::c(&layout, &Options::default())
        .map_err(|faults| format!("C cannot represent {faults:?}"))?;
    let mut files = vec![
        (format!("{}.h", generated.name), generated.header),
        (format!("{}.c", generated.name), generated.source),
    ];
    files.extend(SUPPORT.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())));
    let calls = format!(
        "#include \"{0}.h\"
typedef {name} message_type;
NOINLINE size_t encode(const message_type *m, uint8_t *to, size_t size) {{ return {name}_encode(m, to, size, NULL); }}
NOINLINE bool decode(const uint8_t *from, size_t size, message_type *m) {{ return {name}_decode(m, from, size, NULL); }}
",
        generated.name
    );
    Ok(Contender {
        library: "dunnage",
        format: "packed",
        version: env!("CARGO_PKG_VERSION").into(),
        wire,
        files,
        sources: Vec::new(),
        include: Vec::new(),
        calls,
    })
}

fn nanopb(subject: &Subject) -> Result<Contender, Failure> {
    let library = Library::peers()?
        .into_iter()
        .find(|library| library.style == Style::Nanopb)
        .ok_or("nanopb is not among the peers")?;
    let mut wire = Vec::new();
    Protobuf::new(&subject.model, Mapping::Exact)?.encode(&subject.message, &mut wire)?;
    let mapped = Mapped::of(&subject.model, Mapping::Exact);
    let name = &mapped.record().name;
    let files = vec![
        ("messages.proto".to_owned(), proto(&mapped)),
        ("messages.options".to_owned(), options(subject.model.root(), "")),
    ];
    let calls = format!(
        "#include <pb_decode.h>
#include <pb_encode.h>
#include \"messages.pb.h\"
typedef {name} message_type;
NOINLINE size_t encode(const message_type *m, uint8_t *to, size_t size) {{
    pb_ostream_t stream = pb_ostream_from_buffer(to, size);
    return pb_encode(&stream, {name}_fields, m) ? stream.bytes_written : 0;
}}
NOINLINE bool decode(const uint8_t *from, size_t size, message_type *m) {{
    pb_istream_t stream = pb_istream_from_buffer(from, size);
    return pb_decode(&stream, {name}_fields, m);
}}
"
    );
    Ok(Contender {
        library: "nanopb",
        format: "protobuf",
        version: library.version,
        wire,
        files,
        sources: library.sources,
        include: library.include,
        calls,
    })
}

/// nanopb's options with the sizes of fields. They apply to all fields of a name, at any depth.
fn options(kind: &Type, key: &str) -> String {
    let field: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match kind {
        Type::Object(object) => object.fields.iter().map(|field| options(&field.kind, &field.name)).collect(),
        Type::Text(text) => {
            // A character takes one byte in an ASCII pattern, and up to four bytes otherwise.
            let ascii = text.pattern.as_ref().and_then(|p| p.segments.as_ref());
            let size = if ascii.is_some() { 1 } else { 4 };
            format!("*.{field} max_size:{}\n", text.max_length.unwrap_or(0) * size + 1)
        }
        Type::NumbersText(text) => format!("*.{field} max_count:{0} fixed_count:true\n", text.parts.len()),
        Type::Array(array) => {
            let count = array.max.unwrap_or(0);
            let fixed = if array.min == count { " fixed_count:true" } else { "" };
            format!("*.{field} max_count:{count}{fixed}\n{}", options(&array.items, key))
        }
        other => other.inner().map_or_else(String::new, |inner| options(inner, key)),
    }
}

fn measure_contender(
    board: &dyn Board,
    subject: &Subject,
    contender: &Contender,
) -> Result<Vec<Record>, Failure> {
    let folder = work().join("generated").join(board.target()).join(contender.library).join(&subject.name);
    fs::create_dir_all(&folder)?;
    for (name, text) in &contender.files {
        fs::write(folder.join(name), text)?;
    }
    if contender.library == "nanopb" {
        run(Command::new("nanopb_generator.py").args(["--quiet", "messages.proto"]).current_dir(&folder))?;
    }
    let origin = Origin::new(board, OPTIONS)?;
    let mut rows = Vec::new();
    let mut row = |operation: &str, metric: &str, value: u64, unit: &str| {
        let of = [&*subject.name, contender.format, contender.library];
        let figure = (metric, value as f64, unit);
        rows.push(origin.record("mcu-generated", of, operation, figure).version(contender.version.as_str()));
    };
    let mut empty = None;
    for part in PARTS {
        let elf = build(board, contender, part, &folder)?;
        let size = Size::of(board, &elf)?;
        let added = size.over(*empty.get_or_insert(size));
        let operation = if part == "both" { "encode+decode" } else { part };
        if part != "nothing" {
            row(operation, "flash", added.flash, "bytes");
            row(operation, "ram", added.ram, "bytes");
        }
        if let (Some(simulator), "both") = (board.simulator(), part) {
            let printed = simulator.run(&elf, size).map_err(Missing::into_failure)?;
            let regions = report::regions(&printed)?;
            let [decode, encode] = &regions[simulator.loops().len()..] else {
                return Err("not two regions".into());
            };
            report::compare("wrong decoding", &decode.after, &[Event::Value(Value::Bool(true))])?;
            let expected = Event::Value(Value::Bytes(contender.wire.clone()));
            report::compare("wrong encoding", &encode.after, &[expected])?;
            for (operation, region) in [("decode", decode), ("encode", encode)] {
                row(operation, simulator.counts(), region.count, simulator.counts());
                row(operation, "stack", region.stack, "bytes");
            }
            row("encode", "bytes", contender.wire.len() as u64, "bytes");
        }
    }
    Ok(rows)
}

fn build(board: &dyn Board, contender: &Contender, part: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let source = folder.join(format!("{part}.c"));
    fs::write(&source, firmware(contender, part))?;
    let elf = source.with_extension("elf");
    let generated = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>, Failure>>()?;
    let is_generated = |path: &&PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        path.extension().is_some_and(|e| e == "c") && !PARTS.contains(&stem)
    };
    let mut compiler = board.compiler();
    compiler.args(["-std=gnu99", "-Wall", "-Wextra"]).args(OPTIONS.split(' '));
    compiler.args(["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]);
    for include in contender.include.iter().map(PathBuf::as_path).chain([folder, &firmware_folder()]) {
        compiler.arg("-I").arg(include);
    }
    run(compiler
        .arg(&source)
        .args(generated.iter().filter(is_generated))
        .args(&contender.sources)
        .args(board.start_files().iter().map(|name| firmware_folder().join(name)))
        .args(board.link_arguments())
        .arg("-o")
        .arg(&elf))?;
    Ok(elf)
}

/// Prints our figures and nanopb's, and whether the goals are reached.
pub fn print(rows: &[Record]) {
    println!("\nGenerated code, {OPTIONS}: ours / nanopb's");
    let find = |ours: &Record| {
        let same = |row: &&Record| {
            (&row.target, &row.payload, &row.operation, &row.metric)
                == (&ours.target, &ours.payload, &ours.operation, &ours.metric)
                && row.library != ours.library
        };
        rows.iter().find(same)
    };
    for row in rows.iter().filter(|row| row.library == "dunnage") {
        let Some(theirs) = find(row) else { continue };
        let (ours, theirs) = (row.value, theirs.value);
        let goal = goal(row).map_or(String::new(), |limit| {
            let verdict = if ours <= limit * theirs { "hit" } else { "MISS" };
            format!("  goal {limit:.2}  {verdict}")
        });
        let ratio = if theirs == 0.0 { "   -".into() } else { format!("{:>5.2}", ours / theirs) };
        let place = format!("{} {}", row.target, row.payload);
        println!("{place:<34}{:<14}{:<13}{ours:>7} /{theirs:>7}{ratio}{goal}", row.operation, row.metric);
    }
}

/// The limit of a figure, as a share of nanopb's; only the container on the ATmega328P has goals.
fn goal(row: &Record) -> Option<f64> {
    match (&*row.target, &*row.payload, &*row.metric) {
        (avr::TARGET, "container", "cycles") => Some(0.5),
        (avr::TARGET, "container", "flash") => Some(0.35),
        (avr::TARGET, "container", "ram") => Some(0.0),
        _ => None,
    }
}

/// The source of a firmware that decodes the message, encodes it, does both, or does nothing, always with the same data.
fn firmware(contender: &Contender, part: &str) -> String {
    let mut wire = String::new();
    for byte in &contender.wire {
        let _ = write!(wire, "{byte},");
    }
    let (decodes, encodes) = (part == "decode" || part == "both", part == "encode" || part == "both");
    let decode = "    MEASURE(0, ok = decode(from, size, m));\n    HIDE(m);\n    fold_bool(ok);\n";
    let encode = "    MEASURE(1, n = encode(m, to, sizeof room));\n    fold_bytes(to, n);\n";
    format!(
        "/* Generated by dunnage-bench-mcu. */
#include \"measure.h\"
#include <string.h>
#define NOINLINE static __attribute__((noinline, noclone, unused))
{calls}
void measure_all(void);
static __attribute__((used)) uint8_t wire[] = {{{wire}}};
static __attribute__((used)) uint8_t room[2 * sizeof wire];
static __attribute__((used)) message_type message;

void measure_all(void) {{
    const uint8_t *from = wire;
    uint8_t *to = room;
    message_type *m = &message;
    size_t size = sizeof wire, n = 0;
    bool ok = false;
    HIDE(from);
    HIDE(to);
    HIDE(m);
    HIDE(size);
    (void)n;
    (void)ok;
{decode}{encode}}}
",
        calls = contender.calls,
        decode = if decodes { decode } else { "" },
        encode = if encodes { encode } else { "" },
    )
}
