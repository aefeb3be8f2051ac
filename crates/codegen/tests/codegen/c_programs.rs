//! Runs generated C on this machine: several messages, hostile names, many fields, hostile bytes.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_pson::{Kind, Value};
use dunnage_schema::{Model, bundled_named};
use std::{fmt::Write as _, fs, path::Path, process::Command};

/// Compilers of C and C++ in strict modes. Sanitizers find invalid memory accesses at run time.
const COMPILERS: [&[&str]; 2] = [&["gcc", "-std=c99"], &["g++", "-x", "c++", "-std=c++98", "-Wno-long-long"]];

/// Compiles and runs the program `main` with the messages of `schemas`.
pub fn run(name: &str, schemas: &[&str], prefix: &str, main: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let prefix = if prefix.is_empty() { c::Prefix::default() } else { prefix.parse().expect("a prefix") };
    let options = c::Options { prefix, ..Default::default() };
    let mut sources = vec!["main.c".to_owned()];
    for schema in schemas {
        let layout = Layout::new(&Model::compile(schema).expect("the schema compiles")).expect("a layout");
        let files = c::c(&layout, &options).expect("C can represent the schema");
        fs::write(folder.join(format!("{}.h", files.name)), files.header).expect("the file can be written");
        fs::write(folder.join(format!("{}.c", files.name)), files.source).expect("the file can be written");
        sources.push(format!("{}.c", files.name));
    }
    for (name, text) in c::SUPPORT {
        fs::write(folder.join(name), text).expect("the file can be written");
    }
    sources.push("dunnage_message.c".to_owned());
    fs::write(folder.join("main.c"), main).expect("the file can be written");
    for compiler in COMPILERS {
        let output = Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-g", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "program"])
            .args(&sources)
            .current_dir(&folder)
            .output()
            .expect("the compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = Command::new(folder.join("program")).output().expect("the program runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {stderr}", compiler[0]);
    }
}

/// A macro that ends the program if a condition is false.
pub const CHECK: &str = "#include <stdio.h>\n#define CHECK(what) do { if (!(what)) { fprintf(stderr, \"%d: %s\\n\", __LINE__, #what); return 1; } } while (0)\n";

#[test]
fn two_messages_share_the_code_of_one_program() {
    let schemas = ["container", "weather"].map(|name| bundled_named(name).expect("a bundled schema"));
    run(
        "two",
        &schemas,
        "acme_",
        &format!(
            "#include \"acme_container.h\"\n#include \"acme_weather.h\"\n{CHECK}
int main(void)
{{
    acme_Container container = ACME_CONTAINER_INIT;
    acme_Weather weather = ACME_WEATHER_INIT;
    uint8_t buffer[ACME_CONTAINER_MAX_SIZE + ACME_WEATHER_MAX_SIZE];
    dunnage_fault fault;
    size_t size = acme_Container_encode(&container, buffer, sizeof buffer, &fault);
    CHECK(size && fault.kind == DUNNAGE_OK && acme_Container_decode(&container, buffer, size, &fault));
    size = acme_Weather_encode(&weather, buffer, sizeof buffer, &fault);
    CHECK(size && fault.kind == DUNNAGE_OK && acme_Weather_decode(&weather, buffer, size, &fault));
    weather.wind.speed = ACME_WEATHER_WIND_SPEED_MAX + 1;
    weather.has_wind = true;
    CHECK(!acme_Weather_encode(&weather, buffer, sizeof buffer, &fault));
    CHECK(fault.kind == DUNNAGE_RANGE && fault.field == ACME_WEATHER_FIELD_WIND_SPEED);
    return 0;
}}
"
        ),
    );
}

/// The default of avr-g++ 5.4 is C++98, while the files that end in `.c` remain C.
#[test]
fn a_program_in_cpp98_links_with_code_in_c() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mixed");
    let layout = Layout::new(&Model::compile(bundled_named("weather").expect("a schema")).expect("a model"));
    let files = c::c(&layout.expect("a layout"), &c::Options::default()).expect("C can represent the schema");
    crate::c::write(&folder, &files);
    let main = format!(
        "#include <stdint.h>\n#include \"weather.h\"\n{CHECK}
int main()
{{
    Weather weather = WEATHER_INIT;
    uint8_t buffer[WEATHER_MAX_SIZE];
    dunnage_fault fault;
    weather.temperature = WEATHER_TEMPERATURE(21.4f);
    CHECK(weather.temperature == WEATHER_TEMPERATURE_FROM_DECIMAL(2140, 2));
    size_t size = Weather_encode(&weather, buffer, sizeof buffer, &fault);
    CHECK(size && Weather_decode(&weather, buffer, size, &fault) && fault.kind == DUNNAGE_OK);
    CHECK(WEATHER_TEMPERATURE_VALUE(weather.temperature) == 21.4f && !*Weather_field_name(fault.field));
    return 0;
}}
"
    );
    fs::write(folder.join("main.cpp"), main).expect("the file can be written");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(&folder).output();
        let output = output.expect("the program runs");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run("gcc", &["-std=c99", "-c", "weather.c", "dunnage_message.c"]);
    run(
        "g++",
        &[
            "-std=c++98",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wno-long-long",
            "-Werror",
            "main.cpp",
            "weather.o",
            "dunnage_message.o",
            "-o",
            "program",
        ],
    );
    run(folder.join("program").to_str().expect("UTF-8"), &[]);
}

