//! Writes an Arduino sketch that measures libraries on a board: `bench/board`, the libraries, and messages as C.

use crate::{
    Failure,
    generate::encoder,
    json,
    layout::{self, initializer},
    library::{Library, Limit, Style},
    message::Message,
    payloads::{self, PAPER_GROUP, Payload},
    results::bench,
    shape::Floats,
};
use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// The libraries, each before those that read what it writes, and their formats.
const LIBRARIES: [(&str, &str); 5] =
    [("dunnage", "pson"), ("mpack", "msgpack"), ("tinycbor", "cbor"), ("snprintf", "json"), ("jsmn", "json")];
/// The formats that a sketch can measure.
pub const FORMATS: [&str; 5] = ["pson", "packed", "msgpack", "cbor", "json"];

/// A library of the sketch, with its prefix in C, which is also its folder.
struct Unit {
    prefix: &'static str,
    format: String,
    library: String,
    prepares: bool,
    encodes: bool,
    decodes: bool,
}

/// Writes the sketch into `folder`, which must not exist. Its messages are those in `files`, or the paper's.
pub fn write(folder: &Path, files: &[PathBuf], formats: &[String], floats: Floats) -> Result<(), Failure> {
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or("the folder has no name")?;
    let messages = messages(files)?
        .iter()
        .map(|payload| Message::new(payload, floats).map_err(|e| format!("{}: {e}", payload.name).into()))
        .collect::<Result<Vec<_>, Failure>>()?;
    let has = |format: &str| formats.iter().any(|own| own == format);
    fs::create_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let src = folder.join("src");
    let own = bench().join("board");
    copy(&own.join("board.ino"), &folder.join(name).with_extension("ino"))?;
    copy(&own.join("platformio.ini"), &folder.join("platformio.ini"))?;
    fs::create_dir(&src)?;
    for file in ["bench.c", "bench.h"] {
        copy(&own.join(file), &src.join(file))?;
    }
    values(&messages, &src)?;
    let mut units = Vec::new();
    if has("packed") {
        units.push(packed(&messages, &src)?);
    }
    for (prefix, _) in LIBRARIES.into_iter().filter(|(_, format)| has(format)) {
        let library = if prefix == "dunnage" { Library::ours()? } else { Library::peer(prefix)? };
        units.push(unit(&library, prefix, &messages, &src)?);
    }
    fs::write(src.join("messages.c"), table(&messages, &units))?;
    Ok(())
}

/// The payloads in `files`, or the paper's.
pub fn messages(files: &[PathBuf]) -> Result<Vec<Payload>, Failure> {
    let groups = if files.is_empty() {
        payloads::groups()?.into_iter().filter(|group| group.name == PAPER_GROUP).collect()
    } else {
        files.iter().map(|file| payloads::file(file)).collect::<Result<Vec<_>, Failure>>()?
    };
    Ok(groups.into_iter().flat_map(|group| group.payloads).collect())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(())
}

/// Writes the structs and their values, which all libraries encode.
fn values(messages: &[Message], src: &Path) -> Result<(), Failure> {
    let mut header =
        "#ifndef VALUES_H\n#define VALUES_H\n\n#include <stdbool.h>\n#include <stdint.h>\n\n".to_owned();
    let mut source = "#include \"values.h\"\n\n".to_owned();
    for message in messages {
        let name = &message.root.name;
        layout::declare(&message.root, &mut header);
        let _ = writeln!(header, "extern const {name} {name}_values;\n");
        let values = initializer(&message.root, &message.value);
        let _ = writeln!(source, "const {name} {name}_values = {values};");
    }
    header.push_str("#endif\n");
    fs::write(src.join("values.h"), header)?;
    fs::write(src.join("values.c"), source)?;
    Ok(())
}

/// Copies a library and writes how it is called.
fn unit(library: &Library, prefix: &'static str, messages: &[Message], src: &Path) -> Result<Unit, Failure> {
    let folder = src.join(prefix);
    fs::create_dir(&folder)?;
    for file in library.files()? {
        let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
        let defines = library.defines.iter().map(|define| define.replacen('=', " ", 1));
        let defines: String =
            defines.map(|define| format!("#ifndef {0}\n#define {define}\n#endif\n", word(&define))).collect();
        let name = file.file_name().ok_or("a file without a name")?;
        fs::write(folder.join(name), defines + &text)?;
    }
    for file in ["measure.h", "heap.h"] {
        copy(&bench().join("board").join(file), &folder.join(file))?;
    }
    let (encodes, decodes) = (library.has("encode"), library.has("decode"));
    fs::write(folder.join("messages.c"), calls(library, messages, prefix, (encodes, decodes)))?;
    let (format, name) = (library.format.clone(), library.name.clone());
    Ok(Unit { prefix, format, library: name, prepares: false, encodes, decodes })
}

fn word(define: &str) -> &str {
    define.split(' ').next().unwrap_or(define)
}