/// The slot of the message is the port of the link.
#[test]
fn a_message_without_a_slot_byte_has_the_bytes_of_the_vectors() {
    let schema = |check: &str| {
        format!(
            r#"{{"title":"R{}","type":"object","properties":{{"t":{{"type":"integer","minimum":0,"maximum":199}}}},
            "required":["t"],"additionalProperties":false,"x-dunnage-slot":9,"x-dunnage-slot-from":"port"{check}}}"#,
            if check.is_empty() { "" } else { "c" }
        )
    };
    run(
        "port",
        &[&schema(""), &schema(r#","x-dunnage-check":2"#)],
        "",
        &format!(
            "#include \"r.h\"\n#include \"rc.h\"\n{CHECK}
int main(void)
{{
    R r = R_INIT;
    Rc rc = RC_INIT;
    uint8_t buffer[8];
    dunnage_fault fault;
    CHECK(R_PORT == 9 && RC_PORT == 9 && R_MAX_SIZE == 1 && R_MIN_SIZE == 1 && RC_MAX_SIZE == 3);
    r.t = 68;
    rc.t = 68;
    CHECK(R_encode(&r, buffer, sizeof buffer, &fault) == 1 && buffer[0] == 0x44);
    CHECK(R_encode(&r, buffer, 1, NULL) == 1);
    CHECK(!R_encode(&r, buffer, 0, &fault) && fault.kind == DUNNAGE_TRUNCATED);
    r.t = 200;
    CHECK(!R_encode(&r, buffer, sizeof buffer, &fault) && fault.kind == DUNNAGE_RANGE);
    buffer[0] = 0x44;
    CHECK(R_decode(&r, buffer, 1, &fault) && r.t == 68);
    CHECK(!R_decode(&r, buffer, 0, &fault) && fault.kind == DUNNAGE_TRUNCATED);
    CHECK(!R_decode(&r, buffer, 2, &fault) && fault.kind == DUNNAGE_MALFORMED);
    buffer[0] = 200;
    CHECK(!R_decode(&r, buffer, 1, &fault) && fault.kind == DUNNAGE_RANGE);
    CHECK(Rc_encode(&rc, buffer, 3, &fault) == 3);
    CHECK(buffer[0] == 0x44 && buffer[1] == 0x04 && buffer[2] == 0x90);
    CHECK(!Rc_encode(&rc, buffer, 2, &fault) && fault.kind == DUNNAGE_TRUNCATED);
    buffer[1] = 0x04;
    CHECK(Rc_decode(&rc, buffer, 3, &fault) && rc.t == 68);
    CHECK(!Rc_decode(&rc, buffer, 2, &fault) && fault.kind == DUNNAGE_TRUNCATED);
    buffer[2] = 0x91;
    CHECK(!Rc_decode(&rc, buffer, 3, &fault) && fault.kind == DUNNAGE_MALFORMED);
    return 0;
}}
"
        ),
    );
}

#[test]
fn hostile_names_become_valid_names_in_c() {
    let hostile = r##"{"title": "DUNNAGE", "type": "object", "additionalProperties": false, "properties": {
        "range": {"enum": ["ok", "OK", "O-K", "°", "NULL", ""], "default": "OK"},
        "MESSAGE": {"type": "number", "multipleOf": 0.1, "minimum": -1, "maximum": 1, "default": 0.5},
        "message_version": {"type": "boolean", "default": true}, "ten": {"type": "integer", "minimum": 3, "maximum": 9},
        "INIT": {"type": "string", "maxLength": 3, "default": "?\"\\"}, "int": {"type": "null"}, "Дверь": {"type": "boolean"},
        "enum": {"oneOf": [
            {"title": "int", "type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false},
            {"title": "INT", "type": "object", "properties": {"a": {"const": 2}}, "required": ["a"], "additionalProperties": false},
            {"title": "Дверь", "type": "object", "properties": {"a": {"const": 3}}, "required": ["a"], "additionalProperties": false},
            {"title": "*/ #define", "type": "object", "properties": {"a": {"const": 4}}, "required": ["a"], "additionalProperties": false},
            {"$ref": "#/$defs/tag"}]},
        "tag": {"type": "array", "items": {"type": "array", "items": {"enum": ["range", 2]}, "maxItems": 2}, "maxItems": 2}},
        "$defs": {"tag": {"type": "object", "properties": {"as": {"type": "boolean"}}, "required": ["as"], "additionalProperties": false}}}"##;
    let main = format!(
        "#include \"dunnage.h\"\n{CHECK}
int main(void)
{{
    Dunnage m = DUNNAGE_INIT;
    uint8_t buffer[DUNNAGE_MAX_SIZE];
    CHECK(m.message == 5 && m.message_version && m.ten == 3 && m.range == DUNNAGE_RANGE_2_OK_2 && m.init[0] == '?');
    CHECK(Dunnage_encode(&m, buffer, sizeof buffer, NULL));
    m.has_enum = true;
    m.enum_.tag = DUNNAGE_ENUM__IS_TAG;
    m.enum_.as.tag.as = true;
    CHECK(Dunnage_encode(&m, buffer, sizeof buffer, NULL) && Dunnage_decode(&m, buffer, 1, NULL) == false);
    return 0;
}}
"
    );
    run("hostile", &[hostile], "", &main);
}

#[test]
fn an_error_names_the_field_among_many() {
    let mut properties = String::new();
    let mut required = String::new();
    for i in 0..700 {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(properties, r#"{comma}"f{i}": {{"type": "integer", "minimum": 0, "maximum": 6}}"#);
        let _ = write!(required, r#"{comma}"f{i}""#);
    }
    let schema = format!(
        r#"{{"title": "Many", "type": "object", "properties": {{{properties}}}, "required": [{required}], "additionalProperties": false,
            "x-dunnage-check": 2}}"#
    );
    let main = format!(
        "#include \"many.h\"\n#include <string.h>\n{CHECK}
int main(void)
{{
    Many m = MANY_INIT;
    uint8_t buffer[MANY_MAX_SIZE];
    dunnage_fault fault;
    CHECK(Many_encode(&m, buffer, sizeof buffer, &fault) == sizeof buffer && fault.field == MANY_FIELD_MESSAGE);
    CHECK(Many_decode(&m, buffer, sizeof buffer, &fault) && fault.field == MANY_FIELD_MESSAGE);
    m.f254 = 7;
    CHECK(!Many_encode(&m, buffer, sizeof buffer, &fault) && fault.field == MANY_FIELD_F254 && MANY_FIELD_F254 == 255);
    m.f254 = 0;
    m.f255 = m.f600 = 7;
    CHECK(!Many_encode(&m, buffer, sizeof buffer, &fault) && fault.field == MANY_FIELD_F255 && MANY_FIELD_F255 == 256);
    m.f255 = 0;
    CHECK(!Many_encode(&m, buffer, sizeof buffer, &fault) && fault.field == MANY_FIELD_F600);
    CHECK(!strcmp(Many_field_name(fault.field), \"f600\"));
    m.f600 = 0;
    CHECK(Many_encode(&m, buffer, sizeof buffer, &fault));
    CHECK(!Many_encode(&m, buffer, 100, &fault) && fault.kind == DUNNAGE_TRUNCATED && fault.field > 256);
    /* Errors of the check and of missing bytes name the message. */
    buffer[sizeof buffer - 1] ^= 1;
    CHECK(!Many_decode(&m, buffer, sizeof buffer, &fault) && fault.kind == DUNNAGE_MALFORMED && fault.field == MANY_FIELD_MESSAGE);
    CHECK(!Many_decode(&m, buffer, 0, &fault) && fault.kind == DUNNAGE_TRUNCATED && fault.field == MANY_FIELD_MESSAGE);
    return 0;
}}
"
    );
    run("many", &[&schema], "", &main);
}

/// Returns the bytes of a message with `text`, as the elements of a C array. A pattern like that of `ascii` does not change the bits.
fn wire(schema: &str, text: &str) -> String {
    let mut bytes = Vec::new();
    let layout = Layout::new(&Model::compile(schema).expect("the schema compiles")).expect("a layout");
    layout.encode(&Value::Text(text.into()), &mut bytes).expect("a message");
    bytes.iter().map(|byte| format!("{byte},")).collect()
}

#[test]
fn texts_have_the_size_of_their_longest_value_and_hostile_bytes_do_not_overflow_them() {
    let ascii = r#"{"title": "Ascii", "type": "string", "pattern": "^[a-z]+( [a-z]+)*$", "maxLength": 5}"#;
    let exact = r#"{"title": "Exact", "type": "string", "pattern": "^[a-z]{1,9}$", "maxLength": 5}"#;
    let unicode = r#"{"title": "Unicode", "type": "string", "maxLength": 5}"#;
    let any = r#"{"type": "string", "maxLength": 5}"#;
    let main = format!(
        "#include \"ascii.h\"\n#include \"exact.h\"\n#include \"unicode.h\"\n#include <string.h>\n{CHECK}
static const uint8_t plain[] = {{{}}}, wide[] = {{{}}}, nine[] = {{{}}};
int main(void)
{{
    Ascii *a = (Ascii *)malloc(sizeof *a);
    Exact *e = (Exact *)malloc(sizeof *e);
    Unicode u = UNICODE_INIT;
    uint8_t buffer[UNICODE_MAX_SIZE];
    dunnage_fault fault;
    CHECK(sizeof a->value == 6 && sizeof e->value == 6 && sizeof u.value == 21);
    CHECK(Ascii_decode(a, plain, sizeof plain, &fault) && !strcmp(a->value, \"abc\"));
    CHECK(Ascii_encode(a, buffer, sizeof buffer, &fault) == sizeof plain && !memcmp(buffer, plain, sizeof plain));
    CHECK(!Ascii_decode(a, wide, sizeof wide, &fault) && fault.kind == DUNNAGE_RANGE);
    CHECK(Unicode_decode(&u, wide, sizeof wide, &fault) && strlen(u.value) == 20);
    CHECK(!Exact_decode(e, nine, sizeof nine, &fault) && fault.kind == DUNNAGE_RANGE);
    /* Text without a terminating NUL, and text that is not ASCII. */
    memset(a->value, 'a', sizeof a->value);
    CHECK(!Ascii_encode(a, buffer, sizeof buffer, &fault) && fault.kind == DUNNAGE_RANGE);
    memset(a->value, 0xff, sizeof a->value);
    CHECK(!Ascii_encode(a, buffer, sizeof buffer, &fault) && fault.kind == DUNNAGE_RANGE);
    free(a);
    free(e);
    return 0;
}}
",
        wire(any, "abc"),
        wire(any, "\u{1f6a2}\u{1f6a2}\u{1f6a2}\u{1f6a2}\u{1f6a2}"),
        wire(r#"{"type": "string", "pattern": "^[a-z]{1,9}$"}"#, "abcdefghi")
    );
    run(
        "texts",
        &[ascii, exact, unicode],
        "",
        &main.replace("#include <string.h>", "#include <stdlib.h>\n#include <string.h>"),
    );
}

/// Returns floats of all forms: decimals of every size and number of places, their neighbours, binary32 and binary64.
fn floats() -> Vec<f64> {
    let mut floats = vec![0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, f64::from(f32::MAX), 5e-324];
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    for i in 0..1500 {
        let decimal = (random() >> (i % 53)) as f64 / 10f64.powi(i % 14);
        let binary = (random() >> 29) as f64 / 2f64.powi(i % 40);
        let neighbour = f64::from_bits(decimal.to_bits() + 1);
        floats.extend([decimal, -binary, neighbour, f64::from_bits(random() << 10), (decimal as f32).into()]);
    }
    floats.retain(|f| f.is_finite());
    floats
}

/// Returns what the reader of packed makes of `bytes`: the bits of the float, or the number of the error kind.
fn float_of(layout: &Layout, bytes: &[u8]) -> (u64, u8) {
    match layout.decode(bytes, None) {
        Ok(value) => {
            let f = match value {
                Value::U64(n) => n as f64,
                Value::I64(n) => n as f64,
                Value::F64(f) => f,
                other => panic!("{other:?} is not a number"),
            };
            (f.to_bits(), 0)
        }
        Err(error) => match error.kind() {
            Kind::Truncated => (0, 1),
            Kind::Malformed => (0, 2),
            Kind::Range => (0, 3),
            kind => panic!("{kind:?}"),
        },
    }
}

#[test]
fn floats_have_the_bytes_of_packed_and_damaged_ones_its_errors() {
    let schema = r#"{"title": "Number", "type": "number"}"#;
    let layout = Layout::new(&Model::compile(schema).expect("the schema compiles")).expect("a layout");
    let mut rows = String::new();
    for (i, f) in floats().into_iter().enumerate() {
        let mut bytes = Vec::new();
        layout.encode(&Value::F64(f), &mut bytes).expect("a float");
        let mut damaged = bytes.clone();
        let bit = i % (8 * (bytes.len() - 1));
        damaged[1 + bit / 8] ^= 0x80 >> (bit % 8);
        for bytes in [&bytes[..], &damaged, &bytes[..bytes.len() - 1]] {
            let (bits, kind) = float_of(&layout, bytes);
            let _ = write!(rows, "{{{bits:#x}ull, {kind}, {}, {{", bytes.len());
            bytes.iter().for_each(|byte| rows.push_str(&format!("{byte},")));
            rows.push_str("}},\n");
        }
    }
    let main = format!(
        "#include \"number.h\"\n#include <string.h>\n{CHECK}
static const struct {{ uint64_t bits; uint8_t kind, size, bytes[10]; }} rows[] = {{\n{rows}}};
int main(void)
{{
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {{
        Number m = NUMBER_INIT;
        uint8_t buffer[NUMBER_MAX_SIZE];
        dunnage_fault fault;
        bool read = Number_decode(&m, rows[i].bytes, rows[i].size, &fault);
        CHECK(read == !rows[i].kind && fault.kind == rows[i].kind);
        if (!read) continue;
        CHECK(!memcmp(&m.value, &rows[i].bits, sizeof m.value));
        CHECK(Number_encode(&m, buffer, sizeof buffer, &fault) == rows[i].size && !memcmp(buffer, rows[i].bytes, rows[i].size));
    }}
    return 0;
}}
"
    );
    run("floats", &[schema], "", &main);
}