/// The functions `encode` and `decode` of a library.
fn calls(library: &Library, messages: &[Message], prefix: &str, (encodes, decodes): (bool, bool)) -> String {
    let mut out = String::new();
    if decodes {
        out.push_str("#define WALK\n");
    }
    if messages.iter().any(|message| message.wide) {
        out.push_str("#define WIDE\n");
    }
    if library.style == Style::Heap {
        json::sizes(messages, &mut out);
    }
    out.push_str("#include \"library.h\"\n\n#include \"../values.h\"\n\n");
    if encodes {
        messages.iter().for_each(|message| encoder(message, &mut out));
        let _ = writeln!(out, "size_t {prefix}_encode(uint8_t message, uint8_t *to, size_t size) {{");
        out.push_str("    switch (message) {\n");
        for (index, message) in messages.iter().enumerate() {
            let name = &message.root.name;
            let escapes = library.limits.contains(&Limit::Escapes) && message.json.contains('\\');
            if escapes {
                let _ =
                    writeln!(out, "    case {index}: return 0; /* escape sequences are its caller's task */");
                continue;
            }
            let _ = writeln!(
                out,
                "    case {index}: {{
        const {name} *m = &{name}_values;
        HIDE(m);
        return {name}_encode(m, to, size);
    }}"
            );
        }
        out.push_str("    }\n    return 0;\n}\n");
    }
    if decodes {
        let _ = writeln!(
            out,
            "\nbool {prefix}_decode(uint8_t message, const uint8_t *from, size_t size) {{
    (void)message;
    return walk(from, size);
}}"
        );
    }
    out
}

/// Writes the packed code that is generated for each message, from the schema that is inferred from it.
fn packed(messages: &[Message], src: &Path) -> Result<Unit, Failure> {
    let folder = src.join("packed");
    fs::create_dir(&folder)?;
    for (name, text) in c::SUPPORT {
        fs::write(folder.join(name), text)?;
    }
    let [mut head, mut structs, mut prepare, mut encode, mut decode] = [const { String::new() }; 5];
    for (index, message) in messages.iter().enumerate() {
        let schema = dunnage_schema::infer(&[&message.json], Some(&message.root.name))?;
        let layout = Layout::new(&Model::compile(&schema.schema)?)?;
        let mut wire = Vec::new();
        layout.encode(&serde_json::from_str(&message.json)?, &mut wire)?;
        let Ok(generated) = c::c(&layout, &c::Options::default()) else { continue };
        let file = &generated.name;
        fs::write(folder.join(format!("{file}.h")), generated.header)?;
        fs::write(folder.join(format!("{file}.c")), generated.source)?;
        let name = layout.name();
        let bytes: Vec<_> = wire.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let _ = writeln!(head, "#include \"{file}.h\"");
        let _ = writeln!(structs, "static const uint8_t bytes_{index}[] = {{{}}};", bytes.join(","));
        let _ = writeln!(structs, "static {name} values_{index};");
        let case = |call: &str| format!("    case {index}: return {name}_{call};\n");
        prepare += &case(&format!("decode(&values_{index}, bytes_{index}, sizeof bytes_{index}, NULL)"));
        encode += &case(&format!("encode(&values_{index}, to, size, NULL)"));
        decode += &case(&format!("decode(&values_{index}, from, size, NULL)"));
    }
    let text = format!(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n{head}\n{structs}
bool packed_prepare(uint8_t message) {{\n    switch (message) {{\n{prepare}    }}\n    return false;\n}}\n
size_t packed_encode(uint8_t message, uint8_t *to, size_t size) {{\n    switch (message) {{\n{encode}    }}\n    return 0;\n}}\n
bool packed_decode(uint8_t message, const uint8_t *from, size_t size) {{\n    switch (message) {{\n{decode}    }}\n    return false;\n}}\n"
    );
    fs::write(folder.join("messages.c"), text)?;
    let library = "dunnage".to_owned();
    Ok(Unit {
        prefix: "packed",
        format: "packed".into(),
        library,
        prepares: true,
        encodes: true,
        decodes: true,
    })
}

/// The table of the libraries, the names of the messages, and the buffer.
fn table(messages: &[Message], units: &[Unit]) -> String {
    let mut out = "#include \"bench.h\"\n\n".to_owned();
    let mut rows = String::new();
    for Unit { prefix, format, library, prepares, encodes, decodes } in units {
        let mut name = |has: bool, function: &str, declaration: &str| {
            if !has {
                return "NULL".to_owned();
            }
            let _ = writeln!(out, "{}", declaration.replace('@', &format!("{prefix}_{function}")));
            format!("{prefix}_{function}")
        };
        let prepare = name(*prepares, "prepare", "bool @(uint8_t message);");
        let encode = name(*encodes, "encode", "size_t @(uint8_t message, uint8_t *to, size_t size);");
        let decode = name(*decodes, "decode", "bool @(uint8_t message, const uint8_t *from, size_t size);");
        let _ = writeln!(rows, "    {{\"{format}\", \"{library}\", {prepare}, {encode}, {decode}}},");
    }
    let names: String = messages.iter().map(|message| format!("\"{}\", ", message.name)).collect();
    // The largest is JSON text, in which a binary64 may have more digits than in the file.
    let room = messages.iter().map(|message| message.json.len() * 3 / 2 + 32).max().unwrap_or(0);
    let _ = write!(
        out,
        "\nconst bench_library bench_libraries[] = {{\n{rows}}};
const uint8_t bench_library_count = {};
const char *const bench_names[] = {{{names}}};
const uint8_t bench_messages = {};
uint8_t bench_buffer[{room}];
const size_t bench_buffer_size = sizeof bench_buffer;
",
        units.len(),
        messages.len()
    );
    out
}
